//! The figures of the structure, each with its limit: how large the parts are that a reader has to hold in the head.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::{Item, Type, Visibility};

use super::{folders, modules, root};

/// A source file: its crate, its path in `src`, and its lines. A file that two crates share, by a link, is one file.
struct File {
    package: String,
    path: PathBuf,
    n_lines: usize,
    /// Lines that are neither blank nor a comment, without tests.
    n_code: usize,
    /// Comments that head the items below them, where a file of that name would be found.
    n_sections: usize,
    /// Public items and modules that are hidden from the documentation.
    n_hidden: usize,
}

/// Prints the figures with `cargo test -p toolkit-tests --test architecture figures -- --nocapture`.
///
/// A limit that is above the goal is little above the present figure, so that it only falls.
#[test]
fn no_figure_of_the_structure_exceeds_its_limit() {
    let files = files();
    let lines_of = |package: &str| files.iter().filter(|file| file.package == package).map(|file| file.n_lines).sum();
    let mut lengths: Vec<usize> = files.iter().map(|file| file.n_lines).collect();
    lengths.sort_unstable();
    let mut same_names: BTreeMap<_, usize> = BTreeMap::new();
    for file in &files {
        *same_names.entry(file.path.file_name()).or_default() += 1;
    }
    same_names.retain(|&name, _| name != Some("lib.rs".as_ref()));
    let (common, n_common) = same_names.into_iter().max_by_key(|(_, n)| *n).unwrap();
    let (split, n_split) = most_split_type();
    let public = public_types();
    let words = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap().split_whitespace().count();
    let figures = [
        ("lines of `toolkit`", lines_of("toolkit"), 17_000, 20_828),
        ("lines of code in all crates", files.iter().map(|file| file.n_code).sum(), 95_000, 109_960),
        ("length of a file, median", lengths[lengths.len() / 2], 250, 250),
        ("length of a file, p90", lengths[lengths.len() * 9 / 10], 500, 500),
        ("length of a file, longest", lengths[lengths.len() - 1], 800, 800),
        (&format!("files named `{}`", common.unwrap().display()), n_common, 5, 5),
        (&format!("files with an `impl` of `{split}`"), n_split, 2, 2),
        ("comments that head a section", files.iter().map(|file| file.n_sections).sum(), 0, 3),
        ("names that more than four types share", shared_names().len(), 12, 12),
        ("hidden public items", files.iter().map(|file| file.n_hidden).sum(), 15, 32),
        ("public types", public.values().sum(), 320, 490),
        ("public types of `toolkit`", public["toolkit"], 95, 111),
        ("words of ARCHITECTURE.md", words, 2_000, 2_000),
    ];
    println!("| figure | now | limit | goal |\n|---|---:|---:|---:|");
    for (name, now, goal, limit) in &figures {
        println!("| {name} | {now} | {limit} | {goal} |");
    }
    let above: Vec<_> = figures.iter().filter(|(_, now, _, limit)| now > limit).collect();
    assert!(above.is_empty(), "above the limit (name, now, goal, limit): {above:#?}");
}

fn files() -> Vec<File> {
    let mut files = Vec::new();
    for (package, folder) in folders() {
        let src = folder.join("src");
        let mut open = vec![src.clone()];
        while let Some(folder) = open.pop() {
            let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            let (folders, found): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
            open.extend(folders);
            let is_source =
                |path: &&PathBuf| path.extension() == Some("rs".as_ref()) && !path.is_symlink() && !is_test(path);
            files.extend(found.iter().filter(is_source).map(|path| {
                let text = fs::read_to_string(path).unwrap();
                let code = text.split("\n#[cfg(test)]\nmod tests {\n").next().unwrap_or_default().lines();
                let code = code.map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
                File {
                    package: package.clone(),
                    path: path.strip_prefix(&src).unwrap().to_owned(),
                    n_lines: text.lines().count(),
                    n_code: code.count(),
                    n_sections: sections(&text),
                    n_hidden: text.lines().filter(|line| line.trim() == "#[doc(hidden)]").count(),
                }
            }));
        }
    }
    files
}

/// Returns true for the file or the folder of a module of tests.
fn is_test(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests") || path.file_name() == Some("tests.rs".as_ref())
}

/// Returns the number of comments at the margin that belong to no item, since an empty line follows.
fn sections(text: &str) -> usize {
    let lines: Vec<_> = text.lines().collect();
    lines
        .windows(2)
        .filter(|pair| pair[0].starts_with("//") && !pair[0].starts_with("//!") && pair[1].is_empty())
        .count()
}

/// Returns the names that more than four types have, in all crates.
fn shared_names() -> Vec<String> {
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for (_, folder) in folders() {
        for module in modules::read(&folder.join("src")) {
            for name in module.code.iter().filter_map(type_name) {
                *names.entry(name).or_default() += 1;
            }
        }
    }
    names.into_iter().filter(|&(_, n)| n > 4).map(|(name, _)| name).collect()
}

fn type_name(item: &Item) -> Option<String> {
    let name = match item {
        Item::Struct(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

/// Returns the public type whose inherent `impl`s are spread over the most files.
fn most_split_type() -> (String, usize) {
    let mut places: BTreeMap<(String, String), BTreeSet<PathBuf>> = BTreeMap::new();
    for (package, folder) in folders() {
        let modules = modules::read(&folder.join("src"));
        let items = || modules.iter().flat_map(|module| module.code.iter().map(|item| (&*module.file, item)));
        let public: BTreeSet<String> = items().filter_map(|(_, item)| public_type(item)).collect();
        for (file, item) in items() {
            let Item::Impl(item) = item else { continue };
            let Type::Path(ty) = &*item.self_ty else { continue };
            let name = ty.path.segments.last().unwrap().ident.to_string();
            if item.trait_.is_none() && public.contains(&name) {
                places.entry((package.clone(), name)).or_default().insert(Path::to_owned(file));
            }
        }
    }
    let ((package, name), files) = places.into_iter().max_by_key(|(_, files)| files.len()).unwrap();
    (format!("{package}::{name}"), files.len())
}

fn public_type(item: &Item) -> Option<String> {
    let (vis, name) = match item {
        Item::Struct(item) => (&item.vis, &item.ident),
        Item::Enum(item) => (&item.vis, &item.ident),
        _ => return None,
    };
    matches!(vis, Visibility::Public(_)).then(|| name.to_string())
}

/// Returns the number of public structs, enums and traits of each crate, by the listings of its interface.
fn public_types() -> BTreeMap<String, usize> {
    let listings = fs::read_dir(root().join("tests/api")).unwrap().map(|entry| entry.unwrap().path());
    let types = listings.map(|listing| {
        let text = fs::read_to_string(&listing).unwrap();
        let items = text.lines().filter_map(|line| line.split_once(": ")).map(|(item, _)| item);
        let is_type = |item: &&str| {
            let name = item.rsplit("::").next().unwrap_or_default();
            ["struct.", "enum.", "trait."].iter().any(|kind| name.starts_with(kind))
        };
        let types: BTreeSet<_> = items.filter(is_type).collect();
        (listing.file_stem().unwrap().to_str().unwrap().to_owned(), types.len())
    });
    types.collect()
}
