//! The names by which clients call the tools and prompts of servers behind a proxy.
//!
//! Both `bank:prod_pay` and `bank_prod:pay` would be listed as `bank_prod_pay`. If one of them had the name, it would get the
//! calls and the approvals that are meant for the other one, so both have a suffix, and a call by the shared name is an error.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use toolkit::ToolId;
use toolkit::catalog::Naming;

/// The names that are claimed by the servers behind a proxy.
#[derive(Clone, Debug, Default)]
pub(super) struct NameClaims {
    /// The names of what each namespace lists or has listed, with and without their suffixes.
    of: HashMap<String, HashSet<String>>,
    /// What the plain names of servers start with whose lists are not known yet, with their namespaces.
    unknown: Vec<(String, String)>,
    /// True if the list of a server without a prefix is not known yet, whose names start with anything.
    has_unknown_without_prefix: bool,
    /// The namespaces whose tools are listed without the namespace.
    without_prefix: HashSet<String>,
    /// True if names are assigned for a proxy. Otherwise all tools are those of the program, which reports equal names.
    is_proxy: bool,
}

/// What the names of tools and prompts depend on, beside their ids.
#[derive(Clone, Debug, Default)]
pub(super) struct Claims {
    pub(super) tools: NameClaims,
    pub(super) prompts: NameClaims,
    /// The ids of the program's own tools.
    pub(super) own: Arc<HashSet<ToolId>>,
}

impl Claims {
    pub(super) fn is_own(&self, id: &ToolId) -> bool {
        self.own.contains(id)
    }
}

/// The listed names of some tools or prompts.
#[derive(Debug, Default)]
pub(super) struct ListedNames {
    of: HashMap<ToolId, String>,
    /// Those with a suffix, by the name that they would have without one.
    shared: HashMap<String, Vec<ToolId>>,
}

/// The maximum length of a name with a suffix, which every client accepts.
const MAX_LEN: usize = 64;

/// The number of remembered names of a namespace that are no longer listed, beside as many as are listed.
const MAX_GONE: usize = 1_000;

impl NameClaims {
    /// Records what the servers behind a proxy list now. `unknown` are the servers whose lists have never been known.
    ///
    /// A name of the past stays claimed: otherwise a server would take it over when another one fails.
    pub(super) fn record<'t>(
        &mut self,
        naming: Naming,
        listed: impl Iterator<Item = &'t ToolId>,
        servers: &[String],
        unknown: impl Iterator<Item = &'t String>,
        without_prefix: &[String],
    ) {
        self.without_prefix = without_prefix.iter().cloned().collect();
        let mut now: HashMap<String, HashSet<String>> = HashMap::new();
        for id in listed {
            now.entry(namespace(id).to_owned())
                .or_default()
                .extend([self.wire_name(naming, id), self.suffixed(naming, id)]);
        }
        self.of.retain(|namespace, _| now.contains_key(namespace) || servers.contains(namespace));
        for (namespace, names) in now {
            let known = self.of.entry(namespace).or_default();
            // Of this namespace only, so that a long list of one server removes no claim of another one.
            if known.len() > 2 * names.len() + MAX_GONE {
                known.clear();
            }
            known.extend(names);
        }
        let prefix = |server: &String| (format!("{}_", server.replace('.', "_")), server.clone());
        let (without, unknown): (Vec<_>, Vec<_>) = unknown.partition(|server| self.without_prefix.contains(*server));
        self.has_unknown_without_prefix = !without.is_empty();
        let unknown = unknown.into_iter();
        self.unknown = if naming == Naming::NamespaceName { unknown.map(prefix).collect() } else { Vec::new() };
        self.is_proxy = true;
    }

    /// Returns the form of the name of a tool or prompt.
    fn naming(&self, naming: Naming, id: &ToolId) -> Naming {
        if self.without_prefix.contains(namespace(id)) { Naming::Name } else { naming }
    }

    /// Returns the name that clients call if no other server claims it.
    fn wire_name(&self, naming: Naming, id: &ToolId) -> String {
        self.naming(naming, id).wire_name(id)
    }

    fn suffixed(&self, naming: Naming, id: &ToolId) -> String {
        suffixed(self.naming(naming, id), id)
    }

    /// Returns the namespace that claims each name, or `None` if several do.
    fn by_name(&self) -> HashMap<&str, Option<&str>> {
        let mut claimed: HashMap<&str, Option<&str>> = HashMap::new();
        for (namespace, names) in &self.of {
            for name in names {
                claimed.entry(name).and_modify(|other| *other = None).or_insert(Some(namespace));
            }
        }
        claimed
    }

    /// Returns true if another server lists the name, has listed it, or may list it as soon as its list is known.
    pub(super) fn may_be_of_another(&self, namespace: &str, name: &str) -> bool {
        self.has_unknown_without_prefix
            || self.may_be_claimed(namespace, name)
            || self.of.iter().any(|(other, names)| other != namespace && names.contains(name))
    }

    /// Returns true if another server may list the name as soon as its list is known.
    fn may_be_claimed(&self, namespace: &str, name: &str) -> bool {
        self.unknown.iter().any(|(prefix, other)| other != namespace && name.starts_with(&**prefix))
    }
}

impl ListedNames {
    /// Names tools or prompts. The program's own keep their plain names.
    ///
    /// The others do if no other namespace claims the name. Of those in one namespace that would share a name, the one
    /// that has it without a change does.
    pub(super) fn new<'t>(
        naming: Naming,
        ids: impl Iterator<Item = &'t ToolId>,
        is_own: impl Fn(&ToolId) -> bool,
        claims: &NameClaims,
    ) -> Self {
        let ids: Vec<(&ToolId, String)> = ids.map(|id| (id, claims.wire_name(naming, id))).collect();
        if !claims.is_proxy {
            let of = ids.into_iter().map(|(id, name)| (id.clone(), name)).collect();
            return Self { of, shared: HashMap::new() };
        }
        let mut n_named: HashMap<(&str, &str), usize> = HashMap::new();
        let mut taken: HashSet<String> = HashSet::new();
        for (id, name) in &ids {
            *n_named.entry((namespace(id), name)).or_default() += 1;
            // Those of other namespaces are claimed.
            taken.insert(if is_own(id) { name.clone() } else { claims.suffixed(naming, id) });
        }
        let claimed = claims.by_name();
        let mut names = Self::default();
        for (id, name) in &ids {
            let namespace = namespace(id);
            let is_only = claimed.get(&**name).is_none_or(|claiming| *claiming == Some(namespace));
            let is_exact = !id.name().contains('.') || n_named[&(namespace, &**name)] == 1;
            let is_free = is_only && is_exact && !taken.contains(name) && !claims.may_be_claimed(namespace, name);
            let keeps = is_own(id) || is_free;
            let listed = if keeps { name.clone() } else { claims.suffixed(naming, id) };
            if !keeps {
                names.shared.entry(name.clone()).or_default().push((*id).clone());
            }
            names.of.insert((*id).clone(), listed);
        }
        names
    }

    pub(super) fn get(&self, id: &ToolId) -> Option<&String> {
        self.of.get(id)
    }

    /// Returns the names with a suffix of what would have this name without one, with the ids.
    pub(super) fn sharing(&self, name: &str) -> Option<String> {
        let ids = self.shared.get(name)?;
        let shown = ids.iter().filter_map(|id| Some(format!("`{}` (`{}`)", self.get(id)?, id.unversioned())));
        Some(shown.take(MAX_SHOWN).collect::<Vec<_>>().join(" or "))
    }
}

/// The number of tools that an error names.
const MAX_SHOWN: usize = 4;

fn namespace(id: &ToolId) -> &str {
    id.namespace().unwrap_or_default()
}

/// Returns the listed name of a tool whose plain name is shared. It depends on the id alone.
pub(super) fn suffixed(naming: Naming, id: &ToolId) -> String {
    let suffix = format!("_{:08x}", hash(&id.unversioned().to_string()));
    let mut name = naming.wire_name(id);
    name.truncate(MAX_LEN - suffix.len());
    name + &suffix
}

/// Hashes a text (FNV-1a), to the same number in every build.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
