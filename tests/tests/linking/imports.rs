//! Programs with imports: one with all lints, and one with every real manifest.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use test_support::{ran, shared};

#[test]
fn generated_code_depends_on_toolkit_only_and_passes_all_lints() {
    let printed = run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"), &["--package", "imports"]);
    let expected = "Some([\"a\", \"b\"]) github:create_issue\n1 math:add\n\
                    [\"odd:match\", \"odd:3d.print/now\", \"odd:getUserByID\", \"odd:IMPORT\"] \
                    [\"anything\", \"plus_and_minus.sort\"]\n";
    assert_eq!(printed, expected);
}

/// The properties of real manifests with a simplified type: enumerations whose values differ in `+` and `-` only.
const PLAINER: [&str; 3] = ["search_issues.sort", "search_issues.sort", "search_pull_requests.sort"];

#[test]
fn every_tool_of_the_real_manifests_has_types() {
    let Some(folder) = shared("data/manifests") else { return };
    let mut manifests = Vec::new();
    find(&folder, &mut manifests);
    manifests.sort();
    assert!(manifests.len() > 10, "{manifests:?}");
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("imports");
    fs::create_dir_all(package.join("src")).unwrap();
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let toolkit = tests.join("../toolkit");
    let manifest = format!(
        "[package]\nname = \"real\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
         toolkit-core = {{ path = {toolkit:?}, default-features = false, features = [\"import\"] }}\n\
         [profile.dev.package.\"*\"]\ndebug = false\n"
    );
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    fs::copy(tests.join("fixtures/Cargo.lock"), package.join("Cargo.lock")).unwrap();
    let mut imports = String::from("//! Imports.\n#![deny(warnings, missing_docs, rust_2018_idioms)]\n");
    let mut told = String::new();
    for (idx, path) in manifests.iter().enumerate() {
        writeln!(imports, "toolkit::import!(pub mod m{idx} = {path:?});").unwrap();
        writeln!(told, "    for tool in m{idx}::IMPORT.tools() {{ println!(\"tool {{tool}}\"); }}").unwrap();
        writeln!(told, "    for place in m{idx}::IMPORT.plainer() {{ println!(\"plainer {{place}}\"); }}").unwrap();
    }
    fs::write(package.join("src/main.rs"), format!("{imports}fn main() {{\n{told}}}\n")).unwrap();

    let printed = run(&package, &[]);
    let lines = |prefix: &str| -> Vec<String> {
        printed.lines().filter_map(|line| line.strip_prefix(prefix)).map(str::to_owned).collect()
    };
    let mut plainer = lines("plainer ");
    plainer.sort();
    assert_eq!(plainer, PLAINER);
    ran(lines("tool ").len());
}

fn find(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
}

fn run(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .current_dir(folder)
        .args(["run", "--quiet", "--target-dir"])
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixtures"))
        .args(arguments)
        .env_remove("RUSTFLAGS")
        // Each program is compiled once.
        .env("CARGO_INCREMENTAL", "0")
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the programs print UTF-8")
}
