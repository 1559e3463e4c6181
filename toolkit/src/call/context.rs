//! The context that a host sends along with a call, available to a tool as `&Context`.

use std::any::Any;
use std::borrow::Cow;
#[cfg(feature = "async")]
use std::future::{Future, poll_fn};
use std::sync::{Arc, LazyLock};
#[cfg(feature = "async")]
use std::task::Poll;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::ask::{Answer, Asker, Asking, AskingTime, Form, Mode, Question, UnsupportedMode};
#[cfg(feature = "async")]
use super::attached::DropGuard;
use super::attached::{CancelToken, LogLevel, LogListener, LogMessage, StepId};
use super::credentials::{Credentials, SecretString};
use super::kind::ErrorKind;
use super::permit::Chain;
use super::request::RequestParts;
use super::tool_error::ToolError;
use crate::tool::{Requirements, Tool};

/// The context of a call: cancellation, progress, credentials, and values that the host attaches.
///
/// A tool receives it through a parameter `ctx: &Context`.
///
/// ```
/// use toolkit::{Context, tool};
///
/// /// Copies files.
/// #[tool]
/// fn copy(files: Vec<String>, ctx: &Context) -> usize {
///     for (idx, file) in files.iter().enumerate() {
///         if ctx.is_cancelled() {
///             return idx;
///         }
///         ctx.progress(idx as f64, files.len() as f64, file);
///     }
///     files.len()
/// }
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Context {
    /// The tokens that cancel the call.
    cancel: Option<Arc<[CancelToken]>>,
    progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
    /// The value that was attached last, which holds the others.
    attached: Option<Arc<Attached>>,
    credentials: Option<Arc<Credentials>>,
    /// The permits that calls with this context run under.
    permits: Option<Arc<Chain>>,
    asking: Option<Arc<Asking>>,
}

/// A value that is attached to a context. A map would take more work for the few values of a call.
struct Attached<T: ?Sized = dyn Any + Send + Sync> {
    earlier: Option<Arc<Attached>>,
    value: T,
}

/// The attached extensions of an HTTP request.
#[cfg(feature = "http")]
struct RequestExtensions(Arc<http::Extensions>);

/// The number of times that a form is shown to a user who answers with invalid values.
const MAX_ATTEMPTS: usize = 3;

type PrepareNested = dyn Fn(&Tool, Context) -> Result<Context, ToolError> + Send + Sync;

/// The parts of a request that may not be read yet.
struct UnreadRequest(LazyLock<RequestParts, Box<dyn FnOnce() -> RequestParts + Send>>);

/// The function that prepares the contexts of nested calls.
struct Nested(Arc<PrepareNested>);

/// The reason why a context has no user. A call of a tool that requires the user fails before the tool runs.
const NO_USER: &str = "`ctx.user_id()` has no user: write `#[tool(requires(user_id))]`, so that each call has one";

impl Context {
    /// The empty context, which most calls have.
    pub(crate) const EMPTY: &'static Self =
        &Self { cancel: None, progress: None, attached: None, credentials: None, permits: None, asking: None };

    /// Creates a context without cancellation, progress listeners, credentials or attached values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a token that cancels the call. The tokens that the context has already stay in effect, so that a call that
    /// a tool makes with its own context and another token cannot outlive the tool's caller.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::call::{CancelToken, ErrorKind};
    /// use toolkit::{Context, Dispatcher, ToolError, catalog, tool};
    ///
    /// /// Counts to a number.
    /// #[tool]
    /// fn count(to: u64, ctx: &Context) -> Result<u64, ToolError> {
    ///     for _ in 0..to {
    ///         if ctx.is_cancelled() {
    ///             return Err(ToolError::cancelled());
    ///         }
    ///     }
    ///     Ok(to)
    /// }
    ///
    /// let token = CancelToken::new();
    /// let context = Context::new().with_cancel(token.clone());
    /// token.cancel();
    /// let dispatcher = Dispatcher::new(catalog![count]?)?;
    /// let error = dispatcher.call_sync_with(&context, "count", r#"{"to": 1000000}"#).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Cancelled);
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    pub fn with_cancel(mut self, token: CancelToken) -> Self {
        if !self.tokens().iter().any(|other| other.is_same(&token)) {
            self.cancel = Some(self.tokens().iter().cloned().chain([token]).collect());
        }
        self
    }

    #[inline]
    fn tokens(&self) -> &[CancelToken] {
        self.cancel.as_deref().unwrap_or_default()
    }

    /// Returns the permits that calls with this context run under.
    #[inline]
    pub(crate) fn permits(&self) -> Option<&Arc<Chain>> {
        self.permits.as_ref()
    }

    /// Returns the context for a tool that runs under permits, which carries them along. Not inlined, so that a call
    /// without a limit does not prepare to clone the context.
    #[inline(never)]
    pub(crate) fn under(&self, permits: &Arc<Chain>) -> Self {
        Self { permits: Some(Arc::clone(permits)), ..self.clone() }
    }

    /// Returns the context with the permits of the current thread, for work that continues on another thread.
    pub(crate) fn carried(&self) -> Self {
        let permits = Chain::of_call(self.permits());
        Self { permits: permits.or_else(|| self.permits.clone()), ..self.clone() }
    }

    /// Sends every progress report of the call to `listener`, which replaces an earlier listener.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    ///
    /// use toolkit::Context;
    ///
    /// let seen = Arc::new(Mutex::new(Vec::new()));
    /// let listener = Arc::clone(&seen);
    /// let context = Context::new().on_progress(move |progress| listener.lock().unwrap().push(progress.done));
    /// context.progress(1.0, 2.0, "half");
    /// assert_eq!(*seen.lock().unwrap(), [1.0]);
    /// ```
    pub fn on_progress(mut self, listener: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(listener));
        self
    }

    /// Returns true if the context has a progress listener.
    #[must_use]
    pub fn has_progress_listener(&self) -> bool {
        self.progress.is_some()
    }

    /// Attaches a value, one for each type, such as the identity of the caller.
    ///
    /// ```
    /// use toolkit::Context;
    ///
    /// struct Tenant(u64);
    ///
    /// let context = Context::new().with(Tenant(7));
    /// assert_eq!(context.get::<Tenant>().unwrap().0, 7);
    /// ```
    pub fn with<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        let earlier = self.attached.take();
        self.attached = Some(Arc::new(Attached { earlier, value }));
        self
    }

    /// Attaches the extensions of an HTTP request, which [`get`](Self::get) returns by their types. A value of
    /// [`with`](Self::with) takes precedence over an extension of its type.
    ///
    /// The servers attach those of the request of each call, so that a tool reads what a middleware has inserted.
    ///
    /// ```
    /// use toolkit::Context;
    ///
    /// #[derive(Clone, Debug, PartialEq)]
    /// struct UserId(u64);
    ///
    /// let mut extensions = http::Extensions::new();
    /// extensions.insert(UserId(7));
    /// let context = Context::new().with_extensions(extensions);
    /// assert_eq!(context.get(), Some(&UserId(7)));
    /// assert_eq!(context.with(UserId(8)).get(), Some(&UserId(8)));
    /// ```
    #[cfg(feature = "http")]
    pub fn with_extensions(self, extensions: impl Into<Arc<http::Extensions>>) -> Self {
        self.with(RequestExtensions(extensions.into()))
    }

    /// Adds a progress listener and keeps the earlier one.
    pub(crate) fn also_on_progress(self, listener: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        let first = self.progress.clone();
        self.on_progress(move |progress| {
            if let Some(first) = &first {
                first(progress.clone());
            }
            listener(progress);
        })
    }

    /// Returns the attached value of type `T`, or the extension of this type of the HTTP request by which the call arrived.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        let value = self.attached();
        #[cfg(feature = "http")]
        let value = value.or_else(|| self.attached::<RequestExtensions>()?.0.get());
        value
    }

    fn attached<T: Send + Sync + 'static>(&self) -> Option<&T> {
        let attached = std::iter::successors(self.attached.as_deref(), |attached| attached.earlier.as_deref());
        attached.into_iter().find_map(|attached| attached.value.downcast_ref())
    }

    /// Sets the credentials of the caller. A tool has access to those that it requires; see `requires(…)` of
    /// [`tool`](macro@crate::tool).
    pub fn with_credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = Some(Arc::new(credentials));
        self
    }

    /// Returns a secret that the tool requires.
    #[must_use]
    pub fn secret(&self, id: &str) -> Option<&SecretString> {
        self.credentials.as_ref()?.secret(id)
    }

    /// Returns the token of an authorization that the tool requires, by the id of the provider.
    #[must_use]
    pub fn token(&self, id: &str) -> Option<&SecretString> {
        self.credentials.as_ref()?.token(id)
    }

    /// Returns the id of the user, which a tool reads if it requires it.
    ///
    /// # Errors
    ///
    /// Returns an [unexpected error](ErrorKind::Internal) that says what to write if the tool does not require the user, and
    /// outside of a tool one if the caller is not known.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::error::Error;
    ///
    /// use toolkit::call::Credentials;
    /// use toolkit::{Context, Dispatcher, ToolError, catalog, tool};
    ///
    /// /// Greets the user.
    /// #[tool(requires(user_id))]
    /// fn greet(ctx: &Context) -> Result<String, ToolError> {
    ///     Ok(format!("Hello, {}!", ctx.user_id()?))
    /// }
    ///
    /// /// Forgets to require the user.
    /// #[tool]
    /// fn forget(ctx: &Context) -> Result<String, ToolError> {
    ///     Ok(ctx.user_id()?.to_owned())
    /// }
    ///
    /// let dispatcher = Dispatcher::new(catalog![greet, forget]?)?;
    /// let context = Context::new().with_credentials(Credentials::new().with_user_id("ada"));
    /// assert_eq!(dispatcher.call_sync_with(&context, "greet", "{}")?.value(), "Hello, ada!");
    /// let error = dispatcher.call_sync_with(&context, "forget", "{}").unwrap_err();
    /// assert!(error.source().unwrap().to_string().contains("#[tool(requires(user_id))]"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn user_id(&self) -> Result<&str, ToolError> {
        self.credentials.as_ref().and_then(|held| held.user_id()).ok_or_else(|| ToolError::internal(NO_USER))
    }

    /// Returns true if the context has credentials, which have to be scoped to the tool.
    #[inline]
    pub(crate) fn has_credentials(&self) -> bool {
        self.credentials.is_some()
    }

    /// Returns the context with only the credentials that a tool requires.
    ///
    /// # Errors
    ///
    /// Returns the missing requirements.
    pub(crate) fn scoped_to(&self, required: &Requirements) -> Result<Self, Requirements> {
        let none = Credentials::new();
        let held = self.credentials.as_deref().unwrap_or(&none);
        let missing = held.missing(required);
        if !missing.is_empty() {
            return Err(missing);
        }
        let credentials = (!required.is_empty()).then(|| Arc::new(held.only(required)));
        Ok(Self { credentials, ..self.clone() })
    }

    /// Reports that `done` of `total` is done. A `total` of `None` means that the total is unknown.
    ///
    /// Without a listener, this costs next to nothing.
    pub fn progress(&self, done: f64, total: impl Into<Option<f64>>, message: &str) {
        if let Some(listener) = &self.progress {
            listener(Progress { done, total: total.into(), message: message.to_owned() });
        }
    }

    /// Returns true if the result of the call is no longer needed: a token was cancelled, or the call of a `blocking`
    /// tool exceeded its timeout or was dropped. A tool with a long loop should check this.
    #[must_use]
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.tokens().iter().any(CancelToken::is_cancelled)
    }

    /// Completes when [`is_cancelled`](Self::is_cancelled) becomes true. Never completes if the call cannot be
    /// cancelled.
    #[cfg(feature = "async")]
    pub async fn cancelled(&self) {
        match self.tokens() {
            [] => std::future::pending().await,
            [token] => token.cancelled().await,
            tokens => {
                let mut tokens: Vec<_> = tokens.iter().map(|token| Box::pin(token.cancelled())).collect();
                poll_fn(|cx| match tokens.iter_mut().any(|token| token.as_mut().poll(cx).is_ready()) {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                })
                .await
            }
        }
    }

    /// Returns true if the context has a cancel token.
    pub(crate) fn is_cancellable(&self) -> bool {
        self.cancel.is_some()
    }

    /// Returns the context for work on another thread, and a guard that cancels it when dropped.
    #[cfg(feature = "async")]
    pub(crate) fn abandonable(&self) -> (Self, DropGuard) {
        let token = CancelToken::new();
        (self.clone().with_cancel(token.clone()), token.drop_guard())
    }

    /// Sends log messages of the call with at least this level to `listener`, which replaces an earlier listener.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    ///
    /// use toolkit::Context;
    /// use toolkit::call::LogLevel;
    ///
    /// let seen = Arc::new(Mutex::new(Vec::new()));
    /// let listener = Arc::clone(&seen);
    /// let context = Context::new().on_log(LogLevel::Notice, move |message| listener.lock().unwrap().push(message.data));
    /// context.log(LogLevel::Info, "connected");
    /// context.log(LogLevel::Warning, "the cache is full");
    /// assert_eq!(*seen.lock().unwrap(), ["the cache is full"]);
    /// ```
    pub fn on_log(self, least: LogLevel, listener: impl Fn(LogMessage) + Send + Sync + 'static) -> Self {
        self.with(LogListener { least, listener: Box::new(listener) })
    }

    /// Returns true if a listener receives log messages of this level.
    #[must_use]
    pub fn logs(&self, level: LogLevel) -> bool {
        self.get::<LogListener>().is_some_and(|log| level >= log.least)
    }

    /// Sends a log message to the caller, such as the client of an MCP server. It is not a part of the result, and must
    /// not contain secrets. A caller that has not requested messages of this level receives none, and a message may be
    /// dropped if there are many.
    ///
    /// # Examples
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit::call::LogLevel;
    /// use toolkit::{Context, tool};
    ///
    /// /// Imports rows.
    /// #[tool]
    /// fn import(rows: Vec<String>, ctx: &Context) -> usize {
    ///     let n_empty = rows.iter().filter(|row| row.is_empty()).count();
    ///     if n_empty > 0 {
    ///         ctx.log(LogLevel::Warning, json!({ "message": "empty rows are skipped", "rows": n_empty }));
    ///     }
    ///     rows.len() - n_empty
    /// }
    /// ```
    pub fn log(&self, level: LogLevel, data: impl Into<Value>) {
        if let Some(log) = self.get::<LogListener>().filter(|log| level >= log.least) {
            (log.listener)(LogMessage { level, data: data.into(), logger: None });
        }
    }

    /// Sends a log message of another program to the caller, for a [`Backend`](crate::backend::Backend) that forwards its
    /// messages. Otherwise it is like [`Context::log`].
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::Context;
    /// use toolkit::call::LogLevel;
    ///
    /// let context = Context::new().on_log(LogLevel::Info, |message| {
    ///     assert_eq!(message.logger.as_deref(), Some("mail/smtp"));
    /// });
    /// context.forward_log(LogLevel::Warning, "mail/smtp", "the server is slow");
    /// ```
    pub fn forward_log(&self, level: LogLevel, logger: impl Into<String>, data: impl Into<Value>) {
        if let Some(log) = self.get::<LogListener>().filter(|log| level >= log.least) {
            (log.listener)(LogMessage { level, data: data.into(), logger: Some(logger.into()) });
        }
    }

    /// Sets the asker of the call, which replaces an earlier one.
    pub fn with_asker(mut self, asker: impl Asker + 'static) -> Self {
        self.asking = Some(Arc::new(Asking { asker: Box::new(asker), waiting: AskingTime::default() }));
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
    /// ```
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
    /// ```
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
    /// ```
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

    /// Returns the parts of the HTTP request by which the call arrived: path, headers, address and session. They are empty
    /// for calls over stdio, and for calls that a program makes itself.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::{Context, tool};
    ///
    /// /// Greets the user in the language of the request.
    /// #[tool]
    /// fn greet(ctx: &Context) -> &'static str {
    ///     match ctx.request().header("accept-language") {
    ///         Some(languages) if languages.starts_with("de") => "Guten Tag",
    ///         _ => "Good day",
    ///     }
    /// }
    /// ```
    pub fn request(&self) -> &RequestParts {
        // Those that the host attaches take precedence.
        let unread = || self.get::<UnreadRequest>().map(|unread| &*unread.0);
        self.get().or_else(unread).unwrap_or(RequestParts::EMPTY)
    }

    /// Attaches the parts of an HTTP request, which are read when a tool asks for them. Few tools do.
    pub fn with_request(self, read: impl FnOnce() -> RequestParts + Send + 'static) -> Self {
        self.with(UnreadRequest(LazyLock::new(Box::new(read))))
    }

    /// Returns the step of the durable run that the call belongs to, or `None` for other calls.
    #[must_use]
    pub fn step(&self) -> Option<&StepId> {
        self.get()
    }

    /// Sets a function that prepares the contexts of the calls that the tool makes itself, such as those of a
    /// chain or a program. It checks whether the caller may call that tool, and sets the credentials:
    /// the context of a tool has those that the tool itself requires, and not those of the tools that it calls.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::OnceLock;
    ///
    /// use toolkit::call::{Credentials, ErrorKind};
    /// use toolkit::{Context, Dispatcher, ToolError, catalog, tool};
    ///
    /// /// Reads a document.
    /// #[tool(namespace = "docs", requires(user_id))]
    /// fn read(ctx: &Context) -> String {
    ///     format!("the document of {}", ctx.user_id().unwrap_or_default())
    /// }
    ///
    /// static TOOLS: OnceLock<Dispatcher> = OnceLock::new();
    ///
    /// /// Calls a tool without arguments.
    /// #[tool]
    /// fn call(name: String, ctx: &Context) -> Result<String, ToolError> {
    ///     let tool = TOOLS.get().ok_or("there are no tools")?.prepared(&name)?;
    ///     let result = tool.call_sync_with(&*ctx.nested(tool.tool())?, "{}")?;
    ///     Ok(result.value().to_string())
    /// }
    ///
    /// let context = Context::new().nested_with(|tool, context| match tool.id().namespace() {
    ///     Some("docs") => Ok(context.with_credentials(Credentials::new().with_user_id("ada"))),
    ///     _ => Err(ToolError::new(ErrorKind::Denied, "only documents can be read")),
    /// });
    /// let dispatcher = TOOLS.get_or_init(|| Dispatcher::new(catalog![read, call].unwrap()).unwrap());
    /// let result = dispatcher.call_sync_with(&context, "call", r#"{"name": "docs:read"}"#)?;
    /// assert_eq!(result.value(), r#""the document of ada""#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn nested_with(self, prepare: impl Fn(&Tool, Self) -> Result<Self, ToolError> + Send + Sync + 'static) -> Self {
        self.with(Nested(Arc::new(prepare)))
    }

    /// Returns the context for a call of `tool` that another tool makes with this context. Without
    /// [`Context::nested_with`], it is this context.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller may not call the tool.
    pub fn nested(&self, tool: &Tool) -> Result<Cow<'_, Self>, ToolError> {
        match self.get::<Nested>() {
            Some(Nested(prepare)) => prepare(tool, self.clone()).map(Cow::Owned),
            None => Ok(Cow::Borrowed(self)),
        }
    }
}

crate::debug_fields!(it, Context { cancelled: it.is_cancelled(), listens: it.progress.is_some() });

/// A progress report of a call.
///
/// [`Context::progress`] sends reports, and the listener of [`Context::on_progress`] receives them. A serialized report
/// has the fields of MCP.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolkit::call::Progress;
///
/// let report = Progress::new(3.0, 10.0, "copying");
/// assert_eq!(serde_json::to_value(&report)?, json!({ "progress": 3.0, "total": 10.0, "message": "copying" }));
///
/// let without_total = Progress::new(3.0, None, "");
/// assert_eq!(serde_json::to_value(&without_total)?, json!({ "progress": 3.0 }));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Progress {
    /// The amount of work that is done, in units of the tool's choice. It grows from report to report. MCP calls it
    /// `progress`.
    #[serde(rename = "progress")]
    pub done: f64,
    /// The total amount of work, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// A description of the current work.
    #[serde(default, deserialize_with = "or_empty", skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// Reads a text that may be null.
fn or_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

impl Progress {
    /// Creates a report that `done` of `total` is done. A `total` of `None` means that the total is unknown.
    pub fn new(done: f64, total: impl Into<Option<f64>>, message: impl Into<String>) -> Self {
        Self { done, total: total.into(), message: message.into() }
    }
}
