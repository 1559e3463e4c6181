//! JavaScript names of namespaces and tools.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::literals::is_identifier;
use toolkit::catalog::{ExportedName, ExportedNames};
use toolkit::tool::ToolId;

/// The words that cannot be the name of a function or namespace in strict code.
const RESERVED: [&str; 50] = [
    "__proto__",
    "arguments",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// Names tools by their ids.
pub(super) fn names<'t>(ids: impl IntoIterator<Item = &'t ToolId>) -> ExportedNames {
    let mut namespaces: BTreeMap<Option<&str>, BTreeMap<&str, &ToolId>> = BTreeMap::new();
    for id in ids {
        namespaces.entry(id.namespace()).or_default().insert(id.name(), id);
    }
    // Tools without a namespace are beside the namespaces.
    let mut taken = BTreeSet::new();
    let named = distinct(namespaces.keys().copied().flatten(), &mut taken);
    let mut all = ExportedNames::default();
    for (namespace, tools) in &namespaces {
        let mut none = BTreeSet::new();
        let namespace = namespace.map(|namespace| &named[namespace]);
        let names = distinct(tools.keys().copied(), if namespace.is_none() { &mut taken } else { &mut none });
        all.extend(tools.iter().map(|(name, id)| {
            let exported = ExportedName::new(&names[name], (*id).clone());
            match namespace {
                Some(namespace) => exported.in_namespace(namespace),
                None => exported,
            }
        }));
    }
    all
}

/// Returns an identifier for each name, different from those of the others and from those that are `taken`.
fn distinct<'n>(
    names: impl Iterator<Item = &'n str> + Clone,
    taken: &mut BTreeSet<String>,
) -> HashMap<&'n str, String> {
    let is_kept = |name: &str| is_identifier(name) && !name.contains('$') && !RESERVED.contains(&name);
    let mut found = HashMap::new();
    let mut others = Vec::new();
    for name in names {
        if is_kept(name) && taken.insert(name.to_owned()) {
            found.insert(name, name.to_owned());
        } else {
            others.push(name);
        }
    }
    // The next number for each identifier, so that many equal ones take no quadratic time.
    let mut numbers: HashMap<String, usize> = HashMap::new();
    for name in others {
        let base = identifier(name);
        let number = numbers.entry(base.clone()).or_insert(1);
        let mut candidate = if is_kept(&base) { base.clone() } else { format!("{base}_") };
        while !taken.insert(candidate.clone()) {
            *number += 1;
            candidate = format!("{base}_{number}");
        }
        found.insert(name, candidate);
    }
    found
}

/// Returns the name with `_` for each character that an identifier cannot have.
pub(super) fn identifier(name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() { format!("_{name}") } else { name }
}
