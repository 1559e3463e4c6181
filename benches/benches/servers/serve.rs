//! The servers that are part of this program.

mod answer;
mod by_rmcp;
mod least;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use toolkit::{Dispatcher, tool};
use toolkit_mcp::server::Server;

/// Runs one of the servers until the process is killed, or its stdin ends.
pub(crate) fn serve(name: &str, transport: &str) {
    if name == "loop" {
        return least::lines();
    }
    if name == "loop-dispatcher" {
        return least::lines_with(&dispatcher());
    }
    // The same runtime as that of `#[tokio::main]`.
    Runtime::new().expect("a runtime").block_on(async {
        match (name, transport) {
            ("toolkit", "http") => over_http().await,
            ("toolkit", "pipe") => server().stdio().await.expect("the pipes hold"),
            ("rmcp", "http") => by_rmcp::over_http(by_rmcp::Adder::new).await,
            ("rmcp", "pipe") => by_rmcp::over_pipes(by_rmcp::Adder::new()).await,
            ("rmcp-cloned", "http") => {
                let adder = by_rmcp::Adder::new();
                by_rmcp::over_http(move || adder.clone()).await;
            }
            ("rmcp-bare", "http") => by_rmcp::over_http(|| by_rmcp::Bare).await,
            ("rmcp-bare", "pipe") => by_rmcp::over_pipes(by_rmcp::Bare).await,
            ("axum", "http") => least::axum().await,
            ("axum-dispatcher", "http") => least::axum_with(dispatcher()).await,
            ("socket", "http") => least::socket().await,
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

fn dispatcher() -> Dispatcher {
    Dispatcher::new(toolkit::catalog![add].expect("one tool")).expect("it borrows nothing")
}

fn server() -> Server {
    Server::new(dispatcher()).expect("its name is portable")
}

async fn over_http() {
    let listening = server().http().bind("127.0.0.1:0").await.expect("a port is free");
    println!("{}", listening.local_addr().expect("it has one"));
    listening.run(std::future::pending()).await;
}

/// Binds a listener and prints its address.
async fn listener() -> TcpListener {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    println!("{}", listener.local_addr().expect("it has one"));
    listener
}
