//! Flags derived from schemas.

use super::tools;

#[track_caller]
fn same(flags: &[&str], json: &str) {
    let (tool, flags) = flags.split_first().unwrap();
    let by_flags = tools(&[&["call", tool], flags].concat()).exits(0);
    let by_json = tools(&["call", tool, json]).exits(0);
    assert_eq!(by_flags.out, by_json.out);
}

#[test]
fn flags_equal_json() {
    same(&["add", "--a", "1", "--b=2"], r#"{"a":1,"b":2}"#);
    same(&["add", "--a", "-1"], r#"{"a":-1}"#);
    same(&["sum", "--numbers", "1", "--numbers", "-2.5"], r#"{"numbers":[1,-2.5]}"#);
    same(
        &["area", "--shape", "rectangle", "--width", "2", "--height", "3e0"],
        r#"{"shape":"rectangle","width":2,"height":3}"#,
    );
    same(&["echo", "--value", "[1]", "--map", r#"{"a":1}"#], r#"{"value":[1],"map":{"a":1}}"#);
    same(&["echo", "--value", "plain text"], r#"{"value":"plain text"}"#);
}

#[test]
fn nested_objects_are_json_or_dotted_flags_or_both() {
    let expected = r#"{"place":{"latitude":1,"longitude":2,"name":"Lima"},"unit":"celsius","labels":["a","-b"],"verbose_output":true}"#;
    let rest = ["--unit", "celsius", "--labels", "a", "--labels", "-b", "--verbose-output"];
    let place = r#"{"latitude":1,"longitude":2}"#;
    let mixed = ["forecast", "--place.name", "Lima", "--place", place];
    same(&[&mixed[..], &rest].concat(), expected);
    let dotted = ["--place.latitude", "1", "--place.longitude", "2", "--place.name", "Lima"];
    same(&[&["forecast"], &dotted[..], &rest].concat(), expected);
}

#[test]
fn a_list_of_non_strings_also_accepts_a_json_array() {
    same(&["sum", "--numbers", "[1, 2]", "--numbers", "3"], r#"{"numbers":[1,2,3]}"#);
    same(
        &["shapes", "--matrix", "[1]", "--matrix", "[2,3]", "--either", "x"],
        r#"{"matrix":[[1],[2,3]],"either":["x"]}"#,
    );
}

#[test]
fn a_union_takes_json_or_text() {
    same(
        &["shapes", r#"{"matrix":[]}"#, "--either", "word", "--either", "1", "--either", r#"{"on":true}"#],
        r#"{"matrix":[],"either":["word",1,{"on":true}]}"#,
    );
    // A number keeps its digits where a text is allowed.
    same(
        &["shapes", r#"{"matrix":[]}"#, "--either", "1.50", "--either", "12345678901234567890123"],
        r#"{"matrix":[],"either":["1.50","12345678901234567890123"]}"#,
    );
}

#[test]
fn a_key_with_a_slash_is_not_a_nested_key() {
    same(
        &["shapes", r#"{"matrix":[],"either":[]}"#, "--tree/leaf", "1", "--tree", r#"{"leaf":2,"branches":[]}"#],
        r#"{"matrix":[],"either":[],"tree/leaf":1,"tree":{"leaf":2,"branches":[]}}"#,
    );
}

#[test]
fn assignments_are_answered_with_the_flags_to_write() {
    for words in [&["a=1", "b=2"][..], &["a=1", "--b", "2"], &["a=1"]] {
        let ran = tools(&[&["call", "add"], words].concat()).exits(2).prints("");
        ran.says("arguments are flags or a JSON object; write `call math:add --a 1");
    }
    tools(&["call", "add", "a=1", "b=2"]).says("--a 1 --b 2`");
    // A value of a flag may have the same form.
    tools(&["call", "echo", "--value", "a=1"]).exits(0);
    tools(&["call", "add", "c=1"]).exits(2).says("`c=1` is not JSON");
}

#[test]
fn an_argument_in_the_json_and_by_a_flag_is_an_error_unless_both_are_equal() {
    tools(&["call", "add", r#"{"a":1}"#, "--b", "41"]).exits(0).prints("42\n");
    tools(&["call", "add", r#"{"a":1,"b":1}"#, "--b", "1"]).exits(0).prints("2\n");
    let both = tools(&["call", "add", r#"{"a":1,"b":1}"#, "--b", "41"]).exits(2).prints("");
    both.says("the argument `b` is 1 in the JSON and 41 by the flag --b; leave one of them out");
    let place = r#"{"place":{"latitude":1,"longitude":2}}"#;
    let nested = tools(&["call", "forecast", place, "--place.latitude", "3"]).exits(2);
    nested.says("the argument `place.latitude` is 1 in the JSON and 3 by the flag --place.latitude");
}

#[test]
fn flags_cannot_be_combined_with_json_that_is_not_an_object() {
    tools(&["call", "add", "[1]", "--b", "1"]).exits(2).says("the JSON is not an object");
}

#[test]
fn a_property_named_like_an_option_has_the_prefix_arg() {
    let flags = ["--arg-json", "x", "--arg-help", "--arg-timeout", "3"];
    let twins = ["--dry-run", "1", "--dry_run", "2"];
    tools(&[&["call", "collide"], &flags[..], &twins].concat()).exits(0).prints("\"x true 3 1 2\"\n");
}

#[test]
fn booleans_accept_a_value_after_an_equals_sign() {
    let verbose = |flag: &[&str]| {
        let place = r#"{"place":{"latitude":1,"longitude":2}}"#;
        tools(&[&["call", "forecast", place], flag].concat()).json()["verbose"].clone()
    };
    assert_eq!(verbose(&["--verbose-output"]), true);
    assert_eq!(verbose(&["--verbose-output=true"]), true);
    assert_eq!(verbose(&["--verbose-output=false"]), false);
    assert_eq!(verbose(&["--verbose_output=false"]), false);
}

#[test]
fn flags_and_json_are_rejected_by_one_check_in_the_same_words() {
    for (flags, json) in [
        (&["add", "--a", "one", "--b", "1.5"][..], r#"{"a":"one","b":1.5}"#),
        (&["add", "--a", "one", "--c", "1", "--sum=2", "--on"], r#"{"a":"one","c":1,"sum":2,"on":true}"#),
        (&["sum", "--numbers", "NaN", "--numbers", "1", "--numbers", "true"], r#"{"numbers":["NaN",1,true]}"#),
        (
            &["forecast", "--unit", "kelvin", "--place", "[]", "--verbose-output=maybe"],
            r#"{"unit":"kelvin","place":[],"verbose_output":"maybe"}"#,
        ),
        (
            &["forecast", "--place.latitude", "north", "--place.level", "2", "--day", "1"],
            r#"{"place":{"latitude":"north","level":2},"day":1}"#,
        ),
    ] {
        let (tool, flags) = flags.split_first().unwrap();
        let by_flags = tools(&[&["call", tool], flags].concat()).exits(1).prints("");
        let by_json = tools(&["call", tool, json]).exits(1).prints("");
        assert_eq!(by_flags.err, by_json.err);
        assert!(
            by_flags.err.lines().filter(|line| line.trim_start().starts_with("- ")).count() >= 2,
            "{}",
            by_flags.err
        );
    }
}

#[test]
fn a_flag_that_is_not_in_the_syntax_of_the_command_line_exits_with_2() {
    tools(&["call", "echo", "--value", r#"{"a":1,"a":2}"#]).exits(2).says("duplicate key");
    tools(&["call", "forecast", "--place", "{"]).exits(2).says("--place <JSON>");
    tools(&["call", "add", "--a", "1", "--a", "2"]).exits(2);
    tools(&["call", "add", "--timeout", "soon", "--a", "1"]).exits(2);
}

#[test]
fn a_value_that_only_the_schema_rejects_exits_with_1() {
    let place = ["--place.latitude", "1", "--place.longitude", "2"];
    tools(&[&["call", "forecast", "--days", "99"], &place[..]].concat()).exits(1).says("/days must be at most 14");
}
