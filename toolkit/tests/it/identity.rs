//! Ids, names and tags: the cases of the systems that this crate replaces, and the laws behind them.
//!
//! A case with a different outcome is listed with the decision.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolkit::catalog::{DiagnosticKind, Naming};
use toolkit::tool::{MAX_TAG_LEN, MAX_TAGS, Namespace, check_name, normalize_tags};
use toolkit::{Manifest, Tool, ToolId};

fn cases(text: &str, list: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(text).expect("the cases are JSON");
    let cases = document[list].as_array().expect("the cases are a list").clone();
    test_support::ran(cases.len());
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
fn a_name_has_1_to_128_of_the_permitted_characters() {
    for name in ["a", "Z9_-.", &"n".repeat(128)] {
        assert_eq!(check_name(name), Ok(()), "{name}");
    }
    for name in ["", "a b", "ä", "a/b", &"n".repeat(129)] {
        assert!(check_name(name).is_err(), "{name}");
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

/// The text for a missing part of an id.
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
    // The parser checks the characters of every part, so that accepted ids can be printed and parsed again.
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
fn texts_rejected_by_the_older_parser_are_rejected() {
    // It accepts an empty name before a version, which is not a name here.
    let decided = ["empty_name_versioned"];
    for case in cases(TOOL_IDS, "parse") {
        let parsed = case["input"].as_str().unwrap().parse::<ToolId>();
        let accepted = !case["expect"].is_null() && !decided.contains(&case["id"].as_str().unwrap());
        assert_eq!(parsed.is_ok(), accepted, "{}", case["id"]);
    }
}

#[test]
fn ids_come_back_from_their_text_as_in_the_cases() {
    for case in cases(TOOL_IDS, "round_trip") {
        let id: ToolId = case["id"].as_str().unwrap().parse().unwrap();
        assert_eq!((id.namespace(), id.name()), (part(&case["namespace"]), case["reparsed_name"].as_str().unwrap()));
        assert_eq!(id.to_string(), case["id"].as_str().unwrap());
    }
}

#[test]
fn ids_of_a_backends_tools_are_ids() {
    // A backend is a namespace here, and the part after the second colon is a version, so the name of a tool has no
    // colon.
    let decided = ["bad:format:tool"];
    for case in cases(TOOL_IDS, "backend_parse") {
        let text = case["input"].as_str().unwrap();
        let parsed = text.parse::<ToolId>();
        assert_eq!(parsed.is_ok(), !case["expect"].is_null(), "{case}");
        let Ok(id) = parsed else { continue };
        assert_eq!(id.namespace(), part(&case["expect"]["backend"]), "{case}");
        match decided.contains(&text) {
            true => assert_eq!((id.name(), id.version()), ("format", Some("tool"))),
            false => assert_eq!(id.name(), case["expect"]["tool"].as_str().unwrap(), "{case}"),
        }
    }
    for case in cases(TOOL_IDS, "backend_format") {
        let text = format!("{}:{}", case["backend"].as_str().unwrap(), case["tool"].as_str().unwrap());
        assert_eq!(text.parse::<ToolId>().unwrap().to_string(), case["expect"].as_str().unwrap());
    }
}

#[test]
fn ids_of_skills_are_valid_or_rejected() {
    // The other systems treat a text that is not an id as a name, so that its parts are ambiguous.
    let decided = ["a::b", "a:b:"];
    for case in cases(TOOL_IDS, "a2a_skill_id") {
        let (text, expect) = (case["input"].as_str().unwrap(), &case["expect"]);
        let parsed = text.parse::<ToolId>();
        assert_eq!(parsed.is_err(), decided.contains(&text), "{case}");
        if let Ok(id) = parsed {
            let parts = (id.namespace(), id.name(), id.version());
            assert_eq!(parts, (part(&expect["namespace"]), expect["name"].as_str().unwrap(), part(&expect["version"])));
        }
    }
}

#[test]
fn tools_are_checked_as_in_the_cases_and_further() {
    // A namespace with a colon and an invalid version make an id that cannot be parsed; a schema that accepts more
    // than objects has no named arguments.
    for case in cases(TOOL_NAMES, "validate") {
        let tool = Tool::from_json(&case["tool"]).unwrap();
        let manifest = Manifest::from_json(json!([case["tool"]])).unwrap();
        let kinds: Vec<DiagnosticKind> = manifest
            .listings()
            .flat_map(|listing| listing.diagnostics().iter().map(|problem| problem.kind()))
            .collect();
        match tool.id().namespace() {
            None => assert_eq!(kinds, [DiagnosticKind::NotAnObject]),
            Some(_) => assert_eq!(kinds, [DiagnosticKind::InvalidName, DiagnosticKind::InvalidVersion]),
        }
    }
}

#[test]
fn every_wire_name_is_valid_in_open_tool_calling() {
    for case in cases(TOOL_NAMES, "otc_names") {
        let name = case["name"].as_str().unwrap();
        let valid = case["valid"].as_bool().unwrap();
        let Ok(id) = name.parse::<ToolId>() else {
            assert!(!valid, "{name}");
            continue;
        };
        assert_eq!(Naming::Name.wire_name(&id) == name, valid, "{name}");
    }
}

#[test]
fn names_and_namespaces_are_kinds_of_text_that_were_checked() {
    let id = ToolId::new(Some("web".parse().unwrap()), "search").unwrap();
    assert_eq!(id.to_string(), "web:search");
    assert_eq!(id.clone().with_version("1.0.0").unwrap().to_string(), "web:search:1.0.0");
    assert_eq!(id.clone().in_namespace(Namespace::new("docs").unwrap()).to_string(), "docs:search");
    assert_eq!(id.with_version("").unwrap_err().to_string(), "not a tool id: version must not be empty");
    assert_eq!(
        Namespace::new("a:b").unwrap_err().to_string(),
        "namespace must not contain `:`; use letters, digits, `_`, `-` and `.`"
    );
    assert_eq!(ToolId::new(None, "").unwrap_err().to_string(), "name must not be empty");
    let id: ToolId = serde_json::from_str("\"a:b\"").unwrap();
    assert_eq!(serde_json::to_string(&id).unwrap(), "\"a:b\"");
    assert!(serde_json::from_str::<ToolId>("\"a:\"").is_err());
}

proptest! {
    #[test]
    fn an_id_that_is_printed_parses_to_itself(text in "([A-Za-z0-9_.-]{1,9}:)?[A-Za-z0-9_.-]{1,9}|[a-z]{1,4}:[a-z]{1,4}:[!-9;-~]{1,9}") {
        let id: ToolId = text.parse().unwrap();
        prop_assert_eq!(id.to_string(), text);
        prop_assert_eq!(id.to_string().parse::<ToolId>().unwrap(), id);
    }

    #[test]
    fn any_text_is_an_id_or_an_error(text in "\\PC{0,40}|[a-z:]{0,12}") {
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

#[test]
fn ids_their_parts_and_tools_are_read_by_serde() {
    let tool = Tool::builder("add").namespace("math").version("1.0.0").build().unwrap();
    let json = serde_json::to_string(&tool).unwrap();
    assert_eq!(serde_json::from_str::<Tool>(&json).unwrap(), tool);
    let error = serde_json::from_value::<Vec<Tool>>(json!([{ "name": 1 }])).unwrap_err().to_string();
    assert!(error.contains("/name must be a string, got 1"), "{error}");
    let namespace: Namespace = serde_json::from_value(json!("math")).unwrap();
    assert_eq!(json!(namespace), json!("math"));
    assert!(serde_json::from_value::<Namespace>(json!("a b")).is_err());
    let schema = tool.input().clone();
    assert_eq!(schema.as_value(), tool.input().as_value());
    assert!(schema.is_valid(&json!({})));
}
