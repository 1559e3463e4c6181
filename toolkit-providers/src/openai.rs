//! The APIs of OpenAI: Chat Completions and Responses.
//!
//! ```standalone_crate
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
mod function;
mod namespaces;
mod options;
mod responses;
mod wrapper;

use self::function::{described, strict_usage};
use super::export::Export;
use super::request::{Member, RequestLimits};
use toolkit::catalog::{Catalog, Diagnostics, Naming};

#[cfg(feature = "async-openai")]
pub use self::bridge::BridgeError;
pub use self::function::{describe, read};
pub use self::namespaces::{find, read_all};
pub use self::options::{Interface, Options};
use crate::reply::Api;

/// `POST /v1/responses`.
///
/// With `previous_response_id` or a conversation, send only the messages of the results, without those of the reply.
///
/// ```
/// use serde_json::json;
/// use toolkit::catalog::ExportedNames;
/// use toolkit_providers::openai::RESPONSES;
///
/// let text = json!({ "type": "output_text", "text": "Hello!" });
/// let body = json!({ "output": [{ "type": "message", "role": "assistant", "content": [text] }] });
/// assert_eq!(RESPONSES.read(&body, &ExportedNames::default())?.text(), "Hello!");
/// # Ok::<(), toolkit_providers::reply::InvalidReply>(())
/// ```
pub const RESPONSES: Api = Api(&responses::Responses);

/// Returns the `tools` of a request.
///
/// ```standalone_crate
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
    let members = Member::all_with_size(&names, |tool, name| described(tool, name, options));
    let strict_usage = strict_usage(&members, options);
    let mut export = Export::from_members(&RequestLimits::OPENAI, members);
    export.usage.extend(strict_usage);
    Ok(export)
}

/// Reads a reply of Responses and runs its calls. `export` is the export whose tools were sent with the request.
///
/// ```standalone_crate
/// use serde_json::json;
/// use toolkit::catalog::Naming;
/// use toolkit::{Dispatcher, catalog, tool};
/// use toolkit_providers::openai::{Options, respond, tools};
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
/// let turn = respond(&dispatcher, &export, json!({ "output": [call], "status": "completed" })).await?;
/// let result = json!({ "type": "function_call_output", "call_id": "call_1", "output": "3" });
/// assert_eq!(turn.results.messages()?, [result]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Returns an error if the JSON is not a reply. The error of a call is its result.
#[cfg(feature = "async")]
pub async fn respond<'b>(
    dispatcher: &toolkit::Dispatcher,
    export: &Export,
    response: impl Into<crate::reply::ReplyBody<'b>>,
) -> Result<crate::reply::Turn, crate::reply::InvalidReply> {
    RESPONSES.respond(dispatcher, export, response).await
}
