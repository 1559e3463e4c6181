//! Ids, names and tags: the cases of the systems this library descends from, and the laws behind them.
//!
//! Where a case records what those systems do and this one decides otherwise, it is named here with the decision.

use proptest::prelude::*;
use serde_json::Value;
use toolkit::ToolId;
use toolkit::tool::{MAX_TAG_LEN, MAX_TAGS, check_name, normalize_tags};

fn cases(text: &str, list: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(text).expect("the cases are JSON");
    let cases = document[list].as_array().expect("the cases are a list").clone();
    toolkit_tests::ran(cases.len());
    cases
}

const TAGS: &str = include_str!("../cases/tags.json");
const TOOL_IDS: &str = include_str!("../cases/tool_ids.json");
const TOOL_NAMES: &str = include_str!("../cases/tool_names.json");

#[test]
fn tags_are_normalised_as_in_the_cases() {
    for case in cases(TAGS, "cases") {
        let tags = case["input"].as_array().unwrap().iter().map(|tag| tag.as_str().unwrap());
        let expect: Vec<&str> = case["expect"].as_array().unwrap().iter().map(|tag| tag.as_str().unwrap()).collect();
        assert_eq!(normalize_tags(tags), expect, "{}", case["id"]);
    }
}

#[test]
fn names_are_checked_as_in_the_cases() {
    for case in cases(TOOL_NAMES, "cases") {
        let outcome = check_name(case["name"].as_str().unwrap());
        assert_eq!(outcome.is_ok(), case["valid"].as_bool().unwrap(), "{}", case["id"]);
        let message = outcome.err().unwrap_or_default();
        for part in case["error_contains"].as_array().into_iter().flatten() {
            let part = part.as_str().unwrap();
            assert_eq!(message.matches(part).count(), 1, "{}: {message}", case["id"]);
        }
    }
}

/// What an id without a part has there.
fn part(text: &Value) -> Option<&str> {
    text.as_str().filter(|text| !text.is_empty())
}

#[test]
fn ids_are_printed_as_in_the_cases() {
    for case in cases(TOOL_IDS, "format") {
        let parts = [&case["namespace"], &case["name"], &case["version"]].into_iter().filter_map(part);
        let text = parts.collect::<Vec<_>>().join(":");
        let id: ToolId = text.parse().unwrap();
        assert_eq!(id.to_string(), case["expect"].as_str().unwrap());
    }
}

#[test]
fn ids_are_parsed_into_three_parts_as_in_the_cases() {
    // The parser checks the characters of every part, so that what it accepts can be printed and parsed again.
    let decided = ["no_charset_check"];
    for case in cases(TOOL_IDS, "parse_with_version") {
        let parsed = case["input"].as_str().unwrap().parse::<ToolId>();
        if decided.contains(&case["id"].as_str().unwrap()) {
            assert!(parsed.is_err(), "{}", case["id"]);
            continue;
        }
        let expect = &case["expect"];
        assert_eq!(parsed.is_ok(), !expect.is_null(), "{}", case["id"]);
        if let Ok(id) = parsed {
            assert_eq!(id.namespace(), part(&expect["namespace"]), "{}", case["id"]);
            assert_eq!(id.name(), expect["name"].as_str().unwrap(), "{}", case["id"]);
            assert_eq!(id.version(), part(&expect["version"]), "{}", case["id"]);
        }
    }
}

#[test]
fn what_the_older_parser_of_two_parts_refuses_is_refused() {
    // It accepts an empty name before a version, which is no name.
    let decided = ["empty_name_versioned"];
    for case in cases(TOOL_IDS, "parse") {
        let parsed = case["input"].as_str().unwrap().parse::<ToolId>();
        let accepted = !case["expect"].is_null() && !decided.contains(&case["id"].as_str().unwrap());
        assert_eq!(parsed.is_ok(), accepted, "{}", case["id"]);
    }
}

proptest! {
    #[test]
    fn an_id_that_is_printed_parses_to_itself(text in "([A-Za-z0-9_.-]{1,9}:)?[A-Za-z0-9_.-]{1,9}|[a-z]{1,4}:[a-z]{1,4}:[!-9;-~]{1,9}") {
        let id: ToolId = text.parse().unwrap();
        prop_assert_eq!(id.to_string(), text);
        prop_assert_eq!(id.to_string().parse::<ToolId>().unwrap(), id);
    }

    #[test]
    fn any_text_is_an_id_or_refused(text in "\\PC{0,40}|[a-z:]{0,12}") {
        if let Ok(id) = text.parse::<ToolId>() {
            prop_assert_eq!(id.to_string(), text);
        }
    }

    #[test]
    fn tags_that_were_normalised_stay_as_they_are(tags in prop::collection::vec("\\PC{0,80}", 0..30)) {
        let once = normalize_tags(&tags);
        prop_assert!(once.len() <= MAX_TAGS && once.iter().all(|tag| (1..=MAX_TAG_LEN).contains(&tag.len())));
        prop_assert_eq!(normalize_tags(&once), once);
    }
}
