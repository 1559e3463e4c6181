//! An MCP server in an axum application that has a login: the application's middleware finds the user, and tools read it.

use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tokio::net::TcpListener;
use toolkit::{Catalog, Context, Dispatcher, ToolError, catalog, tool};
use toolkit_backends::Backends;
use toolkit_mcp_client::{Endpoint, McpBackend};
use toolkit_mcp_server::Server;

/// The user of a request.
#[derive(Clone)]
struct UserId(u64);

/// Lists the orders of the user.
#[tool(namespace = "orders", version = "1.0.0", read_only)]
fn list(ctx: &Context) -> Result<Vec<String>, ToolError> {
    let UserId(id) = ctx.get().ok_or("no user is logged in")?;
    Ok(vec![format!("{id}-1"), format!("{id}-2")])
}

/// The login of the application, which its pages and the MCP server share.
async fn authenticate(mut request: Request, next: Next) -> Response {
    let sent = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let Some(id) = sent.and_then(|value| user_of(value.strip_prefix("Bearer ")?)) else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    request.extensions_mut().insert(UserId(id));
    next.run(request).await
}

/// Finds the user of a key, as in a database.
fn user_of(key: &str) -> Option<u64> {
    [("key-of-ada", 7), ("key-of-bob", 8)].into_iter().find_map(|(known, id)| (known == key).then_some(id))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::new(Dispatcher::new(catalog![list]?)?)?;
    let router = axum::Router::new()
        .route("/", axum::routing::get(|| async { "the application's own page" }))
        .route_service("/mcp", server.http().into_service())
        .layer(from_fn(authenticate));

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let serving = tokio::spawn(async { axum::serve(listener, router).await });

    // Two clients, each with the key of its user.
    let backends = Backends::new();
    for (name, key) in [("ada", "key-of-ada"), ("bob", "key-of-bob")] {
        backends.register(McpBackend::http(name, Endpoint::new(&url)?.bearer(key.into())))?;
    }
    let collected = backends.collect(Catalog::new([])?).await;
    let clients = Dispatcher::builder(collected.catalog).routes(collected.routes).build()?;
    println!("{}", clients.call("ada:orders_list", json!({})).await?.value());
    println!("{}", clients.call("bob:orders_list", json!({})).await?.value());

    serving.abort();
    Ok(())
}
