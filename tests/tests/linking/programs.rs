//! The programs, each a workspace package of `tests/fixtures`.
//!
//! They are built in a separate target directory, so the first run is slow. Builds differ only in the profile of the
//! programs: libraries of other authors are built once with LTO and once without.

use std::path::Path;
use std::process::{Command, Output};

/// Options of `cargo` for a profile.
///
/// `OPTIMIZED` optimizes the programs like `release`, and `FAT` replaces the LTO of the last step. A profile with a
/// separate name would build all dependencies again.
const DEV: &[&str] = &[];
const OPTIMIZED: &[&str] = &["--config", "profile.dev.opt-level=1", "--config", "profile.dev.debug=false"];
const THIN: &[&str] = &["--profile", "thin"];
const FAT: &[&str] = &["--profile", "thin", "--", "-Clto=fat"];

#[test]
fn two_tools_with_one_id_in_two_crates_do_not_link() {
    for (profile, options) in [("dev", DEV), ("optimized", OPTIMIZED), ("fat", FAT)] {
        let output = cargo(&["rustc", "--package", "duplicate"], options);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "it linked under {profile}");
        assert!(message.contains("toolkit tool math:add:1.0.0"), "{profile}: {message}");
        // Fat LTO has another message, and an optimized build has no line numbers.
        assert!(profile == "fat" || message.contains("duplicate symbol"), "{profile}: {message}");
        let places = ["left/src/lib.rs:4", "right/src/lib.rs:4"];
        assert!(profile != "dev" || places.iter().all(|place| message.contains(place)), "{profile}: {message}");
    }
}

#[test]
fn duplicates_that_thin_lto_links_are_rejected_by_the_catalog() {
    let printed = run(&["run", "--package", "duplicate"], THIN);
    let expect = "two tools have the id `math:add:1.0.0`\n  \
                  math:add:1.0.0 at duplicate/left/src/lib.rs:4\n  \
                  math:add:1.0.0 at duplicate/right/src/lib.rs:4\n";
    assert_eq!(printed, expect);
}

#[test]
fn tools_named_like_libc_functions_do_not_replace_them() {
    for options in [DEV, OPTIMIZED] {
        let printed = run(&["run", "--package", "c_names"], options);
        assert_eq!(printed, "read 1\nmalloc 1\nwrite 1\nmain 1\n1\n", "{options:?}");
    }
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
    assert_eq!(printed, "[\"hello Ada\",\"hello Ada\"]\n3\ngreetings:greet\n");
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
- /sort is not an argument; expected `language`, `limit`, `query`
for example: {"limit":1,"query":"a"}
["query","limit"]
0 `read`
1 `move`
  the input schema is invalid: this use of `if` needs the feature `jsonschema` of `toolkit`
2 `copy`
  the input schema is invalid: at /description: must be a string, got 3
"#;
    assert_eq!(run(&["run", "--package", "lean"], DEV), expect);
    let tree = Command::new(env!("CARGO"))
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"))
        .args(["tree", "--quiet", "--package", "lean", "--edges", "normal", "--prefix", "none"])
        .output()
        .expect("cargo runs");
    let tree = String::from_utf8_lossy(&tree.stdout);
    assert!(tree.contains("toolkit-schema") && !tree.contains("jsonschema"), "{tree}");
}

fn run(arguments: &[&str], options: &[&str]) -> String {
    let output = cargo(arguments, options);
    assert!(output.status.success(), "{arguments:?} {options:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the programs print UTF-8")
}

fn cargo(arguments: &[&str], options: &[&str]) -> Output {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let (command, rest) = arguments.split_first().expect("a cargo command");
    Command::new(env!("CARGO"))
        .current_dir(&fixtures)
        .args([command, "--quiet", "--target-dir"])
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixtures"))
        .args(rest)
        .args(options)
        .env_remove("RUSTFLAGS")
        // The profile of the programs, since the linker names lines only with debug information.
        .env_remove("CARGO_PROFILE_DEV_DEBUG")
        .output()
        .expect("cargo runs")
}
