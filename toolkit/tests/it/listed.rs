//! Arguments whose schema has a choice or a rule at its root, as `tools/list` describes them and as calls are checked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolkit::catalog::Naming;
use toolkit::mcp::{Revision, list_tool, list_tools};
use toolkit::schema::Schema;
use toolkit::{Catalog, Dispatcher, Tool, catalog, tool};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Range {
    #[serde(alias = "begin")]
    start: u32,
    #[serde(default, alias = "stop")]
    end: Option<u32>,
}

/// Reads lines of a file.
#[tool]
fn read_lines(
    /// Where it is.
    #[serde(alias = "file", alias = "filename")]
    path: String,
    #[serde(alias = "max_lines")] limit: Option<u8>,
    #[serde(default, alias = "charset")] encoding: String,
    range: Option<Range>,
) -> Value {
    json!([path, limit, encoding, range])
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum External {
    /// Moves by an offset.
    Move {
        dx: i32,
    },
    Rename(String),
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
enum Internal {
    Push { branch: String, force: Option<bool> },
    Pull { branch: String },
    Status,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "value")]
enum Adjacent {
    Text(String),
    Count(u32),
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Id { id: u32 },
    Name { name: String, exact: Option<bool> },
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "sort")]
enum Sort {
    By { key: String },
    Random { seed: u32 },
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Flattened {
    limit: u8,
    #[serde(flatten)]
    what: Untagged,
    #[serde(flatten)]
    sort: Sort,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "node")]
enum Recursive {
    Leaf { text: String },
    Group { of: Vec<Recursive> },
}

/// Declares tools that give back their only argument.
macro_rules! echoes {
    ($($(#[$attr:meta])? $name:ident: $ty:ty;)*) => {$(
        /// Gives back what it was given.
        #[tool]
        fn $name($(#[$attr])? it: $ty) -> Value {
            serde_json::to_value(it).expect("it was read from JSON")
        }
    )*};
}
echoes! {
    #[serde(flatten)] external: External;
    internal: Internal;
    adjacent: Adjacent;
    #[serde(flatten)] untagged: Untagged;
    flattened: Flattened;
    recursive: Recursive;
}

/// Takes nothing.
#[tool]
fn nothing() {}

fn all() -> Catalog {
    catalog![read_lines, external, internal, adjacent, untagged, flattened, recursive, nothing].expect("tools")
}

fn input(name: &str) -> Value {
    let list = list_tools(&all(), Revision::V2026_07_28, Naming::Name).expect("a list");
    let tools = list["tools"].as_array().expect("a list of tools");
    tools.iter().find(|tool| tool["name"] == name).expect("it is listed")["inputSchema"].clone()
}

#[track_caller]
fn assert_accepts(schema: &Value, arguments: &Value) {
    let validator = jsonschema::validator_for(schema).expect("a schema");
    let errors: Vec<String> = validator.iter_errors(arguments).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{arguments}: {errors:?} by {schema:#}");
}

#[test]
fn every_tool_is_listed_with_a_plain_object_that_accepts_its_calls() {
    let dispatcher = Dispatcher::new(all()).expect("a dispatcher");
    for (name, arguments) in [
        ("read_lines", json!({ "path": "a" })),
        ("read_lines", json!({ "path": "a", "limit": 3, "encoding": "latin1", "range": { "start": 1, "end": 2 } })),
        ("external", json!({ "Move": { "dx": 1 } })),
        ("external", json!({ "Rename": "b" })),
        ("internal", json!({ "action": "push", "branch": "main", "force": true })),
        ("internal", json!({ "action": "status" })),
        ("adjacent", json!({ "type": "Count", "value": 3 })),
        ("adjacent", json!({ "type": "Text", "value": "three" })),
        ("untagged", json!({ "name": "a", "exact": false })),
        ("flattened", json!({ "limit": 1, "id": 7, "sort": "Random", "seed": 4 })),
        ("flattened", json!({ "limit": 1, "name": "a", "exact": null, "sort": "By", "key": "size" })),
        (
            "recursive",
            json!({ "node": "Group", "of": [{ "node": "Leaf", "text": "a" }, { "node": "Group", "of": [] }] }),
        ),
        ("nothing", json!({})),
    ] {
        let schema = input(name);
        assert!(schema["type"] == "object" && schema["properties"].is_object(), "{name}: {schema:#}");
        for keyword in ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "enum", "const", "$ref"] {
            assert!(schema.get(keyword).is_none(), "{name} has `{keyword}`: {schema:#}");
        }
        assert_accepts(&schema, &arguments);
        let called = dispatcher.call_sync(name, arguments.clone());
        assert!(called.is_ok(), "{name} {arguments}: {called:?}");
    }
}

#[test]
fn an_alias_is_accepted_and_not_listed() {
    let schema = input("read_lines");
    let names =
        |schema: &Value| schema["properties"].as_object().expect("properties").keys().cloned().collect::<Vec<_>>();
    let mut listed = names(&schema);
    listed.sort();
    assert_eq!(listed, ["encoding", "limit", "path", "range"]);
    assert_eq!(schema["required"], json!(["path"]));
    assert!(!schema.to_string().contains("Alias of"), "{schema:#}");
    let dispatcher = Dispatcher::new(all()).expect("a dispatcher");
    let result = dispatcher
        .call_sync(
            "read_lines",
            json!({ "filename": "a", "max_lines": 2, "charset": "utf-8", "range": { "begin": 1, "stop": 3 } }),
        )
        .expect("old names are accepted");
    assert_eq!(result.value(), json!(["a", 2, "utf-8", { "start": 1, "end": 3 }]));
    for arguments in [
        json!({ "path": "a", "file": "b" }),
        json!({ "path": "a", "limit": 1, "max_lines": 1 }),
        json!({ "path": "a", "range": { "start": 1, "begin": 1 } }),
        json!({ "limit": 1 }),
    ] {
        assert!(dispatcher.call_sync("read_lines", arguments.clone()).is_err(), "{arguments}");
    }
}

#[test]
fn a_combination_that_the_listed_schema_allows_is_still_rejected() {
    let dispatcher = Dispatcher::new(all()).expect("a dispatcher");
    for (name, arguments, message) in [
        ("internal", json!({ "action": "pull", "branch": "a", "force": true }), "/force is not an argument"),
        ("internal", json!({ "action": "push" }), "/branch is required"),
        ("external", json!({ "Move": { "dx": 1 }, "Rename": "b" }), "exactly one of the keys `Move`, `Rename`"),
        ("adjacent", json!({ "type": "Count", "value": "three" }), "/value must be an integer"),
    ] {
        assert_accepts(&input(name), &arguments);
        let error = dispatcher.call_sync(name, arguments).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn the_contract_keeps_the_choice_and_the_aliases() {
    let catalog = all();
    let schema = |name| catalog.resolve(name).expect("a tool").input().as_value().clone();
    assert!(schema("internal")["oneOf"].is_array());
    assert!(schema("read_lines")["properties"]["file"].is_object());
}

/// Moves by a number of steps.
#[tool]
fn step(by: i32, at_most: Option<u32>) -> i32 {
    by + i32::from(at_most.is_some())
}

#[test]
fn the_width_of_a_type_is_checked_and_not_listed() {
    let catalog = catalog![step].unwrap();
    let listed = list_tools(&catalog, Revision::V2026_07_28, Naming::Name).unwrap()["tools"][0].take();
    let properties = json!({ "by": { "type": "integer" }, "at_most": { "type": ["integer", "null"], "minimum": 0 } });
    assert_eq!(listed["inputSchema"]["properties"], properties);
    assert_eq!(listed["outputSchema"], json!({ "type": "integer" }));

    let foreign = Tool::from_json(catalog.resolve("step").unwrap().to_json()).unwrap();
    let proxied = toolkit::internals::list_proxied_tool("step", &foreign);
    assert_eq!(proxied.input.value["properties"]["by"]["maximum"], i32::MAX);
    assert_eq!(proxied.output.unwrap().value["maximum"], i32::MAX);

    let error =
        Dispatcher::new(catalog).unwrap().call_sync("step", r#"{"by": 3000000000, "at_most": -1}"#).unwrap_err();
    let violations: Vec<String> = error.violations().iter().map(ToString::to_string).collect();
    assert_eq!(violations, ["/at_most must be at least 0, got -1", "/by must be at most 2147483647, got 3000000000"]);
}

#[test]
fn references_of_a_wrapped_result_follow_what_they_point_to() {
    let tree = json!({
        "anyOf": [
            { "type": "integer", "default": { "$ref": "#" } },
            { "type": "array", "items": { "$ref": "#" } },
            { "$ref": "#/$defs/Leaf" },
            { "$ref": "#/anyOf/0" },
        ],
        "$defs": { "Leaf": { "type": "object", "required": ["default"], "properties": { "default": { "$ref": "#" } } } },
    });
    let tool = Tool::builder("tree").output(tree).build().unwrap();
    let listed = list_tool("tree", &tool, Revision::V2025_11_25)["outputSchema"].take();
    assert_eq!(listed["properties"]["result"]["anyOf"][0]["default"], json!({ "$ref": "#" }), "data is no reference");
    let listed = Schema::from_value(listed).unwrap();
    for result in [json!(1), json!([1, [2]]), json!({ "default": [3] })] {
        assert!(listed.is_valid(&json!({ "result": result })), "{result}");
    }
    for result in [json!("1"), json!([1, ["2"]]), json!({ "default": "3" }), json!([{ "result": 1 }])] {
        assert!(!listed.is_valid(&json!({ "result": result })), "{result}");
    }
}
