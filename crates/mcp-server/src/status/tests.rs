use serde_json::json;
use toolkit::call::ErrorKind;

use super::*;

/// Returns a backend with a different number in each field.
pub(crate) fn backend() -> ServedBackend {
    let mut calls = BackendCalls::default();
    (calls.n_running, calls.n_ended, calls.duration) = (1, 6, Duration::from_micros(1_234_567));
    calls.errors = vec![(ErrorKind::Failed, 1), (ErrorKind::TimedOut, 3)];
    calls.histogram = vec![(Duration::from_millis(5), 2), (Duration::from_secs(10), 4)];
    ServedBackend {
        name: "a\"b".to_owned(),
        kind: BackendKind::Mcp,
        state: BackendState::BackingOff,
        since: Some(UNIX_EPOCH + Duration::from_micros(1_500_400)),
        next_attempt: None,
        last_error: Some("lost".to_owned()),
        n_restarts: 7,
        n_tasks: 8,
        n_tools: 9,
        n_left_out: 10,
        reasons: vec!["why".to_owned()],
        calls,
    }
}

#[test]
fn the_status_of_a_backend_is_written_with_seconds_and_names() {
    let expected = json!({
        "name": "a\"b", "kind": "mcp", "state": "backing_off", "since": 1.5, "next_attempt": null, "last_error": "lost",
        "restarts": 7, "tasks": 8, "tools": 9, "left_out": 10, "left_out_reasons": ["why"],
        "calls": { "running": 1, "ended": 6, "errors": { "failed": 1, "timed_out": 3 }, "seconds": 1.235 },
    });
    assert_eq!(json!(backend()), expected);
    // A clock may be before 1970.
    let before = ServedBackend { since: Some(UNIX_EPOCH - Duration::from_secs(1)), ..backend() };
    assert_eq!(json!(before)["since"], 0.0);
}

#[test]
fn a_server_is_ready_when_all_backends_are_and_the_configuration_is_valid() {
    let status = |states: &[BackendState], errors: &[&str]| Status {
        n_tools: 0,
        list_at_most: 0,
        lists_search_tools: false,
        n_running: 0,
        n_tasks: 0,
        configuration_errors: errors.iter().map(ToString::to_string).collect(),
        backends: states.iter().map(|state| ServedBackend { state: *state, ..backend() }).collect(),
    };
    for (states, errors, expected) in [
        (&[][..], &[][..], true),
        (&[BackendState::Ready, BackendState::Ready], &[], true),
        (&[BackendState::Ready, BackendState::Connecting], &[], false),
        (&[BackendState::Disabled], &[], false),
        (&[BackendState::Ready], &["wrong"], false),
    ] {
        assert_eq!(status(states, errors).is_ready(), expected, "{states:?} {errors:?}");
    }
}
