//! The tools that are offered, by their ids.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::json;
use toolkit::Catalog;
use toolkit::catalog::{Problem, ProblemKind};
use toolkit::version::Version;

use crate::wire::SCHEMA;
use crate::{Definition, Naming, OtcId};

/// The tools that are offered.
pub(super) struct Published {
    /// By toolkit and tool, each with its versions in ascending order.
    tools: BTreeMap<(String, String), BTreeMap<Version, Offered>>,
    /// The answer to `GET /tools`.
    list: Bytes,
    problems: Vec<Problem>,
}

/// A tool that is offered, and by which name the dispatcher knows it.
pub(super) struct Offered {
    definition: Definition,
    name: String,
}

/// How many versions a message names.
const MAX_NAMED: usize = 16;

impl Published {
    pub(super) fn of(catalog: &Catalog, naming: &Naming) -> Self {
        let mut tools: BTreeMap<(String, String), BTreeMap<Version, Offered>> = BTreeMap::new();
        let mut problems = Vec::new();
        for tool in catalog {
            let definition = match Definition::of(tool, naming) {
                Ok(definition) => definition,
                Err(wrong) => {
                    problems.extend(wrong.iter().cloned());
                    continue;
                }
            };
            let Some(version) = definition.id().version().cloned() else { continue };
            let id = (definition.id().toolkit().to_owned(), definition.id().tool().to_owned());
            let versions = tools.entry(id).or_default();
            if versions.contains_key(&version) {
                let message = format!("another tool has the id `{}`, which this one would have too", definition.id());
                problems.push(Problem::new(ProblemKind::DuplicateId, message, [tool]));
                continue;
            }
            versions.insert(version, Offered { definition, name: tool.id().to_string() });
        }
        let listed: Vec<&Definition> = tools.values().flat_map(BTreeMap::values).map(|tool| &tool.definition).collect();
        let list = json!({ "$schema": SCHEMA, "tools": listed }).to_string().into();
        Self { tools, list, problems }
    }

    pub(super) fn list(&self) -> Bytes {
        self.list.clone()
    }

    pub(super) fn problems(&self) -> &[Problem] {
        &self.problems
    }

    pub(super) fn definitions(&self) -> impl Iterator<Item = &Definition> {
        self.tools.values().flat_map(BTreeMap::values).map(|offered| &offered.definition)
    }

    /// The tool of an id: exactly the version that it has, or the latest where it has none.
    ///
    /// # Errors
    ///
    /// There is none: a message, and what there is instead.
    pub(super) fn resolve(&self, id: &OtcId) -> Result<&Offered, (String, String)> {
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
    pub(super) fn id(&self) -> &OtcId {
        self.definition.id()
    }

    /// By which name the dispatcher knows it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}
