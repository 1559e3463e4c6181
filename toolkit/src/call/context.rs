//! What a host sends along with a call, and a tool may ask for as `&Context`.

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
#[cfg(feature = "async")]
use std::future::{Future, poll_fn};
use std::sync::Arc;
#[cfg(feature = "async")]
use std::task::Poll;

use serde::Serialize;

use super::cancel::CancelToken;
use super::credentials::Credentials;
use super::permit::{Chain, Permit};
use super::secret::SecretString;
use crate::tool::Requirements;

/// What goes along with one call: cancellation, progress, and whatever the host attaches.
///
/// A tool takes it as a parameter `ctx: &Context`.
#[derive(Clone, Default)]
pub struct Context {
    /// Each of them cancels the call. Most calls are never cancelled, and have none.
    cancel: Option<Arc<[CancelToken]>>,
    progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
    extensions: Option<Arc<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>>,
    credentials: Option<Arc<Credentials>>,
    /// The permits that the tool runs under which makes calls with this context.
    permits: Option<Arc<Chain>>,
}

impl Context {
    /// That of most calls.
    pub(crate) const EMPTY: &'static Self =
        &Self { cancel: None, progress: None, extensions: None, credentials: None, permits: None };

    /// Nothing to cancel it, nobody who listens.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets `token` cancel the call, as every token does that the context has already: a tool that makes a call with
    /// its own context and a token cannot outlive its caller.
    #[must_use]
    pub fn with_cancel(mut self, token: CancelToken) -> Self {
        let tokens = self.cancel.as_deref().unwrap_or_default();
        if !tokens.iter().any(|other| other.is_same(&token)) {
            self.cancel = Some(tokens.iter().cloned().chain([token]).collect());
        }
        self
    }

    /// The permits that calls with this context are made under.
    #[inline]
    pub(crate) fn permits(&self) -> Option<&Arc<Chain>> {
        self.permits.as_ref()
    }

    /// Returns the context for the tool that runs under a permit: it carries the permit along.
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

    /// Returns the context with the permits that the code of this thread runs under, for work that goes on elsewhere.
    pub(crate) fn carried(&self) -> Self {
        let permits = Chain::of_call(self.permits());
        Self { permits: permits.or_else(|| self.permits.clone()), ..self.clone() }
    }

    /// Sends every progress report of the call to `listener`.
    #[must_use]
    pub fn on_progress(mut self, listener: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(listener));
        self
    }

    /// Whether anybody listens to the progress of the call.
    #[must_use]
    pub fn is_listened_to(&self) -> bool {
        self.progress.is_some()
    }

    /// Attaches a value of the host's, one for each type, such as who the caller is.
    #[must_use]
    pub fn with<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        let mut extensions = self
            .extensions
            .take()
            .map_or_else(HashMap::new, |shared| Arc::try_unwrap(shared).unwrap_or_else(|shared| (*shared).clone()));
        extensions.insert(TypeId::of::<T>(), Arc::new(value));
        self.extensions = Some(Arc::new(extensions));
        self
    }

    /// Returns the context with one more listener for progress.
    pub(crate) fn also_on_progress(self, listener: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        let first = self.progress.clone();
        self.on_progress(move |progress| {
            if let Some(first) = &first {
                first(progress.clone());
            }
            listener(progress);
        })
    }

    /// The value of type `T` that the host attached.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.extensions.as_ref()?.get(&TypeId::of::<T>())?.downcast_ref()
    }

    /// Lends what the host holds for the caller. A tool sees of it what it requires; see `requires(…)` of
    /// [`tool`](macro@crate::tool).
    #[must_use]
    pub fn with_credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = Some(Arc::new(credentials));
        self
    }

    /// A secret that the tool requires.
    #[must_use]
    pub fn secret(&self, id: &str) -> Option<&SecretString> {
        self.credentials.as_ref()?.secret(id)
    }

    /// The token of a provider by whom the tool requires an authorisation.
    #[must_use]
    pub fn token(&self, id: &str) -> Option<&SecretString> {
        self.credentials.as_ref()?.token(id)
    }

    /// Who the user is, where the tool requires to know.
    #[must_use]
    pub fn user_id(&self) -> Option<&str> {
        self.credentials.as_ref()?.user_id()
    }

    /// Whether there is anything that a tool may have to be kept from.
    #[inline]
    pub(crate) fn has_credentials(&self) -> bool {
        self.credentials.is_some()
    }

    /// Returns the context as a tool with these requirements may see it, or what is missing.
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

    /// Reports that `done` of `total` is done; a `total` of `None` is "not known".
    ///
    /// Costs next to nothing where nobody listens.
    pub fn progress(&self, done: f64, total: impl Into<Option<f64>>, message: &str) {
        if let Some(listener) = &self.progress {
            listener(Progress { done, total: total.into(), message: message.to_owned() });
        }
    }

    /// Returns true if nobody waits for the call any more: a token was cancelled, or the call of a `blocking` tool ran
    /// into its timeout or was dropped. A tool with a long loop checks this.
    #[must_use]
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(|tokens| tokens.iter().any(CancelToken::is_cancelled))
    }

    /// Waits until [`is_cancelled`](Self::is_cancelled) is true; forever, where nothing can cancel the call.
    #[cfg(feature = "async")]
    pub async fn cancelled(&self) {
        match self.cancel.as_deref() {
            None | Some([]) => std::future::pending().await,
            Some([token]) => token.cancelled().await,
            Some(tokens) => {
                let mut tokens: Vec<_> = tokens.iter().map(|token| Box::pin(token.cancelled())).collect();
                poll_fn(|cx| match tokens.iter_mut().any(|token| token.as_mut().poll(cx).is_ready()) {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                })
                .await
            }
        }
    }

    /// Whether the caller can give up.
    #[cfg(feature = "async")]
    pub(crate) fn is_cancellable(&self) -> bool {
        self.cancel.is_some()
    }

    /// The same context for work on another thread: it learns that nobody waits for it when the guard is dropped.
    #[cfg(feature = "async")]
    pub(crate) fn abandonable(&self) -> (Self, Abandon) {
        let token = CancelToken::new();
        (self.clone().with_cancel(token.clone()), Abandon(token))
    }
}

/// Says, when it is dropped, that nobody waits any more.
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

/// How far a call has come.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Progress {
    /// How much is done, in units of the tool's choice; grows from report to report. MCP calls it `progress`.
    #[serde(rename = "progress")]
    pub done: f64,
    /// How much there is, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What the tool is doing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
}

impl Progress {
    /// Creates a report that `done` of `total` is done; a `total` of `None` is "not known".
    pub fn new(done: f64, total: impl Into<Option<f64>>, message: impl Into<String>) -> Self {
        Self { done, total: total.into(), message: message.into() }
    }
}
