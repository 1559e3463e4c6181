//! `SECURITY.md` names a test for each of its claims.

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
        }
    }
}

#[test]
fn each_claim_names_tests_that_exist() {
    let text = fs::read_to_string(root().join("SECURITY.md")).unwrap();
    let mut tests = HashSet::new();
    for folder in [
        "tests/tests",
        "examples/tests",
        "toolkit",
        "toolkit-cli",
        "toolkit-code",
        "toolkit-durable",
        "toolkit-explorer",
        "toolkit-http",
        "toolkit-mcp",
        "toolkit-nats",
        "toolkit-otc",
        "toolkit-providers",
        "toolkit-schema",
        "toolkit-search",
        "toolkit-tower",
    ] {
        functions(&root().join(folder), &mut tests);
    }
    let rows = text.lines().filter(|line| line.starts_with('|') && !line.starts_with("|---"));
    let (mut n_claims, mut missing) = (0, Vec::new());
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        let last = cells.last().unwrap().trim();
        if last == "tests" {
            continue;
        }
        n_claims += 1;
        let named: Vec<&str> = last.split('`').skip(1).step_by(2).collect();
        assert!(!named.is_empty(), "no test is named: {row}");
        let is_there =
            |name: &&&str| if name.contains('/') { root().join(name).is_file() } else { tests.contains(**name) };
        missing.extend(named.iter().filter(|name| !is_there(name)).map(|name| (*name).to_owned()));
    }
    assert!(n_claims >= 25, "{n_claims}");
    assert!(missing.is_empty(), "tests that do not exist: {missing:#?}");
}
