//! A tool that is not written in Rust, or not in this program.

use std::time::Duration;

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::check::validate_tool;
use super::diagnostic::Diagnostics;
use super::{Annotations, Icon, Literal, Metadata, Requirements, Text, Tool, ToolId, normalize_tags};
use toolkit_schema as schema;

/// Says what a tool is that is no function of this program.
///
/// ```
/// # use serde_json::json;
/// # use toolkit::Tool;
/// let tool = Tool::builder("search")
///     .namespace("docs")
///     .version("1.0.0")
///     .description("Finds documents.")
///     .tags(["Full Text"])
///     .read_only(true)
///     .input(json!({ "type": "object", "properties": { "query": { "type": "string" } }, "required": ["query"] }))
///     .build()?;
/// assert_eq!(tool.id().to_string(), "docs:search:1.0.0");
/// assert_eq!(tool.tags(), ["full-text"]);
/// assert!(tool.validate_input(&json!({})).is_err());
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct ToolBuilder {
    name: Text,
    namespace: Option<Text>,
    version: Option<Text>,
    metadata: Metadata,
    input: Value,
    output: Option<Value>,
}

impl Tool {
    /// Starts a tool that is not written in Rust.
    pub fn builder(name: impl Into<Text>) -> ToolBuilder {
        ToolBuilder::new(name.into())
    }
}

impl ToolBuilder {
    pub(super) fn new(name: Text) -> Self {
        Self {
            name,
            namespace: None,
            version: None,
            metadata: Metadata::NONE,
            // What MCP recommends for a tool that takes nothing.
            input: json!({ "type": "object", "additionalProperties": false }),
            output: None,
        }
    }

    /// What the name is unique within.
    pub fn namespace(mut self, namespace: impl Into<Text>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// A semantic version; `v1.2.3` and `1.2.3` will do.
    pub fn version(mut self, version: impl Into<Text>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// A name for people.
    pub fn title(mut self, title: impl Into<Text>) -> Self {
        self.metadata.title = Some(title.into());
        self
    }

    /// What a model reads to decide whether to call it.
    pub fn description(mut self, description: impl Into<Text>) -> Self {
        self.metadata.description = Some(description.into());
        self
    }

    /// A broad grouping for listings.
    pub fn category(mut self, category: impl Into<Text>) -> Self {
        self.metadata.category = Some(category.into());
        self
    }

    /// Tags, normalised as [`normalize_tags`] does; they replace those given before.
    pub fn tags<I>(mut self, tags: I) -> Self
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        self.metadata.tags = normalize_tags(tags).into_iter().map(Text::Owned).collect();
        self
    }

    /// All hints at once.
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.metadata.annotations = annotations;
        self
    }

    /// It changes nothing, or it may.
    pub fn read_only(mut self, hint: bool) -> Self {
        self.metadata.annotations.read_only = Some(hint);
        self
    }

    /// It may delete or overwrite, or it only adds.
    pub fn destructive(mut self, hint: bool) -> Self {
        self.metadata.annotations.destructive = Some(hint);
        self
    }

    /// Calling it again with the same arguments changes nothing more, or it may.
    pub fn idempotent(mut self, hint: bool) -> Self {
        self.metadata.annotations.idempotent = Some(hint);
        self
    }

    /// It reaches beyond a closed domain, or it does not.
    pub fn open_world(mut self, hint: bool) -> Self {
        self.metadata.annotations.open_world = Some(hint);
        self
    }

    /// Former names and ids under which it still answers.
    pub fn aliases<I>(mut self, aliases: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<Text>,
    {
        self.metadata.aliases = aliases.into_iter().map(Into::into).collect();
        self
    }

    /// What to use instead.
    pub fn deprecated(mut self, instead: impl Into<Text>) -> Self {
        self.metadata.deprecated = Some(instead.into());
        self
    }

    /// Pictures for clients.
    pub fn icons(mut self, icons: impl IntoIterator<Item = Icon>) -> Self {
        self.metadata.icons = icons.into_iter().collect();
        self
    }

    /// What goes into `_meta`.
    pub fn meta(mut self, meta: Map<String, Value>) -> Self {
        self.metadata.meta = Some(Literal::Value(meta.into()));
        self
    }

    /// Arguments that the input schema accepts.
    pub fn examples(mut self, examples: impl IntoIterator<Item = Value>) -> Self {
        self.metadata.examples = examples.into_iter().map(Literal::Value).collect();
        self
    }

    /// What the host must hold.
    pub fn requirements(mut self, requirements: Requirements) -> Self {
        self.metadata.requirements = requirements;
        self
    }

    /// How long one call may take, in milliseconds as they are published; a fraction counts as one more.
    pub fn timeout(mut self, limit: Duration) -> Self {
        let millis = u64::try_from(limit.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
        self.metadata.timeout = Some(Duration::from_millis(millis));
        self
    }

    /// The schema of the arguments; by default the tool takes none.
    pub fn input(mut self, schema: Value) -> Self {
        self.input = schema;
        self
    }

    /// The schema of the arguments, as that of a function which takes a `T`.
    pub fn input_of<T: JsonSchema>(self) -> Self {
        self.input(schema::input::<T>())
    }

    /// The schema of the structured result; by default the tool promises none.
    pub fn output(mut self, schema: Value) -> Self {
        self.output = Some(schema);
        self
    }

    /// The schema of the structured result, as that of a function which returns a `T`.
    pub fn output_of<T: JsonSchema>(self) -> Self {
        self.output(schema::output::<T>())
    }

    /// The tool, once it is checked as a function of this program is.
    ///
    /// # Errors
    ///
    /// Every problem at once: a name, namespace, version or former name that is none, a schema that is not sound or takes no
    /// object, an example that does not fit, a `_meta` with the key that is ours.
    pub fn build(self) -> Result<Tool, Diagnostics> {
        let id = ToolId::unchecked(self.namespace, self.name, self.version);
        let tool = Tool::given(id, self.metadata, self.input, self.output);
        validate_tool(&tool).map(|()| tool)
    }
}
