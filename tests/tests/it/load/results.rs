//! Tools with results beyond the limit.

use serde_json::json;

use super::server::BOTH;
use super::*;

#[test]
fn a_result_beyond_the_limit_is_an_error_with_the_limit() {
    for protocol in BOTH {
        // Processing so much takes a while without optimization.
        let server = Server::start(protocol, "call_timeout=3600");
        let answer = server.call("text", json!({ "n_bytes": 200 << 20 }));
        assert!(answer.text.contains("16777216"), "{:.500}", answer.text);
        assert!(answer.text.len() < 4096);
        assert!(server.peak() < MAX_RESIDENT, "{} MiB", server.peak());
        server.assert_serves();
    }
}
