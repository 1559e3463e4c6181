//! The list of published tools.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};
use toolkit::Catalog;
use toolkit::catalog::{Diagnostic, DiagnosticKind};
use toolkit::version::Version;

use crate::wire::SCHEMA;
use crate::{Definition, Naming, OtcId};

/// The published tools of a catalog: all versions of all tools that the format can express.
///
/// # Examples
///
/// ```
/// # use toolkit::{Catalog, Tool};
/// # use toolkit_otc::{Naming, Published};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let catalog = Catalog::new([Tool::builder("add").description("Adds two integers.").build()?])?;
/// let published = Published::new(&catalog, &Naming::new("my-tools", "0.0.0"));
/// assert!(published.diagnostics().is_empty());
/// assert_eq!(published.to_json()["tools"][0]["id"], "my_tools.add@0.0.0");
/// # Ok(())
/// # }
/// ```
pub struct Published {
    /// The versions of each tool in ascending order, by the names of toolkit and tool.
    tools: BTreeMap<(String, String), BTreeMap<Version, PublishedTool>>,
    diagnostics: Vec<Diagnostic>,
}

/// A published tool, with its name in the dispatcher.
pub(crate) struct PublishedTool {
    definition: Definition,
    /// The name of the tool in the dispatcher.
    pub(crate) name: String,
}

/// The maximum number of versions in an error message.
const MAX_NAMED: usize = 16;

impl Published {
    /// Publishes the tools of a catalog.
    #[must_use]
    pub fn new(catalog: &Catalog, naming: &Naming) -> Self {
        let mut tools: BTreeMap<(String, String), BTreeMap<Version, PublishedTool>> = BTreeMap::new();
        let mut diagnostics = Vec::new();
        for tool in catalog {
            let definition = match Definition::from_tool(tool, naming) {
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
                let message = format!("another tool is already published as `{}`", definition.id());
                diagnostics.push(Diagnostic::new(DiagnosticKind::DuplicateId, message, [tool]));
                continue;
            }
            versions.insert(version, PublishedTool { definition, name: tool.id().to_string() });
        }
        Self { tools, diagnostics }
    }

    /// Returns the response to `GET /tools`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({ "$schema": SCHEMA, "tools": self.definitions().collect::<Vec<_>>() })
    }

    /// Returns the diagnostics of the tools that are not published.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Returns the definitions of the published tools, ordered by id.
    pub fn definitions(&self) -> impl Iterator<Item = &Definition> {
        self.tools.values().flat_map(BTreeMap::values).map(|published| &published.definition)
    }

    /// Finds a tool by its id: the exact version, or the latest one if the id has no version.
    ///
    /// # Errors
    ///
    /// Returns a message, and one for developers with the available tools or versions.
    pub(crate) fn resolve(&self, id: &OtcId) -> Result<&PublishedTool, (String, String)> {
        let key = (id.toolkit().to_owned(), id.tool().to_owned());
        let not_found = || format!("tool `{}.{}` was not found", id.toolkit(), id.tool());
        let Some(versions) = self.tools.get(&key) else {
            return Err((not_found(), "`GET /tools` lists all tools".to_owned()));
        };
        let found = match id.version() {
            Some(version) => versions.get(version),
            None => versions.last_key_value().map(|(_, latest)| latest),
        };
        found.ok_or_else(|| {
            let there: Vec<String> = versions.keys().rev().take(MAX_NAMED).map(ToString::to_string).collect();
            (not_found(), format!("`{id}` is not available; available versions: {}", there.join(", ")))
        })
    }
}

impl PublishedTool {
    pub(crate) fn id(&self) -> &OtcId {
        self.definition.id()
    }
}

impl fmt::Debug for Published {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<String> = self.definitions().map(|definition| definition.id().to_string()).collect();
        f.debug_struct("Published").field("tools", &ids).field("diagnostics", &self.diagnostics).finish()
    }
}
