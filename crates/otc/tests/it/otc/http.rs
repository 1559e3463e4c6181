//! Requests to the routes of a server, without a connection.

use std::fmt::Debug;

use axum::body::Body;
use axum::http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower_service::Service;

/// An answer.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Got {
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }
}

pub(crate) async fn ask<S, B>(service: &S, request: Request<Body>) -> Got
where
    S: Service<Request<Body>, Response = Response<B>, Error: Debug> + Clone,
    B: http_body::Body<Error: Debug>,
{
    let response = service.clone().call(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let text = String::from_utf8_lossy(&body).into_owned();
    let body = serde_json::from_slice(&body).unwrap_or_else(|_| json!(text));
    Got { status: parts.status, headers: parts.headers, body }
}

pub(crate) fn get(path: &str) -> Request<Body> {
    Request::get(path).header("host", "localhost:8080").body(Body::empty()).unwrap()
}

pub(crate) fn post(path: &str, body: impl Into<Body>) -> Request<Body> {
    let request = Request::post(path).header("host", "127.0.0.1:8080").header("content-type", "application/json");
    request.body(body.into()).unwrap()
}

/// A call of a tool.
pub(crate) async fn call<S, B>(service: &S, request: Value) -> Got
where
    S: Service<Request<Body>, Response = Response<B>, Error: Debug> + Clone,
    B: http_body::Body<Error: Debug>,
{
    ask(service, post("/tools/call", json!({ "request": request }).to_string())).await
}
