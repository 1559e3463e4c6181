use std::sync::Arc;

use serde_json::{Value, json};
use toolkit::Context;
use toolkit::call::LogLevel;
use toolkit_runtime::Mutex;

use super::{CallLog, LogLevels, MAX_BYTES, MAX_PER_SECOND, MAX_SESSIONS};

#[test]
fn made_up_sessions_evict_only_those_of_their_caller() {
    let levels = LogLevels::default();
    levels.set(Some("ann"), "real", LogLevel::Info);
    for idx in 0..2 * MAX_SESSIONS {
        levels.set(Some("bob"), &format!("made up {idx}"), LogLevel::Debug);
    }
    assert_eq!(levels.get("real"), Some(LogLevel::Info));
    assert_eq!(levels.get("made up 0"), None);
    assert_eq!(levels.0.lock().by_session.len(), MAX_SESSIONS);
    levels.end("real");
    assert_eq!(levels.get("real"), None);
}

#[test]
fn a_session_has_its_last_level_until_it_ends() {
    let levels = LogLevels::default();
    for level in [LogLevel::Info, LogLevel::Error] {
        levels.set(None, "one", level);
        levels.set(None, "other", LogLevel::Debug);
        assert_eq!(levels.get("one"), Some(level));
    }
    levels.end("one");
    levels.end("unknown");
    assert_eq!((levels.get("one"), levels.get("other")), (None, Some(LogLevel::Debug)));
    assert_eq!(levels.0.lock().of_caller[&None].len(), 1);
    levels.end("other");
    assert!(levels.0.lock().of_caller.is_empty());
}

#[test]
fn a_call_logs_a_number_of_messages_in_a_second_and_of_each_a_number_of_bytes() {
    let (log, sent) = (Arc::new(CallLog::new("tool")), Arc::new(Mutex::new(None)));
    let listener = (Arc::clone(&log), Arc::clone(&sent));
    let context = Context::new().on_log(LogLevel::Debug, move |message| {
        let (log, sent) = &listener;
        *sent.lock() = log.notification(&message);
    });
    let message = |data: Value, logger: Option<&str>| {
        match logger {
            Some(logger) => context.forward_log(LogLevel::Warning, logger, data),
            None => context.log(LogLevel::Warning, data),
        }
        let bytes = sent.lock().take()?;
        Some(serde_json::from_slice::<Value>(&bytes).unwrap()["params"].take())
    };
    let expected = json!({ "level": "warning", "logger": "tool", "data": { "a": 1 } });
    assert_eq!(message(json!({ "a": 1 }), None), Some(expected));
    assert_eq!(message(json!(1), Some("part")).unwrap()["logger"], "part");
    // A text has two quotation marks.
    let longest = json!("x".repeat(MAX_BYTES - 2));
    assert_eq!(message(longest.clone(), None).unwrap()["data"], longest);
    let omitted = message(json!("x".repeat(MAX_BYTES - 1)), None).unwrap();
    assert_eq!(omitted["data"], format!("a log message of {} bytes is omitted", MAX_BYTES + 1));
    let n_more = std::iter::from_fn(|| message(json!(1), None)).take(1000).count();
    assert_eq!(n_more, MAX_PER_SECOND as usize - 4);
    log.second.lock().0 -= std::time::Duration::from_secs(1);
    assert!(message(json!(1), None).is_some());
}
