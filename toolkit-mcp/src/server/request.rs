//! What a client says along with a call, for tools that ask.

use std::fmt;
use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toolkit::adapter::mcp::Revision;
use toolkit::call::Credentials;

use super::meta::Meta;

/// What a client says along with a call. A tool finds it in its context, with `ctx.get::<Request>()`.
///
/// Nothing of it is verified but the [`Caller`].
#[derive(Clone, Debug)]
pub struct Request {
    revision: Revision,
    client_info: Option<Box<RawValue>>,
    client_capabilities: Option<Box<RawValue>>,
    trace: [Option<Box<str>>; 3],
    caller: Option<Arc<Caller>>,
}

impl Request {
    pub(super) fn new(revision: Revision, meta: &Meta<'_>, caller: Option<&Arc<Caller>>) -> Self {
        Self {
            revision,
            client_info: meta.client_info.map(ToOwned::to_owned),
            client_capabilities: meta.client_capabilities.map(ToOwned::to_owned),
            trace: meta.trace().map(|value| value.map(|value| value.into())),
            caller: caller.cloned(),
        }
    }

    /// The revision of the protocol.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// What the client says that it is: `name`, `version` and more. Before 2026-07-28 a call does not say.
    #[must_use]
    pub fn client_info(&self) -> Option<Value> {
        serde_json::from_str(self.client_info.as_ref()?.get()).ok()
    }

    /// What the client can do. Before 2026-07-28 a call does not say.
    #[must_use]
    pub fn client_capabilities(&self) -> Option<Value> {
        serde_json::from_str(self.client_capabilities.as_ref()?.get()).ok()
    }

    /// `traceparent` of the W3C's Trace Context, as the client sent it.
    #[must_use]
    pub fn traceparent(&self) -> Option<&str> {
        self.trace[0].as_deref()
    }

    /// `tracestate` of the W3C's Trace Context, as the client sent it.
    #[must_use]
    pub fn tracestate(&self) -> Option<&str> {
        self.trace[1].as_deref()
    }

    /// `baggage` of the W3C, as the client sent it.
    #[must_use]
    pub fn baggage(&self) -> Option<&str> {
        self.trace[2].as_deref()
    }

    /// Who calls, where the server has verified that.
    #[must_use]
    pub fn caller(&self) -> Option<&Caller> {
        self.caller.as_deref()
    }
}

/// Who calls, as a [`Verify`](super::Verify) says.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    subject: Option<String>,
    credentials: Credentials,
}

impl Caller {
    /// Somebody who may call, and of whom no more is known.
    #[must_use]
    pub fn anonymous() -> Self {
        Self::default()
    }

    /// Who it is. Limits on how often somebody may call are counted by it.
    #[must_use]
    pub fn named(subject: impl Into<String>) -> Self {
        let subject = subject.into();
        Self { credentials: Credentials::new().with_user_id(subject.clone()), subject: Some(subject) }
    }

    /// What the host holds for the caller, of which a tool sees what it requires.
    #[must_use]
    pub fn with_credentials(self, credentials: Credentials) -> Self {
        Self { credentials, ..self }
    }

    /// Who it is, where that is known.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }

    pub(super) fn credentials(&self) -> &Credentials {
        &self.credentials
    }
}

/// The cause of a tool's error where the client has not declared what the tool needs of it.
///
/// The client is then told by an error of the protocol (-32021), as revision 2026-07-28 wants it.
///
/// ```
/// # use toolkit::{Context, ToolError, tool};
/// use toolkit_mcp::server::{MissingCapability, Request};
///
/// /// Asks the user.
/// #[tool]
/// fn ask(ctx: &Context) -> Result<String, ToolError> {
///     let declared = ctx.get::<Request>().and_then(Request::client_capabilities).unwrap_or_default();
///     if declared.get("elicitation").is_none() {
///         let error = ToolError::failed("the client cannot ask its user");
///         return Err(error.caused_by(MissingCapability::of(["elicitation"])));
///     }
///     Ok("yes".to_owned())
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingCapability(Vec<String>);

impl MissingCapability {
    /// The capabilities that are missing, by the names that `ClientCapabilities` has for them.
    #[must_use]
    pub fn of<I>(capabilities: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        Self(capabilities.into_iter().map(Into::into).collect())
    }

    /// `ClientCapabilities` that would do.
    pub(super) fn required(&self) -> Value {
        let empty = || Value::Object(Map::new());
        self.0.iter().map(|name| (name.clone(), empty())).collect::<Map<_, _>>().into()
    }
}

impl fmt::Display for MissingCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the client has not declared {}", self.0.join(", "))
    }
}

impl std::error::Error for MissingCapability {}
