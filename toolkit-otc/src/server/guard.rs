//! Who may come in, and by which name.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::Shared;
use super::refusal::Refusal;

/// Lets requests through that show what the server asks for.
pub(super) async fn authenticated(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    match shared.auth.check(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(reason) => Refusal::new(StatusCode::UNAUTHORIZED, format!("you may not come in: {reason}")).into_response(),
    }
}

/// Lets requests through that were made for this server, and not by a page of another one.
pub(super) async fn of_this_host(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let refusal = match &shared.hosts {
        Some(named) => foreign(named, request.headers()),
        None => None,
    };
    match refusal {
        None => next.run(request).await,
        Some(message) => Refusal::new(StatusCode::FORBIDDEN, message).into_response(),
    }
}

/// What is wrong with the `Host` and the `Origin` of a request.
///
/// A page whose name was made to point here sends its name as `Host`; no page can make that an IP address.
fn foreign(named: &[String], headers: &HeaderMap) -> Option<String> {
    let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()) else {
        return Some("the request has no `Host`".to_owned());
    };
    let name = without_port(host).to_ascii_lowercase();
    let address = name.trim_start_matches('[').trim_end_matches(']');
    if name != "localhost" && address.parse::<IpAddr>().is_err() && !named.contains(&name) {
        let name: String = name.chars().take(80).collect();
        return Some(format!(
            "this is not the server of `{}`; whoever runs it can give it that name",
            name.escape_debug()
        ));
    }
    // Only browsers send an origin.
    let origin = headers.get(ORIGIN)?;
    let origin = origin.to_str().ok().and_then(|origin| Some(origin.split_once("://")?.1));
    match origin {
        Some(origin) if origin.eq_ignore_ascii_case(host) => None,
        _ => Some("pages of other servers may not ask this one".to_owned()),
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    }
}
