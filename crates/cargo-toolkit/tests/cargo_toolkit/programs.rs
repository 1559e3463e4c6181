//! A copy of the package `only_a_library`, which `cargo toolkit` builds with a command line.

mod guide;
mod reader;
mod recording;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Copies the fixture to a separate directory, with the lock file of this workspace, so that nothing is downloaded.
fn fixture() -> PathBuf {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let source = project.join("tests/fixtures/only_a_library");
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("only_a_library");
    fs::create_dir_all(copy.join("src")).unwrap();
    fs::create_dir_all(copy.join("patch/src")).unwrap();
    let manifest = fs::read_to_string(source.join("Cargo.toml")).unwrap();
    let toolkit = project.canonicalize().unwrap().join("toolkit");
    let manifest = manifest.replace("../../../toolkit", toolkit.to_str().unwrap());
    fs::write(copy.join("Cargo.toml"), manifest).unwrap();
    for file in ["src/lib.rs", "patch/Cargo.toml", "patch/src/lib.rs"] {
        fs::copy(source.join(file), copy.join(file)).unwrap();
    }
    fs::copy(project.join("Cargo.lock"), copy.join("Cargo.lock")).unwrap();
    copy
}

/// The target directory of all programs that tests build: they share the built dependencies, and the second run builds
/// nothing.
pub(crate) fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixtures")
}

fn cargo_toolkit(folder: &Path, args: &[&str]) -> Output {
    // cargo passes the name of the subcommand as the first argument.
    output(env!("CARGO_BIN_EXE_cargo-toolkit"), folder, &[&["toolkit", "--offline"], args].concat())
}

fn cargo_new(folder: &Path, args: &[&str]) -> Output {
    output(env!("CARGO_BIN_EXE_cargo-toolkit"), folder, &[&["toolkit", "new"], args].concat())
}

fn cargo(folder: &Path, args: &[&str]) -> Output {
    output(env!("CARGO"), folder, args)
}

fn output(program: &str, folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(args).current_dir(folder);
    for variable in ["RUSTFLAGS", "RUST_BACKTRACE"] {
        command.env_remove(variable);
    }
    // Each program is compiled once.
    command.env("CARGO_TARGET_DIR", target()).env("CARGO_INCREMENTAL", "0");
    command.output().unwrap()
}

#[track_caller]
fn assert_ran(output: &Output, code: i32, out: &str) {
    let printed = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*printed), (Some(code), out), "{complaints}");
}

#[test]
#[ignore = "builds the command line once more, with other features: `.ci/run`"]
fn a_library_gets_a_command_line() {
    let library = fixture();
    let listed = "text:built:1.0.0\tread-only\tSays how it was built.\ntext:refuse:1.0.0\tread-only\tAlways fails.\ntext:reverse:1.0.0\tread-only\tTurns a text around.\n";
    assert_ran(&cargo_toolkit(&library, &["list"]), 0, listed);

    // The program handles flags, exit codes and streams of its commands.
    let reversed = cargo_toolkit(&library, &["call", "reverse", "--text", "stressed"]);
    assert_ran(&reversed, 0, "\"desserts\"\n");
    let refused = cargo_toolkit(&library, &["call", "refuse"]);
    assert_ran(&refused, 1, "");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("not today"));
    assert_ran(&cargo_toolkit(&library, &["no-such-command"]), 2, "");

    // From a subdirectory, and for a package on the command line.
    let manifest = library.join("Cargo.toml");
    let manifest = ["--manifest-path", manifest.to_str().unwrap(), "-p", "only-a-library"];
    let checked = cargo_toolkit(&library.join("src"), &[&manifest[..], &["check"]].concat());
    assert_ran(&checked, 0, "3 tools, no problems\n");

    let extra = cargo_toolkit(&library, &["--features", "extra", "call", "extra"]);
    assert_ran(&extra, 0, "true\n");

    // With the patches and profiles of the workspace.
    let built = cargo_toolkit(&library, &["call", "built"]);
    assert_ran(&built, 0, "\"from the patch, debug assertions false\"\n");

    // Without the server, the error of its command contains the missing feature.
    assert_ran(&cargo_toolkit(&library, &["call", "reverse", "--text", "no"]), 0, "\"on\"\n");
    let program = target().join("debug/cargo-toolkit-only-a-library");
    for (args, feature) in [
        (&["serve", "--http", "0"][..], "mcp"),
        (&["export", "--format", "openai"], "export"),
        (&["list", "--nats", "nats://localhost"], "nats"),
    ] {
        let output = Command::new(&program).args(args).output().unwrap();
        assert_ran(&output, 2, "");
        let printed = String::from_utf8_lossy(&output.stderr);
        let expected = format!("error: this program was built without the feature `{feature}` of `toolkit-cli`; ");
        assert!(printed.starts_with(&expected), "{printed}");
    }

    // `serve` links the server, which ends at once without stdin.
    assert_ran(&cargo_toolkit(&library, &["serve"]), 0, "");
    let version = Command::new(&program).arg("--version").output().unwrap();
    assert_ran(&version, 0, "only-a-library 0.1.0\n");
    let manifest = fs::read_to_string(target().join("cargo-toolkit/only-a-library/Cargo.toml")).unwrap();
    assert!(manifest.contains(r#"features = ["mcp", "search"]"#), "{manifest}");

    assert!(target().join("cargo-toolkit/only-a-library/src/main.rs").exists());
    let unchanged = fs::read_to_string(library.join("Cargo.lock")).unwrap();
    assert!(!unchanged.contains("cargo-toolkit-only-a-library"));
}

#[test]
#[ignore = "builds three programs, each with other features of the dependencies: `.ci/run`"]
fn new_writes_packages_that_build_and_pass_their_tests() {
    // Outside of this workspace, to which `cargo new` would add them.
    let folder = tempfile::tempdir().unwrap();
    for (kind, name) in [("--mcp", "new-mcp"), ("--library", "new-library"), ("--agent", "new-agent")] {
        let written = cargo_new(folder.path(), &[kind, name]);
        assert!(written.status.success(), "{written:?}");
        let package = folder.path().join(name);
        fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock"), package.join("Cargo.lock")).unwrap();
        assert_ran(&cargo(&package, &["fmt", "--check"]), 0, "");
        let tested = cargo(&package, &["test", "--quiet", "--offline"]);
        assert!(tested.status.success(), "{tested:?}");
        let arguments = ["money:share", "--cents", "1000", "--people", "4"];
        match kind {
            "--mcp" => {
                let run = ["run", "--quiet", "--offline", "--", "call"];
                assert_ran(&cargo(&package, &[&run[..], &arguments].concat()), 0, "250\n");
            }
            "--library" => assert_ran(&cargo_toolkit(&package, &[&["call"][..], &arguments].concat()), 0, "250\n"),
            _ => {}
        }
    }
}

#[test]
fn it_is_installed_without_the_libraries() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let tree = cargo(
        &project,
        &["tree", "--offline", "--package", "cargo-toolkit", "--edges", "normal,build", "--prefix", "none"],
    );
    let tree = String::from_utf8(tree.stdout).unwrap();
    let crates: BTreeSet<&str> = tree.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    assert!((5..=36).contains(&crates.len()), "{} crates:\n{tree}", crates.len());
}

#[test]
fn a_new_package_depends_on_the_package_of_the_library() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../toolkit/Cargo.toml");
    let manifest = fs::read_to_string(manifest).unwrap();
    let name = manifest.lines().find_map(|line| line.strip_prefix("name = ")).unwrap();
    assert!(include_str!("../../src/package.rs").contains(&format!("const TOOLKIT: &str = {name};")), "{name}");
}

/// Runs a command that fails, and returns its one line on stderr.
#[track_caller]
fn complaint(output: &Output, code: i32) -> String {
    assert_ran(output, code, "");
    let printed = String::from_utf8_lossy(&output.stderr);
    let line = printed.strip_prefix("error: ").and_then(|text| text.strip_suffix('\n'));
    line.filter(|line| !line.contains('\n')).unwrap_or_else(|| panic!("{printed}")).to_owned()
}

#[test]
fn new_rejects_names_and_folders_in_one_line_that_says_what_to_write() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |args: &[&str]| complaint(&cargo_new(folder.path(), args), 1);
    fs::create_dir(folder.path().join("new-mcp")).unwrap();
    assert_eq!(refused(&["new-mcp"]), "new-mcp already exists; write the name of a new directory");
    assert!(refused(&[".."]).contains("already exists"));
    let other = "; write another name, such as `cargo toolkit new my-tools`";
    assert_eq!(
        refused(&["test"]),
        format!(
            "cannot create test: invalid package name `test`: it conflicts with Rust's built-in test library{other}"
        )
    );
    for name in ["fn", "1tool", "my!tools"] {
        let refused = refused(&[name]);
        assert!(refused.ends_with(other) && !refused.contains("--name"), "{refused}");
    }
    for name in ["toolkit", "toolkit-core", "toolkit-cli"] {
        assert_eq!(refused(&[name]), format!("the new package depends on another `{name}`{other}"));
    }
    assert_ran(&cargo_new(folder.path(), &["--mcp", "--agent", "new-two"]), 2, "");
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["new-mcp"]);
}

#[test]
fn a_new_package_says_that_the_paths_of_its_dependencies_are_those_of_this_machine() {
    let folder = tempfile::tempdir().unwrap();
    assert!(cargo_new(folder.path(), &["new-mcp"]).status.success());
    let read = |file: &str| fs::read_to_string(folder.path().join("new-mcp").join(file)).unwrap();
    assert!(read("Cargo.toml").contains("\ntoolkit-core = { path = "));
    assert!(read("Cargo.toml").ends_with("\n[profile.dev.package.\"*\"]\ndebug = false\n"));
    let ci = read(".github/workflows/ci.yml");
    assert!(
        ci.contains("actions/checkout@v4\n      # Cargo.toml has the paths of toolkit") && !ci.contains("{{"),
        "{ci}"
    );
}

#[test]
fn a_package_in_a_workspace_with_lints_has_its_dependencies_below_their_header() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = "[workspace]\nresolver = \"3\"\n\n[workspace.lints.rust]\nunsafe_code = \"forbid\"\n";
    fs::write(folder.path().join("Cargo.toml"), workspace).unwrap();
    assert!(cargo_new(folder.path(), &["new-mcp"]).status.success());
    let manifest = fs::read_to_string(folder.path().join("new-mcp/Cargo.toml")).unwrap();
    let after = |header: &str| manifest.split_once(header).map(|(_, after)| after.to_owned()).unwrap_or_default();
    let dependencies = after("[dependencies]\n");
    let dependencies = dependencies.split("\n[").next().unwrap();
    assert!(dependencies.contains("\ntoolkit-core = { path = "), "{manifest}");
    assert_eq!(after("[lints]\n").trim(), "workspace = true", "{manifest}");
    assert!(!manifest.contains("[profile"), "the workspace has the profiles: {manifest}");
    let metadata = cargo(folder.path(), &["metadata", "--offline", "--no-deps", "--format-version", "1"]);
    assert!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
}

#[test]
fn outside_of_a_package_an_error_names_the_commands_or_what_to_write() {
    let folder = tempfile::tempdir().unwrap();
    let unknown = complaint(&cargo_toolkit(folder.path(), &["lst"]), 2);
    assert!(unknown.starts_with("there is no command `lst`; the commands are new, dev, list, search, "), "{unknown}");
    assert!(unknown.contains("chain") && unknown.contains("serve-sandbox") && unknown.contains("run"), "{unknown}");
    let nowhere = complaint(&cargo_toolkit(folder.path(), &["list"]), 2);
    assert!(
        nowhere.starts_with("there is no Cargo.toml in ") && nowhere.contains("cargo toolkit new NAME"),
        "{nowhere}"
    );
    let missing = complaint(&cargo_toolkit(folder.path(), &["--manifest-path", "x/Cargo.toml", "list"]), 2);
    assert_eq!(missing, "--manifest-path: there is no file x/Cargo.toml");
    let help = cargo_toolkit(folder.path(), &["--help"]);
    let help = String::from_utf8_lossy(&help.stdout);
    for command in ["new ", "dev ", "list ", "chain ", "cost ", "serve-sandbox"] {
        assert!(help.lines().any(|line| line.trim_start().contains(command)), "no {command:?} in {help}");
    }
    let version = cargo_toolkit(folder.path(), &["--version"]);
    let expected = concat!("cargo toolkit ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(String::from_utf8_lossy(&version.stdout), expected);
}

#[test]
fn a_package_that_is_not_there_is_a_usage_error() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = cargo_toolkit(folder, &["-p", "no-such-package", "list"]);
    assert_ran(&output, 2, "");
    let output = cargo_toolkit(folder, &["-p", "toolkit-derive", "list"]);
    assert_ran(&output, 2, "");
    assert!(String::from_utf8_lossy(&output.stderr).contains("has no library"));
}
