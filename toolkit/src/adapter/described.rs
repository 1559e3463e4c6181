//! A tool in the words of a target, and what those cannot say.

use serde_json::Value;

use super::loss::{Effect, Loss, Side};
use crate::catalog::{Catalog, Naming, Problems};
use crate::tool::{Tool, ToolId};

/// A tool in the words of a target, and what those cannot say.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Described {
    /// The tool, as the target reads it.
    pub json: Value,
    /// What is lost.
    pub losses: Vec<Loss>,
    /// Where strict mode was asked for and is not possible: why.
    pub not_strict: Vec<Loss>,
}

/// A catalogue in the words of a target.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Export {
    /// What the target takes: the same bytes for the same catalogue.
    pub json: Value,
    /// What is lost of each tool, in the order of the catalogue.
    pub losses: Vec<(ToolId, Vec<Loss>)>,
    /// The tools that strict mode was asked for and is not possible for, and why.
    pub not_strict: Vec<(ToolId, Vec<Loss>)>,
}

impl Export {
    /// The highest version of every tool, in the order of their ids, each as `describe` has it under its wire name.
    pub(super) fn of(
        catalog: &Catalog,
        naming: Naming,
        describe: impl Fn(&Tool, &str) -> Described,
    ) -> Result<Self, Problems> {
        let names = catalog.listed(naming)?;
        let (mut tools, mut losses, mut not_strict) = (Vec::new(), Vec::new(), Vec::new());
        for (name, tool) in names.iter() {
            let described = describe(tool, name);
            tools.push(described.json);
            losses.push((tool.id().clone(), described.losses));
            if !described.not_strict.is_empty() {
                not_strict.push((tool.id().clone(), described.not_strict));
            }
        }
        let mut json = Value::Array(tools);
        json.sort_all_objects();
        Ok(Self { json, losses, not_strict })
    }
}

/// What a model reads of a tool; where the tool is on its way out, that too.
pub(super) fn description(tool: &Tool) -> String {
    let text = tool.description();
    match tool.deprecated() {
        Some(instead) => format!("{}\n\nDeprecated: {instead}", text.trim_end()),
        None => text.to_owned(),
    }
}

/// The fields that a tool has and its target has no words for; `said` are those that it has words for.
pub(super) fn unsaid(tool: &Tool, said: &[&str]) -> Vec<Loss> {
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
    let lost = fields.into_iter().filter(|(field, has)| *has && !said.contains(field));
    let mut losses: Vec<Loss> = lost.map(|(field, _)| loss(Side::Record, field)).collect();
    if tool.output().is_some() && !said.contains(&"outputSchema") {
        losses.push(loss(Side::Output, "outputSchema"));
    }
    losses
}

fn loss(side: Side, field: &str) -> Loss {
    let pointer = if side == Side::Record { format!("/{field}") } else { String::new() };
    Loss { side, pointer, keyword: field.to_owned(), effect: Effect::Untold, reason: "cannot be said".to_owned() }
}
