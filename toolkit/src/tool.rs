//! The canonical record of a tool.
//!
//! A [`Tool`] is a function with the attribute [`tool`](macro@crate::tool), or it is built or parsed. In all three
//! cases it has an id, an input schema, an optional output schema and metadata:
//!
//! ```
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
//!
//! | module | part |
//! |---|---|
//! | `id`, `name` | ids, names and namespaces, and the rule that they follow |
//! | `metadata` | everything except the id and the schemas; `tags` and `requirements` are its values |
//! | `json` | the canonical form and the form of MCP, written and parsed |
//! | `builder` | tools that are not written in Rust |
//! | `shared_types` | schemas of types that several tools have |
//! | `entry` | the static record of a function, and its only argument |
//! | `adjusted` | a tool with another name or description, or with fixed arguments |
//! | `diagnostic` | the defects of tools, and the checks that find those of one tool |
//! | `foreign_schemas` | schemas of tools that are not functions of this program |
//! | `contract` | the hash that an approval is tied to |
//! | `backend` | references to what runs a tool |
//! | `duration` | durations as people write them |

mod adjusted;
mod backend;
mod builder;
mod contract;
pub(crate) mod diagnostic;
pub(crate) mod duration;
pub(crate) mod entry;
mod foreign_schemas;
mod id;
mod json;
mod metadata;
mod name;
mod requirements;
pub(crate) mod shared_types;
mod tags;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use self::adjusted::FixedArguments;
pub use self::backend::{BackendKind, ToolBackend};
pub use self::builder::ToolBuilder;
pub use self::contract::ContractHash;
pub(crate) use self::diagnostic::{Diagnostic, DiagnosticKind, Diagnostics};
use self::entry::Entry;
pub use self::entry::Location;
use self::foreign_schemas::{foreign_input, foreign_output};
pub use self::id::{NameError, Namespace, ToolId};
pub use self::json::ParseToolError;
pub(crate) use self::json::{Object, drop_nulls};
use self::json::{Parsed, ToolRecord};
pub use self::metadata::{Annotations, Execution, Icon, Literal, META_KEY, Metadata, TaskSupport, Text, Unknown};
use self::name::alias_within;
pub(crate) use self::name::check_alias;
pub use self::name::{MAX_NAME_LEN, check_name};
pub use self::requirements::{Authorization, Requirements, Secret};
pub use self::tags::{MAX_TAG_LEN, MAX_TAGS, normalize_tag, normalize_tags};
use crate::arguments::Arguments;
use crate::state::States;
use toolkit_schema::explore::Explored;
use toolkit_schema::{Schema, Violations, format};

/// A tool: its identity, schemas and metadata.
///
/// A tool is created from a function with the attribute [`tool`](macro@crate::tool), with a [`ToolBuilder`], or from
/// JSON ([`Tool::from_json`], [`Tool::from_mcp_json`]). The schemas and the metadata of a function are built once, on
/// first use. Clones share data where possible.
///
/// ```
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
    /// The arguments that the host has fixed.
    fixed: Option<Arc<FixedArguments>>,
    /// The cached result of [`Tool::sample`].
    sample: OnceLock<Option<Box<str>>>,
}

impl Tool {
    /// Creates a builder of a tool with this name.
    pub fn builder(name: impl Into<Text>) -> ToolBuilder {
        ToolBuilder::new(name.into())
    }

    /// Parses the canonical form from text or a value.
    ///
    /// A field that is `null` counts as absent and is preserved. Tags are normalized. Only the types of the fields are
    /// checked. [`Catalog::check`](crate::Catalog::check) checks their contents, and [`Manifest`](crate::Manifest)
    /// does so while it parses.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not JSON, or with every field that is missing or has the wrong type.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolkit::Tool;
    /// let tool = Tool::from_json(r#"{"name": "add", "namespace": "math", "inputSchema": {"type": "object"}}"#)?;
    /// assert_eq!(tool.id().to_string(), "math:add");
    ///
    /// let error = Tool::from_json(r#"{"name": 1}"#).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "not a tool:\n/inputSchema is required\n/name must be a string, got 1"
    /// );
    /// # Ok::<(), toolkit::tool::ParseToolError>(())
    /// ```
    pub fn from_json<'j>(json: impl Into<Arguments<'j>>) -> Result<Self, ParseToolError> {
        Self::from_fields(&mut json::object(json.into())?)
    }

    /// Parses the form of MCP from text or a value, including the record under [`META_KEY`].
    ///
    /// As in [`Tool::from_json`], contents are not checked. In particular, a name may contain any characters, because
    /// MCP only recommends a set.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Tool::from_json`].
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::Tool;
    ///
    /// let tool = Tool::from_mcp_json(
    ///     r#"{"name": "read", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}"#,
    /// )?;
    /// assert_eq!(tool.annotations().read_only, Some(true));
    /// # Ok::<(), toolkit::tool::ParseToolError>(())
    /// ```
    pub fn from_mcp_json<'j>(json: impl Into<Arguments<'j>>) -> Result<Self, ParseToolError> {
        Self::from_mcp_fields(&mut json::object(json.into())?)
    }

    /// Serializes the tool in its canonical form: the fields of MCP's `Tool` and, if present, `namespace`, `version`,
    /// `category`, `tags`, `aliases`, `deprecated`, `examples`, `requirements` and `timeoutMs`.
    ///
    /// Unknown fields that were parsed are included. Schemas are unchanged, including references.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json::to_json(self.record())
    }

    /// Serializes the tool in the form of MCP, without namespace, version, tags and other extensions.
    #[must_use]
    pub fn to_mcp_json(&self) -> Value {
        json::to_mcp_json(self.record())
    }

    /// Serializes the tool in the form of MCP, with the other fields and the id, if it is valid, under [`META_KEY`] of
    /// `_meta`.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::Tool;
    /// use toolkit::tool::META_KEY;
    ///
    /// let tool = Tool::builder("read").namespace("files").version("1.0.0").tags(["disk"]).build()?;
    /// let json = tool.to_mcp_json_with_record();
    /// assert_eq!(json["_meta"][META_KEY]["tags"][0], "disk");
    /// assert_eq!(Tool::from_mcp_json(json)?.id().to_string(), "files:read:1.0.0");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn to_mcp_json_with_record(&self) -> Value {
        json::to_mcp_json_with_record(self.record())
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

    /// Returns the fields that this crate does not know, of a tool that was parsed.
    #[must_use]
    pub fn unknown(&self) -> &Unknown {
        &self.metadata().unknown
    }

    /// Returns the title for people, if the author provided one.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.metadata().title.as_deref()
    }

    /// Returns the name for people: the title, the title in the annotations, or the name, in the order of
    /// `BaseMetadata.title` of MCP.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::Tool;
    ///
    /// let tool = Tool::builder("read_file");
    /// assert_eq!(tool.clone().build()?.display_name(), "read_file");
    /// assert_eq!(tool.title("Read a file").build()?.display_name(), "Read a file");
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn display_name(&self) -> &str {
        self.title().or(self.annotations().title.as_deref()).unwrap_or(self.name())
    }

    /// Returns the description, by which a model decides whether to call the tool.
    #[must_use]
    pub fn description(&self) -> &str {
        self.metadata().description.as_deref().unwrap_or_default()
    }

    /// Returns the description as a model reads it: with the deprecation notice, if any, as the last paragraph.
    ///
    /// ```
    /// use toolkit::Tool;
    ///
    /// let tool = Tool::builder("sum").description("Adds integers.").deprecated("use `add`").build()?;
    /// assert_eq!(tool.full_description(), "Adds integers.\n\nDeprecated: use `add`");
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn full_description(&self) -> String {
        let text = self.description();
        match self.deprecated() {
            Some(instead) => format!("{}\n\nDeprecated: {instead}", text.trim_end()),
            None => text.to_owned(),
        }
    }

    /// Returns the first paragraph of the description on one line.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::Tool;
    ///
    /// let description = "Reads a text file,\nin any encoding.\n\nThe file is limited to 1 MiB.";
    /// let tool = Tool::builder("read").description(description).build()?;
    /// assert_eq!(tool.summary(), "Reads a text file, in any encoding.");
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn summary(&self) -> String {
        let paragraph = self.description().split("\n\n").next().unwrap_or_default();
        paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns the category for listings.
    #[must_use]
    pub fn category(&self) -> Option<&str> {
        self.metadata().category.as_deref()
    }

    /// Returns the normalized tags in the author's order.
    #[must_use]
    pub fn tags(&self) -> &[Text] {
        &self.metadata().tags
    }

    /// Returns the hints about effects.
    #[must_use]
    pub fn annotations(&self) -> &Annotations {
        &self.metadata().annotations
    }

    /// Returns the aliases: earlier names and ids that still resolve to the tool.
    #[must_use]
    pub fn aliases(&self) -> &[Text] {
        &self.metadata().aliases
    }

    /// Returns the replacement of a deprecated tool.
    #[must_use]
    pub fn deprecated(&self) -> Option<&str> {
        self.metadata().deprecated.as_deref()
    }

    /// Returns the icons for clients.
    #[must_use]
    pub fn icons(&self) -> &[Icon] {
        &self.metadata().icons
    }

    /// Returns the `_meta` of the author. [`Catalog::check`](crate::Catalog::check) reports a value that is not an
    /// object.
    #[must_use]
    pub fn meta(&self) -> Option<Value> {
        self.metadata().meta.as_ref()?.parse().ok()
    }

    /// Returns the example arguments of the author.
    #[must_use]
    pub fn examples(&self) -> Vec<Value> {
        self.metadata().examples.iter().filter_map(|example| example.parse().ok()).collect()
    }

    /// Returns the credentials that the tool requires.
    pub fn requirements(&self) -> &Requirements {
        &self.metadata().requirements
    }

    /// Returns the timeout of a call, if the author set one.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        match self.entry {
            Some(entry) => entry.timeout,
            None => self.metadata().timeout,
        }
    }

    /// Returns the support for tasks: calls that a client starts, and whose result it collects later.
    #[must_use]
    pub fn task_support(&self) -> TaskSupport {
        self.metadata().execution.task_support.unwrap_or_default()
    }

    /// Returns the source location of a function of this program.
    #[must_use]
    pub fn location(&self) -> Option<Location> {
        self.entry().map(|entry| entry.location)
    }

    /// Returns the schema of the arguments.
    #[must_use]
    pub fn input(&self) -> &Schema {
        self.shared_input()
    }

    /// Returns the schema of the structured result, if the tool declares one.
    #[must_use]
    pub fn output(&self) -> Option<&Schema> {
        self.shared_output().map(|schema| &**schema)
    }

    /// Returns true if the tool is a function of this program that returns `()`. Other tools without an output schema
    /// may still return a result.
    #[must_use]
    pub fn returns_unit(&self) -> bool {
        self.entry.is_some_and(|entry| entry.returns_unit)
    }

    /// Validates arguments against the input schema.
    ///
    /// # Errors
    ///
    /// Returns the violations; see [`Schema::validate`].
    ///
    /// # Examples
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit::{catalog, tool};
    ///
    /// /// Repeats a text.
    /// #[tool]
    /// fn repeat(text: String, times: u8) -> String {
    ///     text.repeat(times.into())
    /// }
    ///
    /// let catalog = catalog![repeat]?;
    /// let violations = catalog.resolve("repeat")?.validate_input(&json!({ "times": 256 })).unwrap_err();
    /// assert_eq!(violations.to_string(), "/text is required\n/times must be at most 255, got 256");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn validate_input(&self, arguments: &Value) -> Result<(), Violations> {
        self.input().validate(arguments)
    }

    /// Validates a structured result against the output schema. Succeeds if there is none.
    ///
    /// # Errors
    ///
    /// Returns the violations; see [`Schema::validate`].
    pub fn validate_output(&self, result: &Value) -> Result<(), Violations> {
        self.output().map_or(Ok(()), |schema| schema.validate(result))
    }

    /// Returns the hash of the contract of the tool: its input schema, output schema, description, annotations and
    /// requirements.
    ///
    /// Two tools have the same hash if and only if these are equal as JSON, with numbers compared by value and the
    /// order of keys ignored. Descriptions inside the schemas count, since a model reads them. The id, title, tags,
    /// examples, icons and `_meta` do not count. The hash is stable across builds and processes, so a decision about a
    /// tool, such as an approval, can be tied to the reviewed contract.
    ///
    /// # Examples
    ///
    /// ```
    /// # use serde_json::json;
    /// use toolkit::Tool;
    ///
    /// let tool = |limit: serde_json::Value| {
    ///     let input = json!({ "type": "object", "properties": { "n": { "type": "integer", "maximum": limit } } });
    ///     Tool::builder("draw").description("Draws lots.").input(input).build()
    /// };
    /// let reviewed = tool(json!(100))?.contract_hash();
    /// assert_eq!(reviewed, tool(json!(100.0))?.contract_hash());
    /// assert_ne!(reviewed, tool(json!(1000))?.contract_hash());
    /// assert_eq!(reviewed.to_string().len(), 64);
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn contract_hash(&self) -> ContractHash {
        ContractHash::new(self.metadata(), self.input(), self.output())
    }

    /// Returns true if the record is that of a prompt of this program.
    pub(crate) fn is_prompt(&self) -> bool {
        self.entry.is_some_and(|entry| entry.prompt.is_some())
    }

    /// Returns the arguments that the host has fixed.
    #[inline]
    pub(crate) fn fixed(&self) -> Option<&FixedArguments> {
        self.fixed.as_deref()
    }

    /// Returns true if the tool is a function of this program, and not one of a manifest or of another server.
    #[must_use]
    pub fn is_linked(&self) -> bool {
        self.entry.is_some()
    }

    #[inline]
    pub(crate) fn entry(&self) -> Option<&'static Entry> {
        self.entry
    }

    pub(crate) const fn linked(entry: &'static Entry) -> Self {
        Self {
            id: ToolId::from_static(entry.namespace, entry.name, entry.version),
            entry: Some(entry),
            instance: None,
            metadata: OnceLock::new(),
            input: OnceLock::new(),
            output: OnceLock::new(),
            fixed: None,
            sample: OnceLock::new(),
        }
    }

    fn parsed(tool: Parsed) -> Self {
        Self::given(tool.id, tool.metadata, tool.input, tool.output)
    }

    fn record(&self) -> ToolRecord<'_> {
        let (input, output) = (self.input().as_value(), self.output().map(Schema::as_value));
        ToolRecord { id: &self.id, metadata: self.metadata(), input, output }
    }

    fn given(id: ToolId, metadata: Metadata, input: Value, output: Option<Value>) -> Self {
        Self {
            id,
            entry: None,
            instance: None,
            metadata: OnceLock::from(Arc::new(metadata)),
            input: OnceLock::from(foreign_input(input)),
            output: OnceLock::from(output.map(foreign_output)),
            fixed: None,
            sample: OnceLock::new(),
        }
    }

    /// Moves the function into the namespace of an instance whose state it borrows.
    pub(crate) fn for_instance(mut self, instance: Arc<Instance>) -> Self {
        self.id = self.id.in_namespace(instance.namespace.clone());
        self.instance = Some(instance);
        // The aliases change with the namespace.
        self.metadata = OnceLock::new();
        self
    }

    /// Returns the tool without its aliases. For a function of this program, the result cannot be called.
    #[must_use]
    pub fn without_aliases(&self) -> Self {
        self.described_as(self.id.clone())
    }

    fn described_as(&self, id: ToolId) -> Self {
        let mut metadata = Arc::clone(self.shared_metadata());
        if !metadata.aliases.is_empty() {
            Arc::make_mut(&mut metadata).aliases.clear();
        }
        self.described(id, metadata)
    }

    /// Replaces the metadata, and the schemas that are given. For a function of this program, the result describes the
    /// function and cannot be called.
    #[must_use]
    pub fn with_parts(&self, metadata: Metadata, input: Option<Value>, output: Option<Value>) -> Self {
        let mut tool = self.described(self.id.clone(), Arc::new(metadata));
        if let Some(input) = input {
            tool.input = OnceLock::from(foreign_input(input));
        }
        if let Some(output) = output {
            tool.output = OnceLock::from(Some(foreign_output(output)));
        }
        tool
    }

    /// Enforces the formats in the schema of the arguments.
    pub(crate) fn enforcing_formats(mut self) -> Self {
        let mut input = self.input().as_value().clone();
        format::enforce(&mut input);
        if input != *self.input().as_value() {
            self.input = OnceLock::from(Arc::new(Schema::generated(input)));
            self.sample = OnceLock::new();
        }
        self
    }

    fn described(&self, id: ToolId, metadata: Arc<Metadata>) -> Self {
        Self {
            id,
            entry: None,
            instance: None,
            metadata: OnceLock::from(metadata),
            input: OnceLock::from(Arc::clone(self.shared_input())),
            output: OnceLock::from(self.shared_output().cloned()),
            fixed: None,
            sample: self.sample.clone(),
        }
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
            Arc::new(Schema::generated(entry.input_schema()))
        })
    }

    /// Explores how the type of the arguments differs from their schema. A tool that was parsed has no type.
    pub fn explored(&self) -> Explored {
        self.entry.map(|entry| entry.explored(self.input().as_value())).unwrap_or_default()
    }

    /// Returns true if the type of the arguments reads them. `None` for a tool that was parsed, which has no type.
    pub fn reads(&self, arguments: &str) -> Option<bool> {
        self.entry.map(|entry| entry.reads(arguments))
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
            let given = given.or_else(|| self.input().example()).map(|sample| sample.to_string());
            let is_read = |sample: &String| self.fixed.is_some() || self.reads(sample) != Some(false);
            given.filter(is_read).map(Into::into)
        });
        sample.as_deref()
    }

    /// Returns the backend reference of a function of this program.
    pub(crate) fn function_backend(&self) -> Option<ToolBackend> {
        self.entry.map(|_| ToolBackend::named(self.id_text().into_owned()))
    }

    /// Returns the entry, if the tool is a function of this program under its original id, not that of an instance, and under
    /// its original name.
    #[inline]
    pub(crate) fn static_entry(&self) -> Option<&'static Entry> {
        let is_original = |entry: &&'static Entry| self.instance.is_none() && std::ptr::eq(self.id.name(), entry.name);
        self.entry.filter(is_original)
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

    /// Parses the fields of the canonical form. The schemas are moved out of them, unless there is an error.
    pub(crate) fn from_fields(fields: &mut Object) -> Result<Self, ParseToolError> {
        json::from_fields(fields).map(Self::parsed)
    }

    /// Parses the fields of the form of MCP. The schemas are moved out of them, unless there is an error.
    pub(crate) fn from_mcp_fields(fields: &mut Object) -> Result<Self, ParseToolError> {
        json::from_mcp_fields(fields).map(Self::parsed)
    }

    /// Returns the fields of [`Tool::to_mcp_json_with_record`], with `true` in place of the schemas.
    pub(crate) fn mcp_fields_without_schemas(&self, has_output: bool) -> Object {
        const ANY: &Value = &Value::Bool(true);
        let output = has_output.then_some(ANY);
        json::mcp_fields(ToolRecord { id: &self.id, metadata: self.metadata(), input: ANY, output })
    }

    /// Returns the aliases, without building the metadata of a function of this program.
    pub(crate) fn alias_texts(&self) -> Vec<Text> {
        match self.static_entry() {
            Some(entry) => entry.aliases.iter().copied().map(Cow::Borrowed).collect(),
            None => self.aliases().to_vec(),
        }
    }

    /// Returns the id as text, without an allocation for a function of this program.
    pub(crate) fn id_text(&self) -> Text {
        match self.static_entry() {
            Some(entry) => Cow::Borrowed(entry.id),
            None => Cow::Owned(self.id.to_string()),
        }
    }

    /// Returns the id without the version as text, without an allocation for a function of this program.
    pub(crate) fn unversioned_text(&self) -> Text {
        let version_len = self.id.version().map_or(0, |version| version.len() + 1);
        match self.static_entry() {
            Some(entry) if entry.namespace.is_none() => Cow::Borrowed(entry.id),
            Some(entry) => Cow::Borrowed(&entry.id[..entry.id.len() - version_len]),
            None => Cow::Owned(self.id.unversioned().to_string()),
        }
    }

    /// Returns the name as text, without an allocation for a function of this program.
    pub(crate) fn name_text(&self) -> Text {
        match self.static_entry() {
            Some(entry) => Cow::Borrowed(entry.name),
            None => Cow::Owned(self.name().to_owned()),
        }
    }
}

/// Serializes the canonical form.
impl Serialize for Tool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Tool {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_json(Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
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

/// The state of the tools in one namespace.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) namespace: Namespace,
    pub(crate) states: States,
}
