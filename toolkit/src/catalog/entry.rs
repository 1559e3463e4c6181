//! The static record that `#[tool]` submits: no allocation, no schema and no code before it is asked for.

use std::any::TypeId;
use std::fmt;
use std::time::Duration;

use serde_json::Value;

use crate::dispatch::Run;
use crate::tool::{Annotations, Icon, Requirements};

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
    /// A name for people.
    pub title: Option<&'static str>,
    /// The doc comment, or what the author wrote instead.
    pub description: &'static str,
    /// A broad grouping for listings.
    pub category: Option<&'static str>,
    /// Normalised tags.
    pub tags: &'static [&'static str],
    /// Hints about effects.
    pub annotations: Annotations,
    /// Former names and ids.
    pub aliases: &'static [&'static str],
    /// What to use instead, where the tool is on its way out.
    pub deprecated: Option<&'static str>,
    /// Pictures for clients.
    pub icons: &'static [Icon],
    /// A JSON object that goes into `_meta`.
    pub meta: Option<&'static str>,
    /// Argument objects, each as JSON.
    pub examples: &'static [&'static str],
    /// What the host must hold.
    pub requirements: Requirements,
    /// How long one call may take.
    pub timeout: Option<Duration>,
    /// Where the function stands.
    pub location: Location,
    /// Builds the input schema.
    pub input: fn() -> Value,
    /// Builds the output schema, where the tool promises one.
    pub output: fn() -> Option<Value>,
    /// What its only argument takes, where that is not known to be a struct of ours.
    pub lone: Option<fn() -> Takes>,
    /// The types of its borrowed parameters; `None` for those that every call brings along.
    pub states: &'static [Option<StateType>],
    /// How it is called.
    pub run: Run,
}

inventory::collect!(&'static Entry);

/// What kind of JSON a type takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// An object.
    Object,
    /// Something that is no object.
    Other,
    /// Only its schema tells.
    Unknown,
}

/// Where a tool was written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// As rustc was given it.
    pub file: &'static str,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
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

/// The type of a borrowed parameter, which the host must give.
#[derive(Clone, Copy, Debug)]
pub struct StateType {
    /// Which type.
    pub id: fn() -> TypeId,
    /// Its name, for the message that says that it is missing.
    pub name: fn() -> &'static str,
}

impl StateType {
    /// The record of `T`.
    #[must_use]
    pub const fn of<T: ?Sized + 'static>() -> Self {
        Self { id: TypeId::of::<T>, name: std::any::type_name::<T> }
    }
}
