//! The JSON of an exported tool, with its losses.

use serde_json::Value;

use super::loss::{Effect, Loss, Side};
use toolkit::tool::Tool;
use toolkit_schema::child;

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

/// Returns the loss of a field, or of a whole side of the tool.
pub(super) fn loss(side: Side, field: &str) -> Loss {
    let pointer = if side == Side::Record { child("", field) } else { String::new() };
    Loss::new(side, pointer, field, Effect::MetadataOnly, "is not supported")
}
