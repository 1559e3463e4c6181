//! The imports between the files of a crate: `use` items and paths in the code, each resolved to the file that defines
//! the name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::Visit;

use super::modules::Module;

/// For each file the files that it imports, with the names.
pub type Imports = BTreeMap<PathBuf, BTreeMap<PathBuf, BTreeSet<String>>>;

/// Returns the imports of a crate. A re-export that its own file does not use is a door and no import.
pub fn imports(modules: &[Module]) -> Imports {
    let mut imports = Imports::new();
    for (this, module) in modules.iter().enumerate() {
        let mut code = TokenStream::new();
        module.code.iter().for_each(|item| item.to_tokens(&mut code));
        let mut words = BTreeSet::new();
        collect_words(code, &mut words);
        let mut paths = Paths::default();
        module.code.iter().for_each(|item| paths.visit_item(item));
        let used = module.uses.iter().filter(|import| !import.is_reexport || words.contains(&import.name));
        let inline = paths.found.into_iter().filter(|path| is_local(module, &path[0]));
        imports.entry(module.file.clone()).or_default();
        for path in used.map(|import| import.path.clone()).chain(inline) {
            let Some((found, name)) = resolve(modules, this, &path, 0) else { continue };
            if modules[found].file != module.file {
                let from = imports.entry(module.file.clone()).or_default();
                from.entry(modules[found].file.clone()).or_default().insert(name);
            }
        }
    }
    imports
}

fn collect_words(tokens: TokenStream, words: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(word) => {
                words.insert(word.to_string());
            }
            TokenTree::Group(group) => collect_words(group.stream(), words),
            _ => {}
        }
    }
}

/// Collects paths of two segments or more.
#[derive(Default)]
struct Paths {
    found: Vec<Vec<String>>,
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 && path.leading_colon.is_none() {
            self.found.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        syn::visit::visit_path(self, path);
    }

    // `pub(in crate::schema)` imports nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}

/// Returns true if a path that starts with `first` leads to a module of this crate without an import.
fn is_local(module: &Module, first: &str) -> bool {
    matches!(first, "crate" | "self" | "super") || module.children.contains_key(first)
}

/// Follows a path through modules and re-exports to the module that defines the name.
fn resolve(modules: &[Module], from: usize, path: &[String], depth: usize) -> Option<(usize, String)> {
    if depth > 16 {
        return None;
    }
    let (first, mut rest) = path.split_first()?;
    let mut at = match first.as_str() {
        "crate" => 0,
        "self" => from,
        "super" => modules[from].parent?,
        name => match modules[from].children.get(name) {
            Some(&child) => child,
            None => return None,
        },
    };
    let mut name = first.clone();
    while let Some((segment, later)) = rest.split_first() {
        name.clone_from(segment);
        let module = &modules[at];
        if segment == "super" {
            at = module.parent?;
        } else if let Some(&child) = module.children.get(segment) {
            at = child;
        } else if module.items.contains(segment) || segment == "*" {
            return Some((at, name));
        } else if let Some(import) = module.uses.iter().find(|import| import.name == *segment) {
            let path = [&import.path[..], later].concat();
            // A name of another crate is defined where it enters this one.
            return resolve(modules, at, &path, depth + 1).or(Some((at, name)));
        } else {
            let globs = module.uses.iter().filter(|import| import.name == "*");
            let found = globs.filter_map(|import| {
                let path = [&import.path[..import.path.len() - 1], rest].concat();
                let (found, name) = resolve(modules, at, &path, depth + 1)?;
                modules[found].items.contains(&name).then_some((found, name))
            });
            return found.into_iter().next().or(Some((at, name)));
        }
        rest = later;
    }
    Some((at, name))
}
