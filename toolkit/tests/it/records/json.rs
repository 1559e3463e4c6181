//! The two JSON forms of a tool.

use proptest::prelude::*;
use serde_json::Map;
use toolkit::catalog::Naming;
use toolkit::tool::{ParseToolError, TaskSupport};
use toolkit::{Catalog, tool};

use super::built::full;
use super::*;

/// Adds two integers.
#[tool(
    namespace = "math",
    version = "1.0.0",
    title = "Add",
    tags = ["arithmetic"],
    read_only,
    aliases = ["plus"],
    examples = [r#"{"a": 1, "b": 2}"#],
    meta = r#"{"com.example/n": 0.1}"#,
    icons = [icon(src = "https://example.com/a.png", mime_type = "image/png", sizes = ["any"], theme = "dark")],
    requires(secret = "KEY", oauth2(id = "google", scopes = ["a", "b"]), user_id),
    timeout = "2s",
    category = "numbers"
)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn linked() -> Tool {
    toolkit::catalog![add].unwrap().resolve("math:add").unwrap().clone()
}

#[test]
fn the_canonical_form_has_every_field() {
    assert_eq!(
        full().to_json(),
        json!({
            "name": "create_event",
            "namespace": "calendar",
            "version": "v1.2.0",
            "title": "Create an event",
            "description": "Creates an event.\n\nSends no invitations.",
            "category": "planning",
            "tags": ["time-table", "calendar"],
            "annotations": {
                "title": "Event",
                "readOnlyHint": false,
                "destructiveHint": false,
                "idempotentHint": false,
                "openWorldHint": true,
            },
            "aliases": ["calendar:new_event"],
            "deprecated": "use `plan`",
            "icons": [{ "src": "https://example.com/a.png", "sizes": ["48x48"] }],
            "_meta": { "com.example/team": "time" },
            "examples": [{ "title": "Lunch" }],
            "requirements": {
                "authorization": [{ "id": "google", "oauth2": { "scopes": ["calendar"] } }],
                "secrets": [{ "id": "API_KEY" }],
                "user_id": true,
            },
            "timeoutMs": 1500,
            "inputSchema": {
                "type": "object",
                "properties": { "title": { "type": "string" } },
                "required": ["title"],
            },
            "outputSchema": { "type": "object", "properties": { "id": { "type": "integer" } } },
        })
    );
}

#[test]
fn the_form_of_mcp_has_the_fields_of_mcp() {
    let json = full().to_mcp_json();
    let fields: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    let mut sorted = fields.clone();
    sorted.sort_unstable();
    assert_eq!(
        sorted,
        ["_meta", "annotations", "description", "icons", "inputSchema", "name", "outputSchema", "title"]
    );
    assert_eq!(json["_meta"], json!({ "com.example/team": "time" }));
}

#[test]
fn fields_unknown_to_mcp_are_carried_in_meta() {
    let json = full().to_mcp_json_with_record();
    let record = json["_meta"][META_KEY].as_object().unwrap();
    assert_eq!(record["id"], "calendar:create_event:v1.2.0");
    let mut fields: Vec<&str> = record.keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        [
            "aliases",
            "category",
            "deprecated",
            "examples",
            "id",
            "namespace",
            "requirements",
            "tags",
            "timeoutMs",
            "version"
        ]
    );
    assert_eq!(json["_meta"]["com.example/team"], "time");
}

#[test]
fn a_tool_round_trips_in_canonical_form_and_in_mcp_with_its_record() {
    for tool in [full(), linked(), Tool::builder("x").build().unwrap()] {
        assert_eq!(Tool::from_json(tool.to_json()).unwrap(), tool);
        assert_eq!(Tool::from_json(tool.to_json().to_string()).unwrap(), tool);
        assert_eq!(Tool::from_json(serde_json::to_string(&tool).unwrap()).unwrap(), tool);
        let back = Tool::from_mcp_json(tool.to_mcp_json_with_record()).unwrap();
        assert_eq!(back.to_json(), tool.to_json());
        assert_eq!(back, tool);
        let stripped = Tool::from_mcp_json(tool.to_mcp_json()).unwrap();
        assert_eq!(stripped.to_mcp_json(), tool.to_mcp_json());
        assert_eq!((stripped.id().namespace(), stripped.id().version()), (None, None));
        assert!(stripped.tags().is_empty());
    }
}

#[test]
fn a_tool_of_this_program_that_was_read_back_describes_itself_the_same() {
    let catalog = toolkit::catalog![add].unwrap();
    let read = Catalog::new(catalog.iter().map(|tool| Tool::from_json(tool.to_json()).unwrap())).unwrap();
    read.check(Naming::Name).unwrap();
    for naming in [Naming::Name, Naming::NamespaceName] {
        let list = |catalog: &Catalog| toolkit::mcp::list_tools(catalog, Default::default(), naming).unwrap();
        assert_eq!(list(&read), list(&catalog));
        // The name of a listed tool may be a wire name; its id identifies it.
        let again = toolkit::Manifest::from_mcp_json(list(&catalog)).unwrap();
        assert_eq!(again.tools().next().unwrap().id(), catalog.iter().next().unwrap().id());
        assert_eq!(list(&Catalog::new(again.tools().cloned()).unwrap()), list(&catalog));
    }
}

#[test]
fn the_extensions_of_an_mcp_document_are_not_taken_from_its_top() {
    let json = json!({ "name": "x", "inputSchema": {}, "namespace": "theirs", "version": 7, "tags": "none" });
    let tool = Tool::from_mcp_json(&json).unwrap();
    assert_eq!((tool.id().namespace(), tool.id().version(), tool.tags().len()), (None, None, 0));
    assert_eq!(tool.to_mcp_json(), json);
    assert_eq!(tool.to_json(), json!({ "name": "x", "inputSchema": {} }));
}

#[test]
fn unknown_fields_come_back_at_every_level() {
    let json = json!({
        "name": "x",
        "inputSchema": { "type": "object", "x-mine": 1 },
        "execution": { "taskSupport": "optional", "queue": "slow" },
        "annotations": { "readOnlyHint": true, "category": "network", "conditions": [] },
        "icons": [{ "src": "data:,", "density": 2 }],
        "empty": [],
    });
    assert_eq!(Tool::from_mcp_json(&json).unwrap().to_mcp_json(), json);
    let tool = Tool::from_json(&json).unwrap();
    assert_eq!(tool.to_json(), json);
    assert_eq!(tool.task_support(), TaskSupport::Optional);
    assert_eq!(tool.metadata().execution.unknown.get("queue"), Some(&json!("slow")));
    assert_eq!(tool.annotations().unknown.get("category"), Some(&json!("network")));
}

#[test]
fn null_counts_as_absent_and_round_trips() {
    let json =
        json!({ "name": "x", "inputSchema": {}, "title": null, "annotations": null, "_meta": null, "icons": [] });
    let tool = Tool::from_mcp_json(&json).unwrap();
    assert_eq!((tool.title(), tool.meta()), (None, None));
    assert_eq!(tool.to_mcp_json(), json);
    let json = json!({ "name": "x", "inputSchema": {}, "annotations": { "title": "t", "readOnlyHint": null } });
    assert_eq!(Tool::from_mcp_json(&json).unwrap().annotations().read_only, None);
}

#[test]
fn nested_empty_fields_round_trip() {
    let json = json!({
        "name": "x",
        "inputSchema": {},
        "annotations": { "title": "t", "readOnlyHint": null },
        "icons": [{ "src": "data:,", "sizes": [], "theme": null }, { "src": "data:," }],
    });
    let tool = Tool::from_mcp_json(&json).unwrap();
    assert_eq!(tool.to_mcp_json(), json);
    assert_eq!(Tool::from_json(tool.to_json()).unwrap(), tool);
    let json =
        json!({ "name": "x", "inputSchema": {}, "category": null, "namespace": null, "tags": [], "requirements": {} });
    assert_eq!(Tool::from_json(&json).unwrap().to_json(), json);
}

#[test]
fn a_record_has_no_id_that_would_be_read_as_another() {
    for (name, namespace) in [("my tool", None), ("a:b", None), ("a:b:c:d", None), ("b", Some("x y")), ("b", Some("a"))]
    {
        let mut json = json!({ "name": name, "inputSchema": {} });
        if let Some(namespace) = namespace {
            json["namespace"] = namespace.into();
        }
        let tool = Tool::from_json(json).unwrap();
        let carried = tool.to_mcp_json_with_record();
        assert_eq!(carried["_meta"][META_KEY].get("id").is_some(), namespace == Some("a"), "{carried}");
        assert_eq!(Tool::from_mcp_json(carried).unwrap(), tool);
    }
}

#[test]
fn a_schema_of_another_program_that_cannot_be_compiled_is_kept_and_not_checked() {
    let input = json!({ "$schema": "http://json-schema.org/draft-06/schema#", "type": "object", "required": ["a"] });
    let tool = json!({ "name": "read", "inputSchema": input, "outputSchema": { "type": "text" } });
    let tool = Tool::from_json(tool).unwrap();
    for tool in [tool.clone(), Tool::from_json(tool.to_json()).unwrap(), tool.without_aliases()] {
        assert_eq!((tool.input().as_value(), tool.input().clone().is_valid(&json!({}))), (&input, true));
        assert!(tool.validate_input(&json!({})).is_ok());
        assert!(tool.validate_input(&json!([])).is_err(), "arguments are an object");
        assert!(tool.validate_output(&json!(1)).is_ok());
        assert!(tool.input().check().is_err() && tool.output().unwrap().check().is_err());
    }
    assert!(Catalog::new([tool]).unwrap().check(Naming::default()).is_err(), "a check reports it");
}

#[test]
fn a_document_is_read_from_whatever_holds_it() {
    let text = r#"{"name":"x","inputSchema":{}}"#.to_owned();
    let bytes = text.clone().into_bytes();
    let fields: Map<String, Value> = serde_json::from_str(&text).unwrap();
    let tool = Tool::from_json(&text).unwrap();
    assert_eq!(Tool::from_json(&bytes).unwrap(), tool);
    assert_eq!(Tool::from_json(br#"{"name":"x","inputSchema":{}}"#).unwrap(), tool);
    assert_eq!(Tool::from_json(fields).unwrap(), tool);
}

#[test]
fn every_field_of_the_wrong_type_is_reported_at_once() {
    let json = json!({
        "title": 1,
        "inputSchema": true,
        "outputSchema": "object",
        "annotations": { "readOnlyHint": "yes" },
        "icons": [{ "mimeType": "image/png" }],
        "_meta": [],
    });
    let ParseToolError::Form(violations) = Tool::from_mcp_json(&json).unwrap_err() else { panic!("it is JSON") };
    let places: Vec<&str> = violations.iter().map(|violation| violation.pointer.as_str()).collect();
    assert_eq!(
        places,
        ["/_meta", "/annotations/readOnlyHint", "/icons/0/src", "/inputSchema", "/name", "/outputSchema", "/title"]
    );

    let carried = json!({ "id": "a:b", "tags": [1], "secret": {}, "requirements": { "secret": "KEY" } });
    let json = json!({ "name": "b", "inputSchema": {}, "_meta": { META_KEY: carried } });
    let error = Tool::from_mcp_json(&json).unwrap_err().to_string();
    assert_eq!(
        error,
        "not a tool:\n\
         /_meta/rs.toolkit~1tool/requirements/secret is not a field; did you mean `secrets`?\n\
         /_meta/rs.toolkit~1tool/tags/0 must be a string, got 1"
    );
    let json = json!({ "name": "b", "inputSchema": {}, "_meta": { META_KEY: { "id": "a:b:c:d" } } });
    assert!(Tool::from_mcp_json(&json).unwrap_err().to_string().contains("has more than two colons"));
}

#[test]
fn a_document_that_is_not_an_object_is_an_error_with_its_location() {
    let error = |text: &str| Tool::from_json(text).unwrap_err().to_string();
    assert_eq!(error("[1]"), "not a tool: a tool is a JSON object");
    assert_eq!(error("{\"name\": }"), "not a tool: not valid JSON: expected value at line 1 column 10");
    assert_eq!(
        error(r#"{"name": "a", "name": "b"}"#).lines().next().unwrap(),
        "not a tool: not valid JSON: duplicate key `name` in an object at line 1 column 20"
    );
    let mut deep = json!({});
    for _ in 0..200 {
        deep = json!({ "a": deep });
    }
    assert_eq!(Tool::from_json(deep).unwrap_err().to_string(), "not a tool: it is nested deeper than 127 levels");
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no others", |float| float.is_finite()).prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ]
}

fn anything() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("\\PC{0,6}", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-z/.]{1,8}", anything(), 0..4)
        .prop_map(|fields| Value::Object(fields.into_iter().collect()))
}

fn text() -> impl Strategy<Value = Value> {
    "\\PC{0,20}".prop_map(Value::from)
}

/// Creates an object in which each field is optional.
fn some_of(fields: Vec<(&'static str, BoxedStrategy<Value>)>) -> impl Strategy<Value = Map<String, Value>> {
    let fields: Vec<_> = fields
        .into_iter()
        .map(|(name, value)| prop::option::of(value).prop_map(move |value| (name.to_owned(), value)))
        .collect();
    fields.prop_map(|fields| fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
}

fn mcp_fields() -> impl Strategy<Value = Map<String, Value>> {
    let hint = || any::<bool>().prop_map(Value::from).boxed();
    let annotations = some_of(vec![
        ("title", text().boxed()),
        ("readOnlyHint", hint()),
        ("destructiveHint", hint()),
        ("idempotentHint", hint()),
        ("openWorldHint", hint()),
        ("x-other", anything().boxed()),
    ]);
    let support = prop::sample::select(vec!["forbidden", "optional", "required"]).prop_map(Value::from);
    let execution = some_of(vec![("taskSupport", support.boxed()), ("x-other", anything().boxed())]);
    let sizes = prop::collection::vec(text(), 1..3).prop_map(Value::from);
    let icon = (
        text(),
        some_of(vec![
            ("mimeType", text().boxed()),
            ("sizes", sizes.boxed()),
            ("theme", text().boxed()),
            ("x", anything().boxed()),
        ]),
    )
        .prop_map(|(src, mut icon)| {
            icon.insert("src".to_owned(), src);
            Value::Object(icon)
        });
    let fields = some_of(vec![
        ("title", text().boxed()),
        ("description", text().boxed()),
        ("outputSchema", object().boxed()),
        ("annotations", annotations.prop_map(Value::Object).boxed()),
        ("icons", prop::collection::vec(icon, 0..3).prop_map(Value::from).boxed()),
        ("_meta", object().boxed()),
        ("execution", execution.prop_map(Value::Object).boxed()),
        ("x-unknown", anything().boxed()),
    ]);
    ("[A-Za-z0-9_.-]{1,20}", object(), fields).prop_map(|(name, input, mut fields)| {
        fields.insert("name".to_owned(), name.into());
        fields.insert("inputSchema".to_owned(), input);
        fields
    })
}

fn extensions() -> impl Strategy<Value = Map<String, Value>> {
    let texts = |pattern: &'static str| prop::collection::vec(pattern, 1..4).prop_map(Value::from).boxed();
    let tags = prop::collection::btree_set("[a-z0-9._-]{1,9}", 1..5);
    let tags = tags.prop_map(|tags| Value::from(tags.into_iter().collect::<Vec<String>>())).boxed();
    some_of(vec![
        ("namespace", "[a-z]{1,8}".prop_map(Value::from).boxed()),
        ("version", "[0-9]\\.[0-9]\\.[0-9]".prop_map(Value::from).boxed()),
        ("category", text().boxed()),
        ("tags", tags),
        ("aliases", texts("[a-z]{1,4}:[a-z]{1,4}")),
        ("deprecated", text().boxed()),
        ("examples", prop::collection::vec(anything(), 1..3).prop_map(Value::from).boxed()),
        ("timeoutMs", any::<u64>().prop_map(Value::from).boxed()),
        (
            "requirements",
            texts("[A-Z]{1,5}")
                .prop_map(|ids| {
                    let secrets: Vec<Value> = ids.as_array().unwrap().iter().map(|id| json!({ "id": id })).collect();
                    json!({ "secrets": secrets, "user_id": true })
                })
                .boxed(),
        ),
    ])
}

proptest! {
    #[test]
    fn any_mcp_document_round_trips(fields in mcp_fields()) {
        let json = Value::Object(fields);
        let tool = Tool::from_mcp_json(&json).unwrap();
        prop_assert_eq!(tool.to_mcp_json(), json.clone());
        // Also through text, the usual form of a document.
        let text = json.to_string();
        let parsed: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(Tool::from_mcp_json(text.as_str()).unwrap().to_mcp_json(), parsed);
    }

    #[test]
    fn any_canonical_document_round_trips(mcp in mcp_fields(), extensions in extensions()) {
        let json: Value = mcp.into_iter().chain(extensions).collect::<Map<_, _>>().into();
        let tool = Tool::from_json(&json).unwrap();
        prop_assert_eq!(tool.to_json(), json.clone());
        prop_assert_eq!(Tool::from_json(tool.to_json()).unwrap(), tool.clone());
        // The id of a tool without a namespace does not contain its version, and the record does. An empty `_meta` is
        // indistinguishable from one that was created for the record.
        prop_assume!(json["_meta"] != json!({}));
        let carried = Tool::from_mcp_json(tool.to_mcp_json_with_record()).unwrap();
        prop_assert_eq!(carried.to_json(), tool.to_json());
    }

    #[test]
    fn no_document_makes_the_reader_panic(json in anything(), text in "\\PC{0,60}") {
        let _ = (Tool::from_json(&json), Tool::from_mcp_json(&json), Tool::from_json(text.as_str()));
        let _ = toolkit::Manifest::from_mcp_json(json!({ "tools": [json] }));
    }
}
