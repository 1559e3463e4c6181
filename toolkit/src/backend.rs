//! Execution of tools that are not functions of this program: handlers, other processes, servers.
//!
//! A [`Backend`] lists its tools and runs them. [`Backends`] holds several backends and collects
//! their tools into one catalog and one table of [`Routes`]. A dispatcher that is built from both
//! runs these tools like functions: it validates arguments and results, applies its limits, and
//! passes each tool only the credentials that it requires.
//!
//! ```standalone_crate
//! use serde_json::{Value, json};
//! use toolkit::backend::{Backends, LocalBackend};
//! use toolkit::{Catalog, Context, Dispatcher, Tool};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
//! let shout = Tool::builder("shout").description("Says it louder.").input(json!({
//!     "type": "object",
//!     "properties": { "text": { "type": "string" } },
//!     "required": ["text"],
//! }));
//! let plugins = LocalBackend::new("plugins");
//! plugins.add(shout.build()?, |arguments: Value, _: Context| async move {
//!     Ok(json!(arguments["text"].as_str().unwrap_or_default().to_uppercase()))
//! });
//!
//! let backends = Backends::new();
//! backends.register(plugins)?;
//! let collected = backends.collect(Catalog::linked()?).await;
//! assert!(collected.diagnostics.is_empty() && collected.failures.is_empty());
//!
//! let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build()?;
//! let result = dispatcher.call("plugins:shout", json!({ "text": "hello" })).await?;
//! assert_eq!(result.value(), "HELLO");
//! # Ok(()) })
//! # }
//! ```

mod ask;
mod call;
mod changes;
mod collect;
mod counters;
mod deadline;
mod error;
mod hop;
mod interface;
mod local;
mod merge;
mod normalize;
mod pending;
mod registered;
mod registry;
mod resources;
mod response;
mod retired;
mod review;
mod routes;
mod status;

pub use self::call::BackendCall;
pub(crate) use self::call::Parts;
pub use self::error::{BackendError, RegisterError};
pub(crate) use self::hop::without_tool_id;
pub use self::interface::{Backend, OfferedTools};
pub use self::local::LocalBackend;
pub use self::merge::Collected;
pub(crate) use self::normalize::{Normal, normalize};
pub use self::registry::Backends;
pub use self::response::BackendResponse;
pub use self::retired::RetiredBackend;
pub use self::review::ContractChange;
pub use self::routes::Routes;
pub(crate) use self::routes::{Route, Selector};
pub use self::status::{BackendCalls, BackendReport, BackendState, BackendStatus};
