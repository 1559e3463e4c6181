//! The defective server that `toolkit-mcp-client` is tested with.

#[path = "../../../mcp-client/tests/programs/fixture_peer.rs"]
mod peer;

fn main() {
    peer::main();
}
