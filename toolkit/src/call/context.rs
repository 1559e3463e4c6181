//! The context that a host sends along with a call, available to a tool as `&Context`.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
#[cfg(feature = "async")]
use std::future::{Future, poll_fn};
use std::sync::Arc;
#[cfg(feature = "async")]
use std::task::Poll;

use serde::Serialize;

use super::ask::Asking;
use super::cancel::CancelToken;
use super::credentials::Credentials;
use super::permit::{Chain, Permit};
use super::secret::SecretString;
use crate::tool::Requirements;

/// The context of a call: cancellation, progress, credentials, and values that the host attaches.
///
/// A tool receives it through a parameter `ctx: &Context`.
///
/// ```standalone_crate
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
pub struct Context {
    cancel: CancelTokens,
    progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
    /// The value that was attached last, which holds the others.
    attached: Option<Arc<Attached>>,
    credentials: Option<Arc<Credentials>>,
    /// The permits that calls with this context run under.
    permits: Option<Arc<Chain>>,
    pub(super) asking: Option<Arc<Asking>>,
}

/// The tokens that cancel a call. Most calls have at most one.
#[derive(Clone, Default)]
enum CancelTokens {
    #[default]
    None,
    One(CancelToken),
    Several(Arc<[CancelToken]>),
}

/// A value that is attached to a context. A map would take more work for the few values of a call.
struct Attached<T: ?Sized = dyn Any + Send + Sync> {
    earlier: Option<Arc<Attached>>,
    value: T,
}

impl CancelTokens {
    #[inline]
    fn as_slice(&self) -> &[CancelToken] {
        match self {
            CancelTokens::None => &[],
            CancelTokens::One(token) => std::slice::from_ref(token),
            CancelTokens::Several(tokens) => tokens,
        }
    }
}

impl Context {
    /// The empty context, which most calls have.
    pub(crate) const EMPTY: &'static Self = &Self {
        cancel: CancelTokens::None,
        progress: None,
        attached: None,
        credentials: None,
        permits: None,
        asking: None,
    };

    /// Creates a context without cancellation, progress listeners, credentials or attached values.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a token that cancels the call. The tokens that the context has already stay in effect, so that a call that
    /// a tool makes with its own context and another token cannot outlive the tool's caller.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
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
    #[must_use]
    pub fn with_cancel(mut self, token: CancelToken) -> Self {
        let tokens = self.cancel.as_slice();
        if tokens.is_empty() {
            self.cancel = CancelTokens::One(token);
        } else if !tokens.iter().any(|other| other.is_same(&token)) {
            self.cancel = CancelTokens::Several(tokens.iter().cloned().chain([token]).collect());
        }
        self
    }

    /// Returns the permits that calls with this context run under.
    #[inline]
    pub(crate) fn permits(&self) -> Option<&Arc<Chain>> {
        self.permits.as_ref()
    }

    /// Returns the context for a tool that runs under a permit: it carries the permit along.
    #[inline]
    pub(crate) fn under(&self, permit: &Permit) -> Cow<'_, Self> {
        match permit.chain() {
            Some(chain) => Cow::Owned(self.with_permits(chain)),
            None => Cow::Borrowed(self),
        }
    }

    /// Not inlined, so that a call without a limit does not prepare to clone the context.
    #[inline(never)]
    fn with_permits(&self, permits: &Arc<Chain>) -> Self {
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
    #[must_use]
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
    #[must_use]
    pub fn with<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        let earlier = self.attached.take();
        self.attached = Some(Arc::new(Attached { earlier, value }));
        self
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

    /// Returns the attached value of type `T`.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        let attached = std::iter::successors(self.attached.as_deref(), |attached| attached.earlier.as_deref());
        attached.into_iter().find_map(|attached| attached.value.downcast_ref())
    }

    /// Sets the credentials of the caller. A tool has access to those that it requires; see `requires(…)` of
    /// [`tool`](macro@crate::tool).
    #[must_use]
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

    /// Returns the id of the user, if the tool requires it.
    #[must_use]
    pub fn user_id(&self) -> Option<&str> {
        self.credentials.as_ref()?.user_id()
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
        match &self.cancel {
            CancelTokens::None => false,
            CancelTokens::One(token) => token.is_cancelled(),
            CancelTokens::Several(tokens) => tokens.iter().any(CancelToken::is_cancelled),
        }
    }

    /// Completes when [`is_cancelled`](Self::is_cancelled) becomes true. Never completes if the call cannot be
    /// cancelled.
    #[cfg(feature = "async")]
    pub async fn cancelled(&self) {
        match self.cancel.as_slice() {
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
    #[cfg(feature = "async")]
    pub(crate) fn is_cancellable(&self) -> bool {
        !self.cancel.as_slice().is_empty()
    }

    /// Returns the context for work on another thread, and a guard that cancels it when dropped.
    #[cfg(feature = "async")]
    pub(crate) fn abandonable(&self) -> (Self, Abandon) {
        let token = CancelToken::new();
        (self.clone().with_cancel(token.clone()), Abandon(token))
    }
}

/// A guard that cancels work on another thread when dropped.
#[cfg(feature = "async")]
pub(crate) struct Abandon(CancelToken);

#[cfg(feature = "async")]
impl Drop for Abandon {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("cancelled", &self.is_cancelled())
            .field("listens", &self.progress.is_some())
            .finish_non_exhaustive()
    }
}

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
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
}

impl Progress {
    /// Creates a report that `done` of `total` is done. A `total` of `None` means that the total is unknown.
    pub fn new(done: f64, total: impl Into<Option<f64>>, message: impl Into<String>) -> Self {
        Self { done, total: total.into(), message: message.into() }
    }
}
