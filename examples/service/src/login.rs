//! The login of the service: pages have a session, and clients of MCP send the key of their user.

use axum::Json;
use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum_login::AuthSession;
use toolkit_mcp_server::Caller;

use crate::database::{Database, Key, User};

/// Begins a session: `POST /login` with `{"key": …}`.
pub async fn log_in(mut session: AuthSession<Database>, Json(key): Json<Key>) -> StatusCode {
    match session.authenticate(key).await {
        Ok(Some(user)) => match session.login(&user).await {
            Ok(()) => StatusCode::NO_CONTENT,
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR,
        },
        Ok(None) => StatusCode::UNAUTHORIZED,
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Finds the user of a request, by its session or its key, and inserts it for routes and tools.
pub async fn authenticate(session: AuthSession<Database>, mut request: Request, next: Next) -> Response {
    let user = match (&session.user, key(request.headers())) {
        (Some(user), _) => Some(user.clone()),
        (None, Some(key)) => match session.authenticate(key).await {
            Ok(user) => user,
            Err(_) => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        },
        (None, None) => None,
    };
    let Some(user) = user else {
        return (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")], "log in, or send the key of a user\n")
            .into_response();
    };
    // The MCP server limits, audits and authorizes by the caller; tools of this service read the user.
    request.extensions_mut().insert(caller(&user));
    request.extensions_mut().insert(user);
    next.run(request).await
}

fn caller(user: &User) -> Caller {
    let scopes = (user.name == "ada").then_some("notes:delete");
    Caller::named(user.id.to_string()).with_scopes(scopes)
}

fn key(headers: &HeaderMap) -> Option<Key> {
    let key = headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")?;
    Some(Key { key: key.to_owned() })
}
