//! Information about a request that tools can read.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};
use toolkit::Context;
use toolkit::call::Credentials;
use toolkit::internals::CallerToken;
use toolkit::mcp::Revision;
use toolkit_mcp::Meta;

/// The MCP request of a call. A tool reads it from its context with `ctx.get::<Request>()`.
///
/// Only the [`Caller`] is verified. All other fields are claims of the client.
///
/// # Examples
///
/// ```
/// use toolkit::{Context, tool};
/// use toolkit_mcp_server::{Caller, Request};
///
/// /// Greets the caller.
/// #[tool]
/// fn greet(ctx: &Context) -> String {
///     let caller = ctx.get::<Request>().and_then(Request::caller).and_then(Caller::subject);
///     format!("Hello, {}!", caller.unwrap_or("stranger"))
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Request {
    revision: Revision,
    client_info: Option<Box<str>>,
    client_capabilities: Option<Box<str>>,
    trace: [Option<Box<str>>; 3],
    caller: Option<Arc<Caller>>,
    /// The name of the caller for limits, if it is one of several.
    share: Option<Box<str>>,
}

impl Request {
    pub(super) fn new(
        revision: Revision,
        meta: &Meta<'_>,
        caller: Option<&Arc<Caller>>,
        share: Option<String>,
    ) -> Self {
        Self {
            revision,
            client_info: meta.client_info.map(|info| info.get().into()),
            client_capabilities: meta.client_capabilities.map(|declared| declared.get().into()),
            trace: meta.trace().map(|value| value.map(|value| value.into())),
            caller: caller.cloned(),
            share: share.map(String::into_boxed_str),
        }
    }

    /// Returns the name of the caller that has its own share of what a server can do, if it is known.
    pub(super) fn share_of(context: &Context) -> Option<&str> {
        context.get::<Self>()?.share.as_deref()
    }

    /// Returns the protocol revision.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns the name, version and other properties of the client (`Implementation`). Calls before 2026-07-28 do not
    /// have them.
    #[must_use]
    pub fn client_info(&self) -> Option<Value> {
        serde_json::from_str(self.client_info.as_ref()?).ok()
    }

    /// Returns the capabilities of the client. Calls before 2026-07-28 do not have them.
    #[must_use]
    pub fn client_capabilities(&self) -> Option<Value> {
        serde_json::from_str(self.client_capabilities.as_ref()?).ok()
    }

    /// Returns `traceparent` of the W3C Trace Context, as sent by the client.
    #[must_use]
    pub fn traceparent(&self) -> Option<&str> {
        self.trace[0].as_deref()
    }

    /// Returns `tracestate` of the W3C Trace Context, as sent by the client.
    #[must_use]
    pub fn tracestate(&self) -> Option<&str> {
        self.trace[1].as_deref()
    }

    /// Returns `baggage` (W3C Baggage), as sent by the client.
    #[must_use]
    pub fn baggage(&self) -> Option<&str> {
        self.trace[2].as_deref()
    }

    /// Returns the caller if the server has authenticated it.
    #[must_use]
    pub fn caller(&self) -> Option<&Caller> {
        self.caller.as_deref()
    }
}

/// The request of an authenticated caller, for a test of a tool without a server.
///
/// # Examples
///
/// ```
/// use toolkit::{Context, Dispatcher, catalog, tool};
/// use toolkit_mcp_server::{Caller, Request};
///
/// /// Greets the caller.
/// #[tool]
/// fn greet(ctx: &Context) -> String {
///     let caller = ctx.get::<Request>().and_then(Request::caller).and_then(Caller::subject);
///     format!("Hello, {}!", caller.unwrap_or("stranger"))
/// }
///
/// let context = Context::new().with(Request::from(Caller::named("Ada")));
/// let greeting = Dispatcher::new(catalog![greet]?)?.call_sync_with(&context, "greet", "{}")?;
/// assert_eq!(greeting.value(), "Hello, Ada!");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl From<Caller> for Request {
    fn from(caller: Caller) -> Self {
        Self::new(Revision::default(), &Meta::default(), Some(&Arc::new(caller)), None)
    }
}

/// An authenticated caller, as returned by [`Verify`](super::Verify).
///
/// # Examples
///
/// ```
/// use toolkit_mcp_server::Caller;
///
/// let caller = Caller::named("alice").with_scopes(["files:read"]);
/// assert_eq!(caller.subject(), Some("alice"));
/// assert_eq!(caller.scopes(), ["files:read"]);
/// assert_eq!(Caller::anonymous().subject(), None);
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Caller {
    subject: Option<String>,
    issuer: Option<String>,
    client_id: Option<String>,
    scopes: Vec<String>,
    /// True for a token that is not restricted by scopes.
    pub(super) has_all_scopes: bool,
    claims: Map<String, Value>,
    pub(super) credentials: Credentials,
    token: Option<CallerToken>,
}

impl Caller {
    /// Creates a caller without a subject.
    pub fn anonymous() -> Self {
        Self::default()
    }

    /// Creates a caller with a subject, such as the id of a user. The rate limit counts requests by subject.
    pub fn named(subject: impl Into<String>) -> Self {
        let subject = subject.into();
        Self {
            credentials: Credentials::new().with_user_id(subject.clone()),
            subject: Some(subject),
            ..Self::default()
        }
    }

    /// Sets the credentials of the caller. A tool sees only those that it requires.
    pub fn with_credentials(self, credentials: Credentials) -> Self {
        Self { credentials, ..self }
    }

    /// Sets the issuer of the caller's token. The rate limit counts subjects of different issuers separately.
    pub fn with_issuer(self, issuer: impl Into<String>) -> Self {
        Self { issuer: Some(issuer.into()), ..self }
    }

    /// Sets the id of the OAuth client that acts for the caller.
    pub fn with_client_id(self, client_id: impl Into<String>) -> Self {
        Self { client_id: Some(client_id.into()), ..self }
    }

    /// Sets the scopes that the caller's token grants.
    pub fn with_scopes(self, scopes: impl IntoIterator<Item: Into<String>>) -> Self {
        Self { scopes: scopes.into_iter().map(Into::into).collect(), ..self }
    }

    /// Grants all scopes, which [`Caller::scopes`] does not list.
    pub(super) fn with_all_scopes(self) -> Self {
        Self { has_all_scopes: true, ..self }
    }

    /// Sets the token that was verified.
    pub(super) fn with_token(self, token: &str) -> Self {
        Self { token: Some(CallerToken(token.into())), ..self }
    }

    pub(super) fn token(&self) -> Option<&CallerToken> {
        self.token.as_ref()
    }

    /// Returns the subject together with its issuer, which identifies the caller among those of all issuers.
    pub(super) fn identity(&self) -> Option<String> {
        Some(format!("{} {}", self.issuer.as_deref().unwrap_or_default(), self.subject.as_deref()?))
    }

    /// Sets the claims of the caller's token.
    pub fn with_claims(self, claims: Map<String, Value>) -> Self {
        Self { claims, ..self }
    }

    /// Returns the subject of the caller. It is unique within the [issuer](Caller::issuer) only.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }

    /// Returns the issuer of the caller's token.
    #[must_use]
    pub fn issuer(&self) -> Option<&str> {
        self.issuer.as_deref()
    }

    /// Returns the id of the OAuth client that acts for the caller.
    #[must_use]
    pub fn client_id(&self) -> Option<&str> {
        self.client_id.as_deref()
    }

    /// Returns the scopes that the caller's token grants.
    #[must_use]
    pub fn scopes(&self) -> &[String] {
        &self.scopes
    }

    /// Returns a claim of the caller's token, such as the tenant.
    #[must_use]
    pub fn claim(&self, name: &str) -> Option<&Value> {
        self.claims.get(name)
    }
}

// Other claims may be personal data.
toolkit::debug_fields!(Caller { subject, issuer, client_id, scopes, credentials });

/// The cause of a tool error for a missing capability of the client.
///
/// The server then responds with the JSON-RPC error -32021, as revision 2026-07-28 requires.
///
/// # Examples
///
/// ```
/// # use toolkit::{Context, ToolError, tool};
/// use toolkit_mcp_server::{MissingCapability, Request};
///
/// /// Asks the user.
/// #[tool]
/// fn ask(ctx: &Context) -> Result<String, ToolError> {
///     let declared = ctx.get::<Request>().and_then(Request::client_capabilities).unwrap_or_default();
///     if declared.get("elicitation").is_none() {
///         let error = ToolError::failed("the client cannot ask its user");
///         return Err(error.caused_by(MissingCapability::new(["elicitation"])));
///     }
///     Ok("yes".to_owned())
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingCapability(Vec<String>);

impl MissingCapability {
    /// Creates the error from the names of the missing capabilities in `ClientCapabilities`.
    #[must_use]
    pub fn new(capabilities: impl IntoIterator<Item: Into<String>>) -> Self {
        Self(capabilities.into_iter().map(Into::into).collect())
    }

    /// Returns the required `ClientCapabilities`.
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
