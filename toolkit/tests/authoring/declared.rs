//! Declarations of an author beside what a type accepts.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolkit::catalog::DiagnosticKind;
use toolkit::{Catalog, Dispatcher, Tool, catalog, prompt, tool};

const TWENTY: u8 = 20;

/// Has a default above its maximum, and one outside of its pattern.
#[tool(namespace = "declared")]
fn wrong_defaults(
    #[arg(default = TWENTY)]
    #[schemars(range(max = 10))]
    days: u8,
    #[arg(default = "Lima".to_owned())]
    #[schemars(regex(pattern = r"^[a-z]+$"))]
    city: String,
    #[arg(default = 3)] fine: u8,
) -> String {
    format!("{days} {city} {fine}")
}

const LEAST: u8 = 5;

#[derive(Deserialize, JsonSchema)]
enum Never {}

/// Has an optional argument that no value matches.
#[tool(namespace = "declared")]
fn no_value(#[schemars(range(min = LEAST, max = 1))] n: Option<u8>) -> Option<u8> {
    n
}

/// Cannot be called.
#[tool(namespace = "declared")]
fn uncallable(never: Never, _n: u8) -> u8 {
    match never {}
}

fn defects(catalog: &Catalog) -> Vec<(DiagnosticKind, String)> {
    let found = catalog.check(Default::default()).unwrap_err();
    found.iter().map(|found| (found.kind(), found.message().to_owned())).collect()
}

#[test]
fn a_default_that_its_schema_rejects_is_a_defect_and_so_is_a_tool_that_nobody_can_call() {
    let found = defects(&catalog![wrong_defaults].unwrap());
    let expect =
        ["the default of /days must be at most 10, got 20", "the default of /city must match `^[a-z]+$`, got \"Lima\""];
    assert_eq!(found, expect.map(|text| (DiagnosticKind::InvalidDefault, text.to_owned())));
    let found = defects(&catalog![no_value].unwrap());
    let expect = "/n accepts no value: its `minimum` 5 is above its `maximum` 1";
    assert_eq!(found, [(DiagnosticKind::InvalidSchema, expect.to_owned())]);
    let found = defects(&catalog![uncallable].unwrap());
    let expect = "no arguments match the input schema: a required field accepts no value, or contains its own type";
    assert_eq!(found, [(DiagnosticKind::InvalidSchema, expect.to_owned())]);
    let input = json!({ "type": "object", "properties": { "a": false }, "required": ["a"] });
    let found = Tool::builder("foreign").input(input).build().unwrap_err();
    assert_eq!(found.iter().next().unwrap().message(), expect);
}

#[derive(Deserialize, JsonSchema)]
enum Data {
    Text(String),
    Number(i64),
}

#[derive(Deserialize, JsonSchema)]
enum DataOrNone {
    Text(String),
    Number(i64),
    Nothing,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Tagged {
    Text { text: String },
    Nothing,
}

/// Takes an enum.
#[tool(namespace = "declared")]
fn data(value: Data) -> String {
    match value {
        Data::Text(text) => text,
        Data::Number(n) => n.to_string(),
    }
}

/// Takes the same enum with one more variant.
#[tool(namespace = "declared")]
fn data_or_none(value: DataOrNone) -> String {
    match value {
        DataOrNone::Text(text) => text,
        DataOrNone::Number(n) => n.to_string(),
        DataOrNone::Nothing => String::new(),
    }
}

/// Takes the whole input, as before.
#[tool(namespace = "declared")]
fn whole(#[serde(flatten)] value: Data) -> String {
    match value {
        Data::Text(text) => text,
        Data::Number(n) => n.to_string(),
    }
}

/// Takes an enum whose tag is a property.
#[tool(namespace = "declared")]
fn tagged(value: Tagged) -> String {
    match value {
        Tagged::Text { text } => text,
        Tagged::Nothing => String::new(),
    }
}

#[test]
fn another_variant_changes_no_call() {
    let dispatcher = Dispatcher::new(catalog![data, data_or_none, whole, tagged].unwrap()).unwrap();
    for (tool, arguments) in [
        ("data", json!({ "value": { "Text": "a" } })),
        ("data_or_none", json!({ "value": { "Text": "a" } })),
        ("whole", json!({ "Text": "a" })),
        ("tagged", json!({ "kind": "Text", "text": "a" })),
    ] {
        assert_eq!(dispatcher.call_sync(tool, arguments.to_string()).unwrap().value(), "a", "{arguments}");
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
struct Code(String);

impl TryFrom<String> for Code {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.starts_with("x-") { Ok(Self(text)) } else { Err("a code starts with x-") }
    }
}

#[derive(Deserialize, JsonSchema)]
struct Inner {
    code: Code,
    other: Code,
}

/// Takes values that only their types reject.
#[tool(namespace = "declared")]
fn typed(code: Code, second: Code, inner: Inner, id: u64, days: u8, map: HashMap<u8, u8>) -> String {
    format!("{} {} {} {} {id} {days} {map:?}", code.0, second.0, inner.code.0, inner.other.0)
}

#[test]
fn all_values_that_only_their_types_reject_are_listed_together() {
    let dispatcher = Dispatcher::new(catalog![typed].unwrap()).unwrap();
    let pointers = |arguments: &str| -> Vec<String> {
        let error = dispatcher.call_sync("typed", arguments).unwrap_err();
        error.violations().iter().map(|violation| violation.pointer.clone()).collect()
    };
    let inner = r#""inner": {"code": "c", "other": "d"}"#;
    let all = format!(r#"{{"code": "a", "second": "b", {inner}, "id": 18446744073709551616, "days": 1, "map": {{}}}}"#);
    assert_eq!(pointers(&all), ["/code", "/second", "/inner/code", "/inner/other", "/id"]);
    let beside = format!(r#"{{"code": "a", "second": "x-b", {inner}, "id": 1, "days": 300, "map": {{"k": 1}}}}"#);
    assert_eq!(pointers(&beside), ["/code", "/days", "/inner/code", "/inner/other", "/map/k"]);
    let inside =
        r#"{"code": "x-a", "second": "x-b", "inner": {"code": 3, "other": "d"}, "id": 1, "days": 1, "map": {}}"#;
    assert_eq!(pointers(inside), ["/inner/code", "/inner/other"]);
}

/// Takes two names that are near.
#[tool(namespace = "declared")]
fn near(path: String, paths: Option<Vec<String>>) -> Value {
    json!([path, paths])
}

#[test]
fn a_suggestion_never_names_an_argument_that_is_present() {
    let dispatcher = Dispatcher::new(catalog![near].unwrap()).unwrap();
    let error = dispatcher.call_sync("near", r#"{"path": "a", "pathx": "b"}"#).unwrap_err();
    assert_eq!(error.violations()[0].suggestion.as_deref(), Some("paths"));
    let error = dispatcher.call_sync("near", r#"{"path": "a", "paths": [], "pathx": "b"}"#).unwrap_err();
    assert_eq!(error.violations()[0].suggestion, None);
}

/// Fails.
#[prompt(namespace = "declared")]
fn failing() -> Result<String, std::num::ParseIntError> {
    "x".parse::<u8>().map(|n| n.to_string())
}

#[tokio::test]
async fn a_catalog_without_a_tool_keeps_its_prompts_whose_errors_name_the_prompt() {
    let catalog = catalog![near, whole, failing].unwrap().retain(|tool| tool.name() != "near");
    assert!(catalog.prompt("failing").is_some());
    assert!(catalog.get("whole").is_some() && catalog.get("near").is_none());
    let dispatcher = Dispatcher::new(catalog).unwrap();
    dispatcher.call_sync("whole", r#"{"Number": 1}"#).unwrap();
    let error = dispatcher.prompt("failing", json!({})).await.unwrap_err();
    assert_eq!(error.message(), "the prompt failed with an internal error");
}
