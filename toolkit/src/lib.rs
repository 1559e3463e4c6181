//! A framework for tools that language models can call.
//!
//! The attribute [`tool`](macro@tool) turns a function into a tool. [`Catalog`] collects the tools of all crates that
//! are linked into a program, and [`Dispatcher`] calls them and validates their arguments and results.
//! `cargo add toolkit-core` adds this library, which programs name `toolkit`.
//!
//! ```standalone_crate
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
//! | item | purpose |
//! |---|---|
//! | [`tool`](macro@tool), [`toolset`](macro@toolset) | Defining tools |
//! | [`Catalog`], [`catalog!`](catalog!), [`link!`] | Collecting the tools of a program |
//! | [`Dispatcher`], [`Handle`], [`Context`] | Calling tools |
//! | [`stream`] | Calling a tool with progress and partial results |
//! | [`ToolError`], [`Content`], [`Structured`], [`Base64`] | Errors and results of tools, and bytes |
//! | [`mcp`] | Tools, parameters and results in the format of the Model Context Protocol |
//! | [`Tool`], [`Manifest`] | Tools that are not written in Rust |
//! | `import!` (feature `import`) | Typed functions for the tools of other servers |
//! | [`prompt`](macro@prompt), [`prompt`](mod@prompt) | Prompts: messages that users select and fill in |
//! | [`backend`] | Running tools elsewhere: other processes, servers |
//! | [`resource`] | Data that clients read by URI, such as the files that results link to |
//! | [`version`] | Versions, requirements and compatibility |
//!
//! Without the default feature `async` there are no timeouts and no waiting for permits, and asynchronous tools run on
//! the executor that polls them. Without the feature `jsonschema` a schema with look-around in a pattern, with
//! names such as `$anchor`, or with most keywords of draft-07 is rejected with its location; derives write none of them.
//!
//! # Source
//!
//! | module | part |
//! |---|---|
//! | `tool`, `catalog` | the record of a tool, and the tools of a program with their names |
//! | `dispatch` | from a name and arguments to a result; `pipeline` has the stages of a call |
//! | `call` | context, arguments, results and errors of a call |
//! | `bounds`, `state`, `arguments`, `unwind` | what the signature of a tool may have, injected state, the text of arguments, caught panics |
//! | `handle` | typed calls of tools |
//! | `backend` | the interface of tools that run elsewhere |
//! | `stream`, `prompt`, `resource` | parts of results, prompts and data that clients read |
//! | `mcp`, `manifest`, `import` | formats: messages of MCP, the catalog as JSON, and tools of other servers as functions |
//! | `__private` | the interface of generated code |
#![forbid(unsafe_code)]

// Generated code refers to `::toolkit`, also within this crate.
extern crate self as toolkit;

pub mod backend;
// Not hidden, since rustc prints the whole paths of hidden traits.
pub mod bounds;
pub mod call;
pub mod catalog;
pub mod dispatch;
#[cfg(feature = "import")]
pub mod import;
pub mod manifest;
pub mod mcp;
pub mod prompt;
pub mod resource;
pub mod stream;
pub mod tool;
pub mod version;

mod arguments;
mod handle;
mod state;
mod unwind;

#[doc(hidden)]
pub mod __private;

/// The items that the other crates of this workspace share with this one. Not public API.
#[doc(hidden)]
pub mod internals {
    pub use crate::backend::status::Changes;
    pub use crate::call::caller_token::CallerToken;
    pub use crate::call::coerce::coerced;
    pub use crate::call::convert::caught_future;
    pub use crate::call::decode::typed_arguments;
    #[cfg(feature = "async")]
    pub use crate::call::timer::timeout;
    pub use crate::catalog::names::Names;
    pub use crate::mcp::list::{list_proxied_tool, tool_lister};
    pub use crate::mcp::list_entry::ListEntry;
    pub use crate::tool::diagnostic::check_object;
    pub use crate::tool::duration::parse as parse_duration;
    pub use crate::unwind::shielded;
}

pub use self::call::{Arguments, CancelToken, Coercion, Content, Context, RunResult, ShowError, Structured, ToolError};
pub use self::catalog::Catalog;
pub use self::dispatch::Dispatcher;
pub use self::handle::Handle;
pub use self::manifest::Manifest;
pub use self::stream::Chunks;
pub use self::tool::{Tool, ToolId};
/// Implements the trait [`ShowError`](trait@ShowError) for an error type.
pub use toolkit_derive::ShowError;
/// Creates a [`Catalog`] of the listed tools.
///
/// Each path refers to a function with [`#[tool]`](macro@tool) in the module that defines it, or to a method of a
/// [`#[toolset]`](macro@toolset). A `use` of the function alone, or under another name, does not import its tool. A tool
/// that is listed twice is a compile-time error. For a renamed `toolkit`, the list starts with `crate = ::path,`.
///
/// # Errors
///
/// The expression is a `Result`: it fails if the tools contradict each other, for example if two have the same id, or if a
/// tool is invalid.
///
/// # Examples
///
/// ```
/// mod math {
///     /// Adds two integers.
///     #[toolkit::tool(namespace = "math")]
///     pub fn add(a: i64, b: i64) -> i64 {
///         a + b
///     }
/// }
///
/// let catalog = toolkit::catalog![math::add]?;
/// assert_eq!(catalog.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use toolkit_derive::catalog;
/// Creates the typed [`Handle`] of a tool.
///
/// The path is one that [`catalog!`] accepts. The input is the tuple of the arguments, or the sole argument itself.
///
/// # Examples
///
/// ```
/// use toolkit::{Dispatcher, catalog, handle, tool};
///
/// /// Adds two integers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::new(catalog![add]?)?;
/// let sum: i64 = handle!(add).call(&dispatcher, (1, 2)).await?;
/// assert_eq!(sum, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use toolkit_derive::handle;
#[doc = include_str!("macros/prompt.md")]
pub use toolkit_derive::prompt;
#[doc = include_str!("macros/tool.md")]
pub use toolkit_derive::tool;
#[doc = include_str!("macros/toolset.md")]
pub use toolkit_derive::toolset;
#[doc = include_str!("macros/import.md")]
#[cfg(feature = "import")]
pub use toolkit_import::import;
pub use toolkit_schema as schema;
pub use toolkit_schema::Base64;

/// Links crates whose tools are not referred to otherwise.
///
/// The linker drops a dependency without references, and its tools with it, without a warning.
///
/// ```
/// toolkit::link!(serde_json, semver);
/// ```
#[macro_export]
macro_rules! link {
    ($($krate:ident),* $(,)?) => { $( use $krate as _; )* };
}

/// Defines an enum whose variants have names, for logs and protocols.
#[doc(hidden)]
#[macro_export]
macro_rules! named {
    ($(#[$attr:meta])* $vis:vis enum $Enum:ident { $($(#[$doc:meta])* $Variant:ident = $name:literal,)* }) => {
        $(#[$attr])*
        $vis enum $Enum {
            $($(#[$doc])* $Variant,)*
        }

        impl $Enum {
            /// All variants, in the order of their declaration.
            $vis const ALL: [Self; [$($name),*].len()] = [$(Self::$Variant),*];

            /// Returns the name. The names are stable.
            #[must_use]
            $vis const fn name(self) -> &'static str {
                match self {
                    $(Self::$Variant => $name,)*
                }
            }

            /// Returns the variant with this [name](Self::name).
            #[must_use]
            $vis fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|variant| variant.name() == name)
            }
        }

        impl ::std::fmt::Display for $Enum {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

/// Implements `Debug` with some fields of a type, for those that hold functions, secrets or much data. A field is given as
/// in an expression that creates the type, by its name or with a value, which refers to the type by the name before it.
#[doc(hidden)]
#[macro_export]
macro_rules! debug_fields {
    (@value $it:ident $field:ident) => { $it.$field };
    (@value $it:ident $field:ident $value:expr) => { $value };
    ($Type:ident $(<$lifetime:lifetime>)? { $($field:ident),* $(,)? }) => {
        $crate::debug_fields!(it, $Type $(<$lifetime>)? { $($field),* });
    };
    ($it:ident, $Type:ident $(<$lifetime:lifetime>)? { $($field:ident $(: $value:expr)?),* $(,)? }) => {
        impl ::std::fmt::Debug for $Type $(<$lifetime>)? {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let $it = self;
                let _ = $it;
                f.debug_struct(::std::stringify!($Type))
                    $(.field(::std::stringify!($field), &$crate::debug_fields!(@value $it $field $($value)?)))*
                    .finish_non_exhaustive()
            }
        }
    };
}

/// Wraps an expression. rustc names this macro if `catalog!` or `handle!` is used in item position.
#[doc(hidden)]
#[macro_export]
macro_rules! only_valid_inside_a_function {
    ($value:expr) => {
        $value
    };
}
