//! The tests within a library or a program, for which cargo compiles all of it once more.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::packages;

#[test]
fn a_crate_is_compiled_for_unit_tests_if_and_only_if_it_has_some() {
    let packages = packages();
    let targets = packages.iter().flat_map(|package| package["targets"].as_array().expect("a list of targets"));
    let may_have_some = |target: &&Value| {
        let kind = target["kind"][0].as_str().expect("a kind");
        kind.ends_with("lib") || ["bin", "proc-macro"].contains(&kind)
    };
    let (mut n_crates, mut wrong) = (0, Vec::new());
    for target in targets.filter(may_have_some) {
        let file = Path::new(target["src_path"].as_str().expect("a path"));
        let folder = file.parent().expect("a file is in a folder");
        // Beside the library of `tests/ui` are its tests.
        if !folder.ends_with("src") {
            continue;
        }
        n_crates += 1;
        let has_tests = has_tests(folder);
        if target["test"] != has_tests {
            wrong.push(format!("{}: has unit tests: {has_tests}, `test` is {}", file.display(), target["test"]));
        }
    }
    assert!(n_crates > 20, "{n_crates}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn has_tests(folder: &Path) -> bool {
    let paths = std::fs::read_dir(folder).expect("it is a folder").map(|entry| entry.expect("it is read").path());
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) = paths.partition(|path| path.is_dir());
    let is_test = |line: &str| matches!(line.trim(), "#[test]" | "#[tokio::test]");
    let in_file = |path: &PathBuf| {
        path.extension() == Some("rs".as_ref())
            && std::fs::read_to_string(path).expect("it is read").lines().any(is_test)
    };
    files.iter().any(in_file) || folders.iter().any(|folder| has_tests(folder))
}
