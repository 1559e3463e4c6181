//! The native API of Ollama: chat.
//!
//! The tools of a request are those of [`openai::tools`](crate::openai::tools) with the options for
//! [Chat Completions](crate::openai::Options::chat_completions). The other endpoint of Ollama, `/v1/chat/completions`,
//! is one of [`openai::CHAT_COMPLETIONS`](crate::openai::CHAT_COMPLETIONS).

mod accumulate;
mod chat;

use crate::reply::Api;
#[cfg(feature = "async")]
use crate::{
    export::Export,
    reply::{InvalidReply, ReplyBody, Turn},
};

/// `POST /api/chat` of Ollama, whose streams have one JSON object in each line.
///
/// Results are text, so images, sounds and files become notes.
///
/// ```standalone_crate
/// use serde_json::json;
/// use toolkit::catalog::Naming;
/// use toolkit::{Context, Dispatcher};
/// use toolkit_providers::{ollama, openai};
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
/// let call = json!({ "function": { "name": "add", "arguments": { "a": 1, "b": 2 } } });
/// let message = json!({ "role": "assistant", "content": "", "tool_calls": [call] });
/// let mut stream = ollama::CHAT.stream(&export.names);
/// stream.push(format!("{}\n", json!({ "message": message, "done": false })).as_bytes())?;
/// stream.push(b"{\"message\": {\"role\": \"assistant\", \"content\": \"\"}, \"done\": true}\n")?;
/// let results = stream.finish()?.run_sync(&dispatcher, &Context::new());
/// assert_eq!(results.messages()?, [json!({ "role": "tool", "tool_name": "add", "content": "3" })]);
/// # Ok(())
/// # }
/// ```
pub const CHAT: Api = Api(&chat::Chat);

/// Reads a reply and runs its calls. `export` is the export whose tools were sent with the request.
///
/// ```
/// use serde_json::json;
/// use toolkit::catalog::Naming;
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_providers::{ollama, openai};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let dispatcher = Dispatcher::new(Catalog::new([])?)?;
/// let export = openai::tools(dispatcher.catalog(), Naming::Name, openai::Options::chat_completions())?;
/// let reply = json!({ "message": { "role": "assistant", "content": "Hello!" }, "done": true, "done_reason": "stop" });
/// let turn = ollama::respond(&dispatcher, &export, &reply).await?;
/// assert!(turn.is_final());
/// assert_eq!(turn.reply.text(), "Hello!");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns an error if the JSON is not a reply. The error of a call is its result.
#[cfg(feature = "async")]
pub async fn respond<'b>(
    dispatcher: &toolkit::Dispatcher,
    export: &Export,
    reply: impl Into<ReplyBody<'b>>,
) -> Result<Turn, InvalidReply> {
    CHAT.respond(dispatcher, export, reply).await
}
