//! The features of a tool that a format does not express, and the JSON of an exported tool with them.

use std::fmt;

use serde::Serialize;
use serde_json::Value;
use toolkit::tool::Tool;
use toolkit_schema::{child, order};

/// A feature of a tool that a format does not express, or expresses differently.
///
/// Losses have a fixed order: first those of the tool's record, then those of its input schema and its output schema,
/// each from the root down and sorted by name.
///
/// ```
/// use toolkit_providers::{Effect, Loss, Side};
///
/// let loss = Loss::new(Side::Input, "/properties/n", "minimum", Effect::Widened, "is not supported");
/// assert_eq!(loss.to_string(), "input /properties/n: `minimum` is not supported");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Loss {
    /// The part of the tool.
    pub side: Side,
    /// The position in that part: a JSON Pointer into the schema with its references replaced by their definitions, or
    /// `/` and the name of a field.
    pub pointer: String,
    /// The keyword or field.
    pub keyword: String,
    /// The consequence for a caller.
    pub effect: Effect,
    /// The reason, as a predicate whose subject is the keyword.
    pub reason: String,
}

/// A part of a tool.
///
/// ```
/// use serde_json::json;
/// use toolkit::Tool;
/// use toolkit_providers::Side;
/// use toolkit_providers::openai::{Options, describe};
///
/// let output = json!({ "type": "object", "properties": { "meters": { "type": "number" } } });
/// let export = describe(&Tool::builder("distance").output(output).build()?, "distance", Options::chat_completions());
/// // Chat Completions has no field for the output schema.
/// let losses: Vec<_> = export.losses.iter().filter(|loss| loss.side == Side::Output).collect();
/// assert_eq!(losses[0].keyword, "outputSchema");
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Side {
    /// The metadata of the tool.
    Record,
    /// The input schema.
    Input,
    /// The output schema.
    Output,
}

/// The consequence of a loss for a caller.
///
/// ```
/// use serde_json::json;
/// use toolkit_providers::{Dialect, Effect, Side, lower};
///
/// let schema = json!({
///     "type": "object",
///     "properties": { "days": { "type": "array", "items": { "type": "string" }, "uniqueItems": true } },
///     "required": ["days"],
///     "additionalProperties": false,
/// });
/// let lowered = lower(&schema, &Dialect::OPENAI_STRICT, Side::Input);
/// // A model may send a day twice. The dispatcher rejects such a call.
/// assert_eq!((&*lowered.losses[0].keyword, lowered.losses[0].effect), ("uniqueItems", Effect::Widened));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Effect {
    /// The format accepts exactly the values that the tool accepts; only metadata is lost.
    MetadataOnly,
    /// The format accepts values that the tool rejects. The dispatcher still rejects them.
    Widened,
    /// The format cannot express values that the tool accepts.
    Narrowed,
    /// The provider rejects the definition, and with it the whole request.
    Rejected,
}

impl Loss {
    /// Creates a loss. For a field of the record, `pointer` is `/` and its name.
    #[must_use]
    pub fn new(
        side: Side,
        pointer: impl Into<String>,
        keyword: impl Into<String>,
        effect: Effect,
        reason: impl Into<String>,
    ) -> Self {
        Self { side, pointer: pointer.into(), keyword: keyword.into(), effect, reason: reason.into() }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.pointer.is_empty() { "root" } else { &self.pointer };
        match self.side {
            Side::Record => write!(f, "`{}` {}", self.keyword, self.reason),
            Side::Input => write!(f, "input {at}: `{}` {}", self.keyword, self.reason),
            Side::Output => write!(f, "output {at}: `{}` {}", self.keyword, self.reason),
        }
    }
}

/// A tool in the format of a provider, with the losses of the conversion.
///
/// ```
/// use toolkit::Tool;
/// use toolkit_providers::openai::{Options, describe};
///
/// let tool = Tool::builder("add").version("1.0.0").description("Adds two integers.").build()?;
/// let export = describe(&tool, "add", Options::responses());
/// assert_eq!(export.json["name"], "add");
/// assert_eq!(export.losses[0].to_string(), "`version` is not supported");
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolExport {
    /// The JSON of the tool in the format of the provider.
    pub json: Value,
    /// The features of the tool that the JSON does not express.
    pub losses: Vec<Loss>,
    /// The reasons why strict mode was requested but is not possible.
    pub not_strict: Vec<Loss>,
}

impl ToolExport {
    /// [Orders](order::sort) the keys of the JSON.
    pub(super) fn sorted(mut self) -> Self {
        order::sort(&mut self.json);
        self
    }
}

/// Adds a loss if the wire name differs from the name of the tool: another tool could have the same wire name.
pub(super) fn with_wire_name(mut export: ToolExport, tool: &Tool, name: &str) -> ToolExport {
    if !name.ends_with(tool.name()) {
        let reason = format!("is written as `{name}`");
        export.losses.insert(0, Loss::new(Side::Record, "/name", "name", Effect::MetadataOnly, reason));
    }
    export
}

/// Returns the description for a provider: the description or else the title, and `None` without both.
pub(super) fn provider_description(tool: &Tool) -> Option<String> {
    let text = tool.full_description();
    let text = if text.trim().is_empty() { tool.title().unwrap_or_default().to_owned() } else { text };
    (!text.is_empty()).then_some(text)
}

/// Returns a loss for each field of a tool that is not in `supported`.
///
/// Fields have the names of [`Tool::to_json`]. The input schema is not considered, since [`lower`](super::lower)
/// reports its losses. Fields whose value is `null` are skipped.
///
/// ```
/// # use toolkit::Tool;
/// # use toolkit_providers::unsupported_fields;
/// let tool = Tool::builder("add").version("1.0.0").tags(["sum"]).build()?;
/// let losses: Vec<String> = unsupported_fields(&tool, &["version"]).iter().map(ToString::to_string).collect();
/// assert_eq!(losses, ["`tags` is not supported"]);
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[must_use]
pub fn unsupported_fields(tool: &Tool, supported: &[&str]) -> Vec<Loss> {
    let metadata = tool.metadata();
    let fields = [
        ("namespace", tool.id().namespace().is_some()),
        ("version", tool.id().version().is_some()),
        ("title", metadata.title.is_some() || metadata.annotations.title.is_some()),
        ("category", metadata.category.is_some()),
        ("tags", !metadata.tags.is_empty()),
        ("annotations", !metadata.annotations.is_empty()),
        ("execution", !metadata.execution.is_empty()),
        ("aliases", !metadata.aliases.is_empty()),
        ("icons", !metadata.icons.is_empty()),
        ("_meta", metadata.meta.is_some()),
        ("examples", !metadata.examples.is_empty()),
        ("requirements", !metadata.requirements.is_empty()),
        ("timeoutMs", tool.timeout().is_some()),
    ];
    let unknown = metadata.unknown.iter().map(|(field, value)| (field, !value.is_null()));
    let lost = fields.into_iter().chain(unknown).filter(|(field, has)| *has && !supported.contains(field));
    let mut losses: Vec<Loss> = lost.map(|(field, _)| loss(Side::Record, field)).collect();
    if tool.output().is_some() && !supported.contains(&"outputSchema") {
        losses.push(loss(Side::Output, "outputSchema"));
    }
    losses
}

/// Returns the loss of an output schema that the format supports.
pub(super) fn output_left_out(reason: &str) -> Loss {
    Loss::new(Side::Output, "", "outputSchema", Effect::MetadataOnly, reason)
}

/// The reason of an export without output schemas.
pub(super) const NOT_REQUESTED: &str = "is left out; the option `output_schemas` adds it";

/// Returns the loss of a field, or of a whole side of the tool.
pub(super) fn loss(side: Side, field: &str) -> Loss {
    let pointer = if side == Side::Record { child("", field) } else { String::new() };
    Loss::new(side, pointer, field, Effect::MetadataOnly, "is not supported")
}
