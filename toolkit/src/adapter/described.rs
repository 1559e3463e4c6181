//! A tool in the words of a target, and what those cannot say.

use serde_json::Value;

use super::loss::{Effect, Loss, Side};
use super::request::{self, Member, RequestLimits, Usage};
use crate::catalog::{Catalog, Naming, Problems};
use crate::schema::child;
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
    /// Nothing yet.
    pub(super) fn empty() -> Self {
        Self { json: Value::Null, losses: Vec::new(), not_strict: Vec::new(), usage: Vec::new() }
    }

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
        let mut export = Self { usage: request::of_all(limits, &members), ..Self::empty() };
        let tools = members.into_iter().map(|member| export.take(member)).collect();
        export.with(tools)
    }

    /// Remembers what is lost of a tool; what is left is its JSON.
    pub(super) fn take(&mut self, Member { tool, described, .. }: Member<'_>) -> Value {
        self.losses.push((tool.id().clone(), described.losses));
        if !described.not_strict.is_empty() {
            self.not_strict.push((tool.id().clone(), described.not_strict));
        }
        described.json
    }

    /// With the tools as they were described.
    pub(super) fn with(self, tools: Vec<Value>) -> Self {
        let mut json = Value::Array(tools);
        json.sort_all_objects();
        Self { json, ..self }
    }
}

/// Tells where a name is written otherwise, so that another tool's could have come out the same.
pub(super) fn named(mut described: Described, tool: &Tool, name: &str) -> Described {
    if !name.ends_with(tool.name()) {
        let reason = format!("is written as `{name}`");
        described.losses.insert(0, Loss::new(Side::Record, "/name", "name", Effect::Untold, reason));
    }
    described
}

/// What a model reads of a tool; where the tool is on its way out, that too, as the last paragraph.
#[must_use]
pub fn description(tool: &Tool) -> String {
    let text = tool.description();
    match tool.deprecated() {
        Some(instead) => format!("{}\n\nDeprecated: {instead}", text.trim_end()),
        None => text.to_owned(),
    }
}

/// What a provider is given for a description: that or, failing it, the title; nothing, where there is neither.
pub(super) fn described(tool: &Tool) -> Option<String> {
    let text = description(tool);
    let text = if text.trim().is_empty() { tool.title().unwrap_or_default().to_owned() } else { text };
    (!text.is_empty()).then_some(text)
}

/// A loss for each field that a tool has and its target has no words for; `said` are those that it has words for.
///
/// Fields are called as in [`Tool::to_json`]. Of the input schema nothing is said here: [`lower`](super::lower) tells
/// what is lost of it. A field that is `null` says nothing.
///
/// ```
/// # use toolkit::Tool;
/// # use toolkit::adapter::unsaid;
/// let tool = Tool::builder("add").version("1.0.0").tags(["sum"]).build()?;
/// let losses: Vec<String> = unsaid(&tool, &["version"]).iter().map(ToString::to_string).collect();
/// assert_eq!(losses, ["`tags` cannot be said"]);
/// # Ok::<(), toolkit::catalog::Problems>(())
/// ```
#[must_use]
pub fn unsaid(tool: &Tool, said: &[&str]) -> Vec<Loss> {
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
    let lost = fields.into_iter().chain(unknown).filter(|(field, has)| *has && !said.contains(field));
    let mut losses: Vec<Loss> = lost.map(|(field, _)| loss(Side::Record, field)).collect();
    if tool.output().is_some() && !said.contains(&"outputSchema") {
        losses.push(loss(Side::Output, "outputSchema"));
    }
    losses
}

/// That a target has no word for a field, or for a whole side.
pub(super) fn loss(side: Side, field: &str) -> Loss {
    let pointer = if side == Side::Record { child("", field) } else { String::new() };
    Loss::new(side, pointer, field, Effect::Untold, "cannot be said")
}
