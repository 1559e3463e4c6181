//! What the linker and cargo make of tools: programs of users, built and run.
//!
//! They are built with their own target directory, so that the first run takes a while.

use std::path::Path;
use std::process::{Command, Output};

#[test]
fn two_tools_with_one_id_in_two_crates_do_not_link() {
    for profile in ["dev", "release", "fat"] {
        let output = cargo(&["build", "--package", "duplicate", "--profile", profile]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "it linked under {profile}");
        assert!(message.contains("toolkit tool math:add:1.0.0"), "{profile}: {message}");
        // Fat LTO says it in its own words, and a release build has no line numbers.
        assert!(profile == "fat" || message.contains("duplicate symbol"), "{profile}: {message}");
        let places = ["left/src/lib.rs:4", "right/src/lib.rs:4"];
        assert!(profile != "dev" || places.iter().all(|place| message.contains(place)), "{profile}: {message}");
    }
}

#[test]
fn what_thin_lto_lets_pass_is_refused_when_the_catalogue_is_collected() {
    let printed = run(&["run", "--package", "duplicate", "--profile", "thin"]);
    let expect = "two tools have the id `math:add:1.0.0`\n  \
                  math:add:1.0.0 at duplicate/left/src/lib.rs:4\n  \
                  math:add:1.0.0 at duplicate/right/src/lib.rs:4\n";
    assert_eq!(printed, expect);
}

#[test]
fn tools_named_like_functions_of_the_c_library_replace_none_of_them() {
    for profile in ["dev", "release"] {
        let printed = run(&["run", "--package", "c_names", "--profile", profile]);
        assert_eq!(printed, "read 1\nmalloc 1\nwrite 1\nmain 1\n1\n", "{profile}");
    }
}

#[test]
fn a_dependency_that_is_not_referred_to_brings_no_tools_until_it_is_linked() {
    assert_eq!(run(&["run", "--package", "unlinked"]), "0 tools\n");
    assert_eq!(run(&["run", "--package", "unlinked", "--features", "linked"]), "1 tools\n");
}

#[test]
fn a_crate_that_depends_on_itself_through_its_tests_links() {
    run(&["test", "--package", "inner"]);
}

#[test]
fn a_renamed_toolkit_is_the_only_dependency_needed() {
    let printed = run(&["run", "--package", "renamed"]);
    assert_eq!(printed, "[\"hello Ada\",\"hello Ada\"]\n3\ngreetings:greet\n");
}

#[test]
fn a_crate_with_every_lint_on_and_no_prelude_compiles() {
    run(&["check", "--package", "strict"]);
}

fn run(arguments: &[&str]) -> String {
    let output = cargo(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the programs print UTF-8")
}

fn cargo(arguments: &[&str]) -> Output {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let (command, rest) = arguments.split_first().expect("a cargo command");
    Command::new(env!("CARGO"))
        .current_dir(&fixtures)
        .args([command, "--quiet", "--target-dir"])
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixtures"))
        .args(rest)
        .env_remove("RUSTFLAGS")
        .output()
        .expect("cargo runs")
}
