//! Skills made of the documentation of functions.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Weak};

use toolkit::call::{BoxFuture, Context, ToolError};
use toolkit::resource::{Resource, ResourceContents, Resources, Skill};

use super::served::{ServedTool, ServedTools};
use super::skill_set::{MAX_DESCRIPTION, MAX_NAME, SkillSet};
use super::state::ServerState;

/// A skill for each namespace of the functions that a server serves at the moment.
pub(super) struct ToolSkills(Weak<ServerState>);

/// The name of the skill of tools without a namespace.
const WITHOUT_NAMESPACE: &str = "tools";

impl ToolSkills {
    /// Adds the skills to a server.
    pub(super) fn add_to(server: &Arc<ServerState>) {
        server.resources.set_own(Arc::new(Self(Arc::downgrade(server))));
    }

    fn current(&self) -> Result<SkillSet, ToolError> {
        self.0.upgrade().map_or_else(|| Ok(SkillSet::new()), |server| skills(&server.served()))
    }
}

fn skills(served: &ServedTools) -> Result<SkillSet, ToolError> {
    let mut by_name: BTreeMap<String, Vec<&ServedTool>> = BTreeMap::new();
    // The texts of other programs are not instructions.
    for entry in served.entries.iter().filter(|entry| served.tool(entry).is_linked()) {
        let namespace = served.tool(entry).id().namespace().unwrap_or(WITHOUT_NAMESPACE);
        by_name.entry(skill_name(namespace)).or_default().push(entry);
    }
    by_name.iter().try_fold(SkillSet::new(), |skills, (name, entries)| {
        skills.with(name, &description(served, entries), &text(served, entries)).map_err(ToolError::internal)
    })
}

/// Returns the name of the skill of a namespace: lowercase letters and digits, with single hyphens between them.
fn skill_name(namespace: &str) -> String {
    let lower = namespace.to_ascii_lowercase();
    let parts = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    let mut name = parts.collect::<Vec<_>>().join("-");
    name.truncate(MAX_NAME);
    match name.trim_end_matches('-') {
        "" => WITHOUT_NAMESPACE.to_owned(),
        name => name.to_owned(),
    }
}

/// Returns the tools with what they do, as many as a description may have.
fn description(served: &ServedTools, entries: &[&ServedTool]) -> String {
    let mut text = "How to use ".to_owned();
    for (nth, entry) in entries.iter().enumerate() {
        let separator = if nth == 0 { "" } else { "; " };
        let part = format!("{separator}{}: {}", entry.name, served.tool(entry).summary());
        if text.len() + part.len() > MAX_DESCRIPTION {
            let shown: String = text.chars().chain(part.chars()).take(MAX_DESCRIPTION - 1).collect();
            return format!("{shown}…");
        }
        text.push_str(&part);
    }
    text
}

/// Returns the documentation of the tools, with examples of their arguments.
fn text(served: &ServedTools, entries: &[&ServedTool]) -> String {
    let mut text = String::new();
    for entry in entries {
        let tool = served.tool(entry);
        // Writing to a string cannot fail.
        let _ = write!(text, "# `{}`\n\n{}\n\n", entry.name, tool.full_description());
        for example in tool.examples() {
            let _ = write!(text, "Example of arguments: `{example}`\n\n");
        }
    }
    text
}

impl Resources for ToolSkills {
    fn list<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<Vec<Resource>, ToolError>> {
        Box::pin(async { self.current()?.list(context).await })
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Vec<ResourceContents>>, ToolError>> {
        Box::pin(async { self.current()?.read(uri, context).await })
    }

    fn has_skills(&self) -> bool {
        true
    }

    fn skills<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<Vec<Skill>, ToolError>> {
        Box::pin(async { self.current()?.skills(context).await })
    }
}
