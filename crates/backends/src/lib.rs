//! What runs tools beside the functions of a program: a registry of backends, handlers that are registered at run time, and
//! chains of calls.
//!
//! [`Backends`] holds several [backends](toolkit::backend::Backend) and collects their tools into one catalog and one table
//! of [`Routes`](toolkit::backend::Routes). A dispatcher that is built from both runs these tools like functions: it
//! validates arguments and results, applies its limits, and passes each tool only the credentials that it requires.
//!
//! ```standalone_crate
//! use serde_json::{Value, json};
//! use toolkit::{Catalog, Context, Dispatcher, Tool};
//! use toolkit_backends::{Backends, LocalBackend};
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
//!
//! | item | purpose |
//! |---|---|
//! | [`Backends`], [`Collected`] | several backends, and their tools |
//! | [`LocalBackend`] | tools of this process that are registered at run time |
//! | [`RetiredBackend`] | a backend that is no longer registered, until its calls have ended |
//! | [`ContractChange`] | a tool that differs from the one that was reviewed |
//! | [`BackendReport`] | what operators learn about a backend |
//! | [`chain`] | several calls as data, in which the result of one is an argument of another |
//!
//! Without the default feature `async`, requests to backends have no timeout.
//!
//! # Source
//!
//! | module | part |
//! |---|---|
//! | `registry`, `registered` | the registered backends, and one of them, or one that is no longer registered |
//! | `collect`, `pending`, `ask` | lists their tools and resources, also the tools of slow ones |
//! | `foreign` | the limits of tools of other programs, and the removal of their claims |
//! | `merge`, `review` | one catalog of all tools, and the decision which tools and hints are accepted |
//! | `local` | a backend whose tools are closures |
#![forbid(unsafe_code)]

pub mod chain;

mod ask;
mod collect;
mod error;
mod foreign;
mod local;
mod merge;
mod pending;
mod registered;
mod registry;
mod review;

pub use self::chain::Chain;
pub use self::error::{BackendError, RegisterError};
pub use self::foreign::bound_mcp_json;
pub use self::foreign::{MAX_DESCRIPTION_BYTES, MAX_RECORD_BYTES, MAX_SCHEMA_TEXT_BYTES, MAX_TITLE_BYTES};
pub use self::local::LocalBackend;
pub use self::merge::Collected;
pub use self::registered::{BackendReport, RetiredBackend};
pub use self::registry::Backends;
pub use self::review::ContractChange;
