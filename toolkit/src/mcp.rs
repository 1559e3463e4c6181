//! The messages `tools/list` and `tools/call` of the Model Context Protocol.
//!
//! This module reads and writes messages, but opens no connection. A server lists the tools once, and answers each call
//! with a result or with an error that the model can read:
//!
//! ```
//! use toolkit::catalog::{Naming, WireNames};
//! use toolkit::mcp::{CallParams, Revision, ToolList, write_error, write_result};
//! use toolkit::{Dispatcher, catalog, tool};
//!
//! /// Adds two integers.
//! #[tool(namespace = "math")]
//! fn add(a: i32, b: i32) -> i32 {
//!     a + b
//! }
//!
//! let revision = Revision::V2025_11_25;
//! let dispatcher = Dispatcher::new(catalog![add]?)?;
//! let names = WireNames::new(dispatcher.catalog(), Naming::default())?;
//! let list = ToolList::new(dispatcher.catalog(), revision, Naming::default())?;
//! assert!(list.to_json().contains(r#""name":"math_add""#));
//!
//! let params = CallParams::parse(br#"{"name": "math_add", "arguments": {"a": 1, "b": 2}}"#)?;
//! let tool = names.get(params.name()).ok_or("unknown tool")?;
//! let answer = match dispatcher.call_sync(&tool.id().to_string(), params.arguments()) {
//!     Ok(result) => write_result(tool, &result, revision),
//!     Err(error) => write_error(&error, revision),
//! };
//! assert!(answer.ends_with(br#""structuredContent":{"result":3},"isError":false}"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod call;
mod error;
mod expect;
mod list;
mod params;
mod result;
mod revision;
mod span;

pub use self::call::{write_error, write_result};
pub use self::error::ERROR_KEY;
pub(crate) use self::error::read_error;
pub use self::list::{LIST_TTL_MS, ToolList, list_tool, list_tools};
pub use self::params::CallParams;
pub use self::result::wrap_result;
pub use self::revision::Revision;
pub use crate::tool::META_KEY;
