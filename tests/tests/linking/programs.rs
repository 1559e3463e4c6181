//! The programs, each a workspace package of `tests/fixtures`.
//!
//! Builds differ only in the profile of the programs: libraries of other authors are built once with LTO and once without.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Options of `cargo` for a profile.
pub(crate) const DEV: &[&str] = &[];
const THIN: &[&str] = &["--profile", "thin"];

/// What the programs with the package `library` print.
const CALLED: &str = "math:add:1.0.0 9\nmath-2.0_a:subtract:1.0.0-rc.1+build 5\n";

/// What the program with two versions of a package prints.
const REJECTED: &str = "two tools have the id `math:add:1.0.0`\n  \
                        math:add:1.0.0 at duplicate/first/src/lib.rs:4\n  \
                        math:add:1.0.0 at duplicate/second/src/lib.rs:4\n\
                        3\n";

#[test]
fn a_library_for_c_and_rust_links_with_tools_beside_a_program() {
    assert_eq!(run(&["run", "--package", "library"], DEV), CALLED);
}

#[test]
fn link_time_optimization_keeps_the_tools_of_a_library_for_c_and_rust() {
    assert_eq!(run(&["run", "--package", "library"], THIN), CALLED);
}

#[cfg(unix)]
#[test]
fn a_program_in_c_calls_the_tools_of_dynamic_and_static_libraries() {
    run(&["build", "--package", "dynamic", "--package", "library", "--lib"], DEV);
    let built = target().join("debug");
    let path = |name: &str| built.join(name).display().to_string();
    let dynamic = |name: &str| path(&format!("{}{name}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX));
    let archive = path("liblibrary.a");
    // A linker takes from an archive only what is referred to, by default.
    let whole = if cfg!(target_vendor = "apple") {
        vec![format!("-Wl,-force_load,{archive}")]
    } else {
        vec!["-Wl,--whole-archive".to_owned(), archive, "-Wl,--no-whole-archive".to_owned()]
    };
    let with_multiply = CALLED.replace("math-2.0_a", "math:multiply:1.0.0 14\nmath-2.0_a");
    for (arguments, expect) in
        [(vec![dynamic("library")], CALLED), (whole, CALLED), (vec![dynamic("dynamic")], &with_multiply)]
    {
        let host = target().join("host");
        let compiled = Command::new("cc")
            .arg(fixtures().join("library/host.c"))
            .args(&arguments)
            .args(["-lpthread", "-ldl", "-lm", "-o"])
            .arg(&host)
            .output()
            .expect("the C compiler that links Rust programs runs");
        assert!(compiled.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&compiled.stderr));
        let output = Command::new(&host)
            .env("LD_LIBRARY_PATH", &built)
            .env("DYLD_LIBRARY_PATH", &built)
            .output()
            .expect("the program runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expect, "{arguments:?}: {output:?}");
    }
}

#[test]
fn two_versions_of_a_crate_link_and_the_catalog_of_all_tools_rejects_an_id_of_both() {
    assert_eq!(run(&["run", "--package", "duplicate"], DEV), REJECTED);
}

#[test]
fn link_time_optimization_keeps_the_tools_of_two_versions_of_a_crate() {
    assert_eq!(run(&["run", "--package", "duplicate"], THIN), REJECTED);
}

#[test]
fn tools_of_an_unreferenced_dependency_require_link() {
    assert_eq!(run(&["run", "--package", "unlinked"], DEV), "0 tools\n");
    assert_eq!(run(&["run", "--package", "unlinked"], &["--features", "linked"]), "1 tools\n");
}

#[test]
fn a_crate_that_depends_on_itself_through_its_tests_links() {
    run(&["test", "--package", "inner"], DEV);
}

#[test]
fn a_renamed_toolkit_is_the_only_dependency() {
    let printed = run(&["run", "--package", "renamed"], DEV);
    assert_eq!(printed, "[\"hello Ada\",\"hello Ada\"]\n3\ncounter:take: nothing is left\ngreetings:greet\n");
}

#[test]
fn a_crate_with_all_lints_and_without_prelude_compiles() {
    run(&["check", "--package", "strict"], DEV);
}

#[test]
fn a_program_without_jsonschema_validates_exports_and_rejects_schemas_that_need_it() {
    let expect = r#"["rust 2 None"]
search: the arguments do not match the schema
- /language must match `^[a-z]{2}$`, got "english"
- /limit must be at most 100, got 200
- /query must have at least 1 character, got ""
- /sort is not an argument; expected `query`, `limit`, `language`
for example: {"query":"a","limit":1}
["query","limit"]
0 `read`
1 `move`
  the input schema is invalid: at /additionalProperties/pattern: the pattern `^(?!/)`, with look-around or a back reference, needs the feature `jsonschema` of `toolkit-core`
2 `copy`
  the input schema is invalid: at /description: must be a string, got 3
"#;
    assert_eq!(run(&["run", "--package", "lean"], DEV), expect);
    let tree = crates_of("lean");
    assert!(tree.contains("toolkit-schema") && !tree.contains("jsonschema"), "{tree}");
    assert!(n_crates(&tree) <= 60, "{} crates:\n{tree}", n_crates(&tree));
}

#[test]
fn a_server_over_stdio_builds_no_http_search_proxy_sealing_or_jsonschema() {
    let expect = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"2"}],"structuredContent":{"result":2},"isError":false}}
{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{\"x\":1}"}],"structuredContent":{"x":1},"isError":false}}
"#;
    assert_eq!(run(&["run", "--package", "stdio"], DEV), expect);
    let tree = crates_of("stdio");
    assert!(tree.contains("toolkit-mcp-server"), "{tree}");
    for unused in
        ["hyper", "toolkit-search", "toolkit-backends", "chacha20poly1305", "rustls", "jsonschema", "toolkit-cli"]
    {
        assert!(!tree.lines().any(|line| line.starts_with(unused)), "{unused}: {tree}");
    }
    assert!(n_crates(&tree) <= 70, "{} crates:\n{tree}", n_crates(&tree));
}

#[test]
fn the_program_of_readme_builds_at_most_103_crates() {
    let tree = crates_of("readme");
    assert!((80..=103).contains(&n_crates(&tree)), "{} crates:\n{tree}", n_crates(&tree));
    for unused in ["hyper", "toolkit-search", "toolkit-backends", "jiff", "jsonschema", "flate2"] {
        assert!(!tree.lines().any(|line| line.starts_with(unused)), "{unused}: {tree}");
    }
}

#[test]
fn the_library_alone_builds_as_many_crates_as_readme_says() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md")).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let [alone, complete] = [&[][..], &["--features", "jsonschema"]].map(|features: &[&str]| {
        let tree = Command::new(env!("CARGO"))
            .current_dir(&root)
            .args(["tree", "--quiet", "--package", "toolkit-core", "--edges", "normal", "--prefix", "none"])
            .args(features)
            .output()
            .expect("cargo runs");
        n_crates(&String::from_utf8_lossy(&tree.stdout))
    });
    let says = format!("builds {alone} crates, and {complete} with `jsonschema`");
    assert!(readme.contains(&says), "README does not contain {says:?}");
}

#[test]
fn the_first_command_of_readme_builds_at_most_80_crates() {
    let tree = tree(Path::new(env!("CARGO_MANIFEST_DIR")), "toolkit-first-tools");
    assert!((40..=80).contains(&n_crates(&tree)), "{} crates:\n{tree}", n_crates(&tree));
}

/// Returns the number of packages in a list of them.
fn n_crates(tree: &str) -> usize {
    // The name and the version; a source or a mark may follow.
    let packages = tree.lines().map(|line| line.split(' ').take(2).collect::<Vec<_>>());
    packages.collect::<BTreeSet<_>>().len()
}

/// Returns the packages that a fixture is built from, one in each line.
fn crates_of(package: &str) -> String {
    tree(&fixtures(), package)
}

fn tree(workspace: &Path, package: &str) -> String {
    let tree = Command::new(env!("CARGO"))
        .current_dir(workspace)
        .args(["tree", "--quiet", "--package", package, "--edges", "normal", "--prefix", "none"])
        .output()
        .expect("cargo runs");
    String::from_utf8_lossy(&tree.stdout).into_owned()
}

pub(crate) fn run(arguments: &[&str], options: &[&str]) -> String {
    let output = cargo(arguments, options);
    assert!(output.status.success(), "{arguments:?} {options:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the programs print UTF-8")
}

fn cargo(arguments: &[&str], options: &[&str]) -> Output {
    let (command, rest) = arguments.split_first().expect("a cargo command");
    Command::new(env!("CARGO"))
        .current_dir(fixtures())
        .args([command, "--quiet", "--target-dir"])
        .arg(target())
        .args(rest)
        .args(options)
        .env_remove("RUSTFLAGS")
        // Each program is compiled once.
        .env("CARGO_INCREMENTAL", "0")
        .output()
        .expect("cargo runs")
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

pub(crate) fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixtures")
}
