//! A server as a backend.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use toolkit::backend::{Backend, BackendCall, BackendResponse, BackendStatus, OfferedTools};
use toolkit::dispatch::BoxFuture;
use toolkit::prompt::{Completion, CompletionRequest};
use toolkit::resource::{
    Resource, ResourceChanges, ResourceContents, ResourceTemplate, ResourceWatch, Resources, Skill,
};
use toolkit::tool::BackendKind;
use toolkit::{Coercion, Context, ToolError};

use super::endpoint::Endpoint;
use super::link::{Link, Sessions};
use super::process::Program;
use super::remote::{Choices, Limits, Remote, RemoteTarget};
use super::tool_rules::ToolRules;
use super::{call, list, prompts, resources, skills};

/// An MCP server as a [`Backend`].
///
/// It connects on the first use, or with [`Backend::start`]. If the connection is lost, running calls fail with
/// [`ErrorKind::OutcomeUnknown`](toolkit::call::ErrorKind::OutcomeUnknown) and the next call reconnects, with exponential
/// backoff. A call waits at most five seconds for a server that is being restarted, and then fails with
/// [`ErrorKind::Unavailable`](toolkit::call::ErrorKind::Unavailable). Meanwhile the tools stay in the catalog, for the time set with
/// [`Backends::with_grace`](toolkit_backends::Backends::with_grace).
///
/// Over HTTP, any response ends its request; the error has the status, `Retry-After` and the text of the server. Requests
/// that an HTTP server refuses because it has lost the session are sent again in a new one. After a request without a
/// response, the client checks that the server still responds, and otherwise reconnects.
///
/// A call that runs as a task outlives the connection: if that is lost, the client reconnects and waits for the result. In
/// revision 2025-11-25 the client requests a task for each tool that supports them, and later the server decides.
///
/// Clones share the server, so a host can keep one and register another. Dropping the last clone closes the connection
/// and ends the process, as [`Backend::stop`] does.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use toolkit_mcp_client::{Endpoint, McpBackend, Program};
///
/// # fn main() -> Result<(), toolkit_mcp_client::ConfigError> {
/// let files = McpBackend::stdio("files", Program::new("npx").args(["-y", "@acme/files"]))
///     .start_timeout(Duration::from_secs(60))
///     .trusted();
/// let search = McpBackend::http("search", Endpoint::new("https://example.com/mcp")?)
///     .timeout(Duration::from_secs(20))
///     .max_message_bytes(1 << 20)
///     .max_concurrent_calls(4)
///     .max_tools(100);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct McpBackend {
    link: Arc<Link>,
    is_trusted: bool,
}

impl McpBackend {
    /// Creates a backend for a program, which is started on demand and reached over its stdin and stdout.
    pub fn stdio(name: &str, program: impl Into<Program>) -> Self {
        Self::new(name, RemoteTarget::Stdio(program.into()))
    }

    /// Creates a backend for a server that is reached over Streamable HTTP.
    pub fn http(name: &str, endpoint: Endpoint) -> Self {
        Self::new(name, RemoteTarget::Http(endpoint))
    }

    fn new(name: &str, target: RemoteTarget) -> Self {
        let remote = Remote {
            name: name.into(),
            target: Arc::new(target),
            limits: Limits::default(),
            choices: Choices::default(),
            may_ask: false,
            resources: ResourceChanges::new(),
        };
        Self { link: Arc::new(Link::new(remote)), is_trusted: false }
    }

    /// Trusts the annotations, tags and timeouts of the server's tools, such as `readOnlyHint`; see
    /// [`Backend::is_trusted`]. Use it only for servers whose code you have reviewed.
    pub fn trusted(self) -> Self {
        Self { is_trusted: true, ..self }
    }

    /// Allows the server to ask the users of calls, by forms and URLs ([`Context::ask_question`]). A user reads the name
    /// of the server before each question.
    ///
    /// A server of a revision before 2026-07-28 does not state which call a question belongs to, unless the call runs as a
    /// task. So that it cannot reach the user of another call, the question is rejected if several calls are running on
    /// the connection, or one has ended without a response in the last five minutes. By default, the client declares that
    /// it cannot ask.
    ///
    /// [`Context::ask_question`]: toolkit::Context::ask_question
    pub fn may_ask(self) -> Self {
        self.with_may_ask(true)
    }

    pub(super) fn with_may_ask(self, may_ask: bool) -> Self {
        self.with_remote(|remote| remote.may_ask = may_ask)
    }

    /// Sets the timeout of a call, also of one that runs as a task. The limits of the dispatcher apply too. Default: 5
    /// minutes.
    pub fn timeout(self, limit: Duration) -> Self {
        self.limited(|limits| limits.call = limit)
    }

    /// Sets the timeout of a call that reports progress: each report starts the timeout of a call again, up to this one.
    /// Default: progress does not extend the timeout.
    pub fn max_timeout(self, limit: Duration) -> Self {
        self.limited(|limits| limits.progressing_call = limit)
    }

    /// Sets the timeout of connecting, of listing a page of tools, and of a request about a task. Default: 30 s.
    pub fn start_timeout(self, limit: Duration) -> Self {
        self.limited(|limits| limits.start = limit)
    }

    /// Stops the process of a program that was unused for this time, up to twice as long: without a call, a task or a
    /// subscription. The next request starts it again, and its tools stay listed meanwhile. With
    /// connections for each session of a client, those end as well. A server over HTTP is not affected. Default: never,
    /// since a program may keep something in memory.
    pub fn idle_timeout(self, limit: Duration) -> Self {
        self.limited(|limits| limits.idle = Some(limit))
    }

    /// Sets the maximum size of a message of the server, in bytes. Over HTTP it cannot exceed the default. Default: 16
    /// MiB.
    pub fn max_message_bytes(self, n_bytes: usize) -> Self {
        self.limited(|limits| limits.message_bytes = n_bytes)
    }

    /// Sets the maximum size of a result, in bytes of JSON. A larger result becomes an error of kind
    /// [`ErrorKind::ResultTooLarge`](toolkit::call::ErrorKind::ResultTooLarge). Default: the maximum size of a message.
    pub fn max_result_bytes(self, n_bytes: usize) -> Self {
        self.limited(|limits| limits.result_bytes = n_bytes)
    }

    /// Sets the maximum number of concurrent calls. Further calls wait, at most for the timeout of a call, and
    /// then fail with [`ErrorKind::Overloaded`](toolkit::call::ErrorKind::Overloaded). Default: no limit.
    pub fn max_concurrent_calls(self, n_calls: usize) -> Self {
        self.limited(|limits| limits.calls = n_calls.clamp(1, Semaphore::MAX_PERMITS))
    }

    /// Sets the maximum number of tools that the server may list. Default: 10,000.
    pub fn max_tools(self, n_tools: usize) -> Self {
        self.limited(|limits| limits.tools = n_tools)
    }

    /// Sets whether the clients of a proxy receive the instructions of the server. Default: true.
    pub fn instructions(self, pass: bool) -> Self {
        self.with_choices(|choices| choices.passes_instructions = pass)
    }

    /// Sets whether a proxy lists the tools with the name of the server before theirs, such as `files_read`. Without it, tools
    /// of the same name on other servers, and those of this one, get a suffix. Default: true.
    pub fn prefix(self, is_on: bool) -> Self {
        self.with_choices(|choices| choices.has_prefix = is_on)
    }

    /// Sets whether the root of each input schema becomes a plain object with properties, without `oneOf`, `anyOf`,
    /// `allOf` and the like, as in the [list](toolkit::mcp::list_tools) of this program's tools. Default: false.
    ///
    /// The APIs of some models refuse a request if one of its tools has a choice at the root. Arguments are checked
    /// against the plain schema, which accepts more, and passed on as they are, so that the server checks the rest.
    pub fn plain_input_schemas(self, is_plain: bool) -> Self {
        self.with_choices(|choices| choices.has_plain_input = is_plain)
    }

    /// Returns the address of the server, or `None` for a program.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit_mcp_client::{Endpoint, McpBackend};
    ///
    /// # fn main() -> Result<(), toolkit_mcp_client::ConfigError> {
    /// assert!(McpBackend::http("search", Endpoint::new("https://example.com/mcp")?).endpoint().is_some());
    /// assert!(McpBackend::stdio("time", "uvx").endpoint().is_none());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn endpoint(&self) -> Option<&Endpoint> {
        match &*self.link.remote.target {
            RemoteTarget::Http(endpoint) => Some(endpoint),
            RemoteTarget::Stdio(_) => None,
        }
    }

    /// Changes the address of the server and uses a new connection.
    pub(super) fn with_endpoint(self, change: impl FnOnce(Endpoint) -> Endpoint) -> Self {
        let Some(endpoint) = self.endpoint().cloned() else {
            return self;
        };
        let target = Arc::new(RemoteTarget::Http(change(endpoint)));
        self.with_remote(|remote| remote.target = target)
    }

    /// Returns true if the server would be started or reached in the same way, with the same limits and trust.
    pub(super) fn is_configured_like(&self, other: &Self) -> bool {
        let (ours, theirs) = (&self.link.remote, &other.link.remote);
        self.is_trusted == other.is_trusted
            && ours.may_ask == theirs.may_ask
            && ours.limits == theirs.limits
            && ours.choices == theirs.choices
            && ours.target.is_same(&theirs.target)
    }

    fn limited(self, change: impl FnOnce(&mut Limits)) -> Self {
        self.with_remote(|remote| change(&mut remote.limits))
    }

    pub(super) fn with_choices(self, change: impl FnOnce(&mut Choices)) -> Self {
        self.with_remote(|remote| change(&mut remote.choices))
    }

    /// Changes the settings and uses a new connection, since existing clones may have other settings.
    fn with_remote(self, change: impl FnOnce(&mut Remote)) -> Self {
        let mut remote = self.link.remote.clone();
        change(&mut remote);
        Self { link: Arc::new(Link::new(remote)), ..self }
    }

    pub(super) fn with_tools(self, change: impl FnOnce(&mut ToolRules)) -> Self {
        self.with_choices(|choices| change(&mut choices.tools))
    }
}

impl Backend for McpBackend {
    fn name(&self) -> &str {
        &self.link.remote.name
    }

    fn kind(&self) -> BackendKind {
        BackendKind::Mcp
    }

    fn is_trusted(&self) -> bool {
        self.is_trusted
    }

    fn has_prefix(&self) -> bool {
        self.link.remote.choices.has_prefix
    }

    fn coercion(&self) -> Option<Coercion> {
        self.link.remote.choices.coercion
    }

    fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>> {
        Box::pin(self.link.listing_unless_idle(async {
            let mut offers = list::offers(&self.link).await?;
            prompts::add_to(&self.link, &mut offers).await?;
            Ok(offers)
        }))
    }

    /// Waits until the tools may have changed since they were last listed: the server has announced it, or the
    /// connection was lost or restored. While the server cannot be listed, it reconnects with exponential backoff.
    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.link.changed())
    }

    fn call<'a>(&'a self, call: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
        Box::pin(async move { call::run(&*Sessions::link_for(&self.link, call.context())?, call).await })
    }

    fn prompt<'a>(&'a self, call: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
        Box::pin(async move { prompts::run(&*Sessions::link_for(&self.link, call.context())?, call).await })
    }

    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Completion, ToolError>> {
        Box::pin(async move { prompts::complete(&*Sessions::link_for(&self.link, context)?, request, context).await })
    }

    fn resources(&self) -> Option<&dyn Resources> {
        Some(self)
    }

    fn start(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(self.link.start())
    }

    fn stop(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(async {
            self.link.stop().await;
            Ok(())
        })
    }

    fn holds_sessions(&self) -> bool {
        self.link.remote.choices.max_sessions.is_some()
    }

    fn end_session(&self, session: &str) {
        self.link.sessions.end(session);
    }

    fn health(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(async {
            match self.link.is_asleep() {
                true => Ok(()),
                false => list::probe(&self.link).await,
            }
        })
    }

    /// Returns the state of the connection as of the last message. The loss of an HTTP connection is noticed by the
    /// next request. A server that does not respond is not ready.
    fn status(&self) -> BackendStatus {
        self.link.status()
    }
}

/// The resources of the server, if it has declared some. What it reports about them is untrusted: at most 10,000
/// resources are listed, and the size of a message bounds that of their contents.
impl Resources for McpBackend {
    fn list<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<Vec<Resource>, ToolError>> {
        Box::pin(resources::list(&self.link))
    }

    fn templates<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<Vec<ResourceTemplate>, ToolError>> {
        Box::pin(resources::templates(&self.link))
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Vec<ResourceContents>>, ToolError>> {
        Box::pin(async move { resources::read(&*Sessions::link_for(&self.link, context)?, uri, context).await })
    }

    /// Returns true, since the server need not be connected yet.
    fn has_skills(&self) -> bool {
        true
    }

    fn skills<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<Vec<Skill>, ToolError>> {
        Box::pin(skills::list(&self.link))
    }

    fn skill<'a>(&'a self, uri: &'a str, context: &'a Context) -> BoxFuture<'a, Result<Option<Skill>, ToolError>> {
        Box::pin(async move { skills::get(&*Sessions::link_for(&self.link, context)?, uri, context).await })
    }

    /// Subscribes at the server, once for all watches of the resource and on each new connection. At most 1,000 resources
    /// of a server are watched, half of them for one caller.
    fn watch<'a>(&'a self, uri: &'a str, context: &'a Context) -> BoxFuture<'a, Result<ResourceWatch, ToolError>> {
        Box::pin(async move { resources::watch(Sessions::link_for(&self.link, context)?, uri, context).await })
    }

    fn changes(&self) -> Option<&ResourceChanges> {
        Some(&self.link.remote.resources)
    }
}

/// The name of the server for error messages. Models read these, so they do not contain its address.
impl fmt::Display for McpBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.link.remote.fmt(f)
    }
}

impl fmt::Debug for McpBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let remote = &self.link.remote;
        let target: &dyn fmt::Debug = match &*remote.target {
            RemoteTarget::Stdio(program) => program,
            RemoteTarget::Http(endpoint) => endpoint,
        };
        f.debug_struct("McpBackend").field("name", &remote.name).field("target", target).finish_non_exhaustive()
    }
}
