//! An MCP server and its explorer as routes of an axum application.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use toolkit::{Dispatcher, catalog, tool};
use toolkit_explorer::{Explorer, RecentCalls};
use toolkit_mcp_server::Server;

/// Counts the words of a text.
#[tool(namespace = "text", version = "1.0.0", read_only)]
fn count_words(text: String) -> usize {
    text.split_whitespace().count()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let calls = RecentCalls::new();
    let dispatcher = Dispatcher::builder(catalog![count_words]?).layer(calls.clone()).build()?;
    // The paths are those that a browser uses.
    let explorer = Explorer::new("My tools").paths("/tools/explorer", "/tools/mcp").recent_calls(calls);
    let service = Server::new(dispatcher)?.http().route(explorer).into_service();
    let router = axum::Router::new()
        .route("/", axum::routing::get(|| async { "the application's own page" }))
        .route_service("/tools/mcp", service.clone())
        .route_service("/tools/explorer", service.clone())
        .route_service("/tools/explorer/{*path}", service);

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    println!("http://{address}/tools/explorer");
    let serving = tokio::spawn(async { axum::serve(listener, router).await });

    // A browser requests the page, whose scripts request the catalog.
    let mut page = String::new();
    for path in ["/tools/explorer", "/tools/explorer/catalog"] {
        let mut stream = TcpStream::connect(address).await?;
        let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        stream.read_to_string(&mut page).await?;
    }
    assert!(page.contains("<h1>My tools</h1>") && page.contains(r#""name":"text_count_words""#));

    serving.abort();
    Ok(())
}
