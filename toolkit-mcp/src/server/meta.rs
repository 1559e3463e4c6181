//! `_meta` of a request: the revision, who asks, and what goes along.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use toolkit::adapter::mcp::Revision;

use super::message::{is_id, text};
use super::reply::{Code, Fault};

/// The revisions with an `initialize`, newest first.
pub(super) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The revision without one.
pub(super) const MODERN: &str = Revision::V2026_07_28.as_str();

/// The fields of `_meta` that mean something here.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct Meta<'m> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<&'m RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientInfo")]
    pub(super) client_info: Option<&'m RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientCapabilities")]
    pub(super) client_capabilities: Option<&'m RawValue>,
    #[serde(borrow, rename = "progressToken")]
    progress_token: Option<&'m RawValue>,
    #[serde(borrow)]
    traceparent: Option<&'m RawValue>,
    #[serde(borrow)]
    tracestate: Option<&'m RawValue>,
    #[serde(borrow)]
    baggage: Option<&'m RawValue>,
}

#[derive(Deserialize)]
struct Params<'m> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'m RawValue>,
}

impl<'m> Meta<'m> {
    /// Reads `params._meta`; there need be neither.
    pub(super) fn of(params: Option<&'m RawValue>) -> Result<Self, Fault> {
        let invalid = |message| Fault::of_envelope(Code::InvalidParams, message);
        let Some(params) = params else {
            return Ok(Self::default());
        };
        if !params.get().starts_with('{') {
            return Err(invalid("`params` must be an object"));
        }
        let params: Params<'m> =
            serde_json::from_str(params.get()).map_err(|_| invalid("`params` has a field twice"))?;
        match params.meta {
            Some(meta) if meta.get().starts_with('{') => {
                serde_json::from_str(meta.get()).map_err(|_| invalid("`_meta` has a field twice"))
            }
            Some(_) => Err(invalid("`_meta` must be an object")),
            None => Ok(Self::default()),
        }
    }

    /// The revision that the request says it is of.
    pub(super) fn version(&self) -> Option<Cow<'m, str>> {
        self.version.and_then(text)
    }

    pub(super) fn progress_token(&self) -> Option<&'m RawValue> {
        self.progress_token.filter(|token| is_id(token))
    }

    pub(super) fn trace(&self) -> [Option<Cow<'m, str>>; 3] {
        [self.traceparent, self.tracestate, self.baggage].map(|value| value.and_then(text))
    }

    /// The revision whose rules the request goes by.
    ///
    /// A request of 2026-07-28 says so in `_meta`, or at least in its header, and must then have what that revision
    /// requires. All others are of the revisions before it.
    pub(super) fn revision(&self, header: Option<&str>) -> Result<Revision, Fault> {
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

/// A field of `_meta` that 2026-07-28 requires is not there.
pub(super) fn missing(field: &str) -> Fault {
    let message = format!("`params._meta` has no `io.modelcontextprotocol/{field}`, which {MODERN} requires");
    Fault::of_envelope(Code::InvalidParams, message)
}

/// A revision that nobody here speaks.
fn unsupported(version: &str) -> Fault {
    let requested: String = version.chars().take(64).collect();
    let fault = Fault::of_envelope(Code::UnsupportedVersion, "the protocol version is not supported");
    fault.with_data(json!({ "supported": supported(), "requested": requested }))
}

/// All revisions, newest first.
pub(super) fn supported() -> Vec<&'static str> {
    std::iter::once(MODERN).chain(LEGACY).collect()
}
