//! Who may come in, and by which name.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use toolkit_http::{Connection, Rejection};

use super::Shared;
use super::refusal::Refusal;

/// Lets requests through that show what the server asks for.
pub(super) async fn authenticated(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    if let Err(reason) = shared.auth.check(request.headers()) {
        let message = format!("you may not come in: {reason}");
        return Refusal::new(StatusCode::UNAUTHORIZED, message).into_response();
    }
    // The reserve is for health checks and for clients that are known.
    if shared.auth.is_none() && request.extensions().get().is_some_and(Connection::is_reserved) {
        return Refusal::busy("the connection limit is reached; try again later").into_response();
    }
    next.run(request).await
}

/// Lets requests through that were made for this server, and not by a page of another one.
pub(super) async fn of_this_host(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    match shared.guard.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(rejection) => {
            let message = match rejection {
                Rejection::Host => format!("{rejection}; whoever runs it can give it that name"),
                _ => rejection.to_string(),
            };
            Refusal::new(StatusCode::FORBIDDEN, message).into_response()
        }
    }
}
