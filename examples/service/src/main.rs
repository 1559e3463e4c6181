//! An axum service with a login, a database, tracing and shutdown of its own, and MCP beside its routes.
//!
//! `toolkit-example-service FILE` serves the notes in a database. The users are those of its table `users`, each with a key.

mod database;
mod login;
mod tools;

use std::error::Error;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::middleware::from_fn;
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use axum_login::AuthManagerLayerBuilder;
use tokio::net::TcpListener;
use tokio::signal::ctrl_c;
use tokio::task::spawn_blocking;
use toolkit_mcp_server::Server;
use tower_http::cors::CorsLayer;
use tower_http::timeout::TimeoutLayer;
use tower_http::trace::TraceLayer;
use tower_sessions::{MemoryStore, SessionManagerLayer};

use self::database::{Database, Note, User};

/// The time that a request may take until its response begins. It exceeds the 10 s after which the MCP server begins an event
/// stream for a call that still runs.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The time that running calls may take after the signal to end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(20);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let database = Database::open(std::env::args().nth(1).ok_or("usage: toolkit-example-service FILE")?)?;
    let server = Server::builder(tools::dispatcher(database.clone())?).audit().build()?;

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    let (ending, ended) = tokio::sync::oneshot::channel();
    let router = router(database, &server);
    let serving = axum::serve(listener, router).with_graceful_shutdown(async move {
        shutdown_signal().await;
        // Ends the event streams of clients, for which axum would wait. Calls that run finish.
        server.shut_down();
        let _ = ending.send(());
    });
    tokio::select! {
        served = serving => served?,
        () = async { drop(ended.await); tokio::time::sleep(SHUTDOWN_TIMEOUT).await } => {}
    }
    Ok(())
}

fn router(database: Database, server: &Server) -> Router {
    let mcp = server.http().openapi().into_service();
    let sessions = SessionManagerLayer::new(MemoryStore::default());
    let (_, health) = tonic_health::server::health_reporter();
    Router::new()
        .route("/notes", get(notes))
        .route_service("/mcp", mcp.clone())
        .route_service("/tools/{name}", mcp.clone())
        .route_service("/openapi.json", mcp)
        .layer(from_fn(login::authenticate))
        // Routes that were added after the layer are not behind the login.
        .route("/login", post(login::log_in))
        .layer(AuthManagerLayerBuilder::new(database.clone(), sessions).build())
        .with_state(database)
        .route_service("/grpc.health.v1.Health/{method}", health)
        .layer(TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, TIMEOUT))
        .layer(CorsLayer::new())
        .layer(TraceLayer::new_for_http())
}

/// The page of a user. A route must not block, unlike a tool.
async fn notes(
    State(database): State<Database>,
    Extension(user): Extension<User>,
) -> Result<Json<Vec<Note>>, StatusCode> {
    let notes = spawn_blocking(move || database.notes(user.id)).await.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    notes.map(Json).map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
}

async fn shutdown_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = ctrl_c() => {}
            }
            return;
        }
    }
    let _ = ctrl_c().await;
}
