//! The verdicts of `Schema` agree with the official suite, with real calls, and with the cases of earlier
//! implementations of this library.

use serde_json::{Value, json};
use test_support::{json_schema_suite, ran, shared, shared_text};
use toolkit_schema::{Schema, SchemaErrorKind};

type Reason = (SchemaErrorKind, &'static str);

/// Booleans are valid schemas, but a tool's arguments and results need an object as the schema.
const NO_OBJECT: Reason = (SchemaErrorKind::InvalidSchema, "a schema must be a JSON object");
/// The schema refers to another document of the suite. Nothing is fetched, so that no schema can reach the host's
/// network.
const LEAVES: Reason = (SchemaErrorKind::ExternalReference, "points outside the document, and nothing is fetched");
/// The schema uses a custom dialect.
const DIALECT: Reason = (SchemaErrorKind::UnsupportedDialect, "is not supported; use draft 2020-12 or draft-07");

/// The groups of the official suite whose schema is rejected, with the reason. All verdicts of the others are checked.
#[rustfmt::skip]
const REFUSED_2020_12: &[(&str, &str, Reason)] = &[
    ("boolean_schema.json", "boolean schema 'true'", NO_OBJECT),
    ("boolean_schema.json", "boolean schema 'false'", NO_OBJECT),
    ("dynamicRef.json", "strict-tree schema, guards against misspelled properties", LEAVES),
    ("dynamicRef.json", "tests for implementation dynamic anchor and reference link", LEAVES),
    ("dynamicRef.json", "$ref and $dynamicAnchor are independent of order - $defs first", LEAVES),
    ("dynamicRef.json", "$ref and $dynamicAnchor are independent of order - $ref first", LEAVES),
    ("dynamicRef.json", "$ref to $dynamicRef finds detached $dynamicAnchor", LEAVES),
    ("refRemote.json", "remote ref", LEAVES),
    ("refRemote.json", "fragment within remote ref", LEAVES),
    ("refRemote.json", "anchor within remote ref", LEAVES),
    ("refRemote.json", "ref within remote ref", LEAVES),
    ("refRemote.json", "base URI change", LEAVES),
    ("refRemote.json", "base URI change - change folder", LEAVES),
    ("refRemote.json", "base URI change - change folder in subschema", LEAVES),
    ("refRemote.json", "root ref in remote ref", LEAVES),
    ("refRemote.json", "remote ref with ref to defs", LEAVES),
    ("refRemote.json", "Location-independent identifier in remote ref", LEAVES),
    ("refRemote.json", "retrieved nested refs resolve relative to their URI not $id", LEAVES),
    ("refRemote.json", "remote HTTP ref with different $id", LEAVES),
    ("refRemote.json", "remote HTTP ref with different URN $id", LEAVES),
    ("refRemote.json", "remote HTTP ref with nested absolute ref", LEAVES),
    ("refRemote.json", "$ref to $ref finds detached $anchor", LEAVES),
    ("vocabulary.json", "schema that uses custom metaschema with with no validation vocabulary", DIALECT),
    ("vocabulary.json", "ignore unrecognized optional vocabulary", DIALECT),
];
#[rustfmt::skip]
const REFUSED_7: &[(&str, &str, Reason)] = &[
    ("boolean_schema.json", "boolean schema 'true'", NO_OBJECT),
    ("boolean_schema.json", "boolean schema 'false'", NO_OBJECT),
    ("refRemote.json", "remote ref", LEAVES),
    ("refRemote.json", "fragment within remote ref", LEAVES),
    ("refRemote.json", "ref within remote ref", LEAVES),
    ("refRemote.json", "base URI change", LEAVES),
    ("refRemote.json", "base URI change - change folder", LEAVES),
    ("refRemote.json", "base URI change - change folder in subschema", LEAVES),
    ("refRemote.json", "root ref in remote ref", LEAVES),
    ("refRemote.json", "remote ref with ref to definitions", LEAVES),
    ("refRemote.json", "Location-independent identifier in remote ref", LEAVES),
    ("refRemote.json", "retrieved nested refs resolve relative to their URI not $id", LEAVES),
    ("refRemote.json", "$ref to $ref finds location-independent $id", LEAVES),
];

fn check_suite(draft: &str, uri: &str, refused: &[(&str, &str, Reason)]) {
    let Some(folder) = json_schema_suite(env!("CARGO_TARGET_TMPDIR")) else {
        return;
    };
    let mut n_tests = 0;
    let mut seen = Vec::new();
    for entry in std::fs::read_dir(folder.join(draft)).unwrap() {
        let path = entry.unwrap().path();
        // Folders contain the optional cases of the suite.
        if path.is_dir() {
            continue;
        }
        let file = path.file_name().unwrap().to_str().unwrap();
        let groups: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for group in groups.as_array().unwrap() {
            let mut schema = group["schema"].clone();
            if let Value::Object(keywords) = &mut schema {
                keywords.entry("$schema").or_insert(json!(uri));
            }
            let tests = group["tests"].as_array().unwrap();
            n_tests += tests.len();
            let name = group["description"].as_str().unwrap();
            let place = format!("{draft}/{file}: {name}");
            let listed = refused.iter().find(|(of, group, _)| (*of, *group) == (file, name));
            match (Schema::from_value(schema.clone()), listed) {
                (Ok(checked), None) => {
                    for test in tests {
                        let verdict = checked.validate(&test["data"]).is_ok();
                        assert_eq!(verdict, test["valid"].as_bool().unwrap(), "{place}: {}", test["description"]);
                        assert_eq!(verdict, checked.is_valid(&test["data"]), "{place}: {}", test["description"]);
                        let first = checked.first_violation(&test["data"]);
                        assert_eq!(verdict, first.is_none(), "{place}: {}", test["description"]);
                    }
                }
                (Err(error), Some((_, _, (kind, reason)))) => {
                    assert_eq!(error.kind(), *kind, "{place}: {error}");
                    assert!(error.to_string().contains(reason), "{place}: {error}");
                    seen.push((file.to_owned(), name.to_owned()));
                }
                (Ok(_), Some(_)) => panic!("{place}: is listed as refused, and is not"),
                (Err(error), None) => panic!("{place}: {error}"),
            }
        }
    }
    ran(n_tests);
    assert!(n_tests > 900, "{n_tests}");
    for (file, name, _) in refused {
        let is_seen = seen.iter().any(|(of, group)| (of.as_str(), group.as_str()) == (*file, *name));
        assert!(is_seen, "{draft}/{file}: {name}: is listed, and is not there");
    }
}

#[test]
fn draft_2020_12_is_what_the_official_suite_says() {
    check_suite("draft2020-12", "https://json-schema.org/draft/2020-12/schema", REFUSED_2020_12);
}

#[test]
fn draft_07_is_what_the_official_suite_says() {
    check_suite("draft7", "http://json-schema.org/draft-07/schema#", REFUSED_7);
}

/// `jsonschema` asserts them in draft-07 and treats them as annotations in 2020-12.
#[test]
fn formats_and_encodings_are_annotations_in_both_dialects() {
    for dialect in ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"] {
        for annotation in [
            json!({ "format": "date-time" }),
            json!({ "format": "uuid" }),
            json!({ "contentEncoding": "base64" }),
            json!({ "contentEncoding": "base16", "contentMediaType": "application/json" }),
            json!({ "contentMediaType": "application/json" }),
        ] {
            let mut text = annotation.clone();
            text["type"] = json!("string");
            // The second schema has no plan.
            for more in [json!({}), json!({ "not": { "required": ["b"] } })] {
                let mut schema = json!({ "$schema": dialect, "properties": { "a": text } });
                schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                let schema = Schema::from_value(schema).unwrap();
                assert!(schema.is_valid(&json!({ "a": "***" })), "{schema:?}");
                assert_eq!(schema.first_violation(&json!({ "a": "***" })), None, "{schema:?}");
                let violations = schema.validate(&json!({ "a": 1 })).unwrap_err().to_string();
                assert_eq!(violations, "/a must be a string, got 1", "{schema:?}");
                assert_eq!(schema.path() == toolkit_schema::CheckPath::Plan, more == json!({}), "{schema:?}");
            }
        }
    }
}

fn lines(path: &str) -> Vec<Value> {
    let lines = shared_text(path).unwrap_or_default();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn valid_calls_are_accepted_and_mutations_are_reported_by_keyword_and_location() {
    let mut n_cases = 0;
    for call in lines("data/calls-bfcl.jsonl") {
        let schema = Schema::from_value(call["tool"]["inputSchema"].clone()).unwrap();
        assert!(schema.validate(&call["args"]).is_ok(), "{}", call["id"]);
        for mutation in call["invalid"].as_array().unwrap() {
            let violations = schema.validate(&mutation["args"]).unwrap_err();
            let (keyword, path) = (mutation["keyword"].as_str().unwrap(), mutation["instancePath"].as_str().unwrap());
            // A missing property is reported at its own location, not at that of its object.
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
fn recorded_calls_of_a_model_get_the_recorded_verdict() {
    let calls = lines("data/calls-live.jsonl");
    let mut n_broken = 0;
    for call in &calls {
        match Schema::from_value(call["inputSchema"].clone()) {
            Ok(schema) => assert_eq!(schema.is_valid(&call["args"]), call["schema_valid"], "{call}"),
            // One tool has a number where draft-04 had a boolean.
            Err(error) => {
                assert_eq!(call["tool"], "read_pdf", "{error}");
                n_broken += 1;
            }
        }
    }
    ran(calls.len());
    assert!(n_broken <= 12);
}

/// Collects the schemas of all tools in a manifest.
fn schemas_in(manifest: &Value, found: &mut Vec<Value>) {
    match manifest {
        Value::Object(object) => {
            for (key, value) in object {
                match key.as_str() {
                    "inputSchema" | "outputSchema" | "input_schema" if value.is_object() => found.push(value.clone()),
                    _ => schemas_in(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| schemas_in(item, found)),
        _ => {}
    }
}

#[test]
fn the_schemas_of_real_tools_are_accepted_if_the_validator_accepts_them() {
    let Some(folder) = shared("data/manifests") else {
        return;
    };
    let mut schemas = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                let manifest = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
                schemas_in(&manifest, &mut schemas);
            }
        }
    }
    for path in ["data/calls-bfcl.jsonl", "data/calls-live.jsonl"] {
        lines(path).iter().for_each(|call| schemas_in(call, &mut schemas));
    }
    for schema in &schemas {
        let plain = jsonschema::options().should_validate_formats(false).offline().build(schema);
        let taken = Schema::from_value(schema.clone());
        assert_eq!(taken.is_ok(), plain.is_ok(), "{schema}: {taken:?}");
    }
    ran(schemas.len());
    assert!(schemas.len() > 600);
}

fn kind_named(name: &str) -> Option<SchemaErrorKind> {
    match name {
        "unsupported_schema" => Some(SchemaErrorKind::UnsupportedDialect),
        "external_ref" => Some(SchemaErrorKind::ExternalReference),
        "invalid_schema" => Some(SchemaErrorKind::InvalidSchema),
        // The name of the earlier implementations for a schema that does not compile.
        "schema_error" => Some(SchemaErrorKind::UnresolvedReference),
        "validation_failed" => None,
        other => panic!("{other}"),
    }
}

fn cases_of_earlier_implementations() -> Value {
    serde_json::from_str(include_str!("../cases/validator.json")).unwrap()
}

#[test]
fn the_cases_of_earlier_implementations_get_their_verdicts() {
    // The earlier implementations interpret draft-07 by the rules of 2020-12, reject `#` after the URI of 2020-12, and
    // accept a schema with an unknown type, which then rejects every value.
    let decided = ["tuple_items_d7", "dependencies_d7", "dialect_2020_hash", "dialect_d7_https"];
    // Rejected by both, here by its actual dialect.
    let other_kind = ["dialect_2020_meta_core"];
    let document = cases_of_earlier_implementations();
    let cases = document["cases"].as_array().unwrap();
    for case in cases {
        let id = case["id"].as_str().unwrap();
        let schema = Schema::from_value(case["schema"].clone());
        let verdict = schema.as_ref().is_ok_and(|schema| schema.is_valid(&case["instance"]));
        if let Some(by_draft_07) = case.get("true_draft07_valid") {
            assert_eq!(verdict, by_draft_07.as_bool().unwrap(), "{id}");
        } else if !decided.contains(&id) {
            assert_eq!(verdict, case["valid"].as_bool().unwrap(), "{id}: {schema:?}");
            match (case["error_kind"].as_str().and_then(kind_named), &schema) {
                (None, _) => {}
                (Some(_), Ok(_)) => panic!("{id}: the schema itself is refused"),
                (Some(kind), Err(error)) if other_kind.contains(&id) => {
                    assert_eq!(kind, SchemaErrorKind::UnresolvedReference);
                    assert_eq!(error.kind(), SchemaErrorKind::UnsupportedDialect, "{id}: {error}");
                }
                (Some(kind), Err(error)) => assert_eq!(error.kind(), kind, "{id}: {error}"),
            }
        }
    }
    ran(cases.len());
}

#[test]
fn text_that_earlier_implementations_reject_is_rejected() {
    // Booleans are not objects, and a tool always has a schema.
    let decided = ["true_bytes", "false_bytes", "input_nil_tool"];
    let document = cases_of_earlier_implementations();
    let cases = document["api_cases"].as_array().unwrap();
    for case in cases {
        let id = case["id"].as_str().unwrap();
        let schema = match (case.get("schema_bytes"), case.get("schema_kind")) {
            (Some(text), _) => text.as_str().unwrap().parse::<Schema>(),
            (_, Some(_)) => Schema::from_value(json!("a plain string")),
            _ => {
                assert!(decided.contains(&id), "{id}");
                continue;
            }
        };
        let error = schema.expect_err(id);
        assert_eq!(error.kind(), SchemaErrorKind::InvalidSchema, "{id}: {error}");
        if decided.contains(&id) {
            assert!(error.to_string().contains("a schema must be a JSON object"), "{id}: {error}");
        } else {
            assert_eq!(case["error_kind"].as_str().and_then(kind_named), Some(SchemaErrorKind::InvalidSchema), "{id}");
        }
        if let Some(words) = case.get("message_contains") {
            assert!(error.to_string().contains(words.as_str().unwrap()), "{id}: {error}");
        }
    }
    ran(cases.len());
}

#[test]
fn the_dialects_of_earlier_implementations_are_supported() {
    let document = cases_of_earlier_implementations();
    let dialects = &document["dialects"];
    let of = |uri: &Value| Schema::from_value(json!({ "$schema": uri, "prefixItems": [false] }));
    for uri in dialects["supported"].as_array().unwrap() {
        // Each is interpreted by its own rules: draft-07 does not define `prefixItems`.
        let is_7 = uri.as_str().unwrap().contains("draft-07");
        assert_eq!(of(uri).unwrap().is_valid(&json!([1])), is_7, "{uri}");
    }
    let by_default = Schema::from_value(json!({ "prefixItems": [false] })).unwrap();
    assert_eq!(by_default.is_valid(&json!([1])), of(&dialects["default"]).unwrap().is_valid(&json!([1])));
    // URIs that only start like a dialect are not supported.
    for prefix in dialects["accepted_prefixes"].as_array().unwrap() {
        let uri = json!(format!("{}other", prefix.as_str().unwrap()));
        assert_eq!(of(&uri).unwrap_err().kind(), SchemaErrorKind::UnsupportedDialect, "{uri}");
    }
}
