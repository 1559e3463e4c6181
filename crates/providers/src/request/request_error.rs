//! The error of a request that cannot be written.

use std::borrow::Cow;
use std::fmt;

use crate::reply::Api;

/// The error of a request with an option that its API does not have.
///
/// ```
/// use toolkit_providers::ollama::CHAT;
/// use toolkit_providers::request::{Request, ToolChoice};
///
/// let request = Request::new(CHAT, "qwen").tool_choice(ToolChoice::Required);
/// let error = request.build().unwrap_err();
/// assert_eq!(error.to_string(), "`tool_choice` of a request to Ollama: only `Auto` is supported");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestError {
    api: Api,
    option: &'static str,
    reason: Cow<'static, str>,
}

impl RequestError {
    pub(super) fn new(api: Api, option: &'static str, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { api, option, reason: reason.into() }
    }

    /// Returns the name of the option, which is that of a method of [`Request`](super::Request).
    #[must_use]
    pub fn option(&self) -> &'static str {
        self.option
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` of a request to {}: {}", self.option, self.api, self.reason)
    }
}

impl std::error::Error for RequestError {}
