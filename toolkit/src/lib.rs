//! Turn a function into a tool that language models can call.
#![forbid(unsafe_code)]

// Generated code names `::toolkit`; so does the code that is generated in here.
extern crate self as toolkit;

pub mod adapter;
pub mod call;
pub mod catalog;
pub mod dispatch;
pub mod schema;
pub mod tool;

mod handle;
mod suggest;

#[doc(hidden)]
pub use self::private as __private;
#[doc(hidden)]
pub mod private;

pub use self::call::{Arguments, CancelToken, Coercion, Content, Context, RunResult, Structured, ToolError};
pub use self::catalog::Catalog;
pub use self::dispatch::Dispatcher;
pub use self::handle::Handle;
pub use self::tool::{Tool, ToolId};
pub use toolkit_derive::{catalog, handle, tool, toolset};

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
