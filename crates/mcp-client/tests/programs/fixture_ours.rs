//! The server that `toolkit-mcp-server` is tested with.

#[path = "../../../mcp-server/tests/programs/fixture_mcp/main.rs"]
mod server;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    server::main()
}
