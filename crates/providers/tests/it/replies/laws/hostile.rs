//! Replies of unusual size and depth: each is read in bounded time, and each call has a result.

use serde_json::json;
use toolkit::Context;
use toolkit::call::ErrorKind;
use toolkit::catalog::ExportedNames;
use toolkit_providers::anthropic::MESSAGES;
use toolkit_providers::openai::RESPONSES;

use super::{APIS, Call, dispatcher};

fn call(id: &str, name: &str, arguments: serde_json::Value) -> Call {
    Call { id: id.to_owned(), name: name.to_owned(), arguments }
}

#[test]
fn ten_thousand_calls_with_one_id_have_ten_thousand_results() {
    let (dispatcher, names) = dispatcher();
    let calls = vec![call("same", "unknown", json!({ "n": 1 })); 10_000];
    for checked in APIS {
        let reply = checked.api.read((checked.reply)(&calls), &names).unwrap();
        let results = reply.run_sync(&dispatcher, &Context::new());
        let mut messages = reply.messages().to_vec();
        messages.extend(results.messages().unwrap());
        assert_eq!((checked.check)(&calls, &messages), Ok(()), "{}", checked.api);
    }
}

#[test]
fn arguments_beyond_the_limit_are_answered_with_a_short_error() {
    let (dispatcher, names) = dispatcher();
    let calls = [call("long", "good", json!({ "n": "x".repeat(17 << 20) })), call("short", "good", json!({ "n": 1 }))];
    for checked in APIS {
        let reply = checked.api.read((checked.reply)(&calls), &names).unwrap();
        let results = reply.run_sync(&dispatcher, &Context::new());
        let kinds: Vec<Option<ErrorKind>> =
            results.iter().map(|(_, result)| result.as_ref().err().map(|error| error.kind())).collect();
        assert_eq!(kinds, [Some(ErrorKind::TooLarge), None], "{}", checked.api);
        assert!(serde_json::to_vec(&results.messages().unwrap()).unwrap().len() < 2000, "{}", checked.api);
    }
}

#[test]
fn deeply_nested_arguments_are_an_error() {
    let (dispatcher, names) = dispatcher();
    let deep = format!("{{\"n\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let call = json!({ "type": "function_call", "call_id": "c", "name": "good", "arguments": deep });
    let reply = RESPONSES.read(json!({ "output": [call] }), &names).unwrap();
    let results = reply.run_sync(&dispatcher, &Context::new());
    let (_, result) = results.iter().next().unwrap();
    assert_eq!(result.as_ref().unwrap_err().kind(), ErrorKind::MalformedJson);

    // Where arguments are part of the reply, the reply cannot be read.
    let body = format!(r#"{{"content": [{{"type": "tool_use", "id": "t", "name": "good", "input": {deep}}}]}}"#);
    let error = MESSAGES.read(&body, &names).unwrap_err().to_string();
    assert!(error.contains("recursion limit"), "{error}");
}

#[test]
fn a_stream_beyond_its_limit_is_an_error() {
    for checked in APIS {
        let mut stream = checked.api.stream(&ExportedNames::default()).max_bytes(1000);
        let pushed: Result<Vec<_>, _> = (0..100).map(|_| stream.push(&[b'\n'; 20])).collect();
        assert!(pushed.unwrap_err().to_string().ends_with("the stream has more than 1000 bytes"));
    }
}
