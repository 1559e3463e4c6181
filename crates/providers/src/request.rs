//! Requests to the APIs of providers, as data for any HTTP client.
//!
//! ```
//! use serde_json::json;
//! use toolkit::{catalog, tool};
//! use toolkit_providers::anthropic::MESSAGES;
//! use toolkit_providers::request::Request;
//!
//! /// Adds two integers.
//! #[tool(namespace = "math")]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tools = MESSAGES.export(&catalog![add]?)?;
//! let request = Request::new(MESSAGES, "claude").system("Be brief.").tools(&tools).user("What is 1 + 2?").streamed();
//! let http = request.build()?.with_key("sk-…");
//! assert_eq!((http.method, &*http.url), ("POST", "https://api.anthropic.com/v1/messages"));
//! assert!(http.headers.contains(&("authorization", "Bearer sk-…".to_owned())));
//! assert_eq!(http.body["messages"], json!([{ "role": "user", "content": "What is 1 + 2?" }]));
//! # Ok(())
//! # }
//! ```
//!
//! [`Conversation`] has the steps of a conversation with tools, with retries and limits. A program with a loop of its own
//! adds [`Reply::messages`](crate::reply::Reply::messages) and the messages with the results of the calls to the
//! [history](Request::history), and builds the next request. An option that an API does not have is an error that names
//! it, never left out.
//!
//! | module | part |
//! |---|---|
//! | `apis`, `fields` | what differs between APIs: one row each, and the fields that several of them share |
//! | `tool_choice`, `thinking` | options |
//! | `answer` | a typed answer, by the format of the provider or by a tool |
//! | `http` | what an HTTP client sends |
//! | `conversation`, `retry` | what to do after each response; what to send again, and when |
//! | `trim` | a history within a number of tokens |

mod answer;
mod apis;
mod conversation;
mod fields;
mod http;
mod request_error;
mod retry;
mod thinking;
mod tool_choice;
mod trim;

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use self::answer::AnswerForm;
pub use self::conversation::{Conversation, NextStep};
pub use self::http::HttpRequest;
pub use self::request_error::RequestError;
pub use self::retry::RequestRetry;
pub use self::thinking::Thinking;
pub use self::tool_choice::ToolChoice;
use super::export::Export;
use super::reply::Api;

/// A request to an API of a provider.
///
/// ```
/// use serde_json::json;
/// use toolkit_providers::openai::RESPONSES;
/// use toolkit_providers::request::{Request, Thinking};
///
/// let request = Request::new(RESPONSES, "gpt").user("Hi!").max_tokens(500).thinking(Thinking::Low);
/// assert_eq!(
///     request.build()?.body,
///     json!({
///         "model": "gpt",
///         "input": [{ "role": "user", "content": "Hi!" }],
///         "max_output_tokens": 500,
///         "reasoning": { "effort": "low" },
///     })
/// );
/// # Ok::<(), toolkit_providers::request::RequestError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Request {
    pub(super) api: Api,
    model: String,
    url: Option<String>,
    system: Option<String>,
    messages: Vec<Value>,
    tools: Option<Export>,
    pub(super) tool_choice: Option<ToolChoice>,
    is_sequential: bool,
    pub(super) max_tokens: Option<u64>,
    pub(super) thinking: Option<Thinking>,
    is_cached: bool,
    is_streamed: bool,
    pub(super) answer: Option<AnswerForm>,
    fields: Map<String, Value>,
}

impl Request {
    /// Creates a request to a model, by the name that the provider gives it.
    pub fn new(api: Api, model: impl Into<String>) -> Self {
        Self {
            api,
            model: model.into(),
            url: None,
            system: None,
            messages: Vec::new(),
            tools: None,
            tool_choice: None,
            is_sequential: false,
            max_tokens: None,
            thinking: None,
            is_cached: false,
            is_streamed: false,
            answer: None,
            fields: Map::new(),
        }
    }

    /// Sets the base URL, such as `http://localhost:11434`. By default, it is that of the provider.
    pub fn url(self, url: impl Into<String>) -> Self {
        Self { url: Some(url.into()), ..self }
    }

    /// Sets the instructions for the model.
    pub fn system(self, text: impl Into<String>) -> Self {
        Self { system: Some(text.into()), ..self }
    }

    /// Adds a message of the user.
    pub fn user(mut self, text: &str) -> Self {
        self.messages.push((self.api.request_format().user)(text));
        self
    }

    /// Adds messages in the format of the API: those of a reply, of the results of its calls, or of an earlier
    /// conversation.
    pub fn history(mut self, messages: impl IntoIterator<Item = Value>) -> Self {
        self.messages.extend(messages);
        self
    }

    /// Removes the oldest messages so that the others have at most `max_tokens` tokens. The rest is a history that the
    /// API accepts: each call keeps its results and the reasoning before it, and a message of the user comes first.
    ///
    /// Whole turns are removed first, and then the oldest calls of the last turn. The last message of the user, the last
    /// reply with its results, system messages and a summary that the provider wrote itself (`compaction`) always
    /// stay, even if they exceed the limit.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit_providers::cost::estimate;
    /// use toolkit_providers::openai::CHAT_COMPLETIONS;
    /// use toolkit_providers::request::Request;
    ///
    /// let answer = json!({ "role": "assistant", "content": "Paris. ".repeat(100) });
    /// let request = Request::new(CHAT_COMPLETIONS, "gpt").user("The capital of France?").history([answer]).user("Of Peru?");
    /// assert_eq!(request.trim(50, &estimate).messages(), [json!({ "role": "user", "content": "Of Peru?" })]);
    /// ```
    pub fn trim(self, max_tokens: usize, count: &dyn Fn(&str) -> usize) -> Self {
        Self { messages: trim::trim(self.messages, max_tokens, count), ..self }
    }

    /// Sets the tools, which were exported for this API.
    pub fn tools(self, export: &Export) -> Self {
        Self { tools: Some(export.clone()), ..self }
    }

    /// Sets which tools the model may or must call. Without it, the model decides.
    pub fn tool_choice(self, choice: ToolChoice) -> Self {
        Self { tool_choice: Some(choice), ..self }
    }

    /// Asks for at most one call in each reply.
    pub fn one_call_at_a_time(self) -> Self {
        Self { is_sequential: true, ..self }
    }

    /// Sets the maximum number of tokens of the reply. Without it, the provider decides, and for Anthropic, which requires
    /// it, the limit is 8,192.
    pub fn max_tokens(self, max_tokens: u64) -> Self {
        Self { max_tokens: Some(max_tokens), ..self }
    }

    /// Sets how much the model thinks before it replies. Without it, the provider decides.
    pub fn thinking(self, thinking: Thinking) -> Self {
        Self { thinking: Some(thinking), ..self }
    }

    /// Asks the provider to keep the messages in its cache for the next request. OpenAI, Gemini, Cohere and Ollama do so by
    /// themselves, and get no field for it.
    pub fn cached(self) -> Self {
        Self { is_cached: true, ..self }
    }

    /// Asks for a stream, which [`Api::stream`] reads.
    pub fn streamed(self) -> Self {
        Self { is_streamed: true, ..self }
    }

    /// Asks for an answer in the form of a `T`, by the provider's format for JSON. [`Reply::answer`] reads it.
    ///
    /// ```
    /// use toolkit_providers::openai::RESPONSES;
    /// use toolkit_providers::request::Request;
    ///
    /// #[derive(schemars::JsonSchema, serde::Deserialize)]
    /// struct City {
    ///     name: String,
    /// }
    ///
    /// let request = Request::new(RESPONSES, "gpt").user("The capital of Peru?").answer::<City>();
    /// assert_eq!(request.build()?.body["text"]["format"]["schema"]["required"][0], "name");
    /// # Ok::<(), toolkit_providers::request::RequestError>(())
    /// ```
    ///
    /// [`Reply::answer`]: crate::reply::Reply::answer
    pub fn answer<T: JsonSchema>(self) -> Self {
        Self { answer: Some(AnswerForm::format::<T>()), ..self }
    }

    /// Asks for an answer in the form of a `T`, as the arguments of a tool named `answer`, which the request gets beside
    /// its tools. It needs no format of the provider, also where that cannot express the type. [`Reply::answer`] reads it;
    /// do not run the call.
    ///
    /// [`Reply::answer`]: crate::reply::Reply::answer
    pub fn answer_by_tool<T: JsonSchema>(self) -> Self {
        Self { answer: Some(AnswerForm::tool::<T>()), ..self }
    }

    /// Sets another field of the body, such as `temperature`. An object is joined with what the other options write
    /// into that field, and any other value replaces it.
    pub fn field(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    /// Returns the messages so far.
    #[must_use]
    pub fn messages(&self) -> &[Value] {
        &self.messages
    }

    /// Returns what an HTTP client sends.
    ///
    /// # Errors
    ///
    /// Returns an error that names an option that the API does not have, or options that exclude each other.
    pub fn build(&self) -> Result<HttpRequest, RequestError> {
        let format = self.api.request_format();
        let error = |option| move |reason: &'static str| RequestError::new(self.api, option, reason);
        (format.check)(self).map_err(|(option, reason)| RequestError::new(self.api, option, reason))?;
        let mut body = (format.model)(&self.model);
        if let Some(text) = &self.system {
            fields::add(&mut body, (format.system)(text));
        }
        fields::add(&mut body, json!({ format.messages: self.messages }));
        if let Some(tools) = self.all_tools()? {
            fields::add(&mut body, (format.tools)(tools));
        }
        if self.is_sequential {
            fields::add(&mut body, (format.sequential)().map_err(error("one_call_at_a_time"))?);
        }
        if let Some(choice) = &self.tool_choice {
            fields::add(&mut body, (format.tool_choice)(choice).map_err(error("tool_choice"))?);
        }
        if let Some(max_tokens) = self.max_tokens.or(format.default_max_tokens) {
            fields::add(&mut body, (format.max_tokens)(max_tokens));
        }
        if let Some(thinking) = self.thinking {
            fields::add(&mut body, (format.thinking)(thinking).map_err(error("thinking"))?);
        }
        if let Some(AnswerForm::Format(schema)) = &self.answer {
            let schema = answer::lowered(self.api, schema, format.answer_dialect)?;
            fields::add(&mut body, (format.answer)(schema).map_err(error("answer"))?);
        }
        fields::add(&mut body, (format.stream)(self.is_streamed));
        if self.is_cached {
            (format.cache)(&mut body).map_err(error("cached"))?;
        }
        for (name, value) in &self.fields {
            fields::add(&mut body, json!({ name: value }));
        }
        let url = self.url.as_deref().unwrap_or(format.url).trim_end_matches('/');
        let path = format.stream_path.filter(|_| self.is_streamed).unwrap_or(format.path);
        let model = self.model.strip_prefix("models/").unwrap_or(&self.model);
        let url = format!("{url}{}", path.replace("MODEL", &http::escape(model)));
        Ok(HttpRequest::new(url, format, body))
    }

    /// Returns the tools with that of the answer.
    fn all_tools(&self) -> Result<Option<Value>, RequestError> {
        let tools = self.tools.as_ref().map(|export| export.json.clone());
        let Some(AnswerForm::Tool(schema)) = &self.answer else { return Ok(tools) };
        if self.tools.as_ref().is_some_and(|export| export.names.get(None, answer::TOOL).is_some()) {
            return Err(RequestError::new(self.api, "answer_by_tool", "the tools have one named `answer`"));
        }
        let answer = answer::tool(self.api, schema)?;
        Ok(Some(match tools {
            Some(tools) => answer::join(tools, answer),
            None => answer,
        }))
    }
}
