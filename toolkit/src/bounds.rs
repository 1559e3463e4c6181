//! The bounds on the types in the signature of a tool.
//!
//! Each trait is implemented for every type that fits, and no program implements or calls one. The traits exist for the
//! error messages of rustc: one message for each missing implementation, with the code to add. The traits that a program
//! never has to name are not listed here.
//!
//! | message of rustc | solution |
//! |---|---|
//! | cannot be a tool argument: it implements neither … | derive `Deserialize` and `JsonSchema` ([`ToolArgument`]) |
//! | … does not implement `serde::Deserialize` | derive it ([`ToolArgument`]) |
//! | … does not implement `schemars::JsonSchema` | derive it, or describe the type by another: `#[schemars(with = "String")]` |
//! | … cannot be a tool argument; a function may borrow … | write `&str` or `&[T]` |
//! | tool arguments … must be owned | take a `String` instead of a reference behind an alias |
//! | a shared pointer … cannot be a tool argument | take `&T` and pass the `Arc` to the host ([`State`]) |
//! | cannot be injected into a tool | make the state `Send + Sync` ([`State`]) |
//! | cannot be returned from a tool | derive `Serialize` and `JsonSchema` ([`ToolResult`]) |
//! | cannot be converted to a `ToolError` | derive [`ShowError`](macro@crate::ShowError) or implement `From` ([`ToolFailure`]) |

pub(crate) mod argument;
pub(crate) mod result;
pub(crate) mod state;

pub use self::argument::ToolArgument;
// Exported, since rustc prints the whole paths of traits that are hidden or in no public module. Only generated code names
// them, so the documentation does not list them.
#[doc(hidden)]
pub use self::argument::{
    ArgumentDefault, BorrowedArgument, DescribeArgument, DeserializeArgument, NamedArgument, OwnedArgument,
    SendArgument, SharedArgument, UnsharedArgument,
};
#[doc(hidden)]
pub use self::result::{BlockingResult, DescribeResult, SerializeResult, Unconvertible};
pub use self::result::{ToolFailure, ToolResult};
pub use self::state::State;
#[doc(hidden)]
pub use self::state::{Borrowable, Borrowed};
