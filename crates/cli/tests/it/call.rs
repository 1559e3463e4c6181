//! `call`: arguments, results and errors.

use serde_json::json;

use super::{HELD, Ran, TOOLS, command, tools, tools_reading};

#[test]
fn required_credentials_are_read_from_the_environment() {
    let args = ["call", "weather:forecast", r#"{"place": {"latitude": 1, "longitude": 2}}"#, "--json"];
    tools(&args).exits(0);
    let without = |args: &[&str]| {
        let mut command = command(&TOOLS, args);
        for (variable, _) in HELD {
            command.env_remove(variable);
        }
        Ran::from(command.output().unwrap()).exits(1)
    };
    without(&args[..3])
        .says("the call lacks credentials that the tool requires: the secret `ALMANAC_KEY`; an authorization by `almanac` (`read`)")
        .says("note: required credentials are read from the environment: ALMANAC_KEY, ALMANAC_TOKEN, USER_ID");
    let refused = without(&args).json();
    assert_eq!(refused["error"]["kind"], "missing_requirements");
    assert_eq!(refused["error"]["missing"]["secrets"], json!([{ "id": "ALMANAC_KEY" }]));
}

#[test]
fn a_piped_result_is_compact_json() {
    let place = r#"{"place":{"latitude":1,"longitude":2}}"#;
    let ran = tools(&["call", "forecast", place]).exits(0);
    assert_eq!(ran.out.lines().count(), 1);
    assert_eq!(ran.json()["place"]["latitude"], 1.0);
    assert_eq!(ran.err, "");
}

#[test]
fn json_output_has_tool_structured_content_and_changes() {
    let ran = tools(&["call", "plot", "--json"]).exits(0);
    let content = json!([{ "type": "image", "data": "c2V2ZW4=", "mimeType": "image/png" }]);
    assert_eq!(ran.json(), json!({ "tool": "media:plot:1.0.0", "structured": 7, "content": content, "changes": [] }));
}

#[test]
fn options_are_accepted_before_and_after_the_tool() {
    let before = tools(&["call", "--json", "add", "--a", "1"]).exits(0);
    let after = tools(&["call", "add", "--a", "1", "--json"]).exits(0);
    assert_eq!(before.out, after.out);
}

#[test]
fn a_dash_reads_the_arguments_from_stdin() {
    tools_reading(r#"{"a": 20, "b": 22}"#, &["call", "add", "-"]).exits(0).prints("42\n");
}

#[test]
fn stdin_is_not_read_without_a_dash() {
    tools_reading(r#"{"a": 1}"#, &["call", "add"]).exits(1).says("/a is required");
}

#[test]
fn the_highest_version_is_the_default() {
    tools(&["call", "math:add", r#"{"a":1,"b":2}"#]).prints("3\n");
    tools(&["call", "math:add:0.9.0", r#"{"a":1,"b":2}"#]).prints("\"1 + 2 = 3\"\n");
}

#[test]
fn an_invalid_argument_is_reported_with_an_example_and_exits_with_1() {
    tools(&["call", "add", r#"{"a":"x"}"#])
        .exits(1)
        .prints("")
        .says("math:add:1.0.0: the arguments do not match the schema")
        .says(r#"- /a must be an integer, got "x""#)
        .says(r#"for example: {"a":"#);
}

#[test]
fn malformed_json_exits_with_1() {
    tools(&["call", "add", r#"{"a":1"#]).exits(1).says("not valid JSON");
    tools(&["call", "add", r#"{"a":1,"a":2}"#]).exits(1).says("duplicate key");
    tools(&["call", "add", r#"{"a":1,"a":2}"#, "--b", "1"]).exits(1).says("duplicate key");
}

#[test]
fn a_failing_tool_exits_with_1_and_its_message() {
    tools(&["call", "refuse"]).exits(1).prints("").says("error: bad:refuse:1.0.0: the moon is not full");
}

#[test]
fn an_unknown_tool_exits_with_2_and_a_suggestion() {
    tools(&["call", "forcast"]).exits(2).says("did you mean `forecast`?");
    tools(&["show", "forcast"]).exits(2).says("did you mean `forecast`?");
}

#[test]
fn errors_as_json_are_one_document_on_stdout() {
    let error = |args: &[&str], code| tools(args).exits(code).json()["error"].clone();
    let refused = error(&["call", "add", "{}", "--json"], 1);
    assert_eq!(refused["kind"], "invalid_arguments");
    assert_eq!(refused["violations"][0]["pointer"], "/a");
    let failed = error(&["call", "refuse", "--json"], 1);
    assert_eq!((&failed["kind"], &failed["data"]["phase"]), (&json!("failed"), &json!("new")));
    assert_eq!(error(&["call", "nope", "--json"], 2)["kind"], "unknown_tool");
    assert_eq!(error(&["call", "add", "--c", "1", "--json"], 1)["violations"].as_array().unwrap().len(), 2);
    assert_eq!(error(&["call", "add", "hello", "--json"], 2)["kind"], "usage");
}

#[test]
fn the_cause_of_an_internal_error_is_on_stderr_and_never_in_the_json() {
    tools(&["call", "broken"]).exits(1).says("caused by: disk on fire");
    let ran = tools(&["call", "broken", "--json"]).exits(1).says("disk on fire");
    assert!(!ran.out.contains("disk"), "{ran:?}");
}

#[test]
fn words_that_are_no_arguments_are_answered_with_what_to_write() {
    let forms = "; write each argument of `math:add` as a flag (--a, --b), or all as one JSON object\n";
    for (words, what) in [
        (&["hello"][..], "`hello` is not JSON"),
        (&["1", "2"], "`2` is unexpected"),
        (&["-s", "1"], "`-s` is not a flag of this tool"),
    ] {
        let ran = tools(&[&["call", "add"], words].concat()).exits(2);
        assert_eq!(ran.err, format!("error: {what}{forms}"));
    }
    tools(&["call", "forecast", "--day", "1"]).exits(1).says("/day is not an argument; did you mean `days`?");
    tools(&["call", "math"]).exits(2).says("`fixture_tools list --namespace math` lists its tools");
    tools(&["serve", "--port", "8000"]).exits(2).says("'--http'");
}

#[test]
fn a_cause_that_is_the_message_is_not_repeated() {
    // Its text is shown to the model, and is also that of its source.
    let ran = tools(&["call", "refuse"]).exits(1);
    assert_eq!(ran.err, "error: bad:refuse:1.0.0: the moon is not full\n  {\"phase\":\"new\"}\n");
}

#[test]
fn a_panic_is_one_error_and_no_backtrace() {
    let ran = tools(&["call", "panics"]).exits(1).says("caused by: index out of sorts");
    assert_eq!(ran.err.lines().count(), 2, "{ran:?}");
    let mut command = command(&TOOLS, &["call", "panics"]);
    let output = command.env("RUST_BACKTRACE", "1").output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("fixture_tools.rs"));
}

#[test]
fn lenient_calls_coerce_arguments_and_report_it() {
    tools(&["call", "add", r#"{"a":"5"}"#]).exits(1);
    tools(&["call", "add", r#"{"a":"5"}"#, "--lenient"])
        .exits(0)
        .prints("6\n")
        .says("note: /a: text read as an integer");
    let whole = tools(&["call", "add", r#"{"a":"5"}"#, "--lenient", "--json"]).json();
    assert_eq!(whole["changes"][0]["pointer"], "/a");
}

#[test]
fn a_deprecated_tool_works_with_a_warning() {
    tools(&["call", "total", "--numbers", "1.5"])
        .exits(0)
        .prints("1.5\n")
        .says("warning: `total` is deprecated: use math:add");
}

#[test]
fn media_are_printed_as_kind_and_size() {
    tools(&["call", "media:show"]).exits(0).prints("look\n[image image/png, 3 bytes]\n[audio audio/wav, 2.9 KiB]\n");
}

#[test]
fn state_is_injected_by_the_program() {
    tools(&["call", "up", "--by", "2"]).exits(0).prints("42\n");
}

#[test]
fn streamed_items_are_printed_as_they_arrive() {
    tools(&["call", "countdown", "--from", "3"]).exits(0).prints("[3,2,1]\n");
    tools(&["call", "countdown", "--from", "3", "--stream"]).exits(0).prints("3\n2\n1\n");
    tools(&["call", "--stream", "add", "--a", "1"]).exits(0).prints("2\n");
    let failed = tools(&["call", "countdown", "--from", "1", "--fails", "--stream"]).exits(1).prints("1\n");
    failed.says("the fuse was wet");
}

#[test]
fn stream_with_json_prints_every_event() {
    let ran = tools(&["call", "countdown", "--from", "1", "--stream", "--json"]).exits(0);
    let events: Vec<serde_json::Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let id = "time:countdown";
    assert_eq!(
        events,
        [
            json!({ "kind": "progress", "toolId": id, "data": { "progress": 0.0, "total": 1.0 } }),
            json!({ "kind": "chunk", "toolId": id, "data": 1 }),
            json!({ "kind": "done", "toolId": id, "data": [1] }),
        ]
    );
}

#[test]
fn log_messages_of_a_tool_are_printed_to_stderr() {
    let ran = tools(&["call", "slow:walk", "--steps", "0"]).exits(0);
    assert_eq!(ran.out, "\"arrived\"\n");
    let expected = "note: {\"steps\":0}\nwarning: nothing to walk\\u{1b}[2J\nerror: the feet are still\n";
    assert_eq!(ran.err, expected);
}
