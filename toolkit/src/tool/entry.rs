//! The static record that `#[tool]` submits: what collecting and calling look at, and functions that build the rest.

use std::any::Any;
use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::Metadata;
use crate::state::StateType;
use toolkit_schema::plan::Answer;

/// One linked function, as the compiler knows it.
#[derive(Debug)]
pub struct Entry {
    /// `namespace:name:version`, as far as there are such parts.
    pub id: &'static str,
    /// What the name is unique within.
    pub namespace: Option<&'static str>,
    /// The tool's name, by default the function's.
    pub name: &'static str,
    /// A semantic version.
    pub version: Option<&'static str>,
    /// Former names and ids.
    pub aliases: &'static [&'static str],
    /// How long one call may take.
    pub timeout: Option<Duration>,
    /// Whether it needs more of the caller than arguments; what, its metadata says.
    pub requires: bool,
    /// Whether a model reads the text of every error that the function returns.
    pub show_errors: bool,
    /// Builds what it says of itself, without aliases and time limit.
    pub metadata: fn() -> Metadata,
    /// Where the function stands.
    pub location: Location,
    /// Builds the input schema.
    pub input: fn() -> Value,
    /// Reads the front of a text as the arguments, to find out what their type asks for.
    pub ask: fn(&[u8]) -> Answer,
    /// Builds the output schema, where the tool promises one.
    pub output: fn() -> Option<Value>,
    /// Whether the function returns `()`.
    pub gives_nothing: bool,
    /// The types of its borrowed parameters; `None` for those that every call brings along.
    pub states: &'static [Option<StateType>],
    /// The code of the function.
    pub code: Code,
}

inventory::collect!(&'static Entry);

/// The code of a function, whose type only the dispatcher knows.
#[derive(Clone, Copy)]
pub struct Code(&'static (dyn Any + Send + Sync));

impl Code {
    /// Creates a record of code.
    #[must_use]
    pub const fn new<T: Any + Send + Sync>(code: &'static T) -> Self {
        Self(code)
    }

    #[inline]
    pub(crate) fn get<T: Any>(self) -> Option<&'static T> {
        self.0.downcast_ref()
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Code")
    }
}

/// Where a tool was written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Location {
    /// As rustc was given it.
    pub file: &'static str,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

/// Returns the location of a tool, for generated code.
#[must_use]
pub const fn location(file: &'static str, line: u32, column: u32) -> Location {
    Location { file, line, column }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
