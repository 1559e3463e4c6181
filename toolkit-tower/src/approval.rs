//! Asking before a tool does something that cannot be undone.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;
use toolkit::call::ErrorKind;
use toolkit::dispatch::Call;
use toolkit::tool::ToolId;
use toolkit::{Context, RunResult, Tool, ToolError};

use crate::middleware::{Inner, Middleware, layer};
use crate::waiting::unless_cancelled;

/// Asks whether a call may be made, by default each call of a tool that [may destroy something](may_destroy).
///
/// ```
/// use toolkit::{Catalog, Dispatcher, tool};
/// use toolkit_tower::{Answer, Approval};
///
/// /// Deletes a file.
/// #[tool(destructive)]
/// fn delete(path: String) -> String {
///     format!("{path} is gone")
/// }
///
/// let approval = Approval::by(async |question| match question.arguments()["path"].as_str() {
///     Some("draft.md") => Answer::Yes,
///     _ => Answer::No("only the draft is to go".into()),
/// });
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::builder(Catalog::linked()?).layer(approval).build()?;
/// assert_eq!(dispatcher.call("delete", r#"{"path": "draft.md"}"#).await?.value(), "draft.md is gone");
///
/// let denied = dispatcher.call("delete", r#"{"path": "thesis.md"}"#).await.unwrap_err();
/// assert_eq!(denied.to_string(), "delete: the call was not approved: only the draft is to go");
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// A call that the dispatcher would refuse is refused before anybody is asked. Waiting for an answer ends when the
/// caller gives up.
#[derive(Clone)]
pub struct Approval {
    asks: Arc<dyn Fn(&Tool) -> bool + Send + Sync>,
    ask: Arc<dyn Fn(Question) -> Asked + Send + Sync>,
    /// The contracts that were approved for good.
    always: Arc<RwLock<HashMap<ToolId, Tool>>>,
}

type Asked = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// A call that somebody is asked about.
#[derive(Clone, Debug)]
pub struct Question {
    call: Call,
    arguments: Value,
}

/// Whether a call may be made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// It may.
    Yes,
    /// It may not, and the model reads why ([`ErrorKind::Denied`]).
    No(String),
    /// It may, and so may every later call of this tool, whoever makes it: where a dispatcher serves several people,
    /// answer [`Answer::Yes`] and remember who said so. It holds for the contract that was approved: once
    /// its [hash](Tool::contract_hash) is another, the next call is asked about again.
    Always,
}

/// Returns true if a tool may delete or overwrite something, by its hints (MCP `ToolAnnotations`); a tool without hints
/// may.
///
/// Hints of a backend count only if the host trusts it or a lock confirms them:
/// [`Backends::collect`](toolkit::backend::Backends::collect) drops all others.
#[must_use]
pub fn may_destroy(tool: &Tool) -> bool {
    let hints = tool.annotations();
    hints.read_only != Some(true) && hints.destructive != Some(false)
}

impl Approval {
    /// Asks `ask`.
    #[must_use]
    pub fn by<F: Future<Output = Answer> + Send + 'static>(
        ask: impl Fn(Question) -> F + Send + Sync + 'static,
    ) -> Self {
        Self {
            asks: Arc::new(may_destroy),
            ask: Arc::new(move |question| Box::pin(ask(question))),
            always: Arc::default(),
        }
    }

    /// Asks about the calls of these tools, and of no others.
    #[must_use]
    pub fn when(self, asks: impl Fn(&Tool) -> bool + Send + Sync + 'static) -> Self {
        Self { asks: Arc::new(asks), ..self }
    }

    fn is_free(&self, tool: &Tool) -> bool {
        let is_approved = |known: &Tool| known == tool || known.contract_hash() == tool.contract_hash();
        let always = || self.always.read().unwrap_or_else(PoisonError::into_inner);
        !(self.asks)(tool) || always().get(tool.id()).is_some_and(is_approved)
    }
}

impl Question {
    /// The tool.
    #[must_use]
    pub fn tool(&self) -> &Tool {
        self.call.tool()
    }

    /// The arguments as the tool will be given them, secrets included; for logs see
    /// [`Schema::masked`](toolkit::schema::Schema::masked).
    #[must_use]
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// What goes along with the call, such as who the caller is.
    #[must_use]
    pub fn context(&self) -> &Context {
        self.call.context()
    }
}

impl Middleware for Approval {
    async fn around(&self, call: Call, inner: impl Inner) -> Result<RunResult, ToolError> {
        if !self.is_free(call.tool()) {
            let question = Question { arguments: call.checked_arguments()?, call: call.clone() };
            match unless_cancelled(call.context(), (self.ask)(question)).await? {
                Answer::Yes => {}
                Answer::No(reason) => return Err(denied(&reason)),
                Answer::Always => {
                    let tool = call.tool();
                    let mut always = self.always.write().unwrap_or_else(PoisonError::into_inner);
                    always.insert(tool.id().clone(), tool.clone());
                }
            }
        }
        inner.run(call).await
    }
}

layer!(Approval);

fn denied(reason: &str) -> ToolError {
    let message = match reason.trim() {
        "" => "the call was not approved".to_owned(),
        reason => format!("the call was not approved: {reason}"),
    };
    ToolError::new(ErrorKind::Denied, message)
}

impl fmt::Debug for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approval").finish_non_exhaustive()
    }
}
