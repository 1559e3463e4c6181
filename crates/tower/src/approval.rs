//! Approval of calls.

mod question;

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;
use toolkit::call::ErrorKind;
use toolkit::dispatch::Call;
use toolkit::tool::ToolId;
use toolkit::{Context, RunResult, Tool, ToolError};

use self::question::ask;
use crate::middleware::{Inner, Middleware, layer, unless_cancelled};

/// A layer that requests approval for calls, by default for those of tools that [may be destructive](may_be_destructive): all
/// but those with `read_only` or `destructive = false`.
///
/// A call is validated before approval is requested. Waiting for a decision ends if the call is cancelled. A denied call
/// fails with [`ErrorKind::Denied`].
///
/// # Examples
///
/// ```standalone_crate
/// use toolkit::{Catalog, Dispatcher, tool};
/// use toolkit_tower::{Approval, Decision};
///
/// /// Deletes a file.
/// #[tool(destructive)]
/// fn delete(path: String) -> String {
///     format!("{path} is gone")
/// }
///
/// let approval = Approval::new(async |request| match request.arguments()["path"].as_str() {
///     Some("draft.md") => Decision::Approve,
///     _ => Decision::Deny("only drafts can be deleted".into()),
/// });
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::builder(Catalog::linked()?).layer(approval).build()?;
/// assert_eq!(dispatcher.call("delete", r#"{"path": "draft.md"}"#).await?.value(), "draft.md is gone");
///
/// let denied = dispatcher.call("delete", r#"{"path": "thesis.md"}"#).await.unwrap_err();
/// assert_eq!(denied.to_string(), "delete: the call was not approved: only drafts can be deleted");
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct Approval {
    is_required: Arc<dyn Fn(&Tool) -> bool + Send + Sync>,
    decide: Arc<dyn Fn(ApprovalRequest) -> PendingDecision + Send + Sync>,
    /// The tools that were approved permanently, with their contracts.
    approved: Arc<RwLock<HashMap<ToolId, Tool>>>,
}

type PendingDecision = Pin<Box<dyn Future<Output = Decision> + Send>>;

/// A call that requires approval.
///
/// # Examples
///
/// A question to the user who makes the call, without the secrets of the arguments:
///
/// ```standalone_crate
/// use toolkit::{Catalog, Context, Dispatcher, tool};
/// use toolkit_tower::{Approval, ApprovalRequest, Decision};
///
/// /// Deletes a file.
/// #[tool(destructive)]
/// fn erase(path: String) {}
///
/// struct User(&'static str);
///
/// fn question(request: &ApprovalRequest) -> String {
///     let user = request.context().get::<User>().map_or("unknown user", |user| user.0);
///     let arguments = request.tool().input().masked(request.arguments());
///     format!("{user}: run `{}` with {arguments}?", request.tool().id())
/// }
///
/// let approval = Approval::new(async |request| {
///     assert_eq!(question(&request), r#"Ada: run `erase` with {"path":"a.txt"}?"#);
///     Decision::Approve
/// });
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::builder(Catalog::linked()?).layer(approval).build()?;
/// dispatcher.call_with(&Context::new().with(User("Ada")), "erase", r#"{"path": "a.txt"}"#).await?;
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ApprovalRequest {
    call: Call,
    arguments: Value,
}

/// The decision about an [`ApprovalRequest`].
///
/// # Examples
///
/// ```standalone_crate
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use toolkit::{Catalog, Dispatcher, tool};
/// use toolkit_tower::{Approval, Decision};
///
/// /// Deletes a file.
/// #[tool(destructive)]
/// fn discard(path: String) {}
///
/// let n_questions = Arc::new(AtomicUsize::new(0));
/// let count = Arc::clone(&n_questions);
/// let approval = Approval::new(move |_| {
///     count.fetch_add(1, Ordering::Relaxed);
///     async { Decision::ApproveAlways }
/// });
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::builder(Catalog::linked()?).layer(approval).build()?;
/// dispatcher.call("discard", r#"{"path": "a.txt"}"#).await?;
/// dispatcher.call("discard", r#"{"path": "b.txt"}"#).await?;
/// assert_eq!(n_questions.load(Ordering::Relaxed), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// Approves the call.
    Approve,
    /// Denies the call with a reason, which the model reads ([`ErrorKind::Denied`]).
    Deny(String),
    /// Leaves the decision open, with a reason such as the number of a ticket ([`ErrorKind::Pending`]). The call may be
    /// made again later; a program that can be resumed waits.
    Later(String),
    /// Approves this call and all later calls of the tool, until the [hash](Tool::contract_hash) of its contract changes.
    ///
    /// The decision applies to all callers. If a dispatcher serves several users, return [`Decision::Approve`] and store
    /// the decision of each user.
    ApproveAlways,
}

/// Returns true if a tool may perform destructive updates according to its hints (MCP `ToolAnnotations`).
///
/// A tool without hints may be destructive. Hints of a backend are considered only if the host trusts the backend or a
/// lock confirms them: `Backends::collect` drops all others.
///
/// # Examples
///
/// Combined with a criterion of the host:
///
/// ```
/// use toolkit::Tool;
/// use toolkit_tower::{Approval, Decision, may_be_destructive};
///
/// let is_risky = |tool: &Tool| may_be_destructive(tool) || tool.tags().iter().any(|tag| tag == "payment");
/// assert!(is_risky(&Tool::builder("delete").build()?));
/// assert!(is_risky(&Tool::builder("pay").destructive(false).tags(["payment"]).build()?));
/// assert!(!is_risky(&Tool::builder("list").read_only(true).build()?));
///
/// let approval = Approval::new(async |_| Decision::Deny("no user is present".into())).when(is_risky);
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[must_use]
pub fn may_be_destructive(tool: &Tool) -> bool {
    tool.annotations().may_be_destructive()
}

impl Approval {
    /// Creates a layer that calls `decide` for each call that requires approval.
    #[must_use]
    pub fn new<F: Future<Output = Decision> + Send + 'static>(
        decide: impl Fn(ApprovalRequest) -> F + Send + Sync + 'static,
    ) -> Self {
        Self {
            is_required: Arc::new(may_be_destructive),
            decide: Arc::new(move |request| Box::pin(decide(request))),
            approved: Arc::default(),
        }
    }

    /// Creates a layer that asks the user on whose behalf the call is made: the client shows the tool and its arguments,
    /// without secrets. A call is denied if its client cannot ask; see [`ask_caller_or`](Self::ask_caller_or).
    ///
    /// The user is asked before the tool starts, if it [may be destructive](may_be_destructive). An MCP server needs no other
    /// setup: the client declares that it can ask
    /// ([`Asker`](toolkit::call::ask::Asker)).
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use toolkit::{Catalog, Dispatcher, tool};
    /// use toolkit_tower::Approval;
    ///
    /// /// Deletes a file.
    /// #[tool(destructive)]
    /// fn delete(path: String) {}
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let dispatcher = Dispatcher::builder(Catalog::linked()?).layer(Approval::ask_caller()).build()?;
    /// let error = dispatcher.call("delete", r#"{"path": "a.txt"}"#).await.unwrap_err();
    /// assert_eq!(error.message(), "the call was not approved: its client cannot ask the user");
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn ask_caller() -> Self {
        Self::ask_caller_or(Decision::Deny("its client cannot ask the user".to_owned()))
    }

    /// Does the same as [`ask_caller`](Self::ask_caller), with a decision about the calls of clients that cannot ask.
    #[must_use]
    pub fn ask_caller_or(fallback: Decision) -> Self {
        Self::new(move |request| ask(request, fallback.clone()))
    }

    /// Sets which tools require approval. By default, those that [may be destructive](may_be_destructive).
    #[must_use]
    pub fn when(self, is_required: impl Fn(&Tool) -> bool + Send + Sync + 'static) -> Self {
        Self { is_required: Arc::new(is_required), ..self }
    }

    fn requires_approval(&self, tool: &Tool) -> bool {
        let is_same = |approved: &Tool| approved == tool || approved.contract_hash() == tool.contract_hash();
        let approved = || self.approved.read().unwrap_or_else(PoisonError::into_inner);
        (self.is_required)(tool) && !approved().get(tool.id()).is_some_and(is_same)
    }
}

impl ApprovalRequest {
    /// Returns the tool.
    #[must_use]
    pub fn tool(&self) -> &Tool {
        self.call.tool()
    }

    /// Returns the validated arguments, as the tool will receive them.
    ///
    /// They include secrets; for logs, use [`Schema::masked`](toolkit::schema::Schema::masked).
    #[must_use]
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// Returns the context of the call, for example to identify the caller.
    pub fn context(&self) -> &Context {
        self.call.context()
    }
}

impl Middleware for Approval {
    async fn around(&self, call: Call, inner: impl Inner) -> Result<RunResult, ToolError> {
        if self.requires_approval(call.tool()) {
            let request = ApprovalRequest { arguments: call.checked_arguments()?, call: call.clone() };
            match unless_cancelled(call.context(), (self.decide)(request)).await? {
                Decision::Approve => {}
                Decision::Deny(reason) => return Err(denied(call.tool(), &reason)),
                Decision::Later(reason) => return Err(pending(&reason)),
                Decision::ApproveAlways => {
                    let tool = call.tool();
                    let mut approved = self.approved.write().unwrap_or_else(PoisonError::into_inner);
                    approved.insert(tool.id().clone(), tool.clone());
                }
            }
        }
        inner.run(call).await
    }
}

layer!(Approval);

fn pending(reason: &str) -> ToolError {
    let message = match reason.trim() {
        "" => "the call waits for approval".to_owned(),
        reason => format!("the call waits for approval: {reason}"),
    };
    ToolError::new(ErrorKind::Pending, message)
}

fn denied(tool: &Tool, reason: &str) -> ToolError {
    let message = match reason.trim() {
        "" => "the call was not approved".to_owned(),
        reason => format!("the call was not approved: {reason}"),
    };
    let error = ToolError::new(ErrorKind::Denied, message);
    let hints = tool.annotations();
    // For the author of a function. The hints of other servers are dropped, whatever they declare.
    if tool.location().is_some() && hints.read_only.is_none() && hints.destructive.is_none() {
        return error.caused_by(
            "the tool has no hint, so it may be destructive; write `read_only` in `#[tool]` if it changes nothing, or \
             `destructive = false` if it only adds",
        );
    }
    error
}

toolkit::debug_fields!(Approval {});
