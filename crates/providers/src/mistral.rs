//! The APIs of Mistral: replies and results of chat completions and of Conversations.
//!
//! The tools of a request to either are those of [`openai::tools`](crate::openai::tools) with the options for
//! [Chat Completions](crate::openai::Options::chat_completions).

mod conversations;

use serde_json::{Value, json};

use crate::openai::chat::{ChatCompletions, Rules};
use crate::reply::{Api, CallResult, ResultItem};

/// `POST /v1/chat/completions` of Mistral.
///
/// A request must not contain ids of calls other than nine letters and digits. A call with another id gets a new one, in
/// the message of the model and in the result. Results are text, so images, sounds and files become notes.
///
/// ```
/// use serde_json::json;
/// use toolkit::catalog::Naming;
/// use toolkit::{Context, Dispatcher};
/// use toolkit_providers::{mistral, openai};
///
/// /// Adds two integers.
/// #[toolkit::tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let dispatcher = Dispatcher::new(toolkit::catalog![add]?)?;
/// let export = openai::tools(dispatcher.catalog(), Naming::Name, openai::Options::chat_completions())?;
/// let function = json!({ "name": "add", "arguments": { "a": 1, "b": 2 } });
/// let message = json!({ "role": "assistant", "tool_calls": [{ "id": "D681PevKs", "function": function }] });
/// let completion = json!({ "choices": [{ "index": 0, "finish_reason": "tool_calls", "message": message }] });
/// let reply = mistral::CHAT.read(&completion, &export.names)?;
/// let results = reply.run_sync(&dispatcher, &Context::new());
/// let result = json!({ "role": "tool", "tool_call_id": "D681PevKs", "name": "add", "content": "3" });
/// assert_eq!(results.messages()?, [result]);
/// # Ok(())
/// # }
/// ```
pub const CHAT: Api = Api(&ChatCompletions {
    name: "Mistral Chat Completions",
    rules: Rules { accepts_id: is_valid_id, accepts_objects: true },
    write: |items| ResultItem::write_each(items, message),
});

/// `POST /v1/conversations`, and requests to a conversation, complete and streamed.
///
/// The messages are entries for `inputs`. Where Mistral stores the conversation, send only those of the results, without
/// those of the reply. A call whose `confirmation_status` is `pending` does not run: the host answers it with
/// `tool_confirmations`. Results are text, so images, sounds and files become notes.
///
/// ```
/// use serde_json::json;
/// use toolkit::catalog::Naming;
/// use toolkit::{Context, Dispatcher};
/// use toolkit_providers::{mistral, openai};
///
/// /// Adds two integers.
/// #[toolkit::tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let dispatcher = Dispatcher::new(toolkit::catalog![add]?)?;
/// let export = openai::tools(dispatcher.catalog(), Naming::Name, openai::Options::chat_completions())?;
/// let call = json!({ "object": "entry", "type": "function.call", "tool_call_id": "D681PevKs", "name": "add",
///     "arguments": "{\"a\": 1, \"b\": 2}" });
/// let response = json!({ "object": "conversation.response", "conversation_id": "conv_1", "outputs": [call] });
/// let reply = mistral::CONVERSATIONS.read(&response, &export.names)?;
/// assert_eq!(reply.messages(), [call]);
/// let results = reply.run_sync(&dispatcher, &Context::new());
/// assert_eq!(results.messages()?[0]["result"], "3");
/// # Ok(())
/// # }
/// ```
pub const CONVERSATIONS: Api = Api(&conversations::Conversations);

fn is_valid_id(id: &str) -> bool {
    id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// No message of the user may follow a result, so media become notes.
fn message(answer: &CallResult<'_>) -> Value {
    json!({
        "role": "tool",
        "tool_call_id": answer.call.id,
        "name": answer.call.sent_name,
        "content": answer.to_text(),
    })
}
