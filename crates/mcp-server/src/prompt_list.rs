//! The list of served prompts, with their names on the wire.

use std::collections::{BTreeMap, HashSet};
use std::ops::Bound;

use toolkit::catalog::{Diagnostic, DiagnosticKind, Diagnostics, Naming};
use toolkit::prompt::Prompt;
use toolkit::schema::shown_id;
use toolkit::{Dispatcher, ToolId};
use toolkit_mcp::json_bytes;

use super::filter::Filter;
use super::listed_names::{ListedNames, NameClaims};

/// The served prompts, by their names on the wire.
#[derive(Default)]
pub(super) struct ServedPrompts {
    served: BTreeMap<String, ServedPrompt>,
    names: ListedNames,
}

struct ServedPrompt {
    prompt: Prompt,
    /// The entry of `prompts/list`.
    listed: Vec<u8>,
}

impl ServedPrompts {
    /// Lists the prompts of a dispatcher that pass the filter.
    ///
    /// # Errors
    ///
    /// Returns the prompts of this program that would share a name on the wire. One of a backend is left out.
    pub(super) fn new(
        dispatcher: &Dispatcher,
        naming: Naming,
        filter: &Filter,
        claims: &NameClaims,
    ) -> Result<Self, Diagnostics> {
        let mut served: BTreeMap<String, ServedPrompt> = BTreeMap::new();
        let is_own = |prompt: &Prompt| prompt.tool().location().is_some();
        let admitted = dispatcher.catalog().latest_prompts().filter(|prompt| filter.admits(prompt.tool()));
        let (own, foreign): (Vec<&Prompt>, Vec<&Prompt>) = admitted.partition(|prompt| is_own(prompt));
        let own_ids: HashSet<&ToolId> = own.iter().map(|prompt| prompt.id()).collect();
        let ids = own.iter().chain(&foreign).map(|prompt| prompt.id());
        let names = ListedNames::new(naming, ids, |id| own_ids.contains(id), claims);
        for prompt in own.into_iter().chain(foreign) {
            let Some(name) = names.get(prompt.id()).cloned() else { continue };
            match served.get(&name) {
                None => {
                    let listed = json_bytes(&prompt.to_mcp_json(&name));
                    served.insert(name, ServedPrompt { prompt: prompt.clone(), listed });
                }
                Some(other) => {
                    let ids = [other.prompt.id(), prompt.id()].map(shown_id);
                    let message = format!("`{}` and `{}` would share the name `{name}`; rename one", ids[0], ids[1]);
                    if is_own(prompt) {
                        let tools = [other.prompt.tool(), prompt.tool()];
                        let diagnostic = Diagnostic::new(DiagnosticKind::WireName, message, tools);
                        return Err(diagnostic.into());
                    }
                    tracing::warn!(prompt = %prompt.id(), "a prompt is left out: {message}");
                }
            }
        }
        Ok(Self { served, names })
    }

    /// Returns the message about a name that several prompts would have, which is that of none.
    pub(super) fn shared_name(&self, name: &str) -> Option<String> {
        let others = self.names.sharing(name)?;
        Some(format!("several prompts could have the name `{name}`; get {others}"))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.served.is_empty()
    }

    /// Returns true if both lists are equal for clients.
    pub(super) fn looks_like(&self, other: &Self) -> bool {
        self.served.len() == other.served.len()
            && std::iter::zip(&self.served, &other.served).all(|(one, other)| one.1.listed == other.1.listed)
    }

    /// Returns the prompt with a name on the wire.
    pub(super) fn get(&self, name: &str) -> Option<&Prompt> {
        self.served.get(name).map(|served| &served.prompt)
    }

    /// Returns the entries of a page after a name, and the last name unless it is the last page.
    pub(super) fn page(&self, after: Option<&str>, size: usize) -> (Vec<&[u8]>, Option<&str>) {
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest = self.served.range::<str, _>((start, Bound::Unbounded));
        let page: Vec<(&String, &ServedPrompt)> = rest.by_ref().take(size).collect();
        let last = page.last().map(|(name, _)| name.as_str()).filter(|_| rest.next().is_some());
        (page.iter().map(|(_, prompt)| &*prompt.listed).collect(), last)
    }
}
