//! The tokens of a request and its reply.

use std::ops::AddAssign;

use serde_json::Value;

/// The tokens of a request and its reply, counted alike for all APIs.
///
/// ```
/// use serde_json::json;
/// use toolkit::catalog::ExportedNames;
/// use toolkit_providers::anthropic::MESSAGES;
/// use toolkit_providers::reply::TokenUsage;
///
/// let usage = json!({ "input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 20 });
/// let message = json!({ "content": [], "stop_reason": "end_turn", "usage": usage });
/// let reply = MESSAGES.read(message, &ExportedNames::default())?;
/// let mut sum = TokenUsage::default();
/// sum += reply.usage().unwrap_or_default();
/// assert_eq!((sum.input, sum.cached, sum.output, sum.total()), (100, 90, 20, 120));
/// # Ok::<(), toolkit_providers::reply::InvalidReply>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenUsage {
    /// The tokens of the request, with those that were read from a cache or written to it.
    pub input: u64,
    /// The tokens of the reply, with those of reasoning.
    pub output: u64,
    /// The tokens of the request that were read from a cache.
    pub cached: u64,
    /// The tokens of reasoning, if the provider counts them separately.
    pub reasoning: u64,
}

impl TokenUsage {
    /// Returns the number of all tokens.
    #[must_use]
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// Reads the counts, or returns `None` if there are neither those of the request nor those of the reply.
    pub(super) fn read(metadata: &Value, fields: &UsageFields) -> Option<Self> {
        let read = |pointers: &[&str]| {
            // Some providers count with decimals.
            let count = |pointer: &&str| metadata.pointer(pointer)?.as_f64().map(|count| count as u64);
            pointers.iter().filter_map(count).reduce(u64::saturating_add)
        };
        let (input, output) = (read(fields.input), read(fields.output));
        input.or(output)?;
        Some(Self {
            input: input.unwrap_or_default(),
            output: output.unwrap_or_default(),
            cached: read(fields.cached).unwrap_or_default(),
            reasoning: read(fields.reasoning).unwrap_or_default(),
        })
    }
}

impl AddAssign for TokenUsage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
    }
}

/// Where the metadata of a reply has its counts, as JSON pointers. The counts of several pointers are added.
#[derive(Debug)]
pub(crate) struct UsageFields {
    pub(crate) input: &'static [&'static str],
    pub(crate) output: &'static [&'static str],
    pub(crate) cached: &'static [&'static str],
    pub(crate) reasoning: &'static [&'static str],
}

impl UsageFields {
    /// The counts of Chat Completions.
    pub(crate) const CHAT: Self = Self {
        input: &["/usage/prompt_tokens"],
        output: &["/usage/completion_tokens"],
        cached: &["/usage/prompt_tokens_details/cached_tokens"],
        reasoning: &["/usage/completion_tokens_details/reasoning_tokens"],
    };
}
