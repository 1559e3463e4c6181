//! A tool in the words of a target, and what those cannot say.

use serde_json::Value;

use super::loss::{Effect, Loss, Side};
use super::request::{self, Member, RequestLimits, Usage};
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
    /// How much of the target's limits the catalogue uses up; what is wanted, where some tools had to give up strict mode.
    pub usage: Vec<Usage>,
}

impl Export {
    /// The highest version of every tool, in the order of their ids, each as `describe` has it under its wire name.
    pub(super) fn of(
        catalog: &Catalog,
        naming: Naming,
        limits: &RequestLimits,
        describe: impl Fn(&Tool, &str) -> Described,
    ) -> Result<Self, Problems> {
        let names = catalog.listed(naming)?;
        Ok(Self::of_members(limits, Member::all(&names, describe)))
    }

    /// The tools as they are described.
    pub(super) fn of_members(limits: &RequestLimits, members: Vec<Member<'_>>) -> Self {
        let usage = request::of_all(limits, &members);
        let (mut tools, mut losses, mut not_strict) = (Vec::new(), Vec::new(), Vec::new());
        for Member { tool, described, .. } in members {
            tools.push(described.json);
            losses.push((tool.id().clone(), described.losses));
            if !described.not_strict.is_empty() {
                not_strict.push((tool.id().clone(), described.not_strict));
            }
        }
        let mut json = Value::Array(tools);
        json.sort_all_objects();
        Self { json, losses, not_strict, usage }
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
