//! The JSON of exported tools and catalogs, with its losses.

use serde_json::Value;

use super::loss::{Effect, Loss, Side};
use super::request::{self, Member, RequestLimits, Usage};
use crate::catalog::{Catalog, Diagnostics, Naming};
use crate::tool::{Tool, ToolId};
use toolkit_schema::child;

/// A tool in the format of a provider, with the losses of the conversion.
///
/// ```
/// use toolkit::Tool;
/// use toolkit::adapter::openai::{Options, describe};
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

/// A catalog in the format of a provider, with the losses of each tool.
///
/// ```
/// use toolkit::adapter::gemini::{SchemaFormat, tools};
/// use toolkit::catalog::Naming;
///
/// /// Adds two integers.
/// #[toolkit::tool(version = "1.0.0")]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), toolkit::catalog::Diagnostics> {
/// let export = tools(&toolkit::catalog![add]?, Naming::Name, SchemaFormat::JsonSchema)?;
/// assert_eq!(export.json[0]["functionDeclarations"][0]["name"], "add");
///
/// let (tool, losses) = &export.losses[0];
/// assert_eq!(format!("{tool}: {}", losses[0]), "add: `version` is not supported");
/// assert!(export.usage.iter().all(|usage| !usage.is_over()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Export {
    /// The JSON in the format of the provider, with sorted keys: a catalog has the same bytes in every build.
    pub json: Value,
    /// The losses of each tool, in the order of the catalog.
    pub losses: Vec<(ToolId, Vec<Loss>)>,
    /// The tools for which strict mode was requested but is not possible, with the reasons.
    pub not_strict: Vec<(ToolId, Vec<Loss>)>,
    /// The use of the provider's limits. Where some tools gave up strict mode, it counts what all of them would need.
    pub usage: Vec<Usage>,
}

impl Export {
    /// Creates an export without tools.
    pub(super) fn empty() -> Self {
        Self { json: Value::Null, losses: Vec::new(), not_strict: Vec::new(), usage: Vec::new() }
    }

    /// Exports the highest version of each tool under its wire name, in the order of the ids.
    pub(super) fn new(
        catalog: &Catalog,
        naming: Naming,
        limits: &RequestLimits,
        describe: impl Fn(&Tool, &str) -> ToolExport,
    ) -> Result<Self, Diagnostics> {
        let names = catalog.listed(naming)?;
        Ok(Self::from_members(limits, Member::all(&names, describe)))
    }

    /// Creates an export of the given tools.
    pub(super) fn from_members(limits: &RequestLimits, members: Vec<Member<'_>>) -> Self {
        let mut export = Self { usage: request::tool_usage(limits, &members), ..Self::empty() };
        let tools = members.into_iter().map(|member| export.take(member)).collect();
        export.with_tools(tools)
    }

    /// Records the losses of a tool and returns its JSON.
    pub(super) fn take(&mut self, Member { tool, export, .. }: Member<'_>) -> Value {
        self.losses.push((tool.id().clone(), export.losses));
        if !export.not_strict.is_empty() {
            self.not_strict.push((tool.id().clone(), export.not_strict));
        }
        export.json
    }

    /// Sets the JSON to the given tools, with sorted keys.
    pub(super) fn with_tools(self, tools: Vec<Value>) -> Self {
        let mut json = Value::Array(tools);
        json.sort_all_objects();
        Self { json, ..self }
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

/// Returns the description of a tool as a model reads it; the deprecation notice, if any, is the last paragraph.
///
/// ```
/// use toolkit::Tool;
/// use toolkit::adapter::description;
///
/// let tool = Tool::builder("sum").description("Adds integers.").deprecated("use `add`").build()?;
/// assert_eq!(description(&tool), "Adds integers.\n\nDeprecated: use `add`");
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[must_use]
pub fn description(tool: &Tool) -> String {
    let text = tool.description();
    match tool.deprecated() {
        Some(instead) => format!("{}\n\nDeprecated: {instead}", text.trim_end()),
        None => text.to_owned(),
    }
}

/// Returns the description for a provider: the description or else the title, and `None` without both.
pub(super) fn provider_description(tool: &Tool) -> Option<String> {
    let text = description(tool);
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
/// # use toolkit::adapter::unsupported_fields;
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

/// Returns the loss of a field, or of a whole side of the tool.
pub(super) fn loss(side: Side, field: &str) -> Loss {
    let pointer = if side == Side::Record { child("", field) } else { String::new() };
    Loss::new(side, pointer, field, Effect::MetadataOnly, "is not supported")
}
