//! `tests/security.md` names tests for each claim of `SECURITY.md`.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Collects the names of all test functions, in test files and in modules beside the code.
fn functions(folder: &Path, names: &mut HashSet<String>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = entry.file_name().into_string().unwrap_or_default();
        if path.is_dir() {
            if !name.starts_with('.') && !["target", "fixtures"].contains(&&*name) {
                functions(&path, names);
            }
        } else if name.ends_with(".rs") {
            let text = fs::read_to_string(&path).unwrap();
            let mut lines = text.lines().map(str::trim).peekable();
            let mut is_test = false;
            while let Some(line) = lines.next() {
                // Other attributes may follow.
                is_test = (is_test && line.starts_with('#')) || line.ends_with("test]") || line.contains("::test(");
                let next = lines.peek().map(|next| next.trim_start_matches("pub ").trim_start_matches("async "));
                let name = next.and_then(|next| next.strip_prefix("fn ")?.split(['(', '<']).next());
                names.extend(name.filter(|_| is_test).map(str::to_owned));
            }
            // A macro declares these for each place that records durable runs.
            if let Some((_, declared)) = text.split_once("on_each_place! {") {
                names.extend(declared.split(['{', ',', '}']).map(|name| name.trim().to_owned()));
            }
        }
    }
}

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap()
}

/// The cells of each row of the tables of a document, without their headings.
fn rows(text: &str) -> Vec<Vec<String>> {
    let lines: Vec<&str> = text.lines().collect();
    let is_row = |line: &str| line.starts_with("| ");
    let rows = lines.windows(2).filter(|pair| is_row(pair[1]) && !pair[0].is_empty()).map(|pair| pair[1]);
    rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

/// The heading of the limits that callers share.
const SHARES: &str = "\n## Shares\n";

/// Collects the source files that contain a text.
fn files_with(text: &str, folder: &Path, found: &mut HashSet<PathBuf>) {
    for path in fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()) {
        if path.is_dir() && path.file_name().is_none_or(|name| name != "tests") {
            files_with(text, &path, found);
        } else if path.extension().is_some_and(|end| end == "rs") && fs::read_to_string(&path).unwrap().contains(text) {
            found.insert(path);
        }
    }
}

#[test]
fn each_limit_that_callers_share_is_filled_by_one_of_them_while_another_one_works() {
    let page = read("tests/security.md");
    let shares = rows(page.split_once(SHARES).unwrap().1);
    let has_share = |row: &Vec<String>| ["caller", "address"].iter().any(|owner| row[1].contains(owner));
    let limits = rows(read("SECURITY.md").split_once("\n## Limits\n").unwrap().1);
    for limit in limits.iter().filter(|row| has_share(row)) {
        assert!(shares.iter().any(|share| share[0] == limit[0]), "no test of the share: {limit:?}");
    }
    let mut budgets = HashSet::new();
    files_with("SharedBudget::", &root().join("crates"), &mut budgets);
    let named: HashSet<PathBuf> = shares.iter().map(|share| root().join(share[1].trim_matches('`'))).collect();
    budgets.remove(&root().join("crates/runtime/src/shared_budget.rs"));
    assert!(budgets.len() >= 7 && budgets.is_subset(&named), "{:?}", budgets.difference(&named));
}

#[test]
fn each_claim_names_tests_that_exist() {
    let mut tests = HashSet::new();
    functions(&root(), &mut tests);
    let mut missing = Vec::new();
    let listed = rows(&read("tests/security.md"));
    for row in &listed {
        let named: Vec<&str> = row[row.len() - 1].split('`').skip(1).step_by(2).collect();
        assert!(!named.is_empty(), "no test is named: {row:?}");
        let is_there =
            |name: &&&str| if name.contains('/') { root().join(name).is_file() } else { tests.contains(**name) };
        missing.extend(named.iter().filter(|name| !is_there(name)).map(|name| (*name).to_owned()));
    }
    assert!(listed.len() >= 90, "{}", listed.len());
    assert!(missing.is_empty(), "tests that do not exist: {missing:#?}");
}

#[test]
fn each_row_of_the_page_has_tests() {
    let page = read("tests/security.md");
    let (page, _) = page.split_once(SHARES).unwrap();
    let claims = rows(&read("SECURITY.md")).into_iter().map(|row| match &row[..] {
        [party, _, cannot] => format!("{party}: {cannot}"),
        row => row[0].clone(),
    });
    let listed: Vec<String> = rows(page).into_iter().map(|mut row| row.swap_remove(0)).collect();
    assert_eq!(claims.collect::<Vec<_>>(), listed);
}
