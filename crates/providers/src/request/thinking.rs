//! The effort of a model's reasoning before it replies.

/// The effort of a model's reasoning before it replies. Not every model of a provider supports each of these.
///
/// ```
/// use serde_json::json;
/// use toolkit_providers::anthropic::MESSAGES;
/// use toolkit_providers::request::{Request, Thinking};
///
/// let request = Request::new(MESSAGES, "claude").max_tokens(8000).thinking(Thinking::Tokens(2000));
/// assert_eq!(request.build()?.body["thinking"], json!({ "type": "enabled", "budget_tokens": 2000 }));
/// # Ok::<(), toolkit_providers::request::RequestError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thinking {
    /// None.
    Off,
    /// A little.
    Low,
    /// A medium amount.
    Medium,
    /// Much.
    High,
    /// At most this number of tokens.
    Tokens(u64),
}

impl Thinking {
    /// Returns the name of the level, or `None` for a number of tokens.
    pub(super) fn level(self) -> Option<&'static str> {
        match self {
            Self::Off => Some("none"),
            Self::Low => Some("low"),
            Self::Medium => Some("medium"),
            Self::High => Some("high"),
            Self::Tokens(_) => None,
        }
    }
}
