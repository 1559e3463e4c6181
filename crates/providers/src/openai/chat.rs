//! Replies and results of Chat Completions, which many other servers share.
//!
//! | module | part |
//! |---|---|
//! | `message`, `results` | the message of a model, and those with results |
//! | `stream`, `calls` | a completion from its chunks, and its calls from fragments |

mod calls;
mod message;
mod results;
mod stream;

use serde_json::Value;

pub(crate) use self::calls::{add_call, complete_calls};
pub(crate) use self::message::{read_message, read_part};
use self::results::messages;
use self::stream::{add_chunk, assemble_completion};
pub(crate) use self::stream::{add_content, show_content};
use crate::reply::{Assembled, Assembly, Format, InvalidReply, Parsed, ResultItem, StopReason, stated};
use toolkit::catalog::ExportedNames;

/// The format of Chat Completions, with the differences between the APIs that share it.
#[derive(Debug)]
pub(crate) struct ChatCompletions {
    pub(crate) name: &'static str,
    pub(crate) rules: Rules,
    /// Writes the messages that contain the results.
    pub(crate) write: fn(&[ResultItem<'_>]) -> Vec<Value>,
}

impl ChatCompletions {
    /// The format of OpenAI and of most other servers.
    pub(super) const OPENAI: Self = Self { name: "OpenAI Chat Completions", rules: Rules::DEFAULT, write: messages };
}

impl Format for ChatCompletions {
    fn name(&self) -> &'static str {
        self.name
    }

    fn add(&self, event: Value, reply: &mut Assembly) -> Result<(), InvalidReply> {
        add_chunk(self.name, event, reply)
    }

    /// The `[DONE]` is the end also if no chunk states the reason, as in a body without one.
    fn end(&self, reply: &mut Assembly) {
        reply.is_complete = true;
    }

    fn assemble(&self, reply: Assembly) -> Value {
        assemble_completion(reply)
    }

    fn read(&self, reply: Assembled, names: &ExportedNames) -> Result<Parsed, InvalidReply> {
        read_completion(self.name, reply, self.rules, names)
    }

    fn write(&self, items: &[ResultItem<'_>]) -> Vec<Value> {
        (self.write)(items)
    }
}

/// Reads the first choice of a completion. `accepts_id` returns false for ids that a request must not contain; these
/// calls get new ones.
fn read_completion(
    api: &'static str,
    reply: Assembled,
    rules: Rules,
    names: &ExportedNames,
) -> Result<Parsed, InvalidReply> {
    let mut body = reply.body;
    let Some(mut choice) = body.get_mut("choices").and_then(Value::as_array_mut).and_then(take_first) else {
        return Err(InvalidReply::unexpected(api, "`choices`", &body));
    };
    let Some(Value::Object(message)) = choice.get_mut("message").map(Value::take) else {
        return Err(InvalidReply::unexpected(api, "`message` in its first choice", &body));
    };
    let mut parsed = Parsed::new(&body["id"]);
    let refusal = read_message(message, rules, names, &mut parsed);
    parsed.stop(stop_reason(&body, &choice, refusal));
    if let Value::Object(fields) = &mut choice {
        fields.shift_remove("message");
    }
    body["choices"] = Value::Array(vec![choice]);
    parsed.metadata = body;
    Ok(parsed)
}

fn take_first(choices: &mut Vec<Value>) -> Option<Value> {
    let first = choices.iter().position(|choice| choice["index"] == 0);
    let place = first.or(if choices.is_empty() { None } else { Some(0) })?;
    Some(choices.swap_remove(place))
}

fn stop_reason(body: &Value, choice: &Value, refusal: Option<String>) -> StopReason {
    let stop = match refusal {
        Some(refusal) => StopReason::Refused(refusal),
        None => stop_of(&stated(choice.get("finish_reason"))),
    };
    let errors = [&choice["error"], &body["error"], &body["x_groq"]["error"]];
    match errors.into_iter().find_map(|error| Some((error, error_message(error)?))) {
        Some((error, message)) if !matches!(stop, StopReason::Refused(_)) => {
            let is_malformed = error["code"] == "tool_use_failed";
            if is_malformed { StopReason::Malformed(message) } else { StopReason::Failed(message) }
        }
        _ => stop,
    }
}

/// Reads a value of `finish_reason`, which some servers leave out.
pub(super) fn stop_of(reason: &str) -> StopReason {
    match reason {
        // `tool_call` is that of earlier versions of MLX, and `tool_use` that of gateways to Anthropic and Bedrock.
        "tool_calls" | "function_call" | "tool_call" | "tool_use" => StopReason::ToolCalls,
        // The others are those of Together, Hugging Face, and the same gateways.
        "" | "stop" | "eos" | "eos_token" | "stop_sequence" | "end_turn" => StopReason::End,
        // `model_length` is that of Mistral, and `abort` that of vLLM.
        "length" | "model_length" | "abort" | "max_tokens" => StopReason::Truncated,
        "content_filter" => StopReason::Refused("content filter".to_owned()),
        // The second is that of DeepSeek.
        "error" | "insufficient_system_resource" => StopReason::Failed(reason.to_owned()),
        // The endpoint of Gemini adds its own reason to that of OpenAI.
        reason if reason.contains("MALFORMED_FUNCTION_CALL") => StopReason::Malformed(reason.to_owned()),
        reason => StopReason::Other(reason.to_owned()),
    }
}

/// Returns the message of an error of a provider, unless there is none.
pub(super) fn error_message(error: &Value) -> Option<String> {
    let text = match error {
        Value::String(message) => message.clone(),
        Value::Object(_) => error["message"].as_str().map_or_else(|| error.to_string(), str::to_owned),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// The differences between the APIs that share this format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Returns true if a request may contain an id.
    pub(crate) accepts_id: fn(&str) -> bool,
    /// The arguments of a call may be an object instead of its JSON text.
    pub(crate) accepts_objects: bool,
}

impl Rules {
    /// A request accepts any id, and arguments as JSON text.
    pub(crate) const DEFAULT: Self = Self { accepts_id: |_| true, accepts_objects: false };
}
