//! A dispatcher as clients see it: which of its tools, under which names.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use toolkit::adapter::mcp::{META_KEY, Revision, list_tools};
use toolkit::catalog::{Diagnostic, DiagnosticKind, Diagnostics, Naming, WireNames};
use toolkit::discovery::Index;
use toolkit::{Dispatcher, Tool};

use super::filter::Filter;
use super::metrics::{CallMetrics, Metrics};
use super::mirror::Mirrored;
use super::reply::json_bytes;

/// A dispatcher as clients see it. It does not change; a server changes by having another.
pub(super) struct Served {
    pub(super) dispatcher: Dispatcher,
    /// In the order of the catalogue.
    pub(super) offers: Vec<Offer>,
    by_name: HashMap<String, usize>,
    /// Each tool as `tools/list` shows it, by revision.
    listed: [OnceLock<Vec<Vec<u8>>>; 2],
    naming: Naming,
    /// What `search_tools` looks in; built when somebody first searches.
    index: OnceLock<Index>,
}

/// A tool that is served.
pub(super) struct Offer {
    pub(super) name: String,
    /// The whole id, which means this version and no other.
    pub(super) id: String,
    pub(super) mirrored: Vec<Mirrored>,
    pub(super) has_requirements: bool,
    pub(super) metrics: Arc<CallMetrics>,
}

impl Served {
    pub(super) fn new(
        dispatcher: Dispatcher,
        naming: Naming,
        filter: &Filter,
        metrics: &Metrics,
    ) -> Result<Self, ServeError> {
        let catalog = dispatcher.catalog();
        // Checks the catalogue too, so that a list can be written whenever it is asked for.
        let list = list_tools(catalog, Revision::V2026_07_28, naming).map_err(ServeError::Catalog)?;
        let names = WireNames::of(catalog, naming).map_err(ServeError::Catalog)?;
        let (mut offers, mut listed, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
        let tools = list["tools"].as_array().into_iter().flatten();
        for ((name, tool), shown) in std::iter::zip(names.iter(), tools) {
            if !filter.admits(tool) {
                continue;
            }
            let id = tool.id().to_string();
            debug_assert_eq!(shown["_meta"][META_KEY]["id"], *id);
            let mirrored = Mirrored::all_of(&shown["inputSchema"]).unwrap_or_else(|reason| {
                wrong.push(Diagnostic::new(DiagnosticKind::InvalidSchema, format!("`{id}`: {reason}"), [tool]));
                Vec::new()
            });
            offers.push(Offer {
                name: name.to_owned(),
                mirrored,
                has_requirements: !tool.requirements().is_empty(),
                metrics: metrics.of_tool(&id),
                id,
            });
            listed.push(json_bytes(shown));
        }
        if !wrong.is_empty() {
            return Err(ServeError::Headers(wrong));
        }
        let by_name = offers.iter().enumerate().map(|(idx, offer)| (offer.name.clone(), idx)).collect();
        Ok(Self {
            dispatcher,
            offers,
            by_name,
            listed: [OnceLock::new(), OnceLock::from(listed)],
            naming,
            index: OnceLock::new(),
        })
    }

    /// The tool that clients call so.
    pub(super) fn get(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    pub(super) fn tool(&self, offer: &Offer) -> &Tool {
        self.dispatcher.catalog().get(&offer.id).expect("the catalogue has what was found in it")
    }

    pub(super) fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::of(self.offers.iter().map(|offer| self.tool(offer))))
    }

    /// Whether clients see the same here as there.
    pub(super) fn looks_like(&self, other: &Self) -> bool {
        self.listed(Revision::V2026_07_28) == other.listed(Revision::V2026_07_28)
    }

    /// Each tool as a client of `revision` sees it, as JSON, in the order of the offers.
    pub(super) fn listed(&self, revision: Revision) -> &[Vec<u8>] {
        let nth = usize::from(revision != Revision::V2025_11_25);
        self.listed[nth].get_or_init(|| {
            let list = list_tools(self.dispatcher.catalog(), revision, self.naming);
            let list = list.expect("what could be listed for one revision can be for the other");
            let tools = list["tools"].as_array().into_iter().flatten();
            let is_offered =
                |shown: &&serde_json::Value| shown["name"].as_str().is_some_and(|name| self.by_name.contains_key(name));
            tools.filter(is_offered).map(json_bytes).collect()
        })
    }

    /// Returns the name nearest to `typed`, if it is near enough to be a mistake for it ("did you mean"). A tool is also
    /// found by its name without the namespace.
    pub(super) fn nearest(&self, typed: &str) -> Option<&str> {
        if typed.len() > 128 {
            return None;
        }
        let distance = |name: &str| {
            let distance = strsim::osa_distance(typed, name);
            (distance <= name.len() / 3 + 1 && distance < name.len()).then_some(distance)
        };
        let near = self.offers.iter().filter_map(|offer| {
            let distances = [distance(&offer.name), distance(self.tool(offer).name())];
            Some((distances.into_iter().flatten().min()?, &*offer.name))
        });
        near.min().map(|(_, name)| name)
    }
}

/// Why a dispatcher cannot be served.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// Its catalogue cannot be listed; see [`list_tools`].
    Catalog(Diagnostics),
    /// Tools with an `x-mcp-header` that clients must not accept: they would leave the tools out.
    Headers(Vec<Diagnostic>),
}

impl ServeError {
    /// What is wrong with which tools.
    pub fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        match self {
            ServeError::Catalog(diagnostics) => diagnostics.iter(),
            ServeError::Headers(diagnostics) => diagnostics.iter(),
        }
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::Catalog(diagnostics) => diagnostics.fmt(f),
            ServeError::Headers(diagnostics) => {
                let messages: Vec<&str> = diagnostics.iter().map(Diagnostic::message).collect();
                f.write_str(&messages.join("\n"))
            }
        }
    }
}

impl std::error::Error for ServeError {}

impl From<Diagnostics> for ServeError {
    fn from(diagnostics: Diagnostics) -> Self {
        ServeError::Catalog(diagnostics)
    }
}
