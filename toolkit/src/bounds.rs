//! The bounds on the types in the signature of a tool.
//!
//! Each trait is implemented for every type that fits, and no program implements or calls one. The traits exist for the
//! error messages of rustc: one message for each missing implementation, with the code to add.
//!
//! | message of rustc | solution |
//! |---|---|
//! | cannot be a tool argument: it implements neither … | derive `Deserialize` and `JsonSchema` ([`ToolArgument`]) |
//! | … does not implement `schemars::JsonSchema` | derive it, or describe the type by another ([`DescribeArgument`]) |
//! | tool arguments … must be owned | take a `String` instead of a `&str` ([`OwnedArgument`]) |
//! | a shared pointer … cannot be a tool argument | take `&T` and pass the `Arc` to the host ([`SharedArgument`]) |
//! | cannot be injected into a tool | make the state `Send + Sync` ([`State`]) |
//! | cannot be returned from a tool | derive `Serialize` and `JsonSchema` ([`ToolResult`]) |
//! | cannot be converted to a `ToolError` | derive [`ShowError`](macro@crate::ShowError) or implement `From` ([`ToolFailure`]) |

mod argument;
mod default;
mod failure;
pub(crate) mod no_arguments;
mod result;
mod state;

pub use self::argument::{
    DescribeArgument, DeserializeArgument, NamedArgument, OwnedArgument, SendArgument, SharedArgument, ToolArgument,
    UnsharedArgument,
};
pub use self::default::ArgumentDefault;
pub use self::failure::{ToolFailure, Unconvertible};
pub use self::result::{BlockingResult, DescribeResult, SerializeResult, ToolResult};
pub use self::state::{Borrowable, Borrowed, State};
