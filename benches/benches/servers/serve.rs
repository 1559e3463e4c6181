//! The servers and clients that are part of this program.

mod answer;
mod by_rmcp;
mod least;
mod proxy;
mod search;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use toolkit::{Dispatcher, tool};
use toolkit_mcp_server::Server;

use crate::{clients, tools};

/// Runs one of the servers until the process is killed, or its stdin ends; or a client of the server at the address `tool`.
pub(crate) fn serve(name: &str, transport: &str, tool: &str) {
    if transport == "client" {
        return clients::call(name, tool);
    }
    let answered = answered(tool);
    if name == "loop" {
        return least::lines(answered);
    }
    if name == "loop-dispatcher" {
        return least::lines_with(&dispatcher());
    }
    // The same runtime as that of `#[tokio::main]`.
    Runtime::new().expect("a runtime").block_on(async {
        match (name, transport) {
            ("toolkit", "http") => over_http().await,
            ("proxy-to-pipes", "pipe") => proxy::to_pipes().await,
            ("proxy-to-http", "pipe") => proxy::to_http().await,
            ("toolkit", "pipe") => server().stdio().await.expect("the pipes hold"),
            ("rmcp", "http") => by_rmcp::over_http(by_rmcp::Tools::new).await,
            ("rmcp" | "rmcp-cloned", "pipe") => by_rmcp::over_pipes(by_rmcp::Tools::new()).await,
            ("rmcp-cloned", "http") => {
                let tools = by_rmcp::Tools::new();
                by_rmcp::over_http(move || tools.clone()).await;
            }
            ("rmcp-bare", "http") => by_rmcp::over_http(|| by_rmcp::Bare).await,
            ("rmcp-bare", "pipe") => by_rmcp::over_pipes(by_rmcp::Bare).await,
            ("axum", "http") => least::axum(answered).await,
            ("axum-dispatcher", "http") => least::axum_with(dispatcher()).await,
            ("socket", "http") => least::socket(answered).await,
            _ => panic!("there is no server `{name}` over {transport}"),
        }
    });
    std::process::exit(0);
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

/// Adds two integers.
#[tool(crate = ::toolkit)]
fn add(a: i64, b: i64) -> Sum {
    Sum { sum: a + b }
}

/// Writes the response to a call in the shortest way.
type Answered = fn(&[u8]) -> String;

fn answered(tool: &str) -> Answered {
    match tool {
        "add" => answer::answered,
        "search" => search::answered,
        _ => panic!("there is no tool `{tool}`"),
    }
}

fn dispatcher() -> Dispatcher {
    Dispatcher::new(toolkit::catalog![add, tools::search].expect("the names differ")).expect("it borrows nothing")
}

fn server() -> Server {
    Server::new(dispatcher()).expect("their names are portable")
}

async fn over_http() {
    let listening = server().http().bind("127.0.0.1:0").await.expect("a port is free");
    println!("{}", listening.local_addr().expect("it has one"));
    // Ends with the process that has started it.
    let is_over = async {
        let _ = tokio::io::stdin().read(&mut [0]).await;
    };
    listening.run(is_over).await;
}

/// Binds a listener and prints its address.
async fn listener() -> TcpListener {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    println!("{}", listener.local_addr().expect("it has one"));
    listener
}
