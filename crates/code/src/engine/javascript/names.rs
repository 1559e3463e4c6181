//! The names by which a program calls tools.

use std::collections::BTreeMap;

use toolkit::schema::suggest::nearest;

/// The number of names that a message lists.
const LISTED: usize = 8;

/// The functions of a program by their paths, such as `math.add`, which form a tree.
#[derive(Default)]
pub(super) struct Names(BTreeMap<String, String>);

impl Names {
    pub(super) fn new(functions: BTreeMap<String, String>) -> Self {
        Self(functions)
    }

    /// Returns the size of all names in bytes, roughly.
    pub(super) fn size(&self) -> usize {
        64 * self.0.len()
    }

    /// Returns the id of the tool at a path.
    pub(super) fn tool(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// Returns true if something is at a path.
    pub(super) fn exists(&self, path: &str) -> bool {
        self.0.contains_key(path) || self.has_members(path)
    }

    /// Returns true if paths begin with this one.
    pub(super) fn has_members(&self, path: &str) -> bool {
        self.below(path).next().is_some()
    }

    /// Returns the names in a namespace, sorted.
    pub(super) fn members(&self, path: &str) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.below(path).map(|rest| rest.split_once('.').map_or(rest, |(name, _)| name)).collect();
        names.dedup();
        names
    }

    /// Returns the paths below one, without it.
    fn below<'a>(&'a self, path: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let prefix = if path.is_empty() { String::new() } else { format!("{path}.") };
        self.0
            .range(prefix.clone()..)
            .map(move |(name, _)| name.strip_prefix(&*prefix))
            .take_while(Option::is_some)
            .flatten()
    }

    /// Returns a path as a program writes it, whose last name is `name`.
    pub(super) fn named(&self, name: &str) -> Option<String> {
        let mut paths = self.0.keys().filter(|path| path.rsplit_once('.').is_some_and(|(_, last)| last == name));
        paths.next().map(|path| shown(path))
    }

    /// Returns the message for a path without a tool.
    pub(super) fn unknown(&self, path: &str) -> String {
        if self.has_members(path) {
            return format!("{} is a namespace and not a tool; it has {}", shown(path), self.listed(path));
        }
        let (parent, name) = path.rsplit_once('.').unwrap_or(("", path));
        if let Some(near) = self.nearest(path, parent, name) {
            return format!("{} is not a tool; did you mean {}?", shown(path), shown(near));
        }
        let near = nearest(path, self.members("").into_iter().filter(|name| self.has_members(name)));
        match near.unwrap_or(parent) {
            "" if self.0.is_empty() => format!("{} is not a tool; this program may call no tools", shown(path)),
            space if self.has_members(space) => format!(
                "{} is not a tool; {} has {}; `await search(\"words\")` finds tools",
                shown(path),
                if space.is_empty() { "tools".to_owned() } else { shown(space) },
                self.listed(space)
            ),
            _ => format!("{} is not a tool; `await search(\"words\")` finds tools", shown(path)),
        }
    }

    /// Returns the path that was probably meant: of the same namespace, of the same name elsewhere, or a similar one.
    fn nearest<'a>(&'a self, path: &str, parent: &str, name: &str) -> Option<&'a str> {
        let paths = || self.0.keys().map(String::as_str);
        let last = |path: &'a str| path.rsplit_once('.').map_or(path, |(_, name)| name);
        let same = squeezed(name);
        nearest(path, paths().filter(|near| near.rsplit_once('.').map_or("", |(space, _)| space) == parent))
            .or_else(|| paths().find(|near| squeezed(last(near)) == same))
            .or_else(|| paths().find(|near| squeezed(near) == squeezed(path)))
            .or_else(|| nearest(path, paths()))
            .or_else(|| nearest(name, paths().map(last)).and_then(|near| paths().find(|path| last(path) == near)))
    }

    fn listed(&self, path: &str) -> String {
        let names = self.members(path);
        let mut text = names[..names.len().min(LISTED)].join(", ");
        if names.len() > LISTED {
            text.push_str(&format!(" and {} more", names.len() - LISTED));
        }
        text
    }
}

/// Returns a name without case and separators, which models confuse: `listIssues` for `list_issues`.
fn squeezed(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns a path as a program writes it.
fn shown(path: &str) -> String {
    let mut text = "tools".to_owned();
    for name in path.split('.').take(8) {
        let is_identifier = !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
        let name: String = name.chars().take(80).collect();
        text.push_str(&if is_identifier { format!(".{name}") } else { format!("[{name:?}]") });
    }
    text
}
