//! Documentation at three levels of detail.

use std::sync::Arc;

use serde_json::{Value, json};
use test_support::ran;
use toolkit::Tool;
use toolkit_search::{ArgsSize, Detail, DocEntry, DocError, Docs, Index, SchemaInfo, ToolExample};

use super::{cases, tool};

const TEXT: &str = include_str!("../../cases/tooldoc.json");

/// The cases with other documentation, with the decision.
const DECIDED: [(&str, &str); 2] =
    [("ref_property", "references are followed"), ("nested_not_walked", "objects within objects are looked into")];

fn ticket() -> Tool {
    Tool::builder("create")
        .namespace("ticket")
        .description("Creates a ticket.")
        .input(json!({
            "type": "object",
            "properties": { "title": { "type": "string" }, "urgent": { "type": "boolean", "default": false } },
            "required": ["title"],
        }))
        .examples([json!({ "title": "Broken" })])
        .build()
        .unwrap()
}

fn docs(tools: &[Tool]) -> Docs {
    Docs::new(Arc::new(Index::from_tools(tools)))
}

fn example(args: Value) -> ToolExample {
    ToolExample::new(args).title("first")
}

#[test]
fn each_level_of_detail_adds_fields() {
    let docs = docs(&[ticket()]);
    let entry = DocEntry::new().notes("Takes a while.").external_ref("https://example.com");
    docs.register("ticket:create", entry).unwrap();
    let at = |detail| serde_json::to_value(docs.describe("ticket:create", detail).unwrap()).unwrap();
    assert_eq!(at(Detail::Summary), json!({ "id": "ticket:create", "summary": "Creates a ticket." }));
    let schema = at(Detail::Schema);
    assert_eq!(schema["tool"]["name"], "create");
    assert_eq!(
        schema["schemaInfo"],
        json!({ "required": ["title"], "defaults": { "urgent": false }, "types": { "title": ["string"], "urgent": ["boolean"] } })
    );
    assert!(schema.get("notes").is_none());
    let full = at(Detail::Full);
    assert_eq!(full["notes"], "Takes a while.");
    assert_eq!(full["examples"], json!([{ "args": { "title": "Broken" } }]), "the author's own");
    assert_eq!(full["externalRefs"], json!(["https://example.com"]));
}

#[test]
fn an_example_that_violates_the_schema_is_an_error() {
    let docs = docs(&[ticket()]);
    let refused = docs.register_examples("ticket:create", vec![example(json!({ "title": 1 }))]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the arguments of example `first` do not match the schema: /title must be a string, got 1"
    );
    docs.register_examples("ticket:create", vec![example(json!({ "title": "Leak" }))]).unwrap();
    assert_eq!(docs.examples("ticket:create", 5).unwrap()[0].args["title"], "Leak");
    let large = example(json!([[[[[[1]]]]]]));
    let refused = docs.register_examples("ticket:create", vec![large]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the arguments of example `first` have 6 levels and 6 entries; at most 5 levels and 50 entries are allowed"
    );
}

#[test]
fn an_error_names_an_example_without_a_title_by_its_number() {
    let wrong = |nth: usize| {
        let args = |n: usize| if n == nth { json!({ "title": 1 }) } else { json!({ "title": "Leak" }) };
        let examples = (1..=3).map(|n| ToolExample::new(args(n))).collect();
        docs(&[ticket()]).register_examples("ticket:create", examples).unwrap_err().to_string()
    };
    for nth in 1..=3 {
        assert!(wrong(nth).starts_with(&format!("the arguments of example `{nth}` do not match")), "{}", wrong(nth));
    }
}

#[test]
fn texts_of_an_example_are_cut_beyond_their_limits_and_not_at_them() {
    for (n_more, is_cut) in [(0, false), (1, true)] {
        let [description, hint] =
            [ToolExample::MAX_DESCRIPTION, ToolExample::MAX_RESULT_HINT].map(|limit| "ä".repeat(limit + n_more));
        let docs = docs(&[ticket()]);
        let example = ToolExample::new(json!({ "title": "Leak" })).description(&*description).result_hint(&*hint);
        docs.register_examples("ticket:create", vec![example]).unwrap();
        let kept = docs.examples("ticket:create", 1).unwrap().remove(0);
        assert_eq!((kept.description == description, kept.result_hint == hint), (!is_cut, !is_cut));
        assert!(kept.description.chars().count() <= ToolExample::MAX_DESCRIPTION, "{}", kept.description);
        assert!(kept.result_hint.chars().count() <= ToolExample::MAX_RESULT_HINT, "{}", kept.result_hint);
    }
}

#[test]
fn errors_contain_the_available_alternatives() {
    let docs = docs(&[]);
    assert_eq!(docs.describe("a", Detail::Full).unwrap_err().to_string(), "no tool is named `a`");
    docs.register("a", DocEntry::new().summary("Documented.")).unwrap();
    assert_eq!(docs.describe("a", Detail::Summary).unwrap().summary, "Documented.");
    let error = docs.describe("a", Detail::Schema).unwrap_err();
    assert_eq!(error.to_string(), "`a` has documentation, but no tool; only the detail Summary is available");
    let error = "all".parse::<Detail>().unwrap_err();
    assert_eq!(error.to_string(), "unknown level of detail `all`; expected `summary`, `schema` or `full`");
}

#[test]
fn a_recursive_schema_is_read_to_a_maximum_depth() {
    let schema = json!({
        "$ref": "#/$defs/Node",
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {
                    "next": { "anyOf": [{ "$ref": "#/$defs/Node" }, { "type": "null" }] },
                    "all": { "type": "array", "items": { "$ref": "#/$defs/Node" } },
                    "mode": { "enum": ["a", 1, null] },
                },
                "required": ["mode"],
            },
            "Loop": { "$ref": "#/$defs/Loop" },
        },
    });
    let info = SchemaInfo::from_schema(&schema).unwrap();
    assert_eq!(info.types["mode"], ["string", "integer", "null"]);
    assert_eq!(info.types["next.mode"], ["string", "integer", "null"]);
    assert_eq!(info.types["next"], ["object", "null"]);
    assert!(info.types.contains_key("all[].mode"));
    assert!(info.required.contains(&"next.mode".to_owned()));
    assert!(info.types.len() < 512);
    let circle =
        json!({ "properties": { "x": { "$ref": "#/$defs/Loop" } }, "$defs": { "Loop": { "$ref": "#/$defs/Loop" } } });
    assert_eq!(SchemaInfo::from_schema(&circle), None);
}

#[test]
fn examples_are_measured_as_in_the_cases() {
    let cases = cases(TEXT, "validate_args");
    for case in &cases {
        let (size, expect) = (ArgsSize::measure(&case["args"]), &case["expect"]);
        let measured = json!({ "depth": size.depth, "keys": size.n_entries, "valid": size.is_small() });
        assert_eq!(measured, *expect, "{}", case["id"]);
    }
    ran(cases.len());
}

#[test]
fn texts_are_truncated_as_in_the_cases() {
    let cases = cases(TEXT, "truncation");
    for case in &cases {
        let text = match case["input"].as_str() {
            Some(input) => input.to_owned(),
            None => "x".repeat(case["input_len"].as_u64().unwrap() as usize),
        };
        let docs = docs(&[tool("a", "")]);
        let entry = DocEntry::new().summary(text.clone()).notes(text);
        docs.register("a", entry).unwrap();
        let doc = docs.describe("a", Detail::Full).unwrap();
        let cut = if case["field"] == "notes" { doc.notes } else { doc.summary };
        assert_eq!(json!(cut.chars().count()), case["expect_len"]);
    }
    ran(cases.len());
}

#[test]
fn schemas_are_summarized_as_in_the_cases() {
    let (cases, mut n_ran) = (cases(TEXT, "schema_info"), 0);
    for case in cases.iter().filter(|case| DECIDED.iter().all(|(id, _)| case["id"] != *id)) {
        let info = serde_json::to_value(SchemaInfo::from_schema(&case["schema"])).unwrap();
        assert_eq!(info, case["expect"], "{}", case["id"]);
        n_ran += 1;
    }
    ran(n_ran);
}

/// Returns the name of a `DocError` in the cases.
fn name(error: &DocError) -> &'static str {
    match error {
        DocError::UnknownDetail { .. } => "invalid_detail",
        DocError::UnknownTool { .. } => "not_found",
        DocError::NoTool { .. } => "no_tool",
        DocError::ArgsTooLarge { .. } => "args_too_large",
        DocError::Resolver(_) => "the resolver's error",
        _ => "other",
    }
}

#[test]
fn levels_of_detail_and_errors_match_the_cases() {
    let cases = cases(TEXT, "levels");
    for case in &cases {
        let registered = &case["registered"];
        let resolver_fails = case["resolver_error"] == true;
        let tool = match &registered["tool"] {
            Value::Null => None,
            Value::Object(fields) => {
                let mut fields = fields.clone();
                fields.insert("inputSchema".to_owned(), json!({ "type": "object" }));
                Some(Tool::from_json(Value::Object(fields)).unwrap())
            }
            _ => Some(ticket()),
        };
        let docs =
            Docs::with_resolver(move |_| if resolver_fails { Err("out of reach".into()) } else { Ok(tool.clone()) });
        let of_doc = &registered["doc"];
        if !of_doc.is_null() {
            let text = |field: &str| of_doc[field].as_str().unwrap_or_default().to_owned();
            let n = |field: &str| of_doc[field].as_u64().unwrap_or_default() as usize;
            let mut entry = DocEntry::new().summary(text("summary")).notes(text("notes"));
            entry.examples = vec![example(json!({ "title": "Broken" })); n("examples")];
            entry.external_refs = vec!["https://example.com".to_owned(); n("externalRefs")];
            docs.register("x", entry).unwrap();
        }
        let detail = case["level"].as_str().unwrap().parse::<Detail>();
        match detail.and_then(|detail| docs.describe("x", detail)) {
            Err(error) => assert_eq!(name(&error), case["error"], "{case}"),
            Ok(doc) => {
                let doc = serde_json::to_value(doc).unwrap();
                for (field, wanted) in case["expect"].as_object().into_iter().flatten() {
                    let found = doc.get(field);
                    match wanted {
                        Value::String(wanted) if wanted == "present" => assert!(found.is_some(), "{case}"),
                        Value::Number(n) => assert_eq!(json!(found.unwrap().as_array().unwrap().len()), json!(n)),
                        Value::String(text) if !text.is_empty() => assert_eq!(found, Some(wanted)),
                        _ => assert_eq!(found, None, "{case}"),
                    }
                }
                assert!(case["error"].is_null(), "{case}");
            }
        }
    }
    ran(cases.len());
}

#[test]
fn examples_are_limited_as_in_the_cases() {
    let (cases, mut n_ran) = (cases(TEXT, "examples"), 0);
    // The one case without a number describes in words that `register_examples` replaces examples.
    for case in cases.iter().filter(|case| case["expect"].is_u64()) {
        // Zero and negative numbers meant no limit there; here 0 means no examples.
        let limit = |field: &str| case[field].as_i64().filter(|n| *n > 0).map_or(usize::MAX, |n| n as usize);
        let docs = docs(&[ticket()]).max_examples(limit("max_examples"));
        let registered = vec![example(json!({ "title": "Broken" })); limit("registered")];
        docs.register_examples("ticket:create", registered).unwrap();
        let n_shown = if case["describe"].is_string() {
            docs.describe("ticket:create", Detail::Full).unwrap().examples.len()
        } else {
            docs.examples("ticket:create", limit("list_max")).unwrap().len()
        };
        assert_eq!(json!(n_shown), case["expect"], "{case}");
        n_ran += 1;
    }
    ran(n_ran);
}

#[test]
fn large_examples_are_errors_as_in_the_cases() {
    let cases = cases(TEXT, "register_errors");
    for case in &cases {
        let docs = docs(&[tool("a", "")]);
        let example = ToolExample::new(case["args"].clone());
        let error = match case["call"].as_str().unwrap() {
            "RegisterDoc" => docs.register("a", DocEntry::new().example(example)),
            _ => docs.register_examples("a", vec![example]),
        };
        assert_eq!(name(&error.unwrap_err()), case["error"]);
    }
    ran(cases.len());
}
