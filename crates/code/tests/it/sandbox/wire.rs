//! The protocol between hosts and workers.

use std::error::Error;

use serde_json::value::RawValue;
use toolkit_code::engine::Answer;
use toolkit_code::wire::{self, Hello, Ready, ToHost, ToWorker, WireError};
use toolkit_code::{Limits, Program};

#[test]
fn a_message_is_one_line_whatever_its_results_contain() {
    let result = RawValue::from_string("{\n  \"a\": \"\\n\"\n}".to_owned()).unwrap();
    let answer = Answer { id: 1, at: 0, outcome: Ok(result), content: None };
    let line = wire::encode(&ToWorker::Resume(vec![answer]), 1000).unwrap();
    assert_eq!(line.iter().filter(|&&byte| byte == b'\n').count(), 1);
    let ToWorker::Resume(answers) = wire::decode(&line).unwrap() else { panic!() };
    let value: serde_json::Value = serde_json::from_str(answers[0].outcome.as_ref().unwrap().get()).unwrap();
    assert_eq!(value, serde_json::json!({ "a": "\n" }));
}

#[test]
fn a_line_has_at_most_the_maximum_with_its_end() {
    let message = ToHost::Error("reason".to_owned());
    let line = wire::encode(&message, 1000).unwrap();
    assert_eq!(wire::encode(&message, line.len()).unwrap(), line);
    let error = wire::encode(&message, line.len() - 1).unwrap_err();
    assert!(matches!(error, WireError::TooLong(max) if max == line.len() - 1), "{error:?}");
}

#[test]
fn the_maximum_holds_the_largest_program_result_and_output() {
    let limits = Limits::default();
    let code = "\u{1}".repeat(limits.code_bytes as usize);
    let start = ToWorker::Start(Box::new(Program::javascript(code)));
    assert!(wire::encode(&start, wire::max_line(&limits)).is_ok());
    let text = serde_json::to_string(&"a".repeat(limits.message_bytes as usize - 2)).unwrap();
    let (result, content) = (RawValue::from_string(text.clone()).unwrap(), RawValue::from_string(text).unwrap());
    let answer = Answer { id: 1, at: 0, outcome: Ok(result), content: Some(content) };
    assert!(wire::encode(&ToWorker::Resume(vec![answer]), wire::max_line(&limits)).is_ok());
    // Limits without a limit are no overflow.
    assert!(wire::max_line(&limits.message_bytes(u64::MAX)) > 1 << 30);
}

#[test]
fn another_version_is_an_error_whatever_else_changes() {
    for line in [r#"{"hello":{"version":2,"bounds":[]}}"#, r#"{"ready":{"version":2}}"#] {
        let error = wire::check_version(line.as_bytes()).unwrap_err();
        assert!(matches!(error, WireError::Version(2)), "{line}: {error:?}");
    }
    for message in [
        wire::encode(&ToWorker::Hello(Hello::new(Limits::default())), 10_000),
        wire::encode(&ToHost::Ready(Ready::new(Default::default())), 1000),
    ] {
        wire::check_version(&message.unwrap()).unwrap();
    }
}

#[test]
fn anything_else_is_an_error() {
    for line in
        ["", "null", "{}", "[]", r#"{"step":{}}"#, r#"{"hello":{}}"#, "\u{feff}{}", r#"{"hello":{"version":-1}}"#]
    {
        assert!(wire::check_version(line.as_bytes()).is_err(), "{line}");
    }
    for line in
        ["", "{}", r#"{"start":{}}"#, r#"{"resume":{}}"#, r#"{"resume":[{"id":1}]}"#, r#"{"start":1,"resume":[]}"#]
    {
        let error = wire::decode::<ToWorker>(line.as_bytes()).unwrap_err();
        let cause = error.source().and_then(|cause| cause.downcast_ref::<serde_json::Error>());
        assert_eq!(error.to_string(), format!("invalid message: {}", cause.unwrap()), "{line}");
    }
    let nested = format!(r#"{{"resume":[{{"id":1,"at":0,"outcome":{{"Ok":{}}}}}]}}"#, "[".repeat(1_000_000));
    assert!(wire::decode::<ToWorker>(nested.as_bytes()).is_err());
}
