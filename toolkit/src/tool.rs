//! The canonical record of a tool.
//!
//! A [`Tool`] is a function with the attribute [`tool`](macro@crate::tool), or it is built or parsed. In all three
//! cases it has an id, an input schema, an optional output schema and [`Metadata`]:
//!
//! ```standalone_crate
//! use serde_json::json;
//! use toolkit::{Tool, catalog, tool};
//!
//! /// Adds two integers.
//! #[tool(namespace = "math")]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! let catalog = catalog![add]?;
//! let function = catalog.resolve("math:add")?;
//!
//! let parsed = Tool::from_json(function.to_json())?;
//! assert_eq!(parsed, *function);
//!
//! let object = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
//! let built = Tool::builder("negate").namespace("math").description("Negates an integer.").input(object).build()?;
//! assert!(built.validate_input(&json!({ "n": 1 })).is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Only a function can be called. A [`backend`](crate::backend) runs the tools that are built or parsed.

mod annotations;
mod backend;
mod builder;
pub(crate) mod check;
mod contract;
pub(crate) mod diagnostic;
pub(crate) mod entry;
mod execution;
mod fields;
mod foreign;
mod icon;
mod id;
mod instance;
mod json;
mod limit;
mod literal;
mod metadata;
mod name;
mod name_text;
mod parse;
mod parse_error;
mod part;
mod requirements;
pub(crate) mod sole;
mod tags;
mod text;
mod unknown;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

pub use self::annotations::Annotations;
pub use self::backend::{BackendKind, ToolBackend, ToolBackendError};
pub use self::builder::ToolBuilder;
pub use self::contract::ContractHash;
pub(crate) use self::diagnostic::{Diagnostic, DiagnosticKind, Diagnostics};
use self::entry::Entry;
pub use self::entry::Location;
pub use self::execution::{Execution, TaskSupport};
pub use self::foreign::{
    MAX_DESCRIPTION_BYTES, MAX_RECORD_BYTES, MAX_SCHEMA_BYTES, MAX_SCHEMA_TEXT_BYTES, MAX_TITLE_BYTES, bound_mcp_json,
};
pub use self::icon::Icon;
pub use self::id::{ToolId, ToolIdError};
pub(crate) use self::instance::Instance;
pub(crate) use self::json::Object;
pub use self::literal::Literal;
pub use self::metadata::Metadata;
pub(crate) use self::name::check_alias;
pub use self::name::{MAX_NAME_LEN, check_name};
pub(crate) use self::parse::drop_nulls;
pub use self::parse_error::ParseToolError;
pub use self::part::{NameError, Namespace, ToolName};
pub use self::requirements::{Authorization, OAuth2, Requirements, Secret};
pub use self::tags::{MAX_TAG_LEN, MAX_TAGS, normalize_tag, normalize_tags};
pub use self::text::{META_KEY, Text};
pub use self::unknown::Unknown;
use toolkit_schema::Schema;
use toolkit_schema::explore::Explored;

/// A tool: its identity, schemas and metadata.
///
/// A tool is created from a function with the attribute [`tool`](macro@crate::tool), with a [`ToolBuilder`], or from
/// JSON ([`Tool::from_json`], [`Tool::from_mcp_json`]). The schemas and the metadata of a function are built once, on
/// first use. Clones share data where possible.
///
/// ```standalone_crate
/// use toolkit::{catalog, tool};
///
/// /// Adds two numbers.
/// #[tool(namespace = "math", read_only)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let catalog = catalog![add]?;
/// let tool = catalog.resolve("math:add")?;
/// assert_eq!(tool.description(), "Adds two numbers.");
/// assert_eq!(tool.annotations().read_only, Some(true));
/// assert!(tool.validate_input(&serde_json::json!({ "a": 1 })).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tool {
    id: ToolId,
    entry: Option<&'static Entry>,
    /// The instance whose state the tool borrows, if its function has several.
    instance: Option<Arc<Instance>>,
    metadata: OnceLock<Arc<Metadata>>,
    input: OnceLock<Arc<Schema>>,
    output: OnceLock<Option<Arc<Schema>>>,
    /// The cached result of [`Tool::sample`].
    sample: OnceLock<Option<Box<str>>>,
}

impl Tool {
    pub(crate) const fn linked(entry: &'static Entry) -> Self {
        Self {
            id: ToolId::from_static(entry.namespace, entry.name, entry.version),
            entry: Some(entry),
            instance: None,
            metadata: OnceLock::new(),
            input: OnceLock::new(),
            output: OnceLock::new(),
            sample: OnceLock::new(),
        }
    }

    fn given(id: ToolId, metadata: Metadata, input: Value, output: Option<Value>) -> Self {
        let schema = |value| Arc::new(Schema::generated(value));
        Self {
            id,
            entry: None,
            instance: None,
            metadata: OnceLock::from(Arc::new(metadata)),
            input: OnceLock::from(schema(input)),
            output: OnceLock::from(output.map(schema)),
            sample: OnceLock::new(),
        }
    }

    /// Moves the tool into a namespace, so that the tools of several servers can be in one catalog.
    ///
    /// The aliases are removed, because they would claim names outside the namespace.
    ///
    /// For a function of this program, the result describes the function and cannot be called.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::Tool;
    /// use toolkit::tool::Namespace;
    ///
    /// let search = Tool::builder("search").aliases(["find"]).build()?;
    /// let search = search.in_namespace(Namespace::new("docs")?);
    /// assert_eq!(search.id().to_string(), "docs:search");
    /// assert!(search.aliases().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn in_namespace(&self, namespace: Namespace) -> Self {
        self.described_as(self.id.clone().in_namespace(namespace))
    }

    /// Replaces the `_meta` of the author. For a function of this program, the result describes the function and cannot
    /// be called.
    ///
    /// # Examples
    ///
    /// ```
    /// use serde_json::{Map, json};
    /// use toolkit::Tool;
    ///
    /// let tool = Tool::builder("search").build()?;
    /// let tool = tool.with_meta(Map::from_iter([("example.com/rank".to_owned(), json!(1))]));
    /// assert_eq!(tool.meta(), Some(json!({ "example.com/rank": 1 })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_meta(&self, meta: Map<String, Value>) -> Self {
        let mut metadata = Arc::clone(self.shared_metadata());
        Arc::make_mut(&mut metadata).meta = Some(Literal::Value(Value::Object(meta)));
        self.described(self.id.clone(), metadata)
    }

    /// Moves the function into the namespace of an instance whose state it borrows.
    pub(crate) fn for_instance(mut self, instance: Arc<Instance>) -> Self {
        self.id = self.id.in_namespace(instance.namespace.clone());
        self.instance = Some(instance);
        // The aliases change with the namespace.
        self.metadata = OnceLock::new();
        self
    }

    /// Removes the aliases. For a function of this program, the result cannot be called.
    pub(crate) fn without_aliases(&self) -> Self {
        self.described_as(self.id.clone())
    }

    fn described_as(&self, id: ToolId) -> Self {
        let mut metadata = Arc::clone(self.shared_metadata());
        if !metadata.aliases.is_empty() {
            Arc::make_mut(&mut metadata).aliases.clear();
        }
        self.described(id, metadata)
    }

    fn described(&self, id: ToolId, metadata: Arc<Metadata>) -> Self {
        Self {
            id,
            entry: None,
            instance: None,
            metadata: OnceLock::from(metadata),
            input: OnceLock::from(Arc::clone(self.shared_input())),
            output: OnceLock::from(self.shared_output().cloned()),
            sample: self.sample.clone(),
        }
    }

    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &ToolId {
        &self.id
    }

    /// Returns the name within the namespace.
    #[must_use]
    pub fn name(&self) -> &str {
        self.id.name()
    }

    /// Returns the metadata.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        self.shared_metadata()
    }

    fn shared_metadata(&self) -> &Arc<Metadata> {
        self.metadata.get_or_init(|| {
            let entry = self.entry.expect("a tool is given with its metadata");
            let aliases = entry.aliases.iter().copied();
            let aliases = match &self.instance {
                None => aliases.map(Cow::Borrowed).collect(),
                Some(instance) => {
                    let within = |alias| alias_within(&instance.namespace, entry.namespace, alias);
                    aliases.filter_map(within).map(Cow::Owned).collect()
                }
            };
            Arc::new(Metadata { aliases, timeout: entry.timeout, ..(entry.metadata)() })
        })
    }

    fn shared_input(&self) -> &Arc<Schema> {
        self.input.get_or_init(|| {
            let entry = self.entry.expect("a tool is given with its schema");
            Arc::new(Schema::generated(entry.with_aliases((entry.input)())))
        })
    }

    /// Explores how the type of the arguments differs from their schema. A tool that was parsed has no type.
    #[doc(hidden)]
    pub fn explored(&self) -> Explored {
        self.entry.map(|entry| entry.explored(self.input().as_value())).unwrap_or_default()
    }

    fn shared_output(&self) -> Option<&Arc<Schema>> {
        let built = self.output.get_or_init(|| {
            let schema = self.entry.and_then(|entry| (entry.output)());
            schema.map(|value| Arc::new(Schema::generated(value)))
        });
        built.as_ref()
    }

    /// Returns true if the tool requires credentials, without building the metadata.
    #[inline]
    pub(crate) fn requires(&self) -> bool {
        self.entry.map_or_else(|| !self.requirements().is_empty(), |entry| entry.requires)
    }

    /// Returns valid arguments as JSON, for the error of an invalid call: an example of the author, or a generated
    /// one.
    pub(crate) fn sample(&self) -> Option<&str> {
        let sample = self.sample.get_or_init(|| {
            let given = self.examples().into_iter().find(|example| self.input().is_valid(example));
            given.or_else(|| self.input().example()).map(|sample| sample.to_string().into())
        });
        sample.as_deref()
    }

    /// Returns the backend reference of a function of this program.
    pub(crate) fn function_backend(&self) -> Option<ToolBackend> {
        self.entry.map(|_| ToolBackend::named(self.id_text().into_owned()))
    }

    /// Returns the entry, if the tool is a function of this program.
    #[doc(hidden)]
    #[inline]
    pub fn entry(&self) -> Option<&'static Entry> {
        self.entry
    }

    /// Returns the entry, if the tool is a function of this program under its original id, not that of an instance.
    #[inline]
    pub(crate) fn static_entry(&self) -> Option<&'static Entry> {
        self.entry.filter(|_| self.instance.is_none())
    }

    /// Returns true if both are copies of one function with the same instance.
    pub(crate) fn is_copy_of(&self, other: &Self) -> bool {
        let instance = |tool: &Self| tool.instance.as_ref().map(Arc::as_ptr);
        self.id == other.id
            && self.location().is_some()
            && self.location() == other.location()
            && instance(self) == instance(other)
    }

    /// Returns the instance whose state the function borrows, if it has several.
    #[inline]
    pub(crate) fn instance(&self) -> Option<&Instance> {
        self.instance.as_deref()
    }
}

/// Returns the alias in the namespace of an instance. The original alias would be ambiguous between instances.
fn alias_within(instance: &str, namespace: Option<&str>, alias: &str) -> Option<String> {
    match alias.split_once(':') {
        None => Some(format!("{instance}:{alias}")),
        Some((own, rest)) if Some(own) == namespace => Some(format!("{instance}:{rest}")),
        Some(_) => None,
    }
}

/// Tools are equal if their ids, metadata and schemas are equal, regardless of their origin.
impl PartialEq for Tool {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
            && self.metadata() == other.metadata()
            && self.input() == other.input()
            && self.output() == other.output()
    }
}
