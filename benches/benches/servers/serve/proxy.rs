//! The server of this program behind a proxy, which is reached over pipes.

use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use toolkit::{Catalog, Dispatcher};
use toolkit_backends::Backends;
use toolkit_mcp_client::{Endpoint, McpBackend, Program};
use toolkit_mcp_server::{Proxy, Server};

/// Passes calls on to a process over its pipes.
pub(super) async fn to_pipes() {
    let program = std::env::current_exe().expect("the program is a file");
    run(McpBackend::stdio("bench", Program::new(program).args(["serve", "toolkit", "pipe", "add"]))).await;
}

/// Passes calls on to a process over HTTP.
pub(super) async fn to_http() {
    let mut command = Command::new(std::env::current_exe().expect("the program is a file"));
    command.args(["serve", "toolkit", "http", "add"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    // It ends with its stdin, so also when this process is killed.
    let mut server = command.spawn().expect("this program starts");
    let mut address = String::new();
    let output = server.stdout.take().expect("stdout is a pipe");
    BufReader::new(output).read_line(&mut address).await.expect("the server says where it is");
    let endpoint = Endpoint::new(&format!("http://{}/mcp", address.trim())).expect("it is an address");
    run(McpBackend::http("bench", endpoint)).await;
}

async fn run(backend: McpBackend) {
    let backends = Backends::new();
    backends.register(backend.prefix(false)).expect("it is the only one");
    let dispatcher = Dispatcher::new(Catalog::new([]).expect("it is empty")).expect("it borrows nothing");
    let server = Server::new(dispatcher).expect("there are no names");
    Proxy::new(server.clone(), backends).collect().await;
    server.stdio().await.expect("the pipes hold");
}
