//! The module tree of a crate, parsed from its files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use quote::ToTokens;
use syn::{Item, UseTree, Visibility};

/// A module, in a file of its own or inline in the file of its parent.
pub struct Module {
    /// The file, relative to the `src` folder of the crate.
    pub file: PathBuf,
    pub parent: Option<usize>,
    pub children: BTreeMap<String, usize>,
    /// The names of the items that are defined here.
    pub items: BTreeSet<String>,
    pub uses: Vec<Use>,
    /// The module without its `use` items.
    pub code: Vec<Item>,
}

/// A leaf of a `use` item.
pub struct Use {
    /// The path, as in `["super", "plan", "Plan"]`; ends in `*` for a glob.
    pub path: Vec<String>,
    /// The name that it binds.
    pub name: String,
    pub is_reexport: bool,
}

/// The modules of the crate with the given `src` folder; the first one is the root.
pub fn read(src: &Path) -> Vec<Module> {
    let mut modules = Vec::new();
    let root = if src.join("lib.rs").exists() { "lib.rs" } else { "main.rs" };
    let items = parse(&src.join(root));
    add(&mut modules, src, PathBuf::from(root), Vec::new(), None, items);
    modules
}

fn parse(file: &Path) -> Vec<Item> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display())).items
}

fn add(
    modules: &mut Vec<Module>,
    src: &Path,
    file: PathBuf,
    path: Vec<String>,
    parent: Option<usize>,
    items: Vec<Item>,
) -> usize {
    let this = modules.len();
    let empty = BTreeSet::new();
    let module = Module {
        file: file.clone(),
        parent,
        children: BTreeMap::new(),
        items: empty,
        uses: Vec::new(),
        code: Vec::new(),
    };
    modules.push(module);
    for item in items {
        match item {
            Item::Use(item) => {
                let is_reexport = !matches!(item.vis, Visibility::Inherited);
                leaves(&item.tree, &mut Vec::new(), is_reexport, &mut modules[this].uses);
            }
            Item::Mod(item) if is_test(&item.attrs) => {}
            Item::Mod(item) => {
                let name = item.ident.to_string();
                let path = [&path[..], std::slice::from_ref(&name)].concat();
                let child = match item.content {
                    Some((_, items)) => add(modules, src, file.clone(), path, Some(this), items),
                    None => {
                        let file = path.iter().collect::<PathBuf>().with_extension("rs");
                        let items = parse(&src.join(&file));
                        add(modules, src, file, path, Some(this), items)
                    }
                };
                modules[this].children.insert(name, child);
            }
            item => {
                modules[this].items.extend(name_of(&item));
                modules[this].code.push(item);
            }
        }
    }
    this
}

/// Returns true for `#[cfg(test)]`.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.to_token_stream().to_string().replace(' ', "") == "#[cfg(test)]")
}

fn name_of(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

fn leaves(tree: &UseTree, prefix: &mut Vec<String>, is_reexport: bool, found: &mut Vec<Use>) {
    let mut leaf = |last: &str, name: &str| {
        let mut path = prefix.clone();
        if last != "self" || path.is_empty() {
            path.push(last.to_owned());
        }
        let name = if name == "self" { path.last().cloned().unwrap_or_default() } else { name.to_owned() };
        found.push(Use { path, name, is_reexport });
    };
    match tree {
        UseTree::Name(tree) => leaf(&tree.ident.to_string(), &tree.ident.to_string()),
        UseTree::Rename(tree) => leaf(&tree.ident.to_string(), &tree.rename.to_string()),
        UseTree::Glob(_) => leaf("*", "*"),
        UseTree::Path(tree) => {
            prefix.push(tree.ident.to_string());
            leaves(&tree.tree, prefix, is_reexport, found);
            prefix.pop();
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                leaves(tree, prefix, is_reexport, found);
            }
        }
    }
}
