//! The options of a program, as its author declares them.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::bundle::directory;
use super::{Ran, command, path};

static OPTIONS: LazyLock<String> = LazyLock::new(|| path("fixture_options"));

fn program(args: &[&str]) -> Command {
    let mut command = command(&OPTIONS, args);
    command.env_remove("BACKUP_KEY");
    command
}

fn run(args: &[&str]) -> Ran {
    program(args).output().expect("the fixture runs").into()
}

/// Returns the text that the tool of the fixture returns.
#[track_caller]
fn text(ran: Ran) -> String {
    serde_json::from_value(ran.exits(0).json()).expect("a text")
}

fn json_of(ran: Ran) -> Value {
    ran.exits(0).json()
}

#[test]
fn options_stand_before_and_after_a_command() {
    let all = r#"Options { db: Some("a.db"), in_memory: false, frozen: true, page_size: 5, order: "title", labels: ["x", "y"], backup_key: None } None"#;
    let own = ["--db", "a.db", "-f", "--page-size=5", "--order", "title", "--label", "x", "--label", "y"];
    let call = ["call"];
    let tool = ["notes:options"];
    assert_eq!(text(run(&[&own[..], &call, &tool].concat())), all);
    assert_eq!(text(run(&[&call[..], &own, &tool].concat())), all);
    assert_eq!(text(run(&[&own[..4], &call, &own[4..], &tool].concat())), all);
}

#[test]
fn words_after_the_id_of_a_tool_are_those_of_the_tool() {
    let text = text(run(&["call", "--in-memory", "notes:options", "--db", "b.db"]));
    assert!(text.starts_with("Options { db: None") && text.ends_with("Some(\"b.db\")"), "{text}");
    let misplaced = run(&["--in-memory", "call", "notes:options", "--page-size", "3"]).exits(2);
    misplaced.says("`--page-size` is an option of this program, and stands before the tool");
}

#[test]
fn rules_between_options_hold_wherever_they_stand() {
    let conflict = run(&["--in-memory", "call", "--db", "a.db", "notes:options"]).exits(2);
    conflict
        .says("the argument '--in-memory' cannot be used with '--db <FILE>'")
        .says("Usage: fixture_options [OPTIONS] call …");
    run(&["--db", "a.db", "call", "--db", "b.db", "notes:options"]).exits(2).says("cannot be used multiple times");
    run(&["call", "--in-memory", "--page-size", "x", "notes:options"])
        .exits(2)
        .says("invalid value 'x' for '--page-size");
}

#[test]
fn only_commands_that_run_tools_need_required_options() {
    for arguments in [&["call", "notes:options"][..], &["check"], &["serve"], &["install", "cursor", "--print"]] {
        run(arguments)
            .exits(2)
            .says("--db <FILE>")
            .says(&format!("Usage: fixture_options [OPTIONS] {} …", arguments[0]));
    }
    run(&["list"]).exits(0);
    run(&["show", "notes:options"]).exits(0);
    run(&["list", "--in-memory", "--db", "x"]).exits(2).says("cannot be used with");
}

#[test]
fn help_and_completions_list_the_options() {
    for arguments in [&["--help"][..], &["call", "--help"], &["serve", "--help"], &["bundle", "mcpb", "--help"]] {
        let help = run(arguments).exits(0).out;
        let own = help.split("\nOptions of this program:\n").nth(1).expect("they have a heading");
        assert!(own.contains("--db <FILE>") && own.contains("[default: 20]"), "{help}");
    }
    let script = run(&["completions", "bash"]).exits(0).out;
    assert!(script.contains("--page-size"), "{script}");
}

#[test]
fn an_option_of_a_command_is_an_error_of_every_start() {
    let ran: Ran = program(&["list"]).env("FIXTURE_CLASH", "1").output().expect("the fixture runs").into();
    let ran = ran.exits(1);
    assert_eq!(
        ran.err,
        "error: fixture_options::Clash: `--json` is an option of `list`, `search`, `show`, `call`, `chain run`, `chain status`, \
         `chain wait`, `chain cancel`, `chain resume`, `chain retry`, `chain decide`, `chain list`, `cost`, `check`, `diff`, \
         `status`, `run` and `login` too; write `#[arg(long = \"OTHER\")]`; `--yes` is an option of `chain prune`, `install` and \
         `uninstall` too; write `#[arg(long = \"OTHER\")]`; `-y` is an option of `chain prune`, `install` and `uninstall` \
         too; write `#[arg(short = 'O')]`; `file` has no name on the command line; write `#[arg(long)]`\n"
    );
}

#[test]
fn an_entry_has_the_given_options_with_absolute_paths() {
    let directory = directory("options-entry");
    let install = |args: &[&str]| {
        let mut command = program(&[&["install", "cursor", "--print"], args].concat());
        Ran::from(command.current_dir(&directory).output().expect("the fixture runs"))
    };
    let entry = json_of(install(&["--db", "notes.db", "-f", "--label", "a", "--label", "b", "--", "--stateless"]));
    let db = fs::canonicalize(&directory).unwrap().join("notes.db");
    let expected =
        json!(["serve", format!("--db={}", db.display()), "--frozen", "--label=a", "--label=b", "--stateless"]);
    let entry = &entry["mcpServers"]["fixture_options"];
    assert_eq!(entry["args"], expected);
    assert_eq!(entry["env"], json!({ "BACKUP_KEY": "${env:BACKUP_KEY}" }));
    install(&["--in-memory", "--backup-key", "k"]).exits(2).says("the variable BACKUP_KEY");
    install(&["--in-memory", "--http", "https://example.com/mcp"]).exits(2).says("`--in-memory` is for a server");
}

#[test]
fn a_bundle_asks_for_the_options_that_are_not_given() {
    let directory = directory("options-bundle");
    let file = directory.join("notes.mcpb");
    let arguments = ["bundle", "mcpb", "-o", file.to_str().unwrap(), "--order", "title"];
    run(&arguments).exits(0).says("`--label` may be repeated");
    let manifest = manifest(&file);
    let config = &manifest["server"]["mcp_config"];
    let expected = [
        "--db=${user_config.db}",
        "--frozen=${user_config.frozen}",
        "--in-memory=${user_config.in_memory}",
        "--page-size=${user_config.page_size}",
        "serve",
        "--order=title",
    ];
    assert_eq!(config["args"], json!(expected));
    assert_eq!(config["env"], json!({ "BACKUP_KEY": "${user_config.BACKUP_KEY}" }));
    let settings = &manifest["user_config"];
    let db = json!({ "type": "file", "title": "Db", "description": "The file with the notes", "required": false, "default": "" });
    assert_eq!(settings["db"], db);
    let switch = json!({ "type": "boolean", "title": "Frozen", "description": "Change nothing", "required": false, "default": false });
    assert_eq!(settings["frozen"], switch);
    let number = json!({ "type": "number", "title": "Page size", "description": "Notes of a page (default: 20)", "required": false, "default": 20 });
    assert_eq!(settings["page_size"], number);
    assert_eq!(settings["BACKUP_KEY"]["sensitive"], true);
}

/// Reads the manifest of a bundle with Python.
fn manifest(path: &Path) -> Value {
    let script = "import sys, zipfile\nprint(zipfile.ZipFile(sys.argv[1]).read('manifest.json').decode())";
    let output = Command::new("python3").args(["-c", script]).arg(path).output().expect("Python runs");
    serde_json::from_slice(&output.stdout).expect("the manifest is JSON")
}

#[test]
fn settings_that_the_user_of_a_bundle_leaves_empty_count_as_not_given() {
    // As a client starts the bundle, with another command.
    let started = ["--db=", "--in-memory=true", "--page-size=", "--frozen=false", "call", "notes:options"];
    let output = program(&started).env("BACKUP_KEY", "").output().expect("the fixture runs");
    let expected = r#"Options { db: None, in_memory: true, frozen: false, page_size: 20, order: "age", labels: [], backup_key: None } None"#;
    assert_eq!(text(output.into()), expected);
    let output = program(&["--in-memory", "call", "notes:options"]).env("BACKUP_KEY", "k").output().unwrap();
    assert!(text(output.into()).contains(r#"backup_key: Some("k")"#));
}

#[test]
fn an_image_in_the_registry_has_arguments() {
    let image = ["bundle", "server-json", "--name", "io.github.ada/notes", "--image", "ghcr.io/ada/notes:1.0.0"];
    let server = json_of(run(&image));
    let package = &server["packages"][0];
    let arguments = package["packageArguments"].as_array().expect("there are arguments");
    assert_eq!(arguments[0], json!({ "type": "positional", "value": "serve" }));
    let db = json!({ "type": "named", "name": "--db", "description": "The file with the notes", "format": "filepath", "isRequired": false });
    assert_eq!(arguments[1], db);
    assert!(arguments.contains(&json!({
        "type": "named", "name": "--page-size", "description": "Notes of a page (default: 20)",
        "format": "number", "isRequired": false, "default": "20",
    })));
    assert_eq!(package["environmentVariables"][0]["name"], "BACKUP_KEY");
    assert_eq!(package["environmentVariables"][0]["isSecret"], true);
}
