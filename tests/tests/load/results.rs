//! Tools that return more than anybody reads.

use serde_json::json;

use super::server::BOTH;
use super::*;

#[test]
fn a_result_beyond_the_limit_is_an_error_that_names_it() {
    for protocol in BOTH {
        let server = Server::start(protocol, "");
        let answer = server.call("text", json!({ "n_bytes": 200 << 20 }));
        assert!(answer.text.contains("16777216"), "{:.500}", answer.text);
        assert!(answer.text.len() < 4096);
        assert!(server.peak() < MAX_RESIDENT, "{} MiB", server.peak());
        server.assert_serves();
    }
}
