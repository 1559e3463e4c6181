//! Engines, which run programs without I/O.
//!
//! An [`Engine`] runs one program until it waits for answers, and returns what it wants. Both are plain data, so the same
//! engine works in this process, behind a pipe, on another machine, and from a journal. Only engines and sandboxes exchange
//! these data, and no program names their types.

#[cfg(feature = "javascript")]
mod javascript;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

#[cfg(feature = "javascript")]
pub use self::javascript::JavaScript;
use super::failure::Failure;
use super::program::Program;

/// The kind of the error of a call that exceeds [`Limits::calls`](crate::Limits::calls). A program that does not catch it
/// fails with [`FailureKind::Calls`](crate::FailureKind::Calls).
pub const TOO_MANY_CALLS: &str = "too_many_calls";

/// An interpreter of one program, which a sandbox calls.
pub trait Engine {
    /// Runs the program until it waits or has ended. It is called once.
    fn start(&mut self, program: &Program) -> Step;

    /// Answers calls, and runs the program until it waits again or has ended. The order of the answers is that in which
    /// the program sees them; how they are grouped makes no difference to it. An answer to no call is ignored.
    fn resume(&mut self, answers: Vec<Answer>) -> Step;
}

/// The effects of a program until it waits or ends.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Step {
    /// The texts that it printed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub printed: Vec<Printed>,
    /// The calls that it waits for, or its end.
    pub state: State,
    /// The usage in total.
    pub usage: Usage,
}

/// The state of a program.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It waits for answers: to these calls, or to earlier ones.
    Waiting(Vec<Call>),
    /// It has ended.
    Done(Done),
}

/// The end of a program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Done {
    /// The value that it returned as JSON, or why there is none.
    pub outcome: Result<Box<RawValue>, Failure>,
    /// The contents of results that it showed, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<Shown>,
}

/// A block of content in the result of a call. Blocks stay with the host; the program handles references to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The id of the call.
    pub call: u32,
    /// The position of the block in its result.
    pub block: u32,
}

/// The resources that a program has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The steps; see [`Limits::steps`](crate::Limits::steps).
    pub steps: u64,
    /// The memory at the end of the program, in bytes. It is 0 before, since measuring it takes time.
    pub memory_bytes: u64,
}

/// A line that a program printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Printed {
    /// True for warnings and errors.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// The text without the end of the line.
    pub text: String,
}

/// A request with its id and its line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Call {
    /// The id, which counts from 1.
    pub id: u32,
    /// The line of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The request.
    pub request: Request,
}

/// A request of a program to its host.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Request {
    /// The result of a tool.
    RunTool {
        /// The id of the tool, or a name of it.
        id: String,
        /// The arguments.
        args: Box<RawValue>,
    },
    /// The result of a chain.
    RunChain {
        /// The steps.
        steps: Box<RawValue>,
    },
    /// The tools that match words.
    SearchTools {
        /// The words.
        query: String,
        /// The number of tools.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// The namespaces of the catalog.
    ListNamespaces,
    /// The declarations of tools.
    DescribeTool {
        /// Their ids.
        ids: Vec<String>,
    },
    /// Examples of the arguments of a tool.
    ListToolExamples {
        /// The id of the tool.
        id: String,
        /// The number of examples.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<u32>,
    },
    /// A pause.
    Sleep {
        /// Its milliseconds.
        ms: u64,
    },
}

impl Request {
    /// Returns the id of the tool, or what else is requested.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::RunTool { id, .. } => id,
            Self::RunChain { .. } => "chain",
            Self::SearchTools { .. } => "search",
            Self::ListNamespaces => "namespaces",
            Self::DescribeTool { .. } => "describe",
            Self::ListToolExamples { .. } => "examples",
            Self::Sleep { .. } => "sleep",
        }
    }

    /// Returns the bytes that the program has chosen.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::RunTool { id, args } => id.len() + args.get().len(),
            Self::RunChain { steps } => steps.get().len(),
            Self::SearchTools { query, .. } => query.len(),
            Self::DescribeTool { ids } => ids.iter().map(String::len).sum(),
            Self::ListToolExamples { id, .. } => id.len(),
            Self::ListNamespaces | Self::Sleep { .. } => 0,
        }
    }
}

/// The answer to a [`Call`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// The id of the call.
    pub id: u32,
    /// The time of the answer as the program sees it, in milliseconds since 1970.
    pub at: u64,
    /// The result as JSON, or the error that the program may catch.
    pub outcome: Result<Box<RawValue>, Thrown>,
    /// The blocks of content in the result of a tool, as a JSON array of objects. They have the fields of content blocks
    /// in MCP, with `call` and `block` (see [`Shown`]) in place of large data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Box<RawValue>>,
}

/// The error of a call, which a program may catch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Thrown {
    /// The kind, such as `invalid_arguments`.
    pub kind: String,
    /// The message.
    pub message: String,
    /// The id of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// True if the call may succeed if it is repeated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retryable: bool,
    /// The violations of the schema, as a JSON array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violations: Option<Box<RawValue>>,
}
