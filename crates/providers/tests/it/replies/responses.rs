//! Replies of OpenAI's Responses.

use std::error::Error as _;

use serde_json::{Value, json};
use toolkit::call::Coercion;
use toolkit::catalog::{ExportedNames, Naming};
use toolkit::{Content, Context, Dispatcher, catalog, tool};
use toolkit_providers::openai::{Options, RESPONSES, tools};
use toolkit_providers::reply::{Reply, ReplyEvent, StopReason};

/// Adds two numbers.
#[tool(namespace = "math")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Says hello.
#[tool]
fn greet(name: String, title: Option<String>) -> String {
    format!("Hello, {}{name}!", title.map_or_else(String::new, |title| title + " "))
}

/// Echoes a text.
#[tool]
fn shout(text: String) -> String {
    text.to_uppercase()
}

/// Draws a dot.
#[tool]
fn dot() -> Vec<Content> {
    vec![Content::text("a dot"), Content::image(b"\x89PNG", "image/png"), Content::audio(b"RIFF", "audio/wav")]
}

fn dispatcher() -> Dispatcher {
    Dispatcher::new(catalog![add, greet, shout, dot].unwrap()).unwrap()
}

fn names(options: Options) -> ExportedNames {
    tools(dispatcher().catalog(), Naming::default(), options).unwrap().names
}

fn read(output: Value, names: &ExportedNames) -> Reply {
    RESPONSES.read(json!({ "id": "resp_1", "status": "completed", "output": output }), names).unwrap()
}

fn results(reply: &Reply) -> Vec<Value> {
    reply.run_sync(&dispatcher(), &Context::new()).messages().unwrap()
}

fn call(name: &str, arguments: &str) -> Value {
    json!({ "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name, "arguments": arguments })
}

#[test]
fn a_call_is_answered_after_everything_that_the_reply_contains() {
    let output = json!([
        { "type": "reasoning", "id": "rs_1", "summary": [{ "type": "summary_text", "text": "Sum." }],
          "encrypted_content": "gAAA" },
        { "type": "web_search_call", "id": "ws_1", "status": "completed" },
        { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Adding." }] },
        call("math_add", r#"{"a": 1, "b": 2}"#),
        { "type": "something_new", "call_id": "x" },
    ]);
    let reply = read(output.clone(), &names(Options::responses()));
    assert_eq!(Value::from(reply.messages()), output);
    assert_eq!((reply.text(), reply.reasoning()), ("Adding.", "Sum."));
    assert_eq!(reply.stop_reason(), &StopReason::ToolCalls);
    assert_eq!((&*reply.provider_calls()[0].kind, reply.provider_calls()[0].needs_result), ("web_search_call", false));
    assert_eq!(results(&reply), [json!({ "type": "function_call_output", "call_id": "call_1", "output": "3" })]);
    assert_eq!(reply.metadata(), &json!({ "id": "resp_1", "status": "completed" }));
}

#[test]
fn names_in_a_namespace_are_found_with_it_and_alone_only_if_they_were_exported_alone() {
    let names = names(Options::responses().namespaced().deferred());
    let namespaced = |namespace: &str, name: &str| {
        let mut call = call(name, r#"{"a": 1, "b": 2, "name": "Ada"}"#);
        call["namespace"] = namespace.into();
        read(json!([call]), &names).calls()[0].tool.as_ref().map(ToString::to_string)
    };
    assert_eq!(namespaced("math", "add").as_deref(), Some("math:add"));
    assert_eq!(namespaced("greet", "greet").as_deref(), Some("greet"), "as a deferred function is called");
    assert_eq!(namespaced("", "functions.greet").as_deref(), Some("greet"));
    assert_eq!(namespaced("", "add"), None);
    assert_eq!(namespaced("math", "greet"), None);
}

#[test]
fn nulls_of_strict_mode_are_absent_even_without_coercion() {
    let names = names(Options::responses().strict());
    let reply = read(json!([call("greet", r#"{"name": "Ada", "title": null}"#)]), &names);
    let strict = Dispatcher::builder(catalog![greet].unwrap()).coercion(Coercion::Off).build().unwrap();
    let results = reply.run_sync(&strict, &Context::new()).messages().unwrap();
    assert_eq!(results[0]["output"], "Hello, Ada!");
}

#[test]
fn invalid_arguments_are_an_error_that_the_model_can_read() {
    let names = names(Options::responses());
    let output = |arguments: &str| {
        let other = call("greet", r#"{"name": "Ada"}"#);
        results(&read(json!([call("math_add", arguments), other]), &names))[0]["output"].as_str().unwrap().to_owned()
    };
    let wrong = output(r#"{"a": "x"}"#);
    assert!(wrong.starts_with("error: the arguments do not match the schema"), "{wrong}");
    assert!(wrong.contains("/a must be an integer") && wrong.contains("/b is required"), "{wrong}");
    assert!(output(r#"{"a": 1,}"#).starts_with("error: "), "{}", output(r#"{"a": 1,}"#));
    assert!(output(r#"{"a": 1, "a": 2, "b": 3}"#).starts_with("error: "));
    assert_eq!(output(r#""{\"a\": 1, \"b\": 2}""#), "3", "some servers encode twice");
}

#[test]
fn images_and_files_are_content_and_the_rest_is_a_note() {
    let results = results(&read(json!([call("dot", "")]), &names(Options::responses())));
    assert_eq!(
        results[0]["output"],
        json!([
            { "type": "input_text", "text": "a dot" },
            { "type": "input_image", "image_url": "data:image/png;base64,iVBORw==" },
            { "type": "input_text", "text": "[audio, audio/wav, 6 bytes: not shown]" },
        ])
    );
}

#[test]
fn a_wrapped_call_of_several_tools_has_one_result() {
    let uses = json!({ "tool_uses": [
        { "recipient_name": "functions.math_add", "parameters": { "a": 1, "b": 2 } },
        { "recipient_name": "functions.greet", "parameters": {} },
    ] });
    let names = names(Options::responses());
    let reply = read(json!([call("multi_tool_use.parallel", &uses.to_string())]), &names);
    assert_eq!(reply.calls().len(), 2);
    let results = results(&reply);
    assert_eq!((results.len(), &results[0]["call_id"]), (1, &json!("call_1")));
    let output: Vec<String> = serde_json::from_str(results[0]["output"].as_str().unwrap()).unwrap();
    assert_eq!(output[0], "3");
    assert!(output[1].starts_with("error: the arguments do not match"), "{output:?}");

    let unknown = json!({ "tool_uses": [{ "recipient_name": "functions.rm", "parameters": {} }] });
    let reply = read(json!([call("parallel", &unknown.to_string())]), &names);
    assert_eq!((reply.calls().len(), &reply.calls()[0].tool), (1, &None));
}

#[test]
fn calls_that_only_the_host_can_make_must_be_answered_by_it() {
    let names = names(Options::responses());
    let output = json!([
        call("greet", r#"{"name": "Ada"}"#),
        { "type": "computer_call", "id": "cu_1", "call_id": "call_2", "action": { "type": "screenshot" } },
        { "type": "shell_call", "call_id": "call_3" },
        { "type": "shell_call_output", "call_id": "call_3" },
    ]);
    let reply = read(output, &names);
    let needs: Vec<bool> = reply.provider_calls().iter().map(|call| call.needs_result).collect();
    assert_eq!(needs, [true, false], "the second has run at OpenAI");
    let mut results = reply.run_sync(&dispatcher(), &Context::new());
    assert_eq!(
        results.messages().unwrap_err().to_string(),
        "the call `computer_call` (call_2) has no result; pass one to `ToolResults::set_host_result`"
    );
    let screenshot = json!({ "type": "computer_call_output", "call_id": "call_2", "output": {} });
    assert!(results.set_host_result("call_2", screenshot.clone()));
    assert!(!results.set_host_result("call_3", screenshot.clone()));
    assert_eq!(results.messages().unwrap()[1], screenshot);
}

#[test]
fn a_call_by_a_program_runs_while_it_is_in_progress_and_its_caller_is_repeated() {
    let mut item = call("math_add", r#"{"a": 1, "b": 2}"#);
    item["status"] = "in_progress".into();
    item["caller"] = json!({ "type": "program", "caller_id": "call_p" });
    let results = results(&read(json!([item]), &names(Options::responses())));
    assert_eq!(results[0]["caller"], json!({ "type": "program", "caller_id": "call_p" }));
    assert_eq!(results[0]["output"], "3");
}

#[test]
fn text_of_a_custom_tool_is_the_only_parameter() {
    let item = json!({ "type": "custom_tool_call", "call_id": "c", "name": "shout", "input": "{not json" });
    let reply = read(json!([item]), &names(Options::responses()));
    assert_eq!(results(&reply), [json!({ "type": "custom_tool_call_output", "call_id": "c", "output": "{NOT JSON" })]);
}

#[test]
fn no_call_of_an_incomplete_reply_runs_and_each_is_answered() {
    let names = names(Options::responses());
    let body = json!({ "status": "incomplete", "incomplete_details": { "reason": "max_output_tokens" }, "output": [
        call("math_add", r#"{"a": 1, "b": 2}"#),
        { "type": "function_call", "call_id": "call_2", "name": "greet", "arguments": "{\"na", "status": "incomplete" },
    ] });
    let reply = RESPONSES.read(body, &names).unwrap();
    assert_eq!(reply.stop_reason(), &StopReason::Truncated);
    let results = results(&reply);
    assert_eq!(results.len(), 2);
    for result in results {
        assert!(result["output"].as_str().unwrap().starts_with("error: the reply ended before"), "{result}");
    }
    let reply = read(json!([call("greet", r#"{"na"#)]), &names);
    assert_eq!(reply.stop_reason(), &StopReason::Truncated, "the arguments show it, whatever the status says");
}

#[test]
fn a_stream_is_the_same_reply_as_the_whole_at_every_cut() {
    let names = names(Options::responses());
    let item = |status: &str, arguments: &str| {
        let mut item = call("math_add", arguments);
        item["status"] = status.into();
        item
    };
    let message = json!({ "type": "message", "id": "msg_1", "role": "assistant",
        "content": [{ "type": "output_text", "text": "Größe" }] });
    let arguments = r#"{"a": 1, "b": 2}"#;
    let whole = json!({ "id": "resp_1", "status": "completed", "output": [message, item("completed", arguments)] });
    let events = [
        json!({ "type": "response.created", "response": { "id": "resp_1", "status": "in_progress", "output": [] } }),
        json!({ "type": "response.output_item.added", "output_index": 0,
            "item": { "type": "message", "id": "msg_1", "role": "assistant", "content": [] } }),
        json!({ "type": "response.output_text.delta", "output_index": 0, "delta": "Größe" }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": message }),
        json!({ "type": "response.output_item.added", "output_index": 1, "item": item("in_progress", "") }),
        json!({ "type": "response.function_call_arguments.delta", "item_id": "other", "output_index": 1,
            "delta": &arguments[..5] }),
        json!({ "type": "response.function_call_arguments.delta", "output_index": 1, "delta": &arguments[5..] }),
        json!({ "type": "response.unheard_of", "output_index": 7 }),
        json!({ "type": "response.output_item.done", "output_index": 1, "item": item("completed", arguments) }),
        json!({ "type": "response.completed", "response": { "id": "resp_1", "status": "completed", "output": [] } }),
    ];
    let stream: String = events.iter().map(|event| format!(": comment\ndata: {event}\n\n")).collect();
    let stream = stream + "data: [DONE]\n\n";
    let whole = RESPONSES.read(whole, &names).unwrap();
    for cut in 0..=stream.len() {
        let mut reader = RESPONSES.stream(&names);
        let mut seen = reader.push(&stream.as_bytes()[..cut]).unwrap();
        seen.extend(reader.push(&stream.as_bytes()[cut..]).unwrap());
        let reply = reader.finish().unwrap();
        assert_eq!((reply.messages(), reply.calls()), (whole.messages(), whole.calls()), "{cut}");
        assert_eq!((reply.stop_reason(), reply.text()), (whole.stop_reason(), "Größe"));
        assert_eq!(seen[0], ReplyEvent::Text("Größe".to_owned()));
        assert_eq!(seen[1], ReplyEvent::CallStarted { index: 0, name: "math_add".to_owned() });
        assert_eq!(seen.len(), 4);
    }
    for cut in events.iter().take(9).scan(0, |sum, event| {
        *sum += format!(": comment\ndata: {event}\n\n").len();
        Some(*sum)
    }) {
        let mut reader = RESPONSES.stream(&names);
        reader.push(&stream.as_bytes()[..cut]).unwrap();
        assert_eq!(reader.finish().unwrap().stop_reason(), &StopReason::Truncated, "{cut}");
    }
}

#[test]
fn an_error_in_place_of_a_reply_is_reported_with_its_message() {
    let names = names(Options::responses());
    let error = json!({ "error": { "message": "You exceeded your current quota.", "type": "insufficient_quota" } });
    assert_eq!(
        RESPONSES.read(error, &names).unwrap_err().to_string(),
        "not a reply of OpenAI Responses: the provider reports: You exceeded your current quota."
    );
    let other = json!({ "choices": [] });
    assert_eq!(
        RESPONSES.read(other, &names).unwrap_err().to_string(),
        "not a reply of OpenAI Responses: it has no `output`; it looks like a reply of OpenAI Chat Completions"
    );
    let html = "<html>Bad gateway</html>";
    let error = RESPONSES.read(html, &names).unwrap_err();
    assert!(error.to_string().contains("the body is not JSON"), "{error}");
    assert!(error.source().is_some_and(|cause| cause.is::<serde_json::Error>()));
}

#[test]
fn an_id_that_is_longer_than_a_request_accepts_is_replaced_in_the_call_and_its_result() {
    let long = "x".repeat(65);
    let mut call = call("math_add", r#"{"a": 1, "b": 2}"#);
    (call["id"], call["call_id"]) = (json!(long), json!(long));
    let reply = read(json!([call]), &names(Options::responses()));
    let (repeated, result) = (&reply.messages()[0], &results(&reply)[0]);
    let id = repeated["call_id"].as_str().unwrap();
    assert!(id.len() <= 64 && repeated.get("id").is_none(), "{repeated}");
    assert_eq!((&result["call_id"], &result["output"]), (&json!(id), &json!("3")));
}
