//! Decisions whether to send a request again, and when.

use std::time::Duration;

use serde_json::json;
use toolkit::catalog::ExportedNames;
use toolkit_providers::anthropic::MESSAGES;
use toolkit_providers::gemini::GENERATE_CONTENT;
use toolkit_providers::reply::Reply;
use toolkit_providers::request::RequestRetry;

fn none(_: &str) -> Option<&'static str> {
    None
}

#[test]
fn overloads_and_temporary_failures_are_sent_again() {
    for status in [408, 409, 429, 500, 502, 503, 504, 529] {
        assert!(RequestRetry::new(1).after_response(status, none).is_some(), "{status}");
    }
    for status in [200, 301, 400, 401, 403, 404, 413, 422] {
        assert_eq!(RequestRetry::new(1).after_response(status, none), None, "{status}");
    }
    let stated = |value| move |name: &str| (name == "x-should-retry").then_some(value);
    assert_eq!(RequestRetry::new(1).after_response(503, stated("false")), None);
    assert!(RequestRetry::new(1).after_response(400, stated("true")).is_some());
    assert_eq!(RequestRetry::new(1).after_response(200, stated("true")), None);
}

#[test]
fn the_time_is_that_of_the_server_and_grows_otherwise() {
    let after = |name: &'static str, value: &'static str| {
        RequestRetry::new(1).after_response(429, move |asked: &str| (asked == name).then_some(value))
    };
    assert_eq!(after("retry-after", "20"), Some(Duration::from_secs(20)));
    assert_eq!(after("retry-after-ms", "1500"), Some(Duration::from_millis(1500)));
    // A program that waits for hours is not what its user expects.
    assert_eq!(after("retry-after", "3600"), None);
    for unreadable in ["soon", "-1", "1e300", "NaN"] {
        assert!(after("retry-after-ms", unreadable).is_some_and(|time| time < Duration::from_secs(1)), "{unreadable}");
    }

    let mut retry = RequestRetry::new(8);
    let mut longest = Duration::from_millis(500);
    for _ in 0..8 {
        let time = retry.after_failure().unwrap();
        assert!(longest.mul_f64(0.75) <= time && time <= longest, "{time:?} of {longest:?}");
        longest = (longest * 2).min(Duration::from_secs(8));
    }
    assert_eq!(retry.after_failure(), None);
}

fn anthropic(reason: &str) -> Reply {
    MESSAGES.read(json!({ "content": [], "stop_reason": reason }), &ExportedNames::default()).unwrap()
}

#[test]
fn a_reply_that_ends_early_is_sent_again_and_one_at_its_limit_is_not() {
    let mut stream = MESSAGES.stream(&ExportedNames::default());
    stream.push_event(json!({ "type": "message_start", "message": { "role": "assistant" } })).unwrap();
    let cut = stream.finish().unwrap();
    assert!(RequestRetry::new(1).after_reply(&cut).is_some());
    assert_eq!(RequestRetry::new(1).after_reply(&anthropic("max_tokens")), None);
    assert_eq!(RequestRetry::new(1).after_reply(&anthropic("refusal")), None);

    let mut stream = MESSAGES.stream(&ExportedNames::default());
    stream.push_event(json!({ "type": "message_start", "message": { "role": "assistant" } })).unwrap();
    stream.push_event(json!({ "type": "error", "error": { "type": "overloaded_error", "message": "busy" } })).unwrap();
    assert!(RequestRetry::new(1).after_reply(&stream.finish().unwrap()).is_some());
}

#[test]
fn a_malformed_call_is_sent_again_once_and_at_once() {
    let body = json!({ "candidates": [{ "finishReason": "MALFORMED_FUNCTION_CALL" }] });
    let reply = GENERATE_CONTENT.read(body, &ExportedNames::default()).unwrap();
    let mut retry = RequestRetry::new(5);
    assert_eq!(retry.after_reply(&reply), Some(Duration::ZERO));
    assert_eq!(retry.after_reply(&reply), None);
}

#[test]
fn a_reply_that_can_be_used_starts_the_count_again() {
    let mut retry = RequestRetry::new(1);
    assert!(retry.after_response(529, none).is_some());
    assert_eq!(retry.after_reply(&anthropic("end_turn")), None);
    assert!(retry.after_response(529, none).is_some());
    assert_eq!(retry.after_response(529, none), None);
}
