//! Turn a function into a tool that language models can call.
//!
//! [`tool`](macro@tool) on a function puts it into the catalogue of every program that links it. [`Catalog`] collects
//! the tools of a program, and [`Dispatcher`] calls them, checking what goes in and what comes out.
//!
//! ```
//! use toolkit::{Catalog, Dispatcher, tool};
//!
//! /// Adds two integers.
//! #[tool(namespace = "math", version = "1.0.0")]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! let dispatcher = Dispatcher::new(Catalog::linked()?)?;
//! assert_eq!(dispatcher.call_sync("math:add", r#"{"a": 1, "b": 2}"#)?.value(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | read | for |
//! |---|---|
//! | [`tool`](macro@tool), [`toolset`](macro@toolset) | what an author writes |
//! | [`Catalog`], [`catalog!`](catalog!), [`link!`] | which tools a program has |
//! | [`Dispatcher`], [`Handle`], [`Context`] | calling them |
//! | [`stream`] | calling one and seeing how far it has come |
//! | [`Chain`] | calling several, the result of one being an argument of the next |
//! | [`ToolError`], [`Content`], [`Structured`] | what a tool gives back |
//! | [`adapter`] | describing them to others |
//! | [`Tool`], [`Manifest`] | tools that are not written in Rust |
//! | `import!`, under the feature `import` | those as typed functions |
//! | [`backend`] | running those: handlers, other processes, servers |
//! | [`lint`] | what could be better, and what is meant to deceive |
//! | [`lock`] | what has changed, and whether it breaks callers |
//! | [`version`] | which version will do |
//!
//! Without the default feature `async` there is no runtime and no time limit; asynchronous tools then run on whatever
//! executor polls them.
#![forbid(unsafe_code)]

// Generated code names `::toolkit`; so does the code that is generated in here.
extern crate self as toolkit;

pub mod adapter;
pub mod backend;
pub mod call;
pub mod catalog;
pub mod chain;
pub mod discovery;
pub mod dispatch;
#[cfg(feature = "import")]
pub mod import;
pub mod lint;
pub mod lock;
pub mod manifest;
pub mod schema;
pub mod stream;
pub mod tool;
pub mod version;

mod handle;
mod json;
mod state;
mod suggest;

#[doc(hidden)]
pub use self::private as __private;
#[doc(hidden)]
pub mod private;

pub use self::call::{Arguments, CancelToken, Coercion, Content, Context, RunResult, ShowError, Structured, ToolError};
pub use self::catalog::Catalog;
pub use self::chain::Chain;
pub use self::dispatch::Dispatcher;
pub use self::handle::Handle;
pub use self::lock::Lock;
pub use self::manifest::Manifest;
pub use self::stream::Chunks;
pub use self::tool::{Tool, ToolId};
pub use toolkit_derive::{catalog, handle, tool, toolset};
#[cfg(feature = "import")]
pub use toolkit_import::import;

/// Links crates whose tools nothing else refers to.
///
/// The linker drops a dependency that nothing refers to, and with it, silently, its tools.
///
/// ```
/// toolkit::link!(serde_json, semver);
/// ```
#[macro_export]
macro_rules! link {
    ($($krate:ident),* $(,)?) => { $( use $krate as _; )* };
}
