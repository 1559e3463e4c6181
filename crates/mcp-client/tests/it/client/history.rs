//! The status of a server, which operators see.

use serde_json::json;
use toolkit::backend::{Backend, BackendState, BackendStatus};
use toolkit_mcp_client::{Endpoint, McpBackend, Program};

use super::{call, call_restarted, dispatcher, in_the_end, peer, until};

#[tokio::test]
async fn the_status_of_a_process_follows_its_connection() {
    let backend = peer(&["usual"]);
    assert_eq!(backend.status(), BackendStatus::new(BackendState::Idle));
    let dispatcher = dispatcher(&backend).await;
    let ready = backend.status();
    assert_eq!((ready.state, ready.n_restarts), (BackendState::Ready, 0));
    assert_eq!((&ready.last_error, ready.next_attempt), (&None, None));
    assert!(ready.since.is_some());

    call(&dispatcher, "peer:die", json!({})).await.unwrap_err();
    until(async || backend.status().state != BackendState::Ready).await;
    let lost = backend.status();
    assert_eq!((lost.state, lost.n_restarts), (BackendState::BackingOff, 0));
    assert_eq!(lost.last_error.as_deref(), Some("the connection was lost: it ended (exit status: 7)"));
    assert!(lost.since > ready.since);

    call_restarted(&dispatcher, "peer:pid", json!({})).await.unwrap();
    let again = backend.status();
    assert_eq!((again.state, again.n_restarts, again.next_attempt), (BackendState::Ready, 1, None));
    assert_eq!(again.last_error, lost.last_error, "the last error stays");
    assert!(again.since > lost.since);

    in_the_end(backend.stop()).await.unwrap();
    let stopped = backend.status();
    assert_eq!((stopped.state, stopped.next_attempt), (BackendState::Stopped, None));
}

#[tokio::test]
async fn further_attempts_keep_the_time_since_which_a_server_is_unreachable() {
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let http = || McpBackend::http("gone", Endpoint::new(&format!("http://{address}/mcp")).unwrap());
    let process = || McpBackend::stdio("gone", Program::new("sh").args(["-c", "exit 3"]));
    // Each start of a process counts, and only the connections to an address that were established.
    for (backend, n_restarts) in [(process(), 1), (http(), 0)] {
        let error = in_the_end(backend.start()).await.unwrap_err();
        let first = backend.status();
        assert_eq!((first.state, first.n_restarts), (BackendState::BackingOff, 0));
        assert_eq!(first.last_error.as_deref(), Some(error.message()));
        assert!(first.since.is_some() && first.next_attempt > first.since, "{first:?}");
        in_the_end(backend.start()).await.unwrap_err();
        let second = backend.status();
        assert_eq!((second.state, second.n_restarts), (BackendState::BackingOff, n_restarts));
        assert_eq!(second.since, first.since);
    }
}
