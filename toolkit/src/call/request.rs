//! The parts of an HTTP request that a tool may read, and the headers that are withheld since they are credentials.

use std::net::IpAddr;

use super::credentials::SecretString;

/// The parts of the HTTP request by which a call arrived: path, headers, the address of the client, and the session.
///
/// A server attaches them to the [`Context`](super::Context), and [`Context::request`](super::Context::request) returns
/// them. They are empty for calls over stdio, and for calls that a program makes itself.
///
/// All of them are claims of the client, unless a proxy in front of the server sets them: a header does not prove the identity of the caller.
/// Headers with credentials are left out, such as `Authorization`, `Cookie`, `X-Api-Key` and those with a bearer token or
/// a JWT as their value; a tool declares the credentials that it needs with
/// [`requires(…)`](macro@crate::tool#attribute-arguments). So is the query of the URL, which may have them too.
///
/// # Examples
///
/// ```
/// use toolkit::call::RequestParts;
/// use toolkit::{Context, Dispatcher, ToolError, catalog, tool};
///
/// /// Lists the projects of the tenant.
/// #[tool(read_only)]
/// fn projects(ctx: &Context) -> Result<String, ToolError> {
///     let tenant = ctx.request().header("X-Tenant").ok_or("the request has no tenant")?;
///     Ok(format!("the projects of {tenant}"))
/// }
///
/// let dispatcher = Dispatcher::new(catalog![projects]?)?;
/// let request = RequestParts::new().with_path("/mcp").with_header("x-tenant", "acme").with_header("cookie", "id=7");
/// assert_eq!(request.header("cookie"), None);
/// let result = dispatcher.call_sync_with(&Context::new().with(request), "projects", "{}")?;
/// assert_eq!(result.value(), "the projects of acme");
/// assert!(dispatcher.call_sync("projects", "{}").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct RequestParts {
    path: Option<Box<str>>,
    /// A line for each header, `name:value`. One text takes less work than one for each.
    headers: String,
    peer: Option<IpAddr>,
    session: Option<Box<str>>,
    caller: Option<Box<str>>,
    /// The headers with credentials, by their names in lowercase.
    withheld: Vec<(Box<str>, SecretString)>,
}

/// Parts of the names of headers that contain credentials.
const SECRET_NAMES: [&str; 11] = [
    "authorization",
    "cookie",
    "token",
    "secret",
    "password",
    "credential",
    "api-key",
    "apikey",
    "auth-key",
    "jwt",
    "session",
];

impl RequestParts {
    pub(super) const EMPTY: &'static Self =
        &Self { path: None, headers: String::new(), peer: None, session: None, caller: None, withheld: Vec::new() };

    /// Creates an empty request.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the path, without the query.
    pub fn with_path(mut self, path: &str) -> Self {
        self.path = Some(path.split(['?', '#']).next().unwrap_or_default().into());
        self
    }

    /// Adds a header, unless it contains a line break, or a value that is not UTF-8. One with credentials is not
    /// among the headers that tools read.
    pub fn with_header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        let Ok(value) = str::from_utf8(value.as_ref()) else { return self };
        let name = name.to_ascii_lowercase();
        let breaks = |text: &str| text.contains(['\r', '\n']);
        if breaks(&name) || breaks(value) || name.contains(':') {
            return self;
        }
        if is_secret(&name, value) {
            self.withheld.push((name.into(), value.into()));
        } else {
            for part in [&*name, ":", value, "\n"] {
                self.headers.push_str(part);
            }
        }
        self
    }

    /// Sets the address of the client.
    pub fn with_peer(mut self, peer: IpAddr) -> Self {
        self.peer = Some(peer);
        self
    }

    /// Sets the id of the session.
    pub fn with_session(mut self, session: &str) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Sets the name of the caller for limits.
    pub fn with_caller(mut self, name: &str) -> Self {
        self.caller = Some(name.into());
        self
    }

    /// Returns the path of the URL, such as `/mcp`.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// Returns the first header with this name, in any case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Returns the first header with credentials that has this name, in any case: for clients that pass it on to the server
    /// that it is meant for. A tool declares the credentials that it needs.
    #[must_use]
    pub fn credential(&self, name: &str) -> Option<&SecretString> {
        self.withheld.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Returns the names of all headers, in lowercase, with their values.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.headers.lines().filter_map(|line| line.split_once(':'))
    }

    /// Returns the address of the client: that of its connection, or the one that a trusted proxy passes on. It is unknown
    /// to a server that is mounted in a router of the host.
    #[must_use]
    pub fn peer(&self) -> Option<IpAddr> {
        self.peer
    }

    /// Returns the name of the session, which clients of MCP up to revision 2025-11-25 have: its id, and for a caller whom the
    /// server has authenticated, more.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Returns the name of the caller for limits that callers share: that of the caller whom the server has authenticated,
    /// or else its address, or else the session.
    #[must_use]
    pub fn caller(&self) -> Option<&str> {
        self.caller.as_deref()
    }
}

/// Returns true if a header contains credentials, judging by its name and the form of its value.
fn is_secret(name: &str, value: &str) -> bool {
    let is_jwt = |value: &str| value.starts_with("eyJ") && value.split('.').count() == 3;
    let is_bearer = |value: &str| value.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer "));
    SECRET_NAMES.iter().any(|part| name.contains(part)) || is_jwt(value) || is_bearer(value)
}

// Values may be personal data.
crate::debug_fields!(it, RequestParts { path, headers: it.headers().map(|(name, _)| name).collect::<Vec<_>>(), peer });
