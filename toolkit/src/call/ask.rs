//! Questions to the user during a call.
//!
//! A tool asks with [`Context::ask`](crate::Context::ask), and the host answers with an [`Asker`]: an MCP client shows a
//! form, a command line prompts in the terminal. The [`Form`] is derived from the Rust type of the answer.
//!
//! ```
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use toolkit::{Context, ToolError, tool};
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Deletion {
//!     /// Delete the branch even if it is not merged.
//!     #[serde(default)]
//!     force: bool,
//! }
//!
//! /// Deletes a branch.
//! #[tool(destructive)]
//! async fn delete_branch(branch: String, ctx: &Context) -> Result<String, ToolError> {
//!     let deletion: Deletion = ctx.ask(format!("Delete the branch `{branch}`?")).await?;
//!     Ok(format!("deleted {branch}{}", if deletion.force { " by force" } else { "" }))
//! }
//! ```

mod field;
mod form;
mod question;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

pub use self::form::{Form, FormError};
pub use self::question::{Mode, Question, UnsupportedMode};
use super::BoxFuture;
use super::tool_error::ToolError;

/// Asks the user on whose behalf a call is made. A host sets it with [`Context::with_asker`](crate::Context::with_asker).
///
/// # Examples
///
/// A user who accepts each form as it is:
///
/// ```
/// use serde_json::json;
/// use toolkit::call::BoxFuture;
/// use toolkit::call::ask::{Answer, Asker, Mode, Question};
/// use toolkit::{Context, Dispatcher, ToolError, catalog, tool};
///
/// struct Agreeable;
///
/// impl Asker for Agreeable {
///     fn can_ask(&self, mode: Mode) -> bool {
///         mode == Mode::Form
///     }
///     fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, ToolError>> {
///         assert_eq!(question.message(), "How many?");
///         Box::pin(async { Ok(Answer::Accepted(json!({ "value": 3 }))) })
///     }
/// }
///
/// /// Buys apples.
/// #[tool]
/// async fn buy(ctx: &Context) -> Result<u32, ToolError> {
///     ctx.ask("How many?").await
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::new(catalog![buy]?)?;
/// let context = Context::new().with_asker(Agreeable);
/// assert_eq!(dispatcher.call_with(&context, "buy", "{}").await?.value(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait Asker: Send + Sync {
    /// Returns true if the user can be asked in this mode.
    fn can_ask(&self, mode: Mode) -> bool;

    /// Asks a question. The content of an accepted form is an object with its fields; it need not be valid. The content
    /// of an accepted URL is ignored.
    ///
    /// A call is not charged for the time that this takes: its timeout is extended by it.
    ///
    /// # Errors
    ///
    /// Returns an error if the question did not reach the user, or the user did not answer in time.
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, ToolError>>;

    /// Returns what the call kept when it ended to ask, if it runs again with the answer. Returns `None` by default.
    fn kept(&self) -> Option<Arc<str>> {
        None
    }

    /// Sets the function that returns what the call keeps when it ends to ask, or `None` if that is too much to ask. Does
    /// nothing by default: the call waits for the answer.
    fn keep_with(&self, keep: Box<dyn Fn() -> Option<String> + Send + Sync>) {
        drop(keep);
    }
}

/// The answer to a [`Question`].
///
/// # Examples
///
/// ```
/// use toolkit::call::ask::Answer;
/// use toolkit::{Context, ToolError, tool};
///
/// /// Books a table.
/// #[tool]
/// async fn book(ctx: &Context) -> Result<String, ToolError> {
///     Ok(match ctx.try_ask::<u8>("For how many people?").await? {
///         Answer::Accepted(n_people) => format!("a table for {n_people}"),
///         Answer::Declined => "no table".to_owned(),
///         Answer::Cancelled => return Err(ToolError::failed("the user has not decided")),
///         Answer::Unsupported => "a table for two".to_owned(),
///     })
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<T = Value> {
    /// The user accepted, with this content.
    Accepted(T),
    /// The user declined.
    Declined,
    /// The user closed the question without a decision.
    Cancelled,
    /// The client cannot ask its user, or not in this mode. No question was sent.
    Unsupported,
}

impl<T> Answer<T> {
    /// Converts the content of an accepted answer.
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> Answer<U> {
        match self {
            Self::Accepted(content) => Answer::Accepted(convert(content)),
            Self::Declined => Answer::Declined,
            Self::Cancelled => Answer::Cancelled,
            Self::Unsupported => Answer::Unsupported,
        }
    }
}

/// The asker of a context, and the time that its calls have waited for answers.
pub(super) struct Asking {
    pub(super) asker: Box<dyn Asker>,
    pub(super) waiting: AskingTime,
}

/// The time during which at least one question of a call was open.
#[derive(Debug, Default)]
pub(super) struct AskingTime(Mutex<AskingState>);

#[derive(Debug, Default)]
struct AskingState {
    n_open: usize,
    /// The time at which the first of the open questions was asked.
    since: Option<Instant>,
    total: Duration,
}

impl AskingTime {
    /// Counts a question as open until the guard is dropped.
    pub(super) fn begin(&self) -> OpenQuestion<'_> {
        let mut state = self.state();
        if state.n_open == 0 {
            state.since = Some(Instant::now());
        }
        state.n_open += 1;
        OpenQuestion(self)
    }

    /// Returns the time until now.
    pub(super) fn total(&self) -> Duration {
        let state = self.state();
        state.total + state.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn state(&self) -> MutexGuard<'_, AskingState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open question.
#[derive(Debug)]
pub(super) struct OpenQuestion<'w>(&'w AskingTime);

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.n_open -= 1;
        if state.n_open == 0
            && let Some(since) = state.since.take()
        {
            state.total += since.elapsed();
        }
    }
}
