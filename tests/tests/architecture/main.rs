//! The layers that ARCHITECTURE.md states are those of the code, by the imports of every file.

mod circles;
mod figures;
mod imports;
mod layers;
mod modules;
mod release;
mod rooms;
mod unit_tests;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use circles::circles;
use imports::{Imports, imports};
use layers::layers;
use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Returns all packages of the workspace, as `cargo metadata` describes them.
fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let mut metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    serde_json::from_value(metadata["packages"].take()).expect("a list of packages")
}

/// The folder of every library of the workspace, by the name of its package; `toolkit` for `toolkit-core`.
fn folders() -> BTreeMap<String, PathBuf> {
    let within = |folder: PathBuf| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let at_the_top =
        within(root().to_owned()).filter(|folder| folder.file_name().unwrap().to_str().unwrap().starts_with("toolkit"));
    let folders = at_the_top.chain(within(root().join("crates"))).filter(|folder| folder.join("src/lib.rs").exists());
    let name = |folder: &Path| {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let name = manifest.lines().find_map(|line| line.strip_prefix("name = "));
        let name = name.unwrap().trim_matches('"');
        name.strip_suffix("-core").unwrap_or(name).to_owned()
    };
    folders.map(|folder| (name(&folder), folder)).collect()
}

/// The imports of every library of the workspace, which all tests read: parsing the files takes most of their time.
static LIBRARIES: LazyLock<BTreeMap<String, Imports>> = LazyLock::new(|| {
    folders().into_iter().map(|(name, folder)| (name, imports(&modules::read(&folder.join("src"))))).collect()
});

/// The top-level module of a file; `lib` for the root of the crate.
fn module(file: &Path) -> String {
    PathBuf::from(file.iter().next().unwrap()).with_extension("").to_str().unwrap().to_owned()
}

#[test]
fn every_module_imports_only_from_the_layers_below_it() {
    let stated = layers(&std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap());
    let mut wrong = Vec::new();
    for (name, imports) in &*LIBRARIES {
        let Some(stated) = stated.get(name) else {
            wrong.push(format!("{name}: ARCHITECTURE.md does not state its layers"));
            continue;
        };
        let layer = |file: &Path| match module(file) {
            module if module == "lib" => Ok(0),
            module => stated.get(&module).copied().ok_or(format!("{name}: `{module}` is in no layer")),
        };
        let macros = exported_macros(&std::fs::read_to_string(folders()[name].join("src/lib.rs")).unwrap());
        for (from, to) in imports {
            for (to, names) in to {
                match (layer(from), layer(to)) {
                    _ if module(from) == module(to) => {}
                    // Exported macros are paths of the root.
                    _ if module(to) == "lib" && names.iter().all(|name| macros.contains(name)) => {}
                    (Ok(upper), Ok(lower)) if upper < lower => {}
                    (Ok(_), Ok(_)) => wrong.push(format!(
                        "{name}: {} imports {names:?} of {}, which is not below it",
                        from.display(),
                        to.display()
                    )),
                    (Err(missing), _) | (_, Err(missing)) => wrong.push(missing),
                }
            }
        }
        let modules: Vec<String> = imports.keys().map(|file| module(file)).collect();
        let gone = stated.keys().filter(|stated| !modules.contains(stated));
        wrong.extend(gone.map(|gone| format!("{name}: there is no module `{gone}`")));
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the names of the macros that a text exports.
fn exported_macros(text: &str) -> BTreeSet<String> {
    let exported = text.split("#[macro_export]\nmacro_rules! ").skip(1);
    exported.filter_map(|macros| macros.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn every_crate_depends_only_on_the_layers_below_it() {
    let stated = layers(&std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap());
    let stated = &stated["workspace"];
    let mut wrong = Vec::new();
    for (name, folder) in folders() {
        let Some(layer) = stated.get(&name) else {
            wrong.push(format!("`{name}` is in no layer of the workspace"));
            continue;
        };
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let dependencies = manifest.split("\n[").find(|section| section.starts_with("dependencies]"));
        for line in dependencies.into_iter().flat_map(str::lines) {
            let dependency = line.split([' ', '.', '=']).next().unwrap_or_default();
            if stated.get(dependency).is_some_and(|lower| lower <= layer) {
                wrong.push(format!("`{name}` depends on `{dependency}`, which is not below it"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_folder_and_at_most_four_files_are_part_of_a_circle_of_imports() {
    let mut wrong = Vec::new();
    for (name, imports) in &*LIBRARIES {
        for (folder, graph) in rooms::rooms(imports) {
            for circle in circles(&graph) {
                if circle.len() > 4 || circle.iter().any(|room| room.extension().is_none()) {
                    wrong.push(format!("{name}, in `{}`: {circle:?}", folder.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_largest_crate_has_at_most_20_percent_of_the_source() {
    let folders = folders();
    let sizes = LIBRARIES.iter().map(|(name, imports)| {
        let src = folders[name].join("src");
        let lines = |file| std::fs::read_to_string(src.join(file)).unwrap().lines().count();
        (imports.keys().map(lines).sum::<usize>(), name)
    });
    let sizes: Vec<_> = sizes.collect();
    let total: usize = sizes.iter().map(|(size, _)| size).sum();
    let (size, largest) = sizes.iter().max().unwrap();
    assert!(size * 100 <= total * 20, "{largest} has {size} of {total} lines");
}

#[test]
fn the_rust_version_of_the_tests_is_the_one_that_runs_them_and_no_package_states_a_newer_one() {
    let read = |file: &str| std::fs::read_to_string(root().join(file)).unwrap();
    let value = |text: &str, key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)).expect("the key is there");
        line.trim_start_matches(" = ").trim_matches('"').to_owned()
    };
    let pinned = value(&read("rust-toolchain.toml"), "channel");
    assert_eq!(pinned, format!("{}.0", value(&read("tests/Cargo.toml"), "rust-version")));
    // `.ci/msrv` compiles the other packages with their version.
    assert!(value(&read("Cargo.toml"), "rust-version") <= pinned);
}

/// `cargo test` runs the examples of each package but those of the macros, which need what they generate code for.
#[test]
fn the_documentation_of_each_library_is_tested() {
    let macros = ["toolkit-derive", "toolkit-import"];
    for (name, folder) in folders() {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        assert_eq!(manifest.contains("doctest = false"), macros.contains(&&*name), "{name}");
    }
}

/// A reader finds the parts of a module by the table in its documentation.
#[test]
fn each_module_that_a_table_of_modules_names_exists() {
    let mut missing = Vec::new();
    for (name, folder) in folders() {
        let src = folder.join("src");
        for file in modules::read(&src).into_iter().map(|module| module.file) {
            let text = std::fs::read_to_string(src.join(&file)).unwrap();
            let parent = file.parent().unwrap().to_owned();
            let own = if file == Path::new("lib.rs") { parent.clone() } else { file.with_extension("") };
            for module in documented_modules(&text) {
                // Of the module, or beside it, or of the crate.
                let exists = [&own, &parent, Path::new("")].into_iter().any(|at| {
                    let path = src.join(at).join(&module);
                    path.exists() || path.with_extension("rs").exists()
                });
                if !exists && !text.contains(&format!("mod {module} {{")) {
                    missing.push(format!("{name}: {}: `{module}`", file.display()));
                }
            }
        }
    }
    missing.dedup();
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Returns the names in the first column of a table of modules.
fn documented_modules(text: &str) -> Vec<String> {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    let rows = lines.skip_while(|line| !line.starts_with(" | module |")).take_while(|line| line.starts_with(" |"));
    let first = rows.filter_map(|row| row.split('|').nth(1));
    // A link leads elsewhere.
    let names = first.filter(|cell| !cell.contains('[')).flat_map(|cell| cell.split('`').skip(1).step_by(2));
    names.map(|name| name.trim_end_matches('/').to_owned()).collect()
}

/// The macros and the library apply the same rules. A link that became a copy would be another rule at the next change.
#[cfg(unix)]
#[test]
fn files_of_the_macros_that_are_those_of_the_library_are_links() {
    for (link, to) in [
        ("toolkit-derive/src/duration.rs", "../../toolkit/src/tool/duration.rs"),
        ("toolkit-derive/src/name.rs", "../../toolkit/src/tool/name.rs"),
        ("toolkit-derive/src/tags.rs", "../../toolkit/src/tool/tags.rs"),
        ("crates/import/src/pointer.rs", "../../schema/src/pointer.rs"),
    ] {
        assert_eq!(std::fs::read_link(root().join(link)).ok(), Some(PathBuf::from(to)), "{link}");
    }
}
