//! Middleware for authentication and for `Host` and `Origin`.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use toolkit_http::Connection;

use super::rejection::Rejection;
use super::shared::Shared;

/// Rejects requests without valid credentials.
pub(super) async fn authenticated(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    if let Err(reason) = shared.auth.check(request.headers()) {
        let message = format!("unauthorized: {reason}");
        return Rejection::new(StatusCode::UNAUTHORIZED, message).into_response();
    }
    // The reserve is for health checks and authenticated clients.
    if shared.auth.is_none() && request.extensions().get().is_some_and(Connection::is_reserved) {
        return Rejection::busy("the connection limit is reached; try again later").into_response();
    }
    next.run(request).await
}

/// Rejects requests for other hosts, and of web pages of other origins.
pub(super) async fn of_this_host(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    match shared.guard.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(rejection) => {
            let message = match rejection {
                toolkit_http::Rejection::Host => format!("{rejection}; the operator of the server can add it"),
                _ => rejection.to_string(),
            };
            Rejection::new(StatusCode::FORBIDDEN, message).into_response()
        }
    }
}
