//! A catalogue as Open Tool Calling lists it.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};
use toolkit::Catalog;
use toolkit::catalog::{Diagnostic, DiagnosticKind};
use toolkit::version::Version;

use crate::wire::SCHEMA;
use crate::{Definition, Naming, OtcId};

/// A catalogue as Open Tool Calling lists it: every version of every tool that can be said.
///
/// ```
/// # use toolkit::{Catalog, Tool};
/// # use toolkit_otc::{Naming, Published};
/// let catalog = Catalog::new([Tool::builder("add").description("Adds two integers.").build()?])?;
/// let published = Published::of(&catalog, &Naming::new("my-tools", "0.0.0"));
/// assert!(published.diagnostics().is_empty());
/// assert_eq!(published.to_json()["tools"][0]["id"], "my_tools.add@0.0.0");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Published {
    /// By toolkit and tool, each with its versions in ascending order.
    tools: BTreeMap<(String, String), BTreeMap<Version, Offered>>,
    diagnostics: Vec<Diagnostic>,
}

/// A tool that is offered, and by which name the dispatcher knows it.
pub(crate) struct Offered {
    definition: Definition,
    name: String,
}

/// How many versions a message names.
const MAX_NAMED: usize = 16;

impl Published {
    /// Lists the tools of a catalogue.
    #[must_use]
    pub fn of(catalog: &Catalog, naming: &Naming) -> Self {
        let mut tools: BTreeMap<(String, String), BTreeMap<Version, Offered>> = BTreeMap::new();
        let mut diagnostics = Vec::new();
        for tool in catalog {
            let definition = match Definition::of(tool, naming) {
                Ok(definition) => definition,
                Err(wrong) => {
                    diagnostics.extend(wrong.iter().cloned());
                    continue;
                }
            };
            let Some(version) = definition.id().version().cloned() else { continue };
            let id = (definition.id().toolkit().to_owned(), definition.id().tool().to_owned());
            let versions = tools.entry(id).or_default();
            if versions.contains_key(&version) {
                let message = format!("another tool has the id `{}`, which this one would have too", definition.id());
                diagnostics.push(Diagnostic::new(DiagnosticKind::DuplicateId, message, [tool]));
                continue;
            }
            versions.insert(version, Offered { definition, name: tool.id().to_string() });
        }
        Self { tools, diagnostics }
    }

    /// The answer to `GET /tools`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({ "$schema": SCHEMA, "tools": self.definitions().collect::<Vec<_>>() })
    }

    /// What is wrong with the tools that are left out.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The tools, in the order of their ids.
    pub fn definitions(&self) -> impl Iterator<Item = &Definition> {
        self.tools.values().flat_map(BTreeMap::values).map(|offered| &offered.definition)
    }

    /// The tool of an id: exactly the version that it has, or the latest where it has none.
    ///
    /// # Errors
    ///
    /// There is none: a message, and what there is instead.
    pub(crate) fn resolve(&self, id: &OtcId) -> Result<&Offered, (String, String)> {
        let key = (id.toolkit().to_owned(), id.tool().to_owned());
        let not_found = || format!("tool `{}.{}` was not found", id.toolkit(), id.tool());
        let Some(versions) = self.tools.get(&key) else {
            return Err((not_found(), "`GET /tools` has all tools".to_owned()));
        };
        let found = match id.version() {
            Some(version) => versions.get(version),
            None => versions.last_key_value().map(|(_, latest)| latest),
        };
        found.ok_or_else(|| {
            let there: Vec<String> = versions.keys().rev().take(MAX_NAMED).map(ToString::to_string).collect();
            (not_found(), format!("`{id}` is not available; there is {}", there.join(", ")))
        })
    }
}

impl Offered {
    pub(crate) fn id(&self) -> &OtcId {
        self.definition.id()
    }

    /// By which name the dispatcher knows it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Debug for Published {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<String> = self.definitions().map(|definition| definition.id().to_string()).collect();
        f.debug_struct("Published").field("tools", &ids).field("diagnostics", &self.diagnostics).finish()
    }
}
