//! Tools that are not written in Rust or not part of this program.

use std::time::Duration;

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::diagnostic::{Diagnostics, validate_tool};
use super::{Annotations, Icon, Literal, Metadata, Requirements, TaskSupport, Text, Tool, ToolId, normalize_tags};
use toolkit_schema::generate;

/// A builder of a tool that is not a function of this program.
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

impl ToolBuilder {
    pub(super) fn new(name: Text) -> Self {
        Self {
            name,
            namespace: None,
            version: None,
            metadata: Metadata::NONE,
            // The recommendation of MCP for a tool without parameters.
            input: json!({ "type": "object", "additionalProperties": false }),
            output: None,
        }
    }

    /// Sets the namespace, within which the name is unique.
    pub fn namespace(mut self, namespace: impl Into<Text>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Sets the semantic version, such as `1.2.3` or `v1.2.3`.
    pub fn version(mut self, version: impl Into<Text>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Sets the title for people.
    pub fn title(mut self, title: impl Into<Text>) -> Self {
        self.metadata.title = Some(title.into());
        self
    }

    /// Sets the description, by which a model decides whether to call the tool.
    pub fn description(mut self, description: impl Into<Text>) -> Self {
        self.metadata.description = Some(description.into());
        self
    }

    /// Sets the category for listings.
    pub fn category(mut self, category: impl Into<Text>) -> Self {
        self.metadata.category = Some(category.into());
        self
    }

    /// Sets the tags, normalized by [`normalize_tags`].
    pub fn tags(mut self, tags: impl IntoIterator<Item: AsRef<str>>) -> Self {
        self.metadata.tags = normalize_tags(tags).into_iter().map(Text::Owned).collect();
        self
    }

    /// Sets all annotations.
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.metadata.annotations = annotations;
        self
    }

    /// Sets the hint that the tool does not modify its environment.
    pub fn read_only(mut self, hint: bool) -> Self {
        self.metadata.annotations.read_only = Some(hint);
        self
    }

    /// Sets the hint that the tool may perform destructive updates.
    pub fn destructive(mut self, hint: bool) -> Self {
        self.metadata.annotations.destructive = Some(hint);
        self
    }

    /// Sets the hint that repeated calls with the same arguments have no additional effect.
    pub fn idempotent(mut self, hint: bool) -> Self {
        self.metadata.annotations.idempotent = Some(hint);
        self
    }

    /// Sets the hint that the tool interacts with an open world of external entities.
    pub fn open_world(mut self, hint: bool) -> Self {
        self.metadata.annotations.open_world = Some(hint);
        self
    }

    /// Sets the aliases: earlier names and ids that still resolve to the tool.
    pub fn aliases(mut self, aliases: impl IntoIterator<Item: Into<Text>>) -> Self {
        self.metadata.aliases = aliases.into_iter().map(Into::into).collect();
        self
    }

    /// Marks the tool as deprecated in favor of another.
    pub fn deprecated(mut self, instead: impl Into<Text>) -> Self {
        self.metadata.deprecated = Some(instead.into());
        self
    }

    /// Sets the icons for clients.
    pub fn icons(mut self, icons: impl IntoIterator<Item = Icon>) -> Self {
        self.metadata.icons = icons.into_iter().collect();
        self
    }

    /// Sets the content of `_meta`.
    pub fn meta(mut self, meta: Map<String, Value>) -> Self {
        self.metadata.meta = Some(Literal::Value(meta.into()));
        self
    }

    /// Sets example arguments, which must match the input schema.
    pub fn examples(mut self, examples: impl IntoIterator<Item = Value>) -> Self {
        self.metadata.examples = examples.into_iter().map(Literal::Value).collect();
        self
    }

    /// Sets the credentials that the tool requires.
    pub fn requirements(mut self, requirements: Requirements) -> Self {
        self.metadata.requirements = requirements;
        self
    }

    /// Sets the timeout of a call, rounded up to milliseconds.
    pub fn timeout(mut self, limit: Duration) -> Self {
        let millis = u64::try_from(limit.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
        self.metadata.timeout = Some(Duration::from_millis(millis));
        self
    }

    /// Sets the support for tasks.
    pub fn task_support(mut self, support: TaskSupport) -> Self {
        self.metadata.execution.task_support = Some(support);
        self
    }

    /// Sets the schema of the arguments. A tool has no arguments by default.
    pub fn input(mut self, schema: Value) -> Self {
        self.input = schema;
        self
    }

    /// Sets the schema of the arguments to that of a function with the argument struct `T`.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::Tool;
    ///
    /// #[derive(schemars::JsonSchema)]
    /// struct Args {
    ///     /// The text to search for.
    ///     query: String,
    ///     limit: Option<u32>,
    /// }
    ///
    /// let tool = Tool::builder("search").input_of::<Args>().output_of::<Vec<String>>().build()?;
    /// let input = tool.input().as_value();
    /// assert_eq!(input["properties"]["query"]["description"], "The text to search for.");
    /// assert_eq!(input["required"], serde_json::json!(["query"]));
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    pub fn input_of<T: JsonSchema>(self) -> Self {
        self.input(generate::input::<T>())
    }

    /// Sets the schema of the structured result. A tool has no output schema by default.
    pub fn output(mut self, schema: Value) -> Self {
        self.output = Some(schema);
        self
    }

    /// Sets the schema of the structured result to that of a function that returns `T`.
    pub fn output_of<T: JsonSchema>(self) -> Self {
        self.output(generate::output::<T>())
    }

    /// Builds the tool and validates it like a function of this program.
    ///
    /// # Errors
    ///
    /// Returns every defect: an invalid name, namespace, version or alias, an invalid schema or one that does not
    /// describe an object, an invalid example, a `_meta` with the reserved key.
    ///
    /// # Examples
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit::Tool;
    /// use toolkit::catalog::DiagnosticKind;
    ///
    /// let input = json!({ "type": "object", "properties": { "days": { "type": "integer" } } });
    /// let tool = Tool::builder("forecast").input(input).examples([json!({ "days": "three" })]);
    /// let diagnostics = tool.build().unwrap_err();
    /// assert_eq!(diagnostics.iter().next().unwrap().kind(), DiagnosticKind::InvalidExample);
    /// ```
    pub fn build(self) -> Result<Tool, Diagnostics> {
        let id = ToolId::unchecked(self.namespace, self.name, self.version);
        let tool = Tool::given(id, self.metadata, self.input, self.output);
        validate_tool(&tool).map(|()| tool)
    }
}
