//! A model's reply: its text, its tool calls, and their results.
//!
//! An [`Api`] reads the reply of a model, whole or as a stream. [`Reply::run`] runs the calls with a
//! [`Dispatcher`](toolkit::Dispatcher), and [`ToolResults::messages`] returns the messages with the results for the next
//! request. [`Api::respond`] does all of this at once.
//!
//! ```
//! use serde_json::json;
//! use toolkit::catalog::Naming;
//! use toolkit::{Dispatcher, catalog, tool};
//! use toolkit_providers::anthropic::{MESSAGES, Options, tools};
//!
//! /// Adds two integers.
//! #[tool(namespace = "math")]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let dispatcher = Dispatcher::new(catalog![add]?)?;
//! let export = tools(dispatcher.catalog(), Naming::default(), Options::default())?;
//!
//! // The body of the response of `POST /v1/messages` with `"tools": export.json`:
//! let message = json!({
//!     "id": "msg_1",
//!     "type": "message",
//!     "role": "assistant",
//!     "content": [{ "type": "tool_use", "id": "toolu_1", "name": "math_add", "input": { "a": 1, "b": 2 } }],
//!     "stop_reason": "tool_use",
//! });
//! let turn = MESSAGES.respond(&dispatcher, &export, &message).await?;
//! let result = json!({ "type": "tool_result", "tool_use_id": "toolu_1", "content": "3" });
//! assert_eq!(turn.messages()?[1], json!({ "role": "user", "content": [result] }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | APIs |
//! |---|---|
//! | [`anthropic`](crate::anthropic) | [`MESSAGES`](crate::anthropic::MESSAGES) |
//! | [`openai`](crate::openai) | [`RESPONSES`](crate::openai::RESPONSES), [`CHAT_COMPLETIONS`](crate::openai::CHAT_COMPLETIONS) |
//! | [`gemini`](crate::gemini) | [`GENERATE_CONTENT`](crate::gemini::GENERATE_CONTENT), [`INTERACTIONS`](crate::gemini::INTERACTIONS) |
//! | [`bedrock`](crate::bedrock) | [`CONVERSE`](crate::bedrock::CONVERSE) |
//! | [`mistral`](crate::mistral) | [`CHAT`](crate::mistral::CHAT), [`CONVERSATIONS`](crate::mistral::CONVERSATIONS) |
//! | [`ollama`](crate::ollama) | [`CHAT`](crate::ollama::CHAT) |
//! | [`cohere`](crate::cohere) | [`CHAT`](crate::cohere::CHAT) |
//!
//! - Each call has exactly one result: that of the tool, or an error that the model can read.
//! - The messages of a reply repeat what the model sent, in the same order and with all fields, since providers require
//!   their reasoning and signatures back. Names, ids, blank texts and arguments that a request must not contain are
//!   replaced or left out.
//! - Calls run only after a reason to stop that is known to end a complete reply: not if it was truncated, refused or
//!   filtered.
//! - Tools that the provider runs itself are listed in [`Reply::provider_calls`] and otherwise left alone.
//!
//! | module | part |
//! |---|---|
//! | `api`, `format`, `body` | an API, what a provider implements for it, and the JSON that it reads |
//! | `stream`, `framing`, `assembly` | the bytes of a stream, its events, and the reply that they are assembled to |
//! | `parsed`, `tool_call`, `stop` | the parts of a reply, its calls, and the reason for its end |
//! | `run`, `options`, `running` | runs the calls |
//! | `results`, `answer`, `truncate` | writes the results, cut to a size |
//! | `usage`, `typed_answer` | the tokens of a reply, and its text or call as a typed answer |

mod answer;
mod api;
mod assembly;
mod body;
mod event;
mod format;
mod framing;
mod invalid_reply;
mod options;
mod parsed;
mod results;
mod run;
#[cfg(feature = "async")]
mod running;
mod stop;
mod stream;
mod tool_call;
mod truncate;
mod typed_answer;
mod usage;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toolkit::catalog::ExportedNames;

pub(crate) use self::answer::{CallResult, IMAGE_TYPES, ResultItem, ResultPart, flagged};
pub use self::api::Api;
pub(crate) use self::assembly::{Assembly, Block, add_part, append, field_mut, is_empty, is_empty_part, merge, push};
pub use self::body::ReplyBody;
pub use self::event::ReplyEvent;
pub(crate) use self::format::{Assembled, Format, fields, object, remove_end};
pub(crate) use self::framing::Framing;
pub use self::invalid_reply::InvalidReply;
pub use self::options::{CallInfo, RunOptions};
pub use self::parsed::ProviderCall;
pub(crate) use self::parsed::{Parsed, ResultSlot};
pub use self::results::{ResultLimits, ToolResults, Turn, Unanswered};
#[cfg(feature = "async")]
pub use self::running::Running;
pub use self::stop::StopReason;
pub(crate) use self::stop::{keep_stop, stated};
pub use self::stream::ReplyStream;
pub use self::tool_call::{CallArguments, ToolCall};
pub(crate) use self::tool_call::{CallForm, WrittenCall, find_name};
pub(crate) use self::typed_answer::{ANSWER_TOOL, answer_schema};
pub use self::usage::TokenUsage;
pub(crate) use self::usage::UsageFields;

/// The reply of a model.
///
/// ```
/// use serde_json::json;
/// use toolkit::catalog::ExportedNames;
/// use toolkit_providers::openai::RESPONSES;
/// use toolkit_providers::reply::StopReason;
///
/// let text = json!({ "type": "output_text", "text": "Hello!" });
/// let message = json!({ "type": "message", "role": "assistant", "content": [text] });
/// let body = json!({ "id": "resp_1", "status": "completed", "output": [message] });
/// let reply = RESPONSES.read(&body, &ExportedNames::default())?;
/// assert_eq!((reply.text(), reply.stop_reason()), ("Hello!", &StopReason::End));
/// assert!(!reply.needs_results());
/// assert_eq!(reply.messages(), [message]);
/// assert_eq!(reply.metadata()["id"], "resp_1");
/// # Ok::<(), toolkit_providers::reply::InvalidReply>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reply {
    api: Api,
    parsed: Arc<Parsed>,
    names: ExportedNames,
}

impl Reply {
    /// Returns the API that the reply is from.
    #[must_use]
    pub fn api(&self) -> Api {
        self.api
    }

    /// Returns the text, without that of the model's reasoning.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.parsed.text
    }

    /// Returns the text of the model's reasoning, if the provider shows it.
    #[must_use]
    pub fn reasoning(&self) -> &str {
        &self.parsed.reasoning
    }

    /// Returns the tool calls that this program answers, in the order of the reply.
    #[must_use]
    pub fn calls(&self) -> &[ToolCall] {
        &self.parsed.calls
    }

    /// Returns the calls of the provider's own tools.
    #[must_use]
    pub fn provider_calls(&self) -> &[ProviderCall] {
        &self.parsed.provider_calls
    }

    /// Returns the reason why the model stopped.
    #[must_use]
    pub fn stop_reason(&self) -> &StopReason {
        &self.parsed.stop
    }

    /// Returns true if the next request needs results of calls.
    #[must_use]
    pub fn needs_results(&self) -> bool {
        !self.parsed.slots.is_empty()
    }

    /// Returns the messages that repeat the reply in the next request, before the results of its calls.
    #[must_use]
    pub fn messages(&self) -> &[Value] {
        &self.parsed.messages
    }

    /// Returns the other fields of the response, such as its id, its usage, and Anthropic's `container`.
    #[must_use]
    pub fn metadata(&self) -> &Value {
        &self.parsed.metadata
    }

    /// Returns the number of tokens of the request and the reply, or `None` if the provider did not count them.
    #[must_use]
    pub fn usage(&self) -> Option<TokenUsage> {
        TokenUsage::read(self.metadata(), self.format().usage())
    }

    /// Returns the answer to a request with [`answer`](crate::request::Request::answer) or
    /// [`answer_by_tool`](crate::request::Request::answer_by_tool), or `None` if the reply is not the last one, or has
    /// other calls.
    ///
    /// # Errors
    ///
    /// Returns an error if the reply is not the JSON of a `T`.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit::catalog::ExportedNames;
    /// use toolkit_providers::ollama::CHAT;
    ///
    /// #[derive(schemars::JsonSchema, serde::Deserialize)]
    /// struct City {
    ///     name: String,
    /// }
    ///
    /// let message = json!({ "role": "assistant", "content": r#"{"name": "Lima"}"# });
    /// let reply = CHAT.read(json!({ "message": message, "done": true }), &ExportedNames::default())?;
    /// assert_eq!(reply.answer::<City>()?.map(|city| city.name).as_deref(), Some("Lima"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn answer<T: DeserializeOwned + JsonSchema>(&self) -> Result<Option<T>, serde_json::Error> {
        typed_answer::read_answer(self.calls(), self.stop_reason(), self.text())
    }

    /// Returns true if the stream of the reply ended before its last event.
    pub(crate) fn ended_early(&self) -> bool {
        self.parsed.ended_early
    }

    fn slots(&self) -> &[ResultSlot] {
        &self.parsed.slots
    }

    fn format(&self) -> &'static dyn Format {
        self.api.0
    }
}
