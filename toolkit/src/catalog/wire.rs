//! The names under which clients and providers see tools.

use std::collections::BTreeMap;

use super::Catalog;
use super::problem::{Problem, ProblemKind, Problems};
use crate::tool::{Tool, ToolId};

/// How a tool's id becomes the one name that a protocol has room for.
///
/// One policy holds for a whole catalogue, so that no tool's name changes because another one appeared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Naming {
    /// The bare name.
    #[default]
    Name,
    /// `namespace_name`, or the bare name where there is no namespace.
    NamespaceName,
}

/// The longest name that every client and provider takes.
const MAX_WIRE_NAME_LEN: usize = 64;

impl Naming {
    /// The name of `id` on the wire; `.` becomes `_`.
    #[must_use]
    pub fn wire_name(self, id: &ToolId) -> String {
        let name = match (self, id.namespace()) {
            (Naming::NamespaceName, Some(namespace)) => format!("{namespace}_{}", id.name()),
            _ => id.name().to_owned(),
        };
        name.replace('.', "_")
    }
}

/// One name for each tool of a catalogue, and the way back.
#[derive(Clone, Debug)]
pub struct WireNames<'c> {
    tools: BTreeMap<String, &'c Tool>,
}

impl<'c> WireNames<'c> {
    /// Names the highest version of each tool.
    ///
    /// # Errors
    ///
    /// Every pair of tools that would get one name, and every name outside `[A-Za-z_][A-Za-z0-9_-]{0,63}`, which is
    /// what all known clients and providers take.
    pub fn of(catalog: &'c Catalog, naming: Naming) -> Result<Self, Problems> {
        let mut tools: BTreeMap<String, &Tool> = BTreeMap::new();
        let mut problems = Vec::new();
        for tool in catalog.latest() {
            let name = naming.wire_name(tool.id());
            if !is_portable(&name) {
                let message = format!(
                    "`{name}` is no name that every client takes; it starts with a letter or `_`, goes on with letters, \
                     digits, `_` and `-`, and has at most {MAX_WIRE_NAME_LEN} characters"
                );
                problems.push(Problem::new(ProblemKind::WireName, message, [tool]));
            }
            match tools.get(&name) {
                Some(other) => {
                    let way_out = match naming {
                        Naming::Name => "name them by `namespace_name`",
                        Naming::NamespaceName => "rename one",
                    };
                    let message = format!("two tools would be called `{name}`; {way_out}");
                    problems.push(Problem::new(ProblemKind::WireName, message, [*other, tool]));
                }
                None => {
                    tools.insert(name, tool);
                }
            }
        }
        Problems::none_or(problems)?;
        Ok(Self { tools })
    }

    /// The tool that a client means by `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'c Tool> {
        self.tools.get(name).copied()
    }

    /// Names and tools, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'c Tool)> {
        self.tools.iter().map(|(name, tool)| (&**name, *tool))
    }
}

fn is_portable(name: &str) -> bool {
    name.len() <= MAX_WIRE_NAME_LEN
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}
