//! The static entry that `#[tool]` registers: the data needed to collect and call the tool, and functions that build
//! the rest.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use serde_json::Value;

use super::Metadata;
use crate::state::StateType;
use toolkit_schema::explore::{self, Explored};
use toolkit_schema::plan::{Plan, PlanError, ProbeOutcome, SoleProperty, Source};
use toolkit_schema::{format, values};

/// The entry of a linked function.
#[derive(Debug)]
pub struct Entry {
    /// The id: `namespace:name:version`, with the optional parts that are present.
    pub id: &'static str,
    /// The namespace, within which the name is unique.
    pub namespace: Option<&'static str>,
    /// The name of the tool, by default that of the function.
    pub name: &'static str,
    /// The semantic version.
    pub version: Option<&'static str>,
    /// Earlier names and ids.
    pub aliases: &'static [&'static str],
    /// The timeout of a call.
    pub timeout: Option<Duration>,
    /// True if the tool requires credentials, which the metadata lists.
    pub requires: bool,
    /// True if the model reads the text of every error that the function returns.
    pub show_errors: bool,
    /// True if the schema of the arguments enforces formats.
    pub enforce_formats: bool,
    /// Builds the metadata, without aliases and timeout.
    pub metadata: fn() -> Metadata,
    /// The source location of the function.
    pub location: Location,
    /// Builds the input schema.
    pub input: fn() -> Value,
    /// The only argument, unless its type is a generated struct.
    pub sole: Option<&'static Sole>,
    /// Deserializes the arguments and drops them, to find out what their type expects.
    pub read: fn(Source<'_, '_, '_>) -> Result<(), PlanError>,
    /// Builds the output schema, if the tool declares one.
    pub output: fn() -> Option<Value>,
    /// The types that determine the schemas: that of the arguments, and that of the result with its encoding.
    pub types: [TypeId; 2],
    /// The names of the arguments in the order of their declaration, if the function is a prompt.
    pub prompt: Option<&'static [&'static str]>,
    /// True if the function returns `()`.
    pub returns_unit: bool,
    /// The types of the borrowed parameters; `None` for those that every call provides.
    pub states: &'static [Option<StateType>],
    /// The code of the function.
    pub code: Code,
}

inventory::collect!(&'static Entry);

impl Entry {
    /// Returns the property that contains the only argument, unless the argument is the argument struct.
    #[inline]
    pub(crate) fn property(&self) -> Option<&'static SoleProperty> {
        self.sole.and_then(|sole| sole.property(self.input))
    }

    /// Returns true if the arguments may be a struct whose schema depends on nothing else.
    pub(crate) fn may_share_input(&self) -> bool {
        !self.enforce_formats && self.sole.is_some_and(|sole| sole.form.load(Ordering::Relaxed) != NAMED)
    }

    /// Decides that the only argument is the argument struct, as another tool with the same type has.
    pub(crate) fn decide_struct(&self) {
        if let Some(sole) = self.sole {
            sole.form.store(STRUCT, Ordering::Relaxed);
        }
    }

    /// Builds the schema of the arguments, with what their type accepts and a derived schema does not contain.
    pub(crate) fn input_schema(&self) -> Value {
        let mut schema = explore::completed((self.input)(), &self.reader());
        if self.enforce_formats {
            format::enforce(&mut schema);
        }
        schema
    }

    /// Explores how the type of the arguments differs from their schema.
    pub(crate) fn explored(&self, schema: &Value) -> Explored {
        explore::explore(schema, &self.reader())
    }

    /// Returns true if the type of the arguments reads them.
    pub(crate) fn reads(&self, arguments: &str) -> bool {
        explore::reads(arguments, &self.reader())
    }

    fn reader(&self) -> impl Fn(&[u8]) -> ProbeOutcome {
        let (read, property) = (self.read, self.property());
        move |front| Plan::probe(front, property, &mut { read })
    }
}

/// The type-erased code of a function. Only the dispatcher knows its type.
#[derive(Clone, Copy)]
pub struct Code(&'static (dyn Any + Send + Sync));

impl Code {
    /// Wraps the code of a function.
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

/// The source location of a tool.
///
/// # Examples
///
/// ```
/// use toolkit::{catalog, tool};
///
/// /// Adds two integers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let catalog = catalog![add]?;
/// let location = catalog.resolve("add")?.location().unwrap();
/// assert_eq!(location.to_string(), format!("{}:{}", location.file, location.line));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Location {
    /// The path as passed to rustc.
    pub file: &'static str,
    /// The line, starting at 1.
    pub line: u32,
    /// The column, starting at 1.
    pub column: u32,
}

/// Creates the location of a tool, for generated code.
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

/// The only argument of a tool.
#[derive(Debug)]
pub struct Sole {
    property: SoleProperty,
    description: &'static str,
    form: AtomicU8,
}

/// The schema has not been built.
const UNDECIDED: u8 = 0;
const STRUCT: u8 = 1;
const NAMED: u8 = 2;

impl Sole {
    /// Creates an argument from the name and the description of the parameter.
    #[must_use]
    pub const fn new(name: &'static str, description: &'static str, may_be_struct: bool) -> Self {
        let form = AtomicU8::new(if may_be_struct { UNDECIDED } else { NAMED });
        Self { property: SoleProperty::new(name), description, form }
    }

    /// Returns the property that contains the argument, unless the argument is the argument struct. `input` builds the
    /// schema, and is called if that has not happened.
    #[inline]
    pub(crate) fn property(&'static self, input: fn() -> Value) -> Option<&'static SoleProperty> {
        // A race is harmless: the decision depends on the type alone.
        match self.form.load(Ordering::Relaxed) {
            STRUCT => None,
            NAMED => Some(&self.property),
            _ => self.decided(input),
        }
    }

    #[cold]
    fn decided(&'static self, input: fn() -> Value) -> Option<&'static SoleProperty> {
        input();
        (self.form.load(Ordering::Relaxed) == NAMED).then_some(&self.property)
    }

    /// Returns the schema of the arguments, from functions that build the schema of the type and that of an object with
    /// the argument under a name and with a description. An enum without a tag, `is_choice`, is a named argument, whatever
    /// its variants are today.
    pub fn input(&self, ty: fn() -> Value, is_choice: fn() -> bool, object: fn(&str, &str) -> Value) -> Value {
        if self.form.load(Ordering::Relaxed) != NAMED {
            let schema = ty();
            // Only then, since it builds the schema again.
            let may_be_choice = ["oneOf", "anyOf", "allOf", "$ref"].iter().any(|keyword| schema.get(keyword).is_some());
            if values::declares_properties(&schema) && !(may_be_choice && is_choice()) {
                self.form.store(STRUCT, Ordering::Relaxed);
                return schema;
            }
            self.form.store(NAMED, Ordering::Relaxed);
        }
        object(self.property.name(), self.description)
    }
}
