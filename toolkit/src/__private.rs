//! The items that generated code refers to. They are not public API: any release may change them.

mod argument;
mod function;
mod returned;

/// The form of a schema that validates JSON while it is read or written.
pub mod plan {
    pub use toolkit_schema::plan::{Plan, PlanError};
}

/// The rewrite of schemas into portable keywords.
pub mod portable {
    pub use toolkit_schema::portable::make;
}

/// The names that generated code imports at once: traits for their methods and constants, and names that the derives of
/// serde and schemars use unqualified, which `#![no_implicit_prelude]` removes.
pub mod names {
    pub use std::borrow::ToOwned as _;
    pub use std::clone::Clone as _;
    pub use std::convert::Into as _;
    pub use std::default::Default as _;
    pub use std::option::Option::Some;

    pub use super::{
        ArgumentStruct as _, Convert as _, Failing as _, FromHost as _, Owns as _, OwnsAlone as _, Plain as _,
        PlainShape as _, Unfit as _, UnfitData as _, Wrapping as _,
    };
}

pub use std::default::Default;
pub use std::future::Future;
pub use std::marker::Send;
pub use std::option::Option::{self, Some};
pub use std::primitive::str;
pub use std::result::Result::{self, Err, Ok};
pub use std::time::Duration;
pub use std::vec;
pub use std::{assert, column, concat, file, line};

pub use {inventory, schemars, serde, serde_json};

pub use self::argument::{
    ArgumentStruct, Candidate, Case, OrStandIn, Owns, OwnsAlone, Pick, Refused, SoleType, Unfit, argument_case,
    prompt_case, result_case, sole_input,
};
pub use self::function::{
    async_entry, async_linked, blocking_entry, catalog_of, icon, literal, not_in, requirements, sync_entry,
    sync_linked, text, texts, with_aliases,
};
pub use self::returned::{
    Convert, Data, ErrorOf, Failing, Plain, PlainShape, Returned, Shape, Succeeds, UnfitData, Wrapping,
};
pub use crate::bounds::argument::NoArguments;
pub use crate::bounds::state::FromHost;
pub use crate::bounds::{
    ArgumentDefault, BlockingResult, Borrowed, BorrowedArgument, DescribeArgument, DescribeResult, DeserializeArgument,
    NamedArgument, OwnedArgument, SendArgument, SerializeResult, State, ToolArgument, ToolResult, UnsharedArgument,
};
pub use crate::call::{Registered, ShownType, ToolError};
pub use crate::dispatch::encode::{CHUNKS, PROMPT, Returns};
pub use crate::dispatch::function::{AsyncFunction, Function, Host, Run, SyncFunction};
pub use crate::handle::Linked;
#[cfg(feature = "import")]
pub use crate::import::generated as import;
pub use crate::prompt::PromptResult;
pub use crate::tool::entry::{Code, Entry, Sole, location};
pub use crate::tool::{Authorization, Metadata, Secret, TaskSupport};
pub use toolkit_schema::generate::{input, whole_input};
