//! Programs as their users build them: outside of the workspace, with the features that README and the chapters name.
//!
//! The other tests are built together with crates that enable more features of `toolkit-core`.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::programs::{DEV, run, target};

#[test]
fn the_programs_of_readme_run() {
    run(&["run", "--package", "readme", "--bin", "quickstart"], DEV);
    run(&["run", "--package", "readme", "--bin", "reply"], DEV);
    run(&["build", "--package", "readme", "--bin", "readme-tools"], DEV);
    assert_calls("readme-tools", &[("math_add", json!({ "a": 1, "b": 2 }))]);
}

#[test]
fn a_command_of_a_disabled_feature_says_what_to_write() {
    run(&["build", "--package", "readme", "--bin", "readme-tools"], DEV);
    for (words, feature) in [
        ("serve --http 8000", "http"),
        ("serve --health 9000", "http"),
        ("serve --allow-host tools.example", "http"),
        ("serve --list-at-most 3", "search"),
        ("serve --proxy servers.json", "proxy"),
        ("search add", "search"),
        ("export --format openai", "export"),
        ("cost", "export"),
        ("check --limits", "export"),
        ("bundle mcpb", "bundle"),
        ("chain run steps.json", "chain"),
    ] {
        let program = target().join("debug/readme-tools");
        let output = Command::new(program).args(words.split(' ')).output().expect("the program was built");
        let printed = String::from_utf8_lossy(&output.stderr);
        let what = format!("without the feature `{feature}` of `toolkit-cli`; enable it in Cargo.toml: ");
        let line = format!("`toolkit-cli = {{ ..., features = [\"{feature}\"] }}`");
        assert!(printed.contains(&what) && printed.contains(&line), "{words}: {printed}");
        assert_eq!(output.status.code(), Some(2), "{words}");
    }
}

#[test]
fn the_programs_of_the_chapters_run() {
    run(&["test", "--doc", "--package", "chapters"], DEV);
}

#[test]
fn every_kind_of_declaration_that_the_chapter_names_is_called() {
    let printed = run(&["run", "--package", "declarations"], DEV);
    assert!(printed.ends_with(" tools, 0 failures\n"), "{printed}");
}

/// Starts the MCP server of a program, and calls each tool that it lists.
#[track_caller]
fn assert_calls(program: &str, calls: &[(&str, Value)]) {
    let mut messages = vec![json!({ "jsonrpc": "2.0", "id": 0, "method": "tools/list" })];
    messages.extend(calls.iter().enumerate().map(|(idx, (name, arguments))| {
        let params = json!({ "name": name, "arguments": arguments });
        json!({ "jsonrpc": "2.0", "id": idx + 1, "method": "tools/call", "params": params })
    }));
    let lines: String = messages.iter().map(|message| format!("{message}\n")).collect();

    let mut server = Command::new(target().join("debug").join(program))
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program was built");
    server.stdin.take().expect("stdin is piped").write_all(lines.as_bytes()).expect("the server reads");
    let output = server.wait_with_output().expect("the server ends with its input");
    let printed = String::from_utf8(output.stdout).expect("messages are UTF-8");
    let mut answers: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).expect("a message")).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());

    let listed = answers[0]["result"]["tools"].as_array().expect("a list of tools");
    let listed: BTreeSet<&str> = listed.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(listed, calls.iter().map(|(name, _)| *name).collect(), "the calls are those of the listed tools");
    assert_eq!(answers.len(), messages.len(), "{printed}");
    for answer in &answers[1..] {
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
}
