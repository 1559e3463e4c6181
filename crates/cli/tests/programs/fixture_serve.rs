//! The server that `toolkit-mcp-server` is tested with. `serve` and `call` are the commands of the command line of these
//! names.

use std::process::ExitCode;

#[path = "../../../mcp-server/tests/programs/fixture_mcp/main.rs"]
mod server;

fn main() -> ExitCode {
    // `serve --code` starts this program again for each program of a client.
    toolkit_code::worker::init();
    if std::env::args().nth(1).is_some_and(|command| command == "serve" || command == "call") {
        return toolkit_cli::main_with(|dispatcher| Ok(dispatcher.state(server::ItsServer::default())));
    }
    match server::main() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
