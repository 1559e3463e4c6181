//! Replies of Gemini's `generateContent`.

use serde_json::{Value, json};
use test_support::{block_on, sample};
use toolkit::catalog::{ExportedNames, Naming};
use toolkit::{Content, Context, Dispatcher, ToolError, catalog, tool};
use toolkit_providers::gemini::{GENERATE_CONTENT, Options, tools};
use toolkit_providers::reply::{CallArguments, Reply, ReplyEvent, StopReason};

/// Adds two numbers.
#[tool(namespace = "math")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Returns the time.
#[tool]
fn now() -> &'static str {
    "noon"
}

/// Saves a note.
#[tool]
fn save(note: String) {
    let _ = note;
}

/// Takes a photo.
#[tool]
fn photo() -> Vec<Content> {
    vec![Content::text("a cat"), Content::image(b"\x89PNG", "image/png"), Content::audio(b"RIFF", "audio/wav")]
}

/// Fails.
#[tool]
fn fail() -> Result<String, ToolError> {
    Err(ToolError::failed("no such file"))
}

fn dispatcher() -> Dispatcher {
    Dispatcher::new(catalog![add, now, save, photo, fail].unwrap()).unwrap()
}

fn names() -> ExportedNames {
    tools(dispatcher().catalog(), Naming::default(), Options::default()).unwrap().names
}

fn response(parts: Value, finish_reason: &str) -> Value {
    let candidate =
        json!({ "content": { "role": "model", "parts": parts }, "finishReason": finish_reason, "index": 0 });
    json!({ "candidates": [candidate], "usageMetadata": { "totalTokenCount": 9 }, "responseId": "r1" })
}

fn read(body: Value) -> Reply {
    GENERATE_CONTENT.read(body, &names()).unwrap()
}

fn chunk(parts: Value) -> Value {
    json!({ "candidates": [{ "content": { "role": "model", "parts": parts } }], "responseId": "r1" })
}

fn streamed(chunks: &[Value]) -> Reply {
    let mut stream = GENERATE_CONTENT.stream(&names());
    for chunk in chunks {
        stream.push_event(chunk.clone()).unwrap();
    }
    stream.finish().unwrap()
}

fn results(reply: &Reply) -> Value {
    let messages = reply.run_sync(&dispatcher(), &Context::new()).messages().unwrap();
    assert_eq!((messages.len(), &messages[0]["role"]), (1, &json!("user")));
    messages[0]["parts"].clone()
}

#[test]
fn parallel_calls_are_answered_in_one_content_in_their_order() {
    let parts = json!([
        { "text": "I look.", "thought": true },
        { "functionCall": { "name": "math_add", "args": { "a": 1, "b": 2 } }, "thoughtSignature": "c2ln" },
        { "functionCall": { "name": "fail" } },
        { "functionCall": { "name": "now", "args": {} } },
        { "functionCall": { "name": "save", "args": { "note": "x" } } },
        { "functionCall": { "name": "sub", "args": null } },
        { "functionCall": { "args": {} } },
    ]);
    let export = tools(dispatcher().catalog(), Naming::default(), Options::default()).unwrap();
    let turn = block_on(GENERATE_CONTENT.respond(&dispatcher(), &export, response(parts.clone(), "STOP"))).unwrap();
    assert_eq!(turn.reply.stop_reason(), &StopReason::ToolCalls);
    assert_eq!((turn.reply.text(), turn.reply.reasoning()), ("", "I look."));
    let mut repeated = parts;
    repeated[6]["functionCall"]["name"] = "unknown".into();
    let result = |name: &str, response: Value| json!({ "functionResponse": { "name": name, "response": response } });
    assert_eq!(
        turn.messages().unwrap(),
        [
            json!({ "role": "model", "parts": repeated }),
            json!({ "role": "user", "parts": [
                result("math_add", json!({ "output": 3 })),
                result("fail", json!({ "error": "no such file" })),
                result("now", json!({ "output": "noon" })),
                result("save", json!({ "output": {} })),
                result("sub", json!({ "error": "no tool is named `sub`" })),
                result("unknown", json!({ "error": "no tool is named ``" })),
            ] }),
        ]
    );
}

#[test]
fn an_id_is_repeated_only_if_the_call_has_one_of_its_own() {
    let call = |id: Value| json!({ "functionCall": { "id": id, "name": "now" } });
    let reply = read(response(json!([call("a".into()), call("".into()), call("a".into())]), "STOP"));
    let ids: Vec<Value> =
        results(&reply).as_array().unwrap().iter().map(|part| part["functionResponse"]["id"].clone()).collect();
    assert_eq!(ids, [json!("a"), Value::Null, Value::Null]);
    let parts = reply.messages()[0]["parts"].as_array().unwrap();
    let called: Vec<Value> = parts.iter().map(|part| part["functionCall"]["id"].clone()).collect();
    assert_eq!(called, ids, "the repeated reply has the same ids");
    let unique: Vec<&str> = reply.calls().iter().map(|call| &*call.id).collect();
    assert!(unique[0] == "a" && unique[1] != unique[2] && unique.iter().all(|id| !id.is_empty()));
}

#[test]
fn a_response_in_snake_case_is_read_and_repeated_as_it_came() {
    let parts = json!([
        { "function_call": { "name": "now" }, "thought_signature": "c2ln" },
        { "executable_code": { "language": "PYTHON", "code": "1" } },
    ]);
    let body = json!({ "candidates": [{ "content": { "parts": parts }, "finish_reason": "MAX_TOKENS" }] });
    let reply = read(body);
    assert_eq!(reply.stop_reason(), &StopReason::Truncated);
    assert_eq!((reply.calls().len(), &*reply.provider_calls()[0].kind), (1, "executableCode"));
    assert_eq!(reply.messages(), [json!({ "role": "model", "parts": parts })]);
    let error = &results(&reply)[0]["functionResponse"]["response"]["error"];
    assert!(error.as_str().unwrap().contains("before this call was complete"), "{error}");
}

#[test]
fn media_is_beside_the_response_or_becomes_a_note() {
    let reply = read(response(json!([{ "functionCall": { "id": "c1", "name": "photo" } }]), "STOP"));
    assert_eq!(
        results(&reply)[0],
        json!({ "functionResponse": {
            "id": "c1",
            "name": "photo",
            "response": { "output": "a cat\n[audio, audio/wav, 6 bytes: not shown]" },
            "parts": [{ "inlineData": { "mimeType": "image/png", "data": "iVBORw==" } }],
        } })
    );
}

#[test]
fn calls_of_the_provider_are_repeated_and_not_answered() {
    let parts = json!([
        { "toolCall": { "id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "args": {} }, "thoughtSignature": "YQ==" },
        { "toolResponse": { "id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "response": {} } },
        { "executableCode": { "language": "PYTHON", "code": "1 + 1" } },
        { "codeExecutionResult": { "outcome": "OUTCOME_OK", "output": "2" } },
        { "text": "It is 2." },
    ]);
    let reply = read(response(parts.clone(), "STOP"));
    let kinds: Vec<&str> = reply.provider_calls().iter().map(|call| &*call.kind).collect();
    assert_eq!(kinds, ["toolCall", "executableCode"]);
    assert_eq!((reply.needs_results(), reply.stop_reason()), (false, &StopReason::End));
    assert_eq!(reply.messages(), [json!({ "role": "model", "parts": parts })]);
}

#[test]
fn the_reason_to_stop_is_that_of_the_candidate_or_of_the_prompt() {
    let stop = |reason: &str| read(response(json!([{ "text": "a" }]), reason)).stop_reason().clone();
    assert_eq!(stop("STOP"), StopReason::End);
    assert_eq!(stop("MAX_TOKENS"), StopReason::Truncated);
    assert_eq!(stop("SAFETY"), StopReason::Refused("SAFETY".to_owned()));
    assert_eq!(stop("UNEXPECTED_TOOL_CALL"), StopReason::Malformed("UNEXPECTED_TOOL_CALL".to_owned()));
    assert_eq!(stop("TOO_MANY_TOOL_CALLS"), StopReason::Other("TOO_MANY_TOOL_CALLS".to_owned()));

    let candidate = json!({ "finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "Malformed call: now(" });
    let reply = read(json!({ "candidates": [candidate] }));
    assert_eq!(reply.stop_reason(), &StopReason::Malformed("Malformed call: now(".to_owned()));
    assert!(reply.messages().is_empty());

    let reply = read(json!({ "promptFeedback": { "blockReason": "PROHIBITED_CONTENT" }, "usageMetadata": {} }));
    assert_eq!(reply.stop_reason(), &StopReason::Refused("PROHIBITED_CONTENT".to_owned()));
}

#[test]
fn an_error_in_place_of_a_reply_is_reported_with_its_message() {
    let error = json!({ "error": { "code": 429, "message": "Quota exceeded.", "status": "RESOURCE_EXHAUSTED" } });
    for body in [error.clone(), json!([error])] {
        let error = GENERATE_CONTENT.read(body, &names()).unwrap_err().to_string();
        assert_eq!(error, "not a reply of Gemini generateContent: the provider reports: Quota exceeded.");
    }
    let mut stream = GENERATE_CONTENT.stream(&names());
    assert!(stream.push_event(error.clone()).unwrap_err().to_string().ends_with("Quota exceeded."));
    for body in [json!({ "choices": [] }), json!([]), json!(["candidates"]), json!(null)] {
        assert!(GENERATE_CONTENT.read(&body, &names()).is_err(), "{body}");
    }
    assert!(GENERATE_CONTENT.stream(&names()).finish().is_err());

    let reply = streamed(&[chunk(json!([{ "functionCall": { "name": "now" } }])), error]);
    assert_eq!(reply.stop_reason(), &StopReason::Failed("Quota exceeded.".to_owned()));
    assert!(results(&reply)[0]["functionResponse"]["response"]["error"].is_string(), "the call does not run");
}

#[test]
fn a_stream_is_the_same_reply_as_the_whole_at_every_cut() {
    let chunks = [
        chunk(json!([{ "text": "I ", "thought": true }])),
        chunk(json!([{ "text": "think.", "thought": true }, { "text": "" }])),
        chunk(json!([{ "text": "Grö" }])),
        chunk(json!([{ "text": "ße" }, { "text": "", "thoughtSignature": "YQ==" }])),
        chunk(json!([{ "functionCall": { "name": "now" }, "thoughtSignature": "Yg==" }])),
        chunk(json!([{ "functionCall": { "name": "math_add", "args": { "a": 1, "b": 2 } } }])),
        response(json!([{ "text": "" }]), "STOP"),
    ];
    let whole = read(response(
        json!([
            { "text": "I think.", "thought": true },
            { "text": "Größe" },
            { "text": "", "thoughtSignature": "YQ==" },
            { "functionCall": { "name": "now" }, "thoughtSignature": "Yg==" },
            { "functionCall": { "name": "math_add", "args": { "a": 1, "b": 2 } } },
        ]),
        "STOP",
    ));
    let sse: String = chunks.iter().map(|chunk| format!("data: {chunk}\r\n\r\n")).collect();
    for cut in sample(0..=sse.len(), 3) {
        let mut stream = GENERATE_CONTENT.stream(&names());
        let mut events = stream.push(&sse.as_bytes()[..cut]).unwrap();
        events.extend(stream.push(&sse.as_bytes()[cut..]).unwrap());
        assert_eq!(same(&stream.finish().unwrap()), same(&whole), "{cut}");
        let started = |name: &str, index| ReplyEvent::CallStarted { index, name: name.to_owned() };
        assert_eq!((&events[0], events.len()), (&ReplyEvent::Reasoning("I ".to_owned()), 8));
        assert_eq!((&events[4], &events[6]), (&started("now", 0), &started("math_add", 1)));

        let mut stream = GENERATE_CONTENT.stream(&names());
        stream.push(&sse.as_bytes()[..cut]).unwrap();
        if let Ok(reply) = stream.finish() {
            let is_whole = cut >= sse.len() - 4;
            assert_eq!(reply.stop_reason() == &StopReason::Truncated, !is_whole, "{cut}");
        }
    }
    assert_eq!(same(&read(chunks.to_vec().into())), same(&whole), "an array of the chunks is the same");
    assert_eq!(read(chunks[..3].to_vec().into()).stop_reason(), &StopReason::Truncated);
}

fn same(reply: &Reply) -> (&[Value], &Value, &str, &str, &StopReason, Vec<&CallArguments>) {
    let arguments = reply.calls().iter().map(|call| &call.arguments).collect();
    (reply.messages(), reply.metadata(), reply.text(), reply.reasoning(), reply.stop_reason(), arguments)
}

fn piece(pieces: Value, will_continue: bool) -> Value {
    let mut call = json!({ "partialArgs": pieces });
    if will_continue {
        call["willContinue"] = true.into();
    }
    chunk(json!([{ "functionCall": call }]))
}

fn start(name: &str) -> Value {
    chunk(json!([{ "functionCall": { "name": name, "willContinue": true }, "thoughtSignature": "YQ==" }]))
}

fn end() -> Value {
    chunk(json!([{ "functionCall": {} }]))
}

#[test]
fn streamed_arguments_are_assembled_from_their_paths() {
    let stop = response(json!([{ "functionCall": {} }]), "STOP");
    let reply = streamed(&[
        start("write"),
        piece(json!([{ "jsonPath": "$.note", "stringValue": "Bos", "willContinue": true }]), true),
        piece(json!([{ "jsonPath": "$.note", "stringValue": "ton" }]), true),
        chunk(json!([{ "functionCall": { "willContinue": true } }])),
        piece(
            json!([{ "jsonPath": "$.items[0].n", "numberValue": 0.5 }, { "jsonPath": "$.items[0].ok", "boolValue": true }]),
            true,
        ),
        piece(json!([{ "jsonPath": "$.items[1]['a.b']", "nullValue": "NULL_VALUE" }]), true),
        end(),
        start("math_add"),
        // The end of this call is missing.
        piece(json!([{ "jsonPath": "$.a", "numberValue": 1 }, { "jsonPath": "$.b", "numberValue": 2 }]), true),
        start("now"),
        stop,
    ]);
    let args = json!({ "note": "Boston", "items": [{ "n": 0.5, "ok": true }, { "a.b": null }] });
    assert_eq!(
        reply.messages()[0]["parts"],
        json!([
            { "functionCall": { "name": "write", "args": args }, "thoughtSignature": "YQ==" },
            { "functionCall": { "name": "math_add", "args": { "a": 1, "b": 2 } }, "thoughtSignature": "YQ==" },
            { "functionCall": { "name": "now", "args": {} }, "thoughtSignature": "YQ==" },
        ])
    );
    let results = results(&reply);
    assert_eq!(results[1]["functionResponse"]["response"], json!({ "output": 3 }));
    assert_eq!(results[2]["functionResponse"]["response"], json!({ "output": "noon" }));
}

#[test]
fn a_string_without_its_end_is_never_an_argument() {
    let open = piece(json!([{ "jsonPath": "$.note", "stringValue": "delete", "willContinue": true }]), true);
    let reply = streamed(&[start("save"), open.clone(), response(json!([]), "STOP")]);
    assert_eq!(reply.stop_reason(), &StopReason::Truncated);
    let reply = streamed(&[start("save"), open, start("now"), response(json!([{ "functionCall": {} }]), "STOP")]);
    assert_eq!(reply.stop_reason(), &StopReason::Truncated);
    let results = results(&reply);
    assert!((0..2).all(|idx| results[idx]["functionResponse"]["response"]["error"].is_string()));
}

#[test]
fn hostile_streams_take_little_memory_and_time() {
    for path in ["$.a[999999999]", "$.a[4000000000]", "$..a", "no path", "$[0]"] {
        let mut stream = GENERATE_CONTENT.stream(&names());
        stream.push_event(start("save")).unwrap();
        let piece = piece(json!([{ "jsonPath": path, "numberValue": 1 }]), true);
        let error = stream.push_event(piece).unwrap_err().to_string();
        assert!(error.contains(path), "{error}");
    }
    let mut stream = GENERATE_CONTENT.stream(&names());
    stream.push_event(start("save")).unwrap();
    let gaps = |n: usize| piece(json!([{ "jsonPath": format!("$.a{n}[9999]"), "numberValue": 1 }]), true);
    stream.push_event(gaps(0)).unwrap();
    assert!(stream.push_event(gaps(1)).is_err(), "all calls share one limit");

    let mut stream = GENERATE_CONTENT.stream(&names());
    for _ in 0..100_000 {
        stream.push_event(chunk(json!([{ "text": "" }]))).unwrap();
        stream.push_event(chunk(json!([{ "functionCall": { "name": "now" } }]))).unwrap();
    }
    assert_eq!(stream.finish().unwrap().calls().len(), 100_000);

    let shapes = [json!(5), json!("x"), json!([{}]), json!({ "functionCall": 5 }), json!({ "text": {} }), json!(null)];
    for shape in shapes {
        for body in [
            chunk(json!([shape])),
            chunk(shape.clone()),
            json!({ "candidates": [{ "content": shape }] }),
            json!({ "candidates": [shape] }),
            json!({ "candidates": shape, "usageMetadata": shape, "promptFeedback": shape }),
            chunk(
                json!([{ "functionCall": { "name": shape, "args": shape, "partialArgs": shape, "willContinue": shape } }]),
            ),
            piece(json!([shape]), true),
        ] {
            let _ = GENERATE_CONTENT.read(&body, &names());
            let mut stream = GENERATE_CONTENT.stream(&names());
            let _ = stream.push_event(start("save"));
            let _ = stream.push_event(body.clone());
            let _ = stream.push_event(shape.clone());
            let _ = stream.finish();
        }
    }
}
