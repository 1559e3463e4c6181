//! A conversation with a model, without its connection.

use std::time::Duration;

use serde_json::Value;
use toolkit::catalog::ExportedNames;

use super::http::HttpRequest;
use super::request_error::RequestError;
use super::retry::RequestRetry;
use super::{Api, Request};
use crate::reply::{InvalidReply, Reply, ReplyStream, StopReason, TokenUsage};

/// A conversation with a model: the requests, what to do after each response, and the limits of it. The program sends the
/// requests, waits, and runs the calls.
///
/// # Examples
///
/// A program without a network:
///
/// ```
/// use serde_json::json;
/// use toolkit::{Context, Dispatcher, catalog, tool};
/// use toolkit_providers::anthropic::MESSAGES;
/// use toolkit_providers::request::{Conversation, HttpRequest, NextStep, Request};
///
/// /// Adds two integers.
/// #[tool(read_only)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// /// Calls the tool, and then repeats its result.
/// fn send(request: HttpRequest) -> (u16, String) {
///     let content = match request.body.pointer("/messages/2/content/0/content") {
///         Some(result) => json!({ "type": "text", "text": result }),
///         None => json!({ "type": "tool_use", "id": "toolu_1", "name": "add", "input": { "a": 1, "b": 2 } }),
///     };
///     let reason = if content["type"] == "text" { "end_turn" } else { "tool_use" };
///     (200, json!({ "content": [content], "stop_reason": reason }).to_string())
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let dispatcher = Dispatcher::new(catalog![add]?)?;
/// let request = Request::new(MESSAGES, "claude").tools(&MESSAGES.export(dispatcher.catalog())?).user("What is 1 + 2?");
/// let mut chat = Conversation::new(request).max_calls(100);
/// let answer = loop {
///     let (status, body) = send(chat.request()?.with_key("sk-…"));
///     let mut stream = chat.response(status, |_header| None);
///     stream.push(body.as_bytes())?; // and show the events that it returns
///     match chat.finish(stream)? {
///         NextStep::Wait(time) => std::thread::sleep(time),
///         NextStep::RunCalls(reply) => chat.add(reply.run_sync(&dispatcher, &Context::new()).messages()?),
///         NextStep::Answered(reply) => break reply.text().to_owned(),
///         NextStep::Stopped(reason) | NextStep::Limit(reason) => return Err(reason.into()),
///     }
/// };
/// assert_eq!(answer, "3");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Conversation {
    request: Request,
    names: ExportedNames,
    retry: RequestRetry,
    /// The status of a response that is an error, and the time to wait after it.
    failure: Option<(u16, Option<Duration>)>,
    usage: TokenUsage,
    n_turns: u64,
    n_calls: u64,
    max_turns: u64,
    max_calls: u64,
    max_tokens: u64,
}

/// The next step after a response.
#[derive(Clone, Debug)]
pub enum NextStep {
    /// Send the same request again after this time: the server is overloaded, or the reply broke off.
    Wait(Duration),
    /// Run the calls of the reply, add their results, and send the next request. A reply that the provider paused may have
    /// no calls.
    RunCalls(Reply),
    /// The model has answered.
    Answered(Reply),
    /// The model stopped for a reason after which nothing runs, such as a refusal.
    Stopped(String),
    /// A limit of the conversation is reached. No call of the last reply has run.
    Limit(String),
}

impl Conversation {
    /// Creates a conversation that begins with a request. It has at most 20 turns, sends a request again up to four times in a
    /// row, and has no other limits.
    pub fn new(request: Request) -> Self {
        Self {
            names: request.tools.as_ref().map(|tools| tools.names.clone()).unwrap_or_default(),
            request,
            retry: RequestRetry::new(4),
            failure: None,
            usage: TokenUsage::default(),
            n_turns: 0,
            n_calls: 0,
            max_turns: 20,
            max_calls: u64::MAX,
            max_tokens: u64::MAX,
        }
    }

    /// Sets the maximum number of replies.
    pub fn max_turns(self, max_turns: u64) -> Self {
        Self { max_turns, ..self }
    }

    /// Sets the maximum number of tool calls.
    pub fn max_calls(self, max_calls: u64) -> Self {
        Self { max_calls, ..self }
    }

    /// Sets the maximum number of tokens of all requests and replies. It is checked after each reply, by the counts of
    /// the provider; a reply without counts is an error then, since the limit could not be kept.
    pub fn max_tokens(self, max_tokens: u64) -> Self {
        Self { max_tokens, ..self }
    }

    /// Sets how often a request is sent again in a row.
    pub fn max_retries(self, max_retries: u32) -> Self {
        Self { retry: RequestRetry::new(max_retries), ..self }
    }

    /// Returns the API.
    #[must_use]
    pub fn api(&self) -> Api {
        self.request.api
    }

    /// Returns the messages so far, for [`Request::history`] of a later conversation.
    #[must_use]
    pub fn messages(&self) -> &[Value] {
        self.request.messages()
    }

    /// Returns the tokens of all requests and replies so far.
    #[must_use]
    pub fn usage(&self) -> TokenUsage {
        self.usage
    }

    /// Adds messages, such as the results of calls.
    pub fn add(&mut self, messages: impl IntoIterator<Item = Value>) {
        self.request.messages.extend(messages);
    }

    /// Returns the next request.
    ///
    /// # Errors
    ///
    /// Returns the error of [`Request::build`].
    pub fn request(&self) -> Result<HttpRequest, RequestError> {
        self.request.build()
    }

    /// Returns the time to wait after a request that could not be sent, or `None` if it should not be sent again.
    pub fn send_failed(&mut self) -> Option<Duration> {
        self.retry.after_failure()
    }

    /// Starts to read a response with a status and headers, also one that is an error or has no stream. `header` returns
    /// the value of a header, by its name in lowercase.
    pub fn response<'h>(&mut self, status: u16, header: impl Fn(&str) -> Option<&'h str>) -> ReplyStream {
        let stream = self.request.api.stream(&self.names);
        let is_success = (200..300).contains(&status);
        self.failure = (!is_success).then(|| (status, self.retry.after_response(status, header)));
        if is_success && self.request.is_streamed { stream } else { stream.of_body() }
    }

    /// Returns what to do after a response. A reply that can be used is added to the messages. End the stream where the
    /// connection ends, also if it breaks off.
    ///
    /// # Errors
    ///
    /// Returns an error if the response is an error of the provider, or is not a reply, and should not be requested
    /// again.
    pub fn finish(&mut self, stream: ReplyStream) -> Result<NextStep, InvalidReply> {
        match self.failure.take() {
            Some((_, Some(time))) => return Ok(NextStep::Wait(time)),
            Some((status, None)) => return Err(stream.into_error(status)),
            None => {}
        }
        let is_empty = stream.is_empty();
        let reply = match stream.finish() {
            Ok(reply) => reply,
            Err(error) if is_empty || error.is_cut() => {
                return self.retry.after_failure().map(NextStep::Wait).ok_or(error);
            }
            Err(error) => return Err(error),
        };
        if let Some(time) = self.retry.after_reply(&reply) {
            return Ok(NextStep::Wait(time));
        }
        match reply.stop_reason() {
            StopReason::ToolCalls | StopReason::End | StopReason::Paused => {}
            other => return Ok(NextStep::Stopped(format!("the model stopped without an answer: {other}"))),
        }
        self.usage += reply.usage().unwrap_or_default();
        self.n_turns += 1;
        self.n_calls += reply.calls().len() as u64;
        self.add(reply.messages().iter().cloned());
        if *reply.stop_reason() == StopReason::End {
            return Ok(NextStep::Answered(reply));
        }
        Ok(match self.exceeded(&reply) {
            Some(limit) => NextStep::Limit(limit),
            None => NextStep::RunCalls(reply),
        })
    }

    /// Returns the limit that forbids another request.
    fn exceeded(&self, reply: &Reply) -> Option<String> {
        let Self { max_turns, max_calls, max_tokens, .. } = self;
        if self.n_calls > *max_calls {
            return Some(format!("the limit of {max_calls} calls is reached"));
        }
        if *max_tokens < u64::MAX && reply.usage().is_none() {
            return Some(format!("the limit of {max_tokens} tokens cannot be kept: the server does not count them"));
        }
        if self.usage.total() > *max_tokens {
            return Some(format!("the limit of {max_tokens} tokens is reached"));
        }
        (self.n_turns >= *max_turns).then(|| format!("the limit of {max_turns} turns is reached"))
    }
}
