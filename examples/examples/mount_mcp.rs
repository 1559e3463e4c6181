//! An MCP server as a route of an axum application, and a client that calls one of its tools.

use serde_json::json;
use tokio::net::TcpListener;
use toolkit::{Catalog, Dispatcher, catalog, tool};
use toolkit_backends::Backends;
use toolkit_mcp_client::{Endpoint, McpBackend};
use toolkit_mcp_server::Server;

/// Counts the words of a text.
#[tool(namespace = "text", version = "1.0.0", read_only)]
fn count_words(text: String) -> usize {
    text.split_whitespace().count()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::new(Dispatcher::new(catalog![count_words]?)?)?;
    let router = axum::Router::new()
        .route("/", axum::routing::get(|| async { "the application's own page" }))
        .route_service("/mcp", server.http().into_service());

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let serving = tokio::spawn(async { axum::serve(listener, router).await });

    // Any other program: the tools of the server are a backend of its dispatcher.
    let backends = Backends::new();
    backends.register(McpBackend::http("remote", Endpoint::new(&url)?))?;
    let collected = backends.collect(Catalog::new([])?).await;
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build()?;
    let count = dispatcher.call("remote:text_count_words", json!({"text": "one two three"})).await?;
    println!("{}", count.value());
    assert_eq!(count.value(), 3);

    serving.abort();
    Ok(())
}
