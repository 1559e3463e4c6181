//! What a tool accepts, and how it refuses the rest.

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolkit::catalog::DiagnosticKind;
use toolkit::{Coercion, Dispatcher, catalog, tool};

/// Finds texts.
#[tool(namespace = "inputs")]
fn find(
    /// What to find.
    #[serde(alias = "q", alias = "text")]
    query: String,
    #[serde(default, alias = "max")] limit: u8,
    #[serde(rename = "in", alias = "folder", default)] place: Option<String>,
) -> Value {
    json!([query, limit, place])
}

/// Takes one argument under two names.
#[tool(namespace = "inputs")]
fn one(
    #[arg]
    #[serde(alias = "ident")]
    id: u32,
) -> u32 {
    id
}

fn violations(dispatcher: &Dispatcher, name: &str, arguments: Value) -> Vec<String> {
    let error = dispatcher.call_sync(name, &arguments).unwrap_err();
    error.violations().iter().map(ToString::to_string).collect()
}

#[test]
fn an_alias_of_an_argument_is_accepted_in_place_of_its_name() {
    let catalog = catalog![find, one].unwrap();
    catalog.check(Default::default()).unwrap();
    let dispatcher = Dispatcher::new(catalog).unwrap();
    let call = |arguments: Value| dispatcher.call_sync("find", arguments.to_string()).unwrap().value();
    assert_eq!(call(json!({ "query": "a" })), json!(["a", 0, null]));
    assert_eq!(call(json!({ "q": "a", "max": 3, "folder": "b" })), json!(["a", 3, "b"]));
    assert_eq!(call(json!({ "text": "a", "in": "b" })), json!(["a", 0, "b"]));
    assert_eq!(dispatcher.call_sync("one", r#"{"ident": 7}"#).unwrap().value(), json!(7));
    assert_eq!(dispatcher.call_sync("one", json!({ "id": 7 })).unwrap().value(), json!(7));
}

#[derive(Deserialize, JsonSchema)]
struct Search {
    #[serde(alias = "q")]
    query: String,
    /// Hidden from models, with a name between two others.
    #[serde(default, rename = "query_hidden")]
    #[schemars(skip)]
    hidden: String,
    #[serde(default, alias = "a_limit", alias = "max")]
    limit: u8,
    #[serde(default, alias = "since", alias = "zz")]
    after: Option<NaiveDate>,
}

/// Finds texts.
#[tool(namespace = "inputs")]
fn search(search: Search) -> Value {
    json!([search.query, search.hidden, search.limit, search.after])
}

#[test]
fn an_alias_of_a_field_is_accepted_and_a_hidden_field_is_not() {
    let catalog = catalog![search].unwrap();
    catalog.check(Default::default()).unwrap();
    let dispatcher = Dispatcher::new(catalog).unwrap();
    let call = |arguments: Value| dispatcher.call_sync("search", arguments.to_string()).unwrap().value();
    assert_eq!(call(json!({ "query": "a" })), json!(["a", "", 0, null]));
    assert_eq!(call(json!({ "q": "a", "a_limit": 3 })), json!(["a", "", 3, null]));
    assert_eq!(call(json!({ "q": "a", "max": 3, "since": "2026-01-01" })), json!(["a", "", 3, "2026-01-01"]));
    assert_eq!(call(json!({ "q": "a", "zz": "2026-01-01" })), json!(["a", "", 0, "2026-01-01"]));
    for arguments in [
        json!({ "query": "a", "q": "a" }),
        json!({ "query": "a", "max": 1, "a_limit": 1 }),
        json!({ "query": "a", "query_hidden": "a" }),
        json!({ "max": 1 }),
    ] {
        assert!(!violations(&dispatcher, "search", arguments.clone()).is_empty(), "{arguments}");
    }
}

#[test]
fn two_names_of_one_argument_are_a_violation_and_so_is_none_where_it_is_required() {
    let dispatcher = Dispatcher::builder(catalog![find, one].unwrap()).coercion(Coercion::Off).build().unwrap();
    for arguments in [
        json!({ "query": "a", "q": "a" }),
        json!({ "q": "a", "text": "a" }),
        json!({ "query": "a", "limit": 1, "max": 2 }),
        json!({ "limit": 1 }),
        json!({}),
        json!({ "q": 1 }),
        json!({ "query": "a", "qq": 1 }),
    ] {
        assert!(!violations(&dispatcher, "find", arguments.clone()).is_empty(), "{arguments}");
    }
    assert!(!violations(&dispatcher, "one", json!({ "id": 1, "ident": 1 })).is_empty());
}

/// Halves a number.
#[tool(namespace = "inputs")]
fn half(n: f32, more: Vec<f32>) -> f64 {
    assert!(n.is_finite() && more.iter().all(|n| n.is_finite()));
    f64::from(n) / 2.0
}

#[test]
fn a_number_beyond_32_bits_is_refused_and_does_not_become_infinite() {
    let dispatcher = Dispatcher::new(catalog![half].unwrap()).unwrap();
    assert!(dispatcher.call_sync("half", r#"{"n": 3e38, "more": [-3e38]}"#).unwrap().value().as_f64() > Some(1e38));
    for arguments in [r#"{"n": 1e39, "more": []}"#, r#"{"n": 0, "more": [1, -1e39]}"#, r#"{"n": 1e300, "more": []}"#] {
        let error = dispatcher.call_sync("half", arguments).unwrap_err();
        assert_eq!(error.violations().len(), 1, "{error}");
        assert!(error.violations()[0].keyword.ends_with("imum"), "{error:?}");
    }
}

/// Has dates.
#[tool(namespace = "inputs")]
fn dates(on: NaiveDate, at: Option<DateTime<Utc>>, ids: Vec<uuid::Uuid>) -> String {
    format!("{on} {at:?} {ids:?}")
}

#[test]
fn a_text_of_the_wrong_format_is_told_the_format_with_an_example() {
    let dispatcher = Dispatcher::new(catalog![dates].unwrap()).unwrap();
    let on = violations(&dispatcher, "dates", json!({ "on": "tomorrow", "at": null, "ids": [] }));
    assert!(on[0].starts_with("/on must be a date (RFC 3339), as in `2024-05-06`: "), "{on:?}");
    let at = violations(&dispatcher, "dates", json!({ "on": "2026-01-01", "at": "noon", "ids": [] }));
    assert!(
        at[0].contains("must be a date and time with its offset (RFC 3339), as in `2024-05-06T12:30:00Z`"),
        "{at:?}"
    );
    let ids = violations(&dispatcher, "dates", json!({ "on": "2026-01-01", "ids": ["a"] }));
    assert!(ids[0].starts_with("/ids/0 must be a UUID, as in `"), "{ids:?}");
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Endless {
    next: Box<Endless>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Ends {
    next: Option<Box<Ends>>,
    all: Vec<Ends>,
}

/// Cannot be called.
#[tool(namespace = "inputs")]
fn endless(of: Endless) {
    drop(of.next);
}

/// Cannot be called.
#[tool(namespace = "inputs")]
fn endless_inside(name: String, of: Vec<u8>, next: Endless) {
    drop((name, of, next));
}

/// Can be called.
#[tool(namespace = "inputs")]
fn ends(of: Ends) {
    drop((of.next, of.all));
}

#[test]
fn a_check_finds_a_type_without_a_base_case() {
    let problems = catalog![endless, endless_inside, ends].unwrap().check(Default::default()).unwrap_err();
    let found: Vec<_> =
        problems.iter().flat_map(|problem| problem.tools().map(|(id, _)| (problem.kind(), id.to_owned()))).collect();
    let expect = ["inputs:endless", "inputs:endless_inside"].map(|id| (DiagnosticKind::InvalidSchema, id.to_owned()));
    assert_eq!(found, expect, "{problems}");
}

fn any_object(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "object" })
}

/// A type whose author wrote the schema.
struct Anything(serde_json::Map<String, Value>);

impl JsonSchema for Anything {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Anything".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        any_object(generator)
    }
}

impl<'de> Deserialize<'de> for Anything {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_json::Map::deserialize(deserializer).map(Self)
    }
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// Takes objects that declare no properties.
#[tool(namespace = "inputs")]
fn open(
    #[schemars(schema_with = "any_object")] value: Value,
    anything: Anything,
    others: Vec<Anything>,
    nothing: Nothing,
) -> usize {
    let Nothing {} = nothing;
    value.as_object().unwrap().len() + anything.0.len() + others.iter().map(|other| other.0.len()).sum::<usize>()
}

#[test]
fn an_object_without_declared_properties_is_open_unless_it_is_a_struct() {
    let dispatcher = Dispatcher::new(catalog![open].unwrap()).unwrap();
    let arguments = |nothing: Value| json!({ "value": { "a": 1 }, "anything": { "b": 1 }, "others": [{ "c": 1 }], "nothing": nothing });
    assert_eq!(dispatcher.call_sync("open", arguments(json!({}))).unwrap().value(), 3);
    let refused = violations(&dispatcher, "open", arguments(json!({ "d": 1 })));
    assert_eq!(refused, ["/nothing/d is not an argument; no arguments are accepted"]);
}

#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "String")]
struct Address(#[schemars(with = "String")] String);

impl TryFrom<String> for Address {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.contains('@').then_some(Self(text)).ok_or("an address contains @")
    }
}

/// Sends a message.
#[tool(namespace = "inputs")]
fn send(
    to: Address,
    #[schemars(range(max = 10))] priority: i32,
    #[schemars(range(min = -5, max = -2))] below: i8,
) -> i32 {
    i32::try_from(to.0.len()).unwrap() + priority + i32::from(below)
}

/// Sends a message.
#[tool(namespace = "inputs")]
fn count(
    #[schemars(range(max = 10))] priority: i32,
    #[schemars(range(min = -5, max = -2))] below: i8,
    any: i64,
) -> i64 {
    i64::from(priority) + i64::from(below) + any
}

#[test]
fn the_example_of_an_error_is_small_and_accepted_by_the_tool_or_left_out() {
    let dispatcher = Dispatcher::new(catalog![send, count].unwrap()).unwrap();
    let error = |tool: &str| dispatcher.call_sync(tool, "{}").unwrap_err().to_string();
    assert!(error("count").ends_with(r#"for example: {"priority":1,"below":-2,"any":1}"#), "{}", error("count"));
    assert_eq!(dispatcher.call_sync("count", r#"{"priority":1,"below":-2,"any":1}"#).unwrap().value(), 0);
    assert!(!error("send").contains("for example"), "{}", error("send"));
}

/// Has examples and metadata as JSON.
#[tool(
    namespace = "inputs",
    examples = [{"name": "caf\u{e9} \"x\"", "n": -2}, r#"{"name": "b", "n": 1}"#],
    meta = {"com.example/a": [1, -2.5, null, true, {"b": "\n"}]}
)]
fn literal(name: String, n: i64) -> usize {
    name.len() + usize::try_from(n.abs()).unwrap()
}

#[test]
fn examples_and_metadata_may_be_json_objects() {
    let catalog = catalog![literal].unwrap();
    catalog.check(Default::default()).unwrap();
    let tool = catalog.iter().next().unwrap();
    assert_eq!(tool.examples(), [json!({ "name": "café \"x\"", "n": -2 }), json!({ "name": "b", "n": 1 })]);
    let mcp = toolkit::mcp::list_tool("literal", tool, toolkit::mcp::Revision::V2026_07_28);
    assert_eq!(mcp["_meta"]["com.example/a"], json!([1, -2.5, null, true, { "b": "\n" }]));
}

#[derive(Deserialize, JsonSchema)]
struct Range {
    /// The first line, below [`Range::last`].
    first: u32,
    /// The last line; see [lines](https://example.com/lines).
    last: u32,
}

/// Reads lines, like [`find`], in the sense of [a range](self::Range).
#[tool(namespace = "inputs")]
fn lines(
    /// As [`str::lines`] numbers them.
    range: Range,
    path: String,
) -> String {
    format!("{path}:{}-{}", range.first, range.last)
}

#[test]
fn a_model_reads_the_text_of_a_link_to_an_item() {
    let catalog = catalog![lines].unwrap();
    let tool = catalog.iter().next().unwrap();
    assert_eq!(tool.description(), "Reads lines, like `find`, in the sense of a range.");
    let mcp = toolkit::mcp::list_tool("lines", tool, toolkit::mcp::Revision::V2026_07_28);
    let range = &mcp["inputSchema"]["properties"]["range"];
    assert_eq!(range["description"], "As `str::lines` numbers them.");
    assert_eq!(range["properties"]["first"]["description"], "The first line, below `Range::last`.");
    assert_eq!(range["properties"]["last"]["description"], "The last line; see [lines](https://example.com/lines).");
}
