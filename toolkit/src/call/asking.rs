//! The methods of a context that ask the user.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::ask::{Answer, Asker, Asking, Form, Mode, Question, UnsupportedMode, Waiting};
use super::context::Context;
use super::error::ToolError;
use super::kind::ErrorKind;

/// The number of times that a form is shown to a user who answers with invalid values.
const MAX_ATTEMPTS: usize = 3;

impl Context {
    /// Sets the asker of the call, which replaces an earlier one.
    #[must_use]
    pub fn with_asker(mut self, asker: impl Asker + 'static) -> Self {
        self.asking = Some(Arc::new(Asking { asker: Box::new(asker), waiting: Waiting::default() }));
        self
    }

    /// Returns true if the user can be asked in this mode.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::Context;
    /// use toolkit::call::ask::Mode;
    ///
    /// assert!(!Context::new().can_ask(Mode::Form));
    /// ```
    #[must_use]
    pub fn can_ask(&self, mode: Mode) -> bool {
        self.asking.as_ref().is_some_and(|asking| asking.asker.can_ask(mode))
    }

    /// Asks the user for a `T` and waits for the answer. The text of `message` is all that the user reads besides the
    /// form, so it must contain what is to be decided.
    ///
    /// A form that was filled in with invalid values is shown again, with the violations, up to two times.
    ///
    /// Over MCP, the revision 2026-07-28 has no requests of servers: an unanswered question ends the call, and the client
    /// repeats it with the answer. **Everything before the question runs again then**, and questions with an answer
    /// return it at once. A tool should therefore ask before it changes anything. Questions that are polled together, as
    /// with `join!`, are asked together.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`ErrorKind::Declined`] if the user declined or closed the question,
    /// [`ErrorKind::CannotAsk`] if the client cannot ask its user, [`ErrorKind::TimedOut`] if there was no answer in time,
    /// and [`ErrorKind::Internal`] if a form cannot ask for a `T`; see [`Form::of`].
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use toolkit::{Context, ToolError, tool};
    ///
    /// /// Sends an invoice.
    /// #[tool(destructive)]
    /// async fn send_invoice(customer: String, ctx: &Context) -> Result<String, ToolError> {
    ///     let copies: u8 = ctx.ask(format!("How many copies for {customer}?")).await?;
    ///     Ok(format!("{copies} copies sent"))
    /// }
    /// ```
    pub async fn ask<T: DeserializeOwned + JsonSchema>(&self, message: impl Into<String>) -> Result<T, ToolError> {
        let declined = |what: &str| Err(ToolError::new(ErrorKind::Declined, format!("the user {what}")));
        match self.try_ask(message).await? {
            Answer::Accepted(answer) => Ok(answer),
            Answer::Declined => declined("declined"),
            Answer::Cancelled => declined("closed the question without an answer"),
            Answer::Unsupported => Err(UnsupportedMode::new(Mode::Form).into()),
        }
    }

    /// Asks the user for a `T`, like [`ask`](Self::ask), and returns also the answers without a `T`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ask`](Self::ask) except for those that are an [`Answer`].
    pub async fn try_ask<T: DeserializeOwned + JsonSchema>(
        &self,
        message: impl Into<String>,
    ) -> Result<Answer<T>, ToolError> {
        if !self.can_ask(Mode::Form) {
            return Ok(Answer::Unsupported);
        }
        let form = Form::of::<T>().map_err(ToolError::internal)?;
        let message = message.into();
        let mut question = Question::from_form(message.clone(), form.clone());
        for _ in 0..MAX_ATTEMPTS {
            let content = match self.ask_question(&question).await? {
                Answer::Accepted(content) => content,
                other => return Ok(other.map(|_| unreachable!("only accepted answers have content"))),
            };
            match form.read(content) {
                Ok(answer) => return Ok(Answer::Accepted(answer)),
                Err(violations) => question = question.repeated(format!("{message}\n\n{violations}")),
            }
        }
        let message = format!("the user answered {MAX_ATTEMPTS} times with invalid values");
        Err(ToolError::new(ErrorKind::Failed, message))
    }

    /// Asks the user to open a URL, for example to sign in to another service or to enter a secret there.
    ///
    /// An accepted answer means that the user agreed to open the URL, not that anything was done there: the tool finds
    /// that out from its own state. The URL must not contain personal data, or grant access to the one who opens it.
    ///
    /// # Errors
    ///
    /// Returns an error if the question did not reach the user, or there was no answer in time.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use toolkit::call::ask::Answer;
    /// use toolkit::{Context, ToolError, tool};
    ///
    /// /// Lists the appointments of today.
    /// #[tool]
    /// async fn appointments(ctx: &Context) -> Result<Vec<String>, ToolError> {
    ///     let url = "https://calendar.example/connect";
    ///     match ctx.ask_url("Connect your calendar.", url).await? {
    ///         Answer::Accepted(()) => Err(ToolError::failed("call this tool again once the calendar is connected")),
    ///         _ => Err(ToolError::failed("the calendar is not connected")),
    ///     }
    /// }
    /// ```
    pub async fn ask_url(&self, message: impl Into<String>, url: impl Into<String>) -> Result<Answer<()>, ToolError> {
        Ok(self.ask_question(&Question::from_url(message, url)).await?.map(drop))
    }

    /// Asks a question whose form is not that of a Rust type, such as one of another program. The content of an accepted
    /// form is not validated.
    ///
    /// # Errors
    ///
    /// Returns an error if the question did not reach the user, or there was no answer in time.
    pub async fn ask_question(&self, question: &Question) -> Result<Answer, ToolError> {
        match &self.asking {
            Some(asking) if asking.asker.can_ask(question.mode()) => {
                let _open = asking.waiting.begin();
                asking.asker.ask(question).await
            }
            _ => Ok(Answer::Unsupported),
        }
    }

    /// Returns what the call kept with [`keep_with`](Self::keep_with) when it ended to ask, if it runs again with the
    /// answer. The client cannot have changed it.
    #[must_use]
    pub fn kept(&self) -> Option<Arc<str>> {
        self.asking.as_ref()?.asker.kept()
    }

    /// Sets the function that returns what the call keeps if it ends to ask (see [`ask`](Self::ask)), so that it does not
    /// repeat all that it did before the question. It is called at the end. What it returns travels through the client,
    /// encrypted, and must be short: a server may reject more than a few hundred kilobytes. If it returns `None`, the call
    /// fails instead of asking, since it would repeat what it did.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use std::sync::{Arc, Mutex};
    ///
    /// use toolkit::{Context, ToolError, tool};
    ///
    /// /// Reserves a seat, and asks before it is paid.
    /// #[tool(destructive)]
    /// async fn book(ctx: &Context) -> Result<String, ToolError> {
    ///     let seat = match ctx.kept() {
    ///         Some(seat) => seat.to_string(),
    ///         None => "12A".to_owned(), // reserves one
    ///     };
    ///     let kept = seat.clone();
    ///     ctx.keep_with(move || Some(kept.clone()));
    ///     let pay: bool = ctx.ask(format!("Pay for seat {seat}?")).await?;
    ///     Ok(format!("{seat} is {}", if pay { "paid" } else { "reserved" }))
    /// }
    /// ```
    pub fn keep_with(&self, keep: impl Fn() -> Option<String> + Send + Sync + 'static) {
        if let Some(asking) = &self.asking {
            asking.asker.keep_with(Box::new(keep));
        }
    }

    /// Returns the time that the calls with this context have waited for answers of the user.
    #[must_use]
    pub fn time_asking(&self) -> Duration {
        self.asking.as_ref().map_or(Duration::ZERO, |asking| asking.waiting.total())
    }
}

impl From<UnsupportedMode> for ToolError {
    /// Creates an error of kind [`ErrorKind::CannotAsk`].
    fn from(cause: UnsupportedMode) -> Self {
        let what = match cause.mode() {
            Mode::Form => "show a form to",
            Mode::Url => "open a URL for",
        };
        let message = format!("the tool asks the user, and the client cannot {what} its user");
        Self::new(ErrorKind::CannotAsk, message).caused_by(cause)
    }
}
