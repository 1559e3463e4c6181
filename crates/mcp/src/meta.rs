//! The `_meta` of a request: revision, client info, progress token and trace context.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use toolkit::call::LogLevel;
use toolkit::mcp::Revision;

use super::json_text::{is_id, text};
use super::rpc::{Code, RpcError};

/// The supported revisions with an `initialize` request, newest first.
pub const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The supported revision without an `initialize` request.
pub const MODERN: &str = Revision::V2026_07_28.as_str();

/// The supported revision with JSON-RPC batches.
pub const BATCHES: &str = "2025-03-26";

/// The key in `_meta` of the revision of a request.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The key in `_meta` of the name and version of the client.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";

/// The key in `_meta` of the capabilities of the client.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The extension for pages that a host shows for the results of tools (MCP Apps), among the capabilities.
pub const UI_EXTENSION: &str = "io.modelcontextprotocol/ui";

/// The extension for skills, directories of resources with instructions for agents, among the capabilities.
pub const SKILLS_EXTENSION: &str = "io.modelcontextprotocol/skills";

/// The key in `_meta` of the least level of the log messages that the client wants.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// The fields of `_meta` that the server reads.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Meta<'m> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<&'m RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientInfo")]
    /// The name and version of the client, as JSON.
    pub client_info: Option<&'m RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientCapabilities")]
    /// The capabilities of the client, as JSON.
    pub client_capabilities: Option<&'m RawValue>,
    #[serde(borrow, rename = "progressToken")]
    progress_token: Option<&'m RawValue>,
    #[serde(borrow, rename = "rs.toolkit/chunks")]
    chunks: Option<&'m RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/logLevel")]
    log_level: Option<&'m RawValue>,
    #[serde(borrow)]
    traceparent: Option<&'m RawValue>,
    #[serde(borrow)]
    tracestate: Option<&'m RawValue>,
    #[serde(borrow)]
    baggage: Option<&'m RawValue>,
    /// The answers with which the client repeats a call. They are beside `_meta`.
    #[serde(skip)]
    pub input: InputAnswers<'m>,
    /// The parameters of the task that the client requests, before revision 2026-07-28. They are beside `_meta`.
    #[serde(skip)]
    pub task: Option<&'m RawValue>,
}

/// The answers of a user, and the state of the call that asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct InputAnswers<'m> {
    /// The sealed state, a JSON string.
    pub state: Option<&'m RawValue>,
    /// The answers, a JSON object.
    pub responses: Option<&'m RawValue>,
}

#[derive(Deserialize)]
struct RequestParams<'m> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'m RawValue>,
    #[serde(borrow, rename = "requestState")]
    state: Option<&'m RawValue>,
    #[serde(borrow, rename = "inputResponses")]
    responses: Option<&'m RawValue>,
    #[serde(borrow)]
    task: Option<&'m RawValue>,
}

impl<'m> Meta<'m> {
    /// Parses `params._meta`; both may be absent.
    ///
    /// # Errors
    ///
    /// Returns an error if one of them is not an object, or has a duplicate field.
    pub fn parse(params: Option<&'m RawValue>) -> Result<Self, RpcError> {
        let invalid = |message| RpcError::bad_request(Code::InvalidParams, message);
        let Some(params) = params else {
            return Ok(Self::default());
        };
        if !params.get().starts_with('{') {
            return Err(invalid("`params` must be an object"));
        }
        let params: RequestParams<'m> =
            serde_json::from_str(params.get()).map_err(|_| invalid("`params` has a duplicate field"))?;
        let input = InputAnswers { state: params.state, responses: params.responses };
        let meta: Self = match params.meta {
            Some(meta) if meta.get().starts_with('{') => {
                serde_json::from_str(meta.get()).map_err(|_| invalid("`_meta` has a duplicate field"))?
            }
            Some(_) => return Err(invalid("`_meta` must be an object")),
            None => Self::default(),
        };
        Ok(Self { input, task: params.task, ..meta })
    }

    /// Returns the revision that the request declares.
    pub fn version(&self) -> Option<Cow<'m, str>> {
        self.version.and_then(|version| text(version.get()))
    }

    /// Returns the token of the client for reports of progress.
    pub fn progress_token(&self) -> Option<&'m RawValue> {
        self.progress_token.filter(|token| is_id(token.get()))
    }

    /// Returns true if the client wants the parts of a result while the tool runs.
    pub fn wants_chunks(&self) -> bool {
        self.chunks.is_some_and(|wanted| wanted.get() == "true")
    }

    /// Returns the level from which on the client wants to receive log messages of the call.
    ///
    /// # Errors
    ///
    /// Returns an error for an unknown level.
    pub fn log_level(&self) -> Result<Option<LogLevel>, RpcError> {
        self.log_level.map(|level| parse_level(LOG_LEVEL, level.get())).transpose()
    }

    /// Returns `traceparent`, `tracestate` and `baggage`.
    pub fn trace(&self) -> [Option<Cow<'m, str>>; 3] {
        [self.traceparent, self.tracestate, self.baggage].map(|value| value.and_then(|value| text(value.get())))
    }

    /// Returns the revision whose rules apply to the request.
    ///
    /// A request of 2026-07-28 declares it in `_meta`, or at least in the header, and must have the fields that the
    /// revision requires. All other requests belong to earlier revisions.
    ///
    /// # Errors
    ///
    /// Returns an error for an unsupported revision, or a missing field.
    pub fn revision(&self, header: Option<&str>) -> Result<Revision, RpcError> {
        let version = self.version();
        let Some(version) = version.as_deref() else {
            return match header {
                None => Ok(Revision::V2025_11_25),
                Some(known) if LEGACY.contains(&known) => Ok(Revision::V2025_11_25),
                Some(MODERN) => Err(missing("protocolVersion")),
                Some(other) => Err(unsupported(other)),
            };
        };
        if LEGACY.contains(&version) {
            return Ok(Revision::V2025_11_25);
        }
        if version != MODERN {
            return Err(unsupported(version));
        }
        if self.client_capabilities.is_none_or(|declared| !declared.get().starts_with('{')) {
            return Err(missing("clientCapabilities"));
        }
        Ok(Revision::V2026_07_28)
    }
}

/// Creates the error for a missing field of `_meta` that revision 2026-07-28 requires.
pub fn missing(field: &str) -> RpcError {
    let message = format!("`params._meta` must have `io.modelcontextprotocol/{field}`, which {MODERN} requires");
    RpcError::bad_request(Code::InvalidParams, message)
}

/// Creates the error for an unsupported revision.
fn unsupported(version: &str) -> RpcError {
    let requested: String = version.chars().take(64).collect();
    let fault = RpcError::bad_request(Code::UnsupportedVersion, "the protocol version is not supported");
    fault.with_data(json!({ "supported": supported(), "requested": requested }))
}

/// Returns all supported revisions, newest first.
pub fn supported() -> Vec<&'static str> {
    std::iter::once(MODERN).chain(LEGACY).collect()
}

/// Parses the level in a field.
///
/// # Errors
///
/// Returns an error for an unknown level.
pub fn parse_level(field: &str, level: &str) -> Result<LogLevel, RpcError> {
    text(level).and_then(|name| LogLevel::from_name(&name)).ok_or_else(|| invalid_level(field))
}

fn invalid_level(field: &str) -> RpcError {
    let names = LogLevel::ALL.map(|level| format!("`{level}`")).join(", ");
    RpcError::new(Code::InvalidParams, format!("`{field}` must be one of {names}"))
}
