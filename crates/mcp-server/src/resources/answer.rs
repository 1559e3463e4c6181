//! One request for resources, which runs on a thread for tools.

use std::sync::Arc;

use serde_json::json;
use serde_json::value::RawValue;
use tokio::time::{Instant, sleep_until};
use toolkit::call::ErrorKind;
use toolkit::mcp::Revision;
use toolkit::resource::ResourceWatch;
use toolkit::{CancelToken, Context, ToolError};
use toolkit_mcp::{Code, RpcError, response};
use toolkit_runtime::{CallPermit, RequestTarget, spawn_tool};
use tracing::{Instrument, Span};

use super::list::ListRequest;
use super::{read, skills};
use crate::access::Access;
use crate::metrics::ResourceMetric;
use crate::observe::Observed;
use crate::peer::Registered;
use crate::prompts::{self, PromptRequest};
use crate::proxy_uri::decode;
use crate::reply::Reply;
use crate::request::Request;
use crate::state::ServerState;

/// The start of the names of requests for resources in the call limiter. Without a `/`,
/// it could be the id of a tool.
const RESOURCES: &str = "resources/";

/// A request for resources.
pub(crate) struct ResourceRequest {
    pub(super) shared: Arc<ServerState>,
    pub(super) id: Box<RawValue>,
    pub(super) revision: Revision,
    pub(super) action: Action,
    pub(super) context: Context,
    /// Cancels the request; the context holds the same token.
    pub(super) cancel: CancelToken,
    pub(super) registered: Option<Registered>,
    pub(super) observed: Option<Observed>,
    pub(super) scope: Scope,
    /// The resources that a list may contain, or `None` for all.
    pub(super) access: Option<Access>,
}

#[derive(Clone)]
pub(super) enum Action {
    List { after: Option<String> },
    Templates { after: Option<String> },
    Read { uri: String },
    Skills { after: Option<String> },
    Skill { uri: String },
    Subscribe { session: String, uri: String },
    Prompt(Box<PromptRequest>),
}

/// The clients for which a cache may store a result (`cacheScope`).
#[derive(Clone, Copy)]
pub(super) enum Scope {
    /// All clients, since the server has not authenticated the caller.
    Public,
    /// The caller, since a provider may consider its identity, or that of a proxy.
    Private,
}

impl Scope {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Scope::Public => "public",
            Scope::Private => "private",
        }
    }
}

/// The reason why a request has no result.
pub(super) enum Failed {
    /// The error of a provider.
    Provider(ToolError),
    /// No provider has a resource with this URI.
    Unknown(String),
    /// No provider reports changes of the resource.
    Unwatched(ToolError),
    /// The error of a prompt.
    Prompt(ToolError),
    /// The request exceeds a limit.
    Rejected(RpcError),
}

impl ResourceRequest {
    /// Starts the observation of the request.
    pub(crate) fn observe(&mut self, mut observed: Observed) {
        match &self.action {
            Action::Read { uri } | Action::Skill { uri } | Action::Subscribe { uri, .. } => {
                observed.set_target(RequestTarget::Resource(uri));
            }
            Action::Prompt(request) => {
                request.name().into_iter().for_each(|name| observed.set_target(RequestTarget::Prompt(name)));
            }
            Action::List { .. } | Action::Templates { .. } | Action::Skills { .. } => {}
        }
        self.context = observed.traced(std::mem::take(&mut self.context));
        self.observed = Some(observed);
    }

    /// Answers the request. Dropping the future cancels it.
    pub(crate) async fn answer(self) -> Reply {
        let Self { shared, id, revision, action, context, cancel, registered, scope, access, observed } = self;
        let span = observed.as_ref().map_or_else(Span::none, |observed| observed.span().clone());
        let timer = shared.metrics.resources.start(action.metric());
        // A provider that observes the token can stop early.
        let _guard = cancel.drop_guard();
        let deadline = shared.call_timeout.map(|limit| Instant::now() + limit);
        let state = Arc::clone(&shared);
        let work = async {
            let name = if matches!(action, Action::Prompt(_)) { "prompts/" } else { RESOURCES };
            let work = async move {
                let shared = &*state;
                let (context, access) = (&context, access.as_ref());
                let listing = |after| ListRequest { shared, context, revision, after, scope, access };
                match action {
                    Action::Prompt(request) => request.run(shared, context, revision).await.map_err(Failed::Prompt),
                    Action::List { after } => {
                        let listing = listing(after);
                        listing
                            .page("resources", |provider, context| provider.list(context), |resource| &resource.uri)
                            .await
                    }
                    Action::Templates { after } => {
                        let listing = listing(after);
                        listing
                            .page(
                                "resourceTemplates",
                                |provider, context| provider.templates(context),
                                |template| &template.uri_template,
                            )
                            .await
                    }
                    Action::Read { uri } => read::read(shared, context, revision, uri, scope).await,
                    Action::Skills { after } => {
                        let listing = listing(after);
                        listing.page("skills", |provider, context| provider.skills(context), |skill| &skill.uri).await
                    }
                    Action::Skill { uri } => skills::get(shared, context, revision, uri, scope).await,
                    Action::Subscribe { session, uri } => read::subscribe(shared, context, &session, uri).await,
                }
            };
            let task = spawn_tool(name, work.instrument(span));
            task.await.unwrap_or_else(|panicked| Err(ToolError::internal(panicked).into()))
        };
        let outcome = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(ToolError::cancelled().into()),
            outcome = work => outcome,
            () = async {
                match deadline {
                    Some(deadline) => sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            } => {
                let limit = shared.call_timeout.unwrap_or_default();
                let message = format!("the request took longer than {limit:?}, the timeout of the server");
                Err(ToolError::new(ErrorKind::TimedOut, message).into())
            }
        };
        let failure = outcome.as_ref().err().map(Failed::kind);
        timer.end(failure);
        let (bytes, code) = match outcome {
            Ok(result) => (response(&id, shared.meta_fields(revision), &result), None),
            Err(failed) => {
                let fault = failed.describe(revision);
                (fault.to_response(Some(&id)), Some(fault.code))
            }
        };
        if let Some(observed) = observed {
            observed.end(failure, code);
        }
        Reply { is_cancelled: registered.is_some() && cancel.is_cancelled(), ..Reply::new(bytes) }
    }
}

/// Watches those resources that the caller can read, on a thread for tools.
pub(crate) async fn watch_readable(
    shared: Arc<ServerState>,
    context: Context,
    uris: Vec<String>,
) -> Vec<(String, ResourceWatch)> {
    let watching = spawn_tool(RESOURCES, async move { read::watch_readable(&shared, &context, uris).await });
    watching.await.unwrap_or_default()
}

/// Waits for a permit for a request to a provider. Each provider, and each backend of a proxy, has its own share of the
/// permits, so that requests to one that hangs do not delay those to others.
pub(super) async fn acquire(
    shared: &ServerState,
    context: &Context,
    provider: usize,
    uri: Option<&str>,
) -> Result<CallPermit, ToolError> {
    let mut name = format!("{RESOURCES}{provider}");
    if let Some((backend, _)) = uri.and_then(decode).filter(|(backend, _)| shared.has_backend(backend)) {
        name = format!("{name}/{backend}");
    }
    let permit = shared.calls.acquire(name, Request::share_of(context)).await;
    permit.map_err(|error| ToolError::new(ErrorKind::Overloaded, error.to_string()))
}

impl Action {
    fn metric(&self) -> ResourceMetric {
        match self {
            Action::List { .. } => ResourceMetric::List,
            Action::Templates { .. } => ResourceMetric::Templates,
            Action::Read { .. } => ResourceMetric::Read,
            Action::Skills { .. } => ResourceMetric::Skills,
            Action::Skill { .. } => ResourceMetric::Skill,
            Action::Subscribe { .. } => ResourceMetric::Subscribe,
            Action::Prompt(request) if request.is_completion() => ResourceMetric::Complete,
            Action::Prompt(_) => ResourceMetric::Prompt,
        }
    }
}

impl Failed {
    fn kind(&self) -> ErrorKind {
        match self {
            Failed::Provider(error) | Failed::Unwatched(error) | Failed::Prompt(error) => error.kind(),
            Failed::Unknown(_) | Failed::Rejected(_) => ErrorKind::InvalidArguments,
        }
    }

    fn describe(self, revision: Revision) -> RpcError {
        match self {
            Failed::Unknown(uri) => {
                let code = match revision {
                    Revision::V2025_11_25 => Code::ResourceNotFound,
                    _ => Code::InvalidParams,
                };
                let shown: String = uri.chars().take(120).collect();
                let message = format!("no resource has the URI `{}`", shown.escape_debug());
                RpcError::new(code, message).with_data(json!({ "uri": uri }))
            }
            Failed::Rejected(error) => error,
            Failed::Prompt(error) => prompts::describe(&error),
            Failed::Unwatched(error) if error.kind() == ErrorKind::Failed => {
                RpcError::new(Code::InvalidParams, error.message())
            }
            Failed::Provider(error) | Failed::Unwatched(error) => {
                if matches!(error.kind(), ErrorKind::Internal | ErrorKind::Panicked) {
                    let source = std::error::Error::source(&error).map(ToString::to_string);
                    tracing::error!(source, "a provider of resources has failed");
                    return RpcError::new(Code::Internal, "the resource cannot be read: internal error");
                }
                RpcError::new(Code::Internal, error.message())
            }
        }
    }
}

impl From<ToolError> for Failed {
    fn from(error: ToolError) -> Self {
        Failed::Provider(error)
    }
}
