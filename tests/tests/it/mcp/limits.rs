//! Limits of a server of this crate behind `serve --proxy`.

use serde_json::{Value, json};

use super::operated::{Operated, until};

/// A proxy for a server of this crate with these flags.
fn behind(flags: &[&str], settings: &Value) -> (Operated, Operated) {
    let server = Operated::new(&json!({}), flags);
    let remote = json!({ "url": format!("http://{}/mcp", server.address), "toolkit": settings });
    (Operated::new(&json!({ "remote": remote }), &[]), server)
}

#[test]
fn calls_beyond_the_rate_of_our_server_end_with_the_reason() {
    for rate in ["1", "10"] {
        let (proxy, _server) = behind(&["--rate", rate], &json!({ "timeout": "50s" }));
        until(|| proxy.names().iter().any(|name| name == "remote_math_add"));
        let results: Vec<Value> = std::thread::scope(|scope| {
            let add = || proxy.call("remote_math_add", &json!({ "a": 1, "b": 2 }));
            let calls: Vec<_> = (0..40).map(|_| scope.spawn(add)).collect();
            calls.into_iter().map(|call| call.join().unwrap()).collect()
        });
        let (rejected, ended): (Vec<&Value>, Vec<&Value>) =
            results.iter().partition(|result| result["isError"] == true);
        assert!(!rejected.is_empty(), "{results:?}");
        assert!(rate == "1" || !ended.is_empty(), "{results:?}");
        for result in rejected {
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(text.contains("429 (retry after 1s): rate limit reached; try again later"), "{text}");
        }
        until(|| proxy.call("remote_math_add", &json!({ "a": 1, "b": 2 }))["isError"] != true);
        assert_eq!(proxy.backend("remote")["state"], "ready");
    }
}
