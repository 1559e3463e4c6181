//! Schemas accept and refuse what others say they must: the official suite, real calls, and the cases of the systems
//! this library descends from.

use serde_json::{Value, json};
use toolkit::schema::Schema;
use toolkit_tests::{ran, shared, shared_text};

/// Why a schema of the official suite is refused, where that is decided: its verdicts are never asked for.
fn decided(schema: &Value) -> Option<&'static str> {
    let text = schema.to_string();
    let dialect = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    if schema.is_boolean() {
        Some("a schema is a JSON object")
    } else if dialect.contains("localhost") {
        Some("is not supported; use draft 2020-12 or draft-07")
    } else if text.contains("http://localhost:1234") || text.contains("\"$dynamicRef\":\"http") {
        Some("leaves the document; nothing is fetched")
    } else {
        None
    }
}

fn check_suite(draft: &str, uri: &str, n_refused: usize) {
    let Some(folder) = shared(&format!("data/json-schema-test-suite/tests/{draft}")) else {
        return;
    };
    let (mut n_tests, mut refused) = (0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // Folders hold what the suite calls optional.
        if path.is_dir() {
            continue;
        }
        let groups: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for group in groups.as_array().unwrap() {
            let mut schema = group["schema"].clone();
            if let Value::Object(keywords) = &mut schema {
                keywords.entry("$schema").or_insert(json!(uri));
            }
            let tests = group["tests"].as_array().unwrap();
            n_tests += tests.len();
            let place = format!("{}: {}", path.display(), group["description"]);
            match Schema::from_value(schema.clone()) {
                Ok(checked) => {
                    for test in tests {
                        let verdict = checked.validate(&test["data"]).is_ok();
                        assert_eq!(verdict, test["valid"].as_bool().unwrap(), "{place}: {}", test["description"]);
                        assert_eq!(verdict, checked.is_valid(&test["data"]), "{place}: {}", test["description"]);
                    }
                }
                Err(error) => {
                    let reason = decided(&schema).unwrap_or_else(|| panic!("{place}: {error}"));
                    assert!(error.to_string().contains(reason), "{place}: {error}");
                    refused += tests.len();
                }
            }
        }
    }
    ran(n_tests);
    assert_eq!(refused, n_refused);
}

#[test]
fn draft_2020_12_is_what_the_official_suite_says() {
    check_suite("draft2020-12", "https://json-schema.org/draft/2020-12/schema", 67);
}

#[test]
fn draft_07_is_what_the_official_suite_says() {
    check_suite("draft7", "http://json-schema.org/draft-07/schema#", 41);
}

fn lines(path: &str) -> Vec<Value> {
    let lines = shared_text(path).unwrap_or_default();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn calls_that_fit_are_accepted_and_each_mutation_is_refused_by_its_keyword_at_its_place() {
    let mut n_cases = 0;
    for call in lines("data/calls-bfcl.jsonl") {
        let schema = Schema::from_value(call["tool"]["inputSchema"].clone()).unwrap();
        assert!(schema.validate(&call["args"]).is_ok(), "{}", call["id"]);
        for mutation in call["invalid"].as_array().unwrap() {
            let violations = schema.validate(&mutation["args"]).unwrap_err();
            let (keyword, path) = (mutation["keyword"].as_str().unwrap(), mutation["instancePath"].as_str().unwrap());
            // What is missing is named by its own place, and not by that of the object it is missing from.
            let hit = violations.iter().any(|violation| {
                let place = match keyword {
                    "required" => violation.pointer.rsplit_once('/').map_or("", |(parent, _)| parent),
                    _ => &violation.pointer,
                };
                violation.keyword == keyword && place == path
            });
            assert!(hit, "{}: {keyword} at {path}, got {violations}", call["id"]);
            n_cases += 1;
        }
        n_cases += 1;
    }
    ran(n_cases);
}

#[test]
fn calls_that_a_model_really_made_get_the_verdict_that_they_got_elsewhere() {
    let calls = lines("data/calls-live.jsonl");
    let mut n_broken = 0;
    for call in &calls {
        match Schema::from_value(call["inputSchema"].clone()) {
            Ok(schema) => assert_eq!(schema.is_valid(&call["args"]), call["schema_valid"], "{call}"),
            // One tool has a number where draft-04 had a flag.
            Err(error) => {
                assert_eq!(call["tool"], "read_pdf", "{error}");
                n_broken += 1;
            }
        }
    }
    ran(calls.len());
    assert!(n_broken <= 12);
}

#[test]
fn the_cases_of_the_systems_before_get_their_verdicts() {
    // The systems before read draft-07 by the rules of 2020-12, refuse `#` after the name of 2020-12, and accept a
    // schema of an unknown type, under which they then refuse every value.
    let decided = ["tuple_items_d7", "dependencies_d7", "dialect_2020_hash", "dialect_d7_https"];
    let document: Value = serde_json::from_str(include_str!("../cases/validator.json")).unwrap();
    let cases = document["cases"].as_array().unwrap();
    for case in cases {
        let id = case["id"].as_str().unwrap();
        let schema = Schema::from_value(case["schema"].clone());
        let verdict = schema.as_ref().is_ok_and(|schema| schema.is_valid(&case["instance"]));
        if let Some(by_draft_07) = case.get("true_draft07_valid") {
            assert_eq!(verdict, by_draft_07.as_bool().unwrap(), "{id}");
        } else if !decided.contains(&id) {
            assert_eq!(verdict, case["valid"].as_bool().unwrap(), "{id}: {schema:?}");
            let refused = !matches!(case["error_kind"].as_str(), None | Some("validation_failed"));
            assert!(schema.is_err() || !refused, "{id}: the schema itself is refused");
        }
    }
    ran(cases.len());
}
