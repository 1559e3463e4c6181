//! Calls of programs that do not know MCP: `POST /tools/NAME`, and the document that describes them, `GET /openapi.json`.
//!
//! A call takes the path of `tools/call`, so that its limits, tokens, layers, metrics and audit lines are the same. Its result
//! then becomes a response of HTTP.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Buf;
use http::header::{self, HeaderValue};
use http::{Method, Response, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use toolkit::Arguments;
use toolkit::call::ErrorKind;
use toolkit::mcp::Revision;
use toolkit_mcp::json_bytes;
use toolkit_providers::openapi;
use toolkit_runtime::{HttpServer, RequestHead};

use super::auth::Auth;
use super::rejection::Rejection;
use super::response::{Body, json};
use crate::methods::{Routed, route_plain_call};
use crate::metrics::RejectReason;
use crate::peer::Peer;
use crate::reply::{NoMessages, Reply};
use crate::request::Caller;
use crate::server::Server;
use crate::view::ENDPOINT;

const DOCUMENT: &str = "/openapi.json";
const TOOLS: &str = "/tools/";

/// The time after which a client may try again if the error states none, in seconds.
const RETRY_AFTER: u64 = 1;

/// A path for programs.
#[derive(Clone, Copy)]
pub(super) enum ProgramPath<'p> {
    Document,
    /// The path of the tool with this name.
    Tool(&'p str),
}

impl<'p> ProgramPath<'p> {
    /// Parses a path of a standalone server. Returns `None` for a path that is not one for programs.
    pub(super) fn parse(path: &'p str) -> Option<Self> {
        match path.strip_prefix(TOOLS) {
            Some(name) => Some(Self::Tool(name)),
            None => (path == DOCUMENT).then_some(Self::Document),
        }
    }

    /// Returns the end of a path of a mounted service that is a path for programs.
    pub(super) fn of_mounted(path: &'p str) -> Option<&'p str> {
        if path.ends_with(ENDPOINT) {
            return None;
        }
        let at = if path.ends_with(DOCUMENT) { path.len() - DOCUMENT.len() } else { path.rfind(TOOLS)? };
        Some(&path[at..])
    }
}

/// A request of a program, and what responds to it.
pub(super) struct ProgramRequest<'r> {
    pub(super) server: Server,
    pub(super) http: &'r HttpServer,
    pub(super) auth: &'r Auth,
    pub(super) head: &'r RequestHead,
    pub(super) caller: Option<Arc<Caller>>,
}

impl ProgramRequest<'_> {
    pub(super) async fn respond<B>(self, path: ProgramPath<'_>, body: B) -> Result<Response<Body>, Rejection>
    where
        B: http_body::Body<Data: Buf>,
    {
        match (path, &self.head.parts.method) {
            (ProgramPath::Document, &Method::GET) => Ok(json(StatusCode::OK, json_bytes(&self.document()))),
            (ProgramPath::Tool(name), &Method::POST) => self.call(name, body).await,
            (ProgramPath::Document, _) => Err(other_method("GET")),
            (ProgramPath::Tool(_), _) => Err(other_method("POST")),
        }
    }

    fn document(&self) -> Value {
        let (info, served) = (&self.server.shared.info, self.server.shared.served());
        let text = |field: &str| info[field].as_str().unwrap_or_default();
        let title = info["title"].as_str().unwrap_or_else(|| text("name"));
        let listed = served.listed(Revision::V2026_07_28);
        let tools: Vec<Value> = listed.iter().filter_map(|tool| serde_json::from_slice(tool).ok()).collect();
        let mut document = openapi::document(title, text("version"), &tools);
        // Relative to the document, which a host may serve below another path.
        document["servers"] = serde_json::json!([{ "url": "." }]);
        if self.auth.verify.is_some() {
            openapi::require_tokens(&mut document, |name| {
                let tool = served.get(name).map(|nth| served.tool(&served.entries[nth]));
                self.auth.scopes_of_call(tool)
            });
        }
        document
    }

    async fn call<B>(self, name: &str, body: B) -> Result<Response<Body>, Rejection>
    where
        B: http_body::Body<Data: Buf>,
    {
        let Self { server, http, auth, head, caller } = self;
        let (body, charge) = http.read_json(head, body).await?.into_parts();
        let access = caller.as_ref().and_then(|caller| auth.access(&server.shared, caller));
        let mut routed = {
            let (caller, access) = (caller.as_ref(), access.as_ref());
            let (head, address) = (Some(&head.parts), head.client());
            let peer = Peer { caller, access, head, address, is_plain: true, ..Peer::default() };
            let arguments = if body.is_empty() { Arguments::NONE } else { Arguments::from(&body[..]) };
            route_plain_call(&server.shared, name, arguments, peer)
        };
        if let Routed::Denied(denied) = &routed {
            return Err(auth.reject(caller.as_deref(), head.headers(), &server.shared, denied));
        }
        routed.hold(charge);
        let reply = routed.answer(NoMessages).await;
        let response = reply.as_ref().and_then(response);
        Ok(response.unwrap_or_else(|| ProgramError::new(ErrorKind::Internal.name(), "internal error").respond(None)))
    }
}

fn other_method(allowed: &'static str) -> Rejection {
    let message = format!("the method of this path is {allowed}");
    let rejection = Rejection::new(RejectReason::Malformed, StatusCode::METHOD_NOT_ALLOWED, message);
    rejection.with_header(header::ALLOW, HeaderValue::from_static(allowed))
}

/// Creates the response to a rejected request.
pub(super) fn rejected(rejection: Rejection) -> Response<Body> {
    let retry_after = rejection.header.as_ref().filter(|(name, _)| *name == header::RETRY_AFTER);
    let seconds = retry_after.and_then(|(_, value)| value.to_str().ok()?.parse().ok());
    let is_limit = matches!(rejection.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
    let error = ProgramError {
        retryable: is_limit,
        retry_after_ms: seconds.map(|seconds: u64| seconds.saturating_mul(1000)),
        ..ProgramError::new(rejection.why.name(), &rejection.message)
    };
    let mut response = error.respond(Some(rejection.status));
    if let Some((name, value)) = rejection.header {
        response.headers_mut().insert(name, value);
    }
    response
}

/// The response of JSON-RPC to a call.
#[derive(Deserialize)]
struct CallResponse<'r> {
    #[serde(borrow)]
    result: Option<CallResult<'r>>,
    #[serde(borrow)]
    error: Option<RpcFault<'r>>,
}

#[derive(Deserialize)]
struct RpcFault<'r> {
    #[serde(borrow)]
    message: Cow<'r, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult<'r> {
    #[serde(borrow)]
    content: Option<&'r RawValue>,
    #[serde(borrow)]
    structured_content: Option<&'r RawValue>,
    #[serde(default)]
    is_error: bool,
    #[serde(borrow, rename = "_meta")]
    meta: Option<ResultMeta<'r>>,
}

#[derive(Deserialize)]
struct ResultMeta<'r> {
    #[serde(borrow, rename = "rs.toolkit/error")]
    error: Option<ErrorFields<'r>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ErrorFields<'r> {
    kind: &'r str,
    retryable: bool,
    retry_after_ms: Option<u64>,
    #[serde(borrow)]
    violations: Option<&'r RawValue>,
}

/// Creates the response to a call from its reply, or `None` if it is not the reply to a call.
fn response(reply: &Reply) -> Option<Response<Body>> {
    let response: CallResponse<'_> = serde_json::from_slice(&reply.bytes).ok()?;
    let Some(result) = response.result else {
        let kind = reply.failure.unwrap_or(ErrorKind::UnknownTool);
        return Some(ProgramError::new(kind.name(), &response.error?.message).respond(None));
    };
    let content: Vec<Value> = result.content.and_then(|json| serde_json::from_str(json.get()).ok()).unwrap_or_default();
    let texts: Vec<&str> =
        content.iter().filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str()).collect();
    if result.is_error {
        let error = result.meta.and_then(|meta| meta.error)?;
        let message = texts.join("\n");
        let error = ProgramError {
            retryable: error.retryable,
            retry_after_ms: error.retry_after_ms,
            violations: error.violations,
            content: if texts.len() < content.len() { &content } else { &[] },
            data: result.structured_content,
            ..ProgramError::new(error.kind, &message)
        };
        return Some(error.respond(None));
    }
    Some(json(
        StatusCode::OK,
        match result.structured_content {
            Some(structured) => structured.get().as_bytes().to_vec(),
            None if content.is_empty() => b"null".to_vec(),
            None if texts.len() == content.len() => json_bytes(&texts.join("\n")),
            None => json_bytes(&content),
        },
    ))
}

/// The body of the response to a failed call.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProgramError<'e> {
    kind: &'e str,
    message: &'e str,
    retryable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    violations: Option<&'e RawValue>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    content: &'e [Value],
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'e RawValue>,
}

impl<'e> ProgramError<'e> {
    fn new(kind: &'e str, message: &'e str) -> Self {
        Self { kind, message, retryable: false, retry_after_ms: None, violations: None, content: &[], data: None }
    }

    /// Creates the response, with the status of the kind unless one is given.
    fn respond(&self, status: Option<StatusCode>) -> Response<Body> {
        #[derive(Serialize)]
        struct ErrorBody<'e> {
            error: &'e ProgramError<'e>,
        }
        let status = status.unwrap_or_else(|| status_of(ErrorKind::from_name(self.kind)));
        let mut response = json(status, json_bytes(&ErrorBody { error: self }));
        let after = self.retry_after_ms.map(|millis| millis.div_ceil(1000));
        if let Some(seconds) = after.or((status == StatusCode::SERVICE_UNAVAILABLE).then_some(RETRY_AFTER)) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// Returns the status of a failed call. A client may blame the request for `4xx` only.
fn status_of(kind: Option<ErrorKind>) -> StatusCode {
    use ErrorKind::*;
    match kind {
        Some(MalformedJson) => StatusCode::BAD_REQUEST,
        Some(MissingRequirements | Denied) => StatusCode::FORBIDDEN,
        Some(UnknownTool | AmbiguousTool) => StatusCode::NOT_FOUND,
        Some(Pending) => StatusCode::CONFLICT,
        Some(TooLarge) => StatusCode::PAYLOAD_TOO_LARGE,
        Some(InvalidArguments | Failed | Declined | CannotAsk) => StatusCode::UNPROCESSABLE_ENTITY,
        Some(Unauthorized | OutcomeUnknown | InvalidResponse) => StatusCode::BAD_GATEWAY,
        Some(NoBackend | Unavailable | Overloaded | Cancelled) => StatusCode::SERVICE_UNAVAILABLE,
        Some(TimedOut) => StatusCode::GATEWAY_TIMEOUT,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
