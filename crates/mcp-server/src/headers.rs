//! HTTP headers that must match the message: its metadata, and arguments of tools (2026-07-28, Streamable HTTP).

use std::borrow::Cow;

use http::header::ACCEPT;
use http::{HeaderMap, HeaderName};
use serde::Deserialize;
use serde_json::value::RawValue;
use toolkit::Arguments;
use toolkit::mcp::Revision;
use toolkit_mcp::{BATCHES, Code, MODERN, Meta, ParamHeader, RpcError, decoded, text};
use toolkit_runtime::accepts;

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// Returns true if the header declares revision 2026-07-28.
pub(super) fn is_modern(headers: &HeaderMap) -> bool {
    headers.get(&VERSION).is_some_and(|version| version == MODERN)
}

/// Returns true if the request has the header of the revision, which the first one of a client may lack.
pub(super) fn has_revision(headers: &HeaderMap) -> bool {
    headers.contains_key(&VERSION)
}

/// Returns true if the request may contain a batch: the header declares the revision with batches, or is missing, since
/// clients of that revision do not send it.
pub(super) fn takes_batches(headers: &HeaderMap) -> bool {
    headers.get(&VERSION).is_none_or(|version| version == BATCHES)
}

/// Returns true if the client accepts an event stream in place of a response.
pub(super) fn accepts_events(headers: &HeaderMap) -> bool {
    let mut accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.any(|value| accepts(value, "text/event-stream"))
}

/// Checks the headers against the message and returns the revision of the request.
pub(super) fn check(
    headers: &HeaderMap,
    method: &str,
    params: HeaderParams<'_>,
    meta: &Meta<'_>,
) -> Result<Revision, RpcError> {
    let version = headers.get(&VERSION).map(|value| value.to_str().unwrap_or("?").trim());
    if let (Some(version), Some(declared)) = (version, meta.version())
        && version != declared
    {
        return Err(mismatch(&VERSION, "is not the version in `_meta`"));
    }
    let revision = meta.revision(version)?;
    if revision == Revision::V2025_11_25 {
        return Ok(revision);
    }
    if version.is_none() {
        return Err(mismatch(&VERSION, "is missing"));
    }
    require(headers, &METHOD, method, "`method`")?;
    let named = match method {
        "tools/call" | "prompts/get" => params.text_of(|names| names.name),
        "resources/read" => params.text_of(|names| names.uri),
        // For load balancers. Clients of the Python SDK, such as FastMCP's, do not send it.
        "tasks/get" | "tasks/update" | "tasks/cancel" if headers.contains_key(&NAME) => {
            params.text_of(|names| names.task)
        }
        _ => None,
    };
    if let Some(named) = named {
        require(headers, &NAME, &named, "the name in `params`")?;
    }
    Ok(revision)
}

/// Checks the headers that repeat arguments of the tool.
pub(super) fn check_param_headers(
    headers: &HeaderMap,
    params: &[ParamHeader],
    arguments: &Arguments<'_>,
) -> Result<(), RpcError> {
    if params.is_empty() {
        return Ok(());
    }
    let arguments: Option<&RawValue> = match arguments {
        Arguments::Json(json) => serde_json::from_slice(json).ok(),
        _ => None,
    };
    params.iter().try_for_each(|param| {
        param.agrees(headers, arguments).map_err(|reason| RpcError::bad_request(Code::HeaderMismatch, reason))
    })
}

/// The parameters of a request, as far as a header repeats them.
#[derive(Clone, Copy)]
pub(super) enum HeaderParams<'m> {
    Unread(Option<&'m RawValue>),
    /// Those of a call with this name.
    Call(&'m str),
}

#[derive(Deserialize)]
struct ParamNames<'m> {
    #[serde(borrow)]
    name: Option<&'m RawValue>,
    #[serde(borrow)]
    uri: Option<&'m RawValue>,
    #[serde(borrow, rename = "taskId")]
    task: Option<&'m RawValue>,
}

impl<'m> HeaderParams<'m> {
    fn text_of(self, field: impl FnOnce(ParamNames<'m>) -> Option<&'m RawValue>) -> Option<Cow<'m, str>> {
        match self {
            Self::Call(name) => Some(name.into()),
            Self::Unread(params) => text(field(serde_json::from_str(params?.get()).ok()?)?.get()),
        }
    }
}

fn require(headers: &HeaderMap, header: &HeaderName, wanted: &str, what: &str) -> Result<(), RpcError> {
    match headers.get(header) {
        None => Err(mismatch(header, "is missing")),
        Some(value) => match decoded(value) {
            Some(value) if value == wanted => Ok(()),
            Some(_) => Err(mismatch(header, &format!("is not {what}"))),
            None => Err(mismatch(header, "cannot be decoded")),
        },
    }
}

fn mismatch(header: &HeaderName, what: &str) -> RpcError {
    RpcError::bad_request(Code::HeaderMismatch, format!("the header `{header}` {what}"))
}
