//! What the example programs print. What they assert themselves is not repeated here.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Returns the path of an example program. `cargo test` builds them, but `cargo test --test it` does not.
pub(crate) fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let program = profile.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(program.exists(), "build it first: cargo build -p toolkit-examples --example {name}");
    program
}

/// Returns what an example program prints.
#[track_caller]
fn printed(name: &str) -> String {
    let output = Command::new(program(name)).stdin(Stdio::null()).env("NO_PROXY", "*").output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_quick_start_prints_all_that_is_wrong_in_a_call() {
    assert_eq!(printed("quickstart"), "/a must be an integer, got \"one\"\n/b is required\n");
}

#[test]
fn chains_streams_and_searches_print_their_results() {
    assert_eq!(printed("chain"), "3\n13\n");
    assert_eq!(printed("stream"), "0: reading\n\"one\"\n1: reading\n\"two\"\n");
    assert!(printed("search").ends_with(" math:add Adds two numbers.\n"));
}

#[test]
fn a_program_of_code_mode_prints_and_returns_the_longest_chapters() {
    let text = printed("code_mode");
    let (first, rest) = text.split_once(" chapters\n").unwrap();
    assert!(first.parse::<usize>().is_ok_and(|n| n >= 40), "{text}");
    let (chapters, calls) = rest.rsplit_once("]\n").unwrap();
    assert!(calls.ends_with(" calls, of which a model reads none\n"), "{text}");
    let chapters: Vec<serde_json::Value> = serde_json::from_str(&format!("{chapters}]")).unwrap();
    assert_eq!(chapters.len(), 3);
    assert!(chapters.iter().is_sorted_by(|a, b| a["words"].as_u64() >= b["words"].as_u64()), "{text}");
}

#[test]
fn a_tool_with_a_user_interface_prints_its_text_in_other_hosts() {
    assert!(printed("app").starts_with("Q1 ████████████ 120\n"));
}

#[test]
fn servers_in_applications_of_axum_serve_the_explorer_and_a_client() {
    assert_eq!(printed("mount_mcp"), "3\n");
    assert!(printed("explorer").ends_with("/tools/explorer\n"));
}

#[test]
fn tools_beside_the_login_of_an_application_serve_its_users() {
    let rooms = "\"Ada has room 7\"\n\
                 rooms:book: room 9 is not for you: {\"allowed\":[7,8]}\n\
                 rooms:book: no user is logged in\n\
                 []\n\"rooms_book\"\n";
    assert_eq!(printed("call_state"), rooms);
    assert_eq!(printed("existing_login"), "[\"7-1\",\"7-2\"]\n[\"8-1\",\"8-2\"]\n");
}

#[test]
fn programs_whose_outcome_is_asserted_in_them_print_nothing() {
    for name in ["approval", "dynamic_tools", "instances", "reply"] {
        assert_eq!(printed(name), "", "{name}");
    }
}

#[test]
fn prompts_print_the_messages_that_a_client_receives() {
    let text = printed("prompts");
    let (listed, messages) = text.split_once('\n').unwrap();
    assert_eq!(listed, "text:translate(text, into, variants): Translates a text.");
    let messages: serde_json::Value = serde_json::from_str(messages).unwrap();
    assert_eq!(messages[0]["content"]["text"], "Translate into German, in 2 variants:\nGood morning");
    assert_eq!(messages[1]["role"], "assistant");
}
