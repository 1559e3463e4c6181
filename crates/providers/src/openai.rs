//! The APIs of OpenAI: Chat Completions and Responses.
//!
//! ```
//! use toolkit_providers::openai::{Options, read, tools};
//! use toolkit::catalog::Naming;
//!
//! /// Adds two integers.
//! #[toolkit::tool]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let export = tools(&toolkit::catalog![add]?, Naming::Name, Options::chat_completions())?;
//! assert_eq!(export.json[0]["function"]["name"], "add");
//! assert_eq!(read(&export.json[0])?.description(), "Adds two integers.");
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "async-openai")]
mod bridge;
pub(crate) mod chat;
mod function;
mod namespaces;
mod options;
mod responses;
mod wrapper;

use serde_json::json;

use self::function::{described, strict_usage};
use super::export::Export;
use super::request_limits::{Member, RequestLimits, description_usage};
use toolkit::catalog::{Catalog, Diagnostics, Naming};

#[cfg(feature = "async-openai")]
pub use self::bridge::BridgeError;
pub use self::function::{describe, read};
pub use self::namespaces::{find, read_all};
pub use self::options::{Interface, Options};
use crate::reply::Api;

/// `POST /v1/chat/completions`, of OpenAI and of the servers that are compatible with it, such as vLLM, llama.cpp, Groq,
/// DeepSeek, xAI, OpenRouter, and the endpoint of Gemini.
///
/// Only the first choice of a reply is read. A message of the model goes back as it came, except for what a request must
/// not contain: an empty list of calls, and invented names and arguments that are not JSON, which many servers reject
/// from then on. The images, sounds and files of results follow in one message of the user, since a result is text.
///
/// ```
/// use serde_json::json;
/// use toolkit::catalog::Naming;
/// use toolkit::{Context, Dispatcher};
/// use toolkit_providers::openai::{CHAT_COMPLETIONS, Options, tools};
///
/// /// Adds two integers.
/// #[toolkit::tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let dispatcher = Dispatcher::new(toolkit::catalog![add]?)?;
/// let export = tools(dispatcher.catalog(), Naming::Name, Options::chat_completions())?;
/// let mut stream = CHAT_COMPLETIONS.stream(&export.names);
/// stream.push(br#"data: {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "call_1",
/// data: "type": "function", "function": {"name": "add", "arguments": "{\"a\": 1, \"b\": 2}"}}]},
/// data: "finish_reason": "tool_calls"}]}
///
/// data: [DONE]
///
/// "#)?;
/// let reply = stream.finish()?;
/// let results = reply.run_sync(&dispatcher, &Context::new());
/// assert_eq!(results.messages()?, [json!({ "role": "tool", "tool_call_id": "call_1", "content": "3" })]);
/// # Ok(())
/// # }
/// ```
pub const CHAT_COMPLETIONS: Api = Api(&chat::ChatCompletions::OPENAI);

/// `POST /v1/responses`.
///
/// With `previous_response_id` or a conversation, send only the messages of the results, without those of the reply.
///
/// ```
/// use serde_json::json;
/// use toolkit::catalog::Naming;
/// use toolkit::{Dispatcher, catalog, tool};
/// use toolkit_providers::openai::{RESPONSES, Options, tools};
///
/// /// Adds two integers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::new(catalog![add]?)?;
/// let export = tools(dispatcher.catalog(), Naming::default(), Options::responses())?;
/// let call = json!({ "type": "function_call", "call_id": "call_1", "name": "add", "arguments": r#"{"a":1,"b":2}"# });
/// let turn = RESPONSES.respond(&dispatcher, &export, json!({ "output": [call], "status": "completed" })).await?;
/// let result = json!({ "type": "function_call_output", "call_id": "call_1", "output": "3" });
/// assert_eq!(turn.results.messages()?, [result]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub const RESPONSES: Api = Api(&responses::Responses);

/// Returns the `tools` of a request.
///
/// ```
/// # use toolkit_providers::openai::{Options, tools};
/// # use toolkit::catalog::Naming;
/// /// Says hello.
/// #[toolkit::tool]
/// fn greet(name: String, title: Option<String>) -> String {
///     format!("Hello, {} {name}!", title.unwrap_or_default())
/// }
///
/// # fn main() -> Result<(), toolkit::catalog::Diagnostics> {
/// let export = tools(&toolkit::catalog![greet]?, Naming::Name, Options::responses().strict())?;
/// let tool = &export.json[0];
/// assert_eq!(tool["strict"], true);
/// assert_eq!(tool["parameters"]["required"], serde_json::json!(["name", "title"]));
/// assert_eq!(tool["parameters"]["properties"]["title"]["type"], serde_json::json!(["string", "null"]));
/// # Ok(())
/// # }
/// ```
///
/// With [`Options::namespaced`], tools have their bare names within their namespace, independently of `naming`, and
/// tools without a namespace come first. The description of a namespace lists its tools; a host can replace it.
/// [`find`] resolves a call to its tool.
///
/// # Errors
///
/// Returns the errors of [`list_tools`](toolkit::mcp::list_tools).
pub fn tools(catalog: &Catalog, naming: Naming, options: Options) -> Result<Export, Diagnostics> {
    if options.namespaces && options.interface == Interface::Responses {
        return namespaces::grouped(catalog, options);
    }
    let names = catalog.listed(naming)?;
    let members = Member::all(&names, |tool, name| described(tool, name, options));
    let mut more_usage: Vec<_> = description_usage(&members).collect();
    more_usage.extend(strict_usage(&members, options));
    let mut export = Export::from_members(&RequestLimits::OPENAI, members);
    export.usage.extend(more_usage);
    Ok(export.with_search_tool(json!({ "type": "tool_search" })))
}
