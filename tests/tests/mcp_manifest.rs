//! What `tools/list` says of a catalogue, held against the official schemas of both revisions.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::process::Command;

use proptest::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolkit::adapter::mcp::{META_KEY, Revision, list_tools, wrap_result};
use toolkit::catalog::{Entry, Location, Naming, Problem, ProblemKind, WireNames};
use toolkit::dispatch::Run;
use toolkit::tool::{Annotations, Requirements, ToolId};
use toolkit::{Catalog, Content, Dispatcher, Structured, Tool, ToolError, catalog, tool};
use toolkit_tests::{ran, shared_json};

const REVISIONS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

/// A place on a map.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Place {
    /// Degrees north.
    #[schemars(range(min = -90.0, max = 90.0))]
    lat: f32,
    /// Degrees east.
    lon: f32,
}

#[derive(Deserialize, JsonSchema)]
struct Trip {
    /// Where it starts.
    from: Place,
    /// Where it ends.
    to: Place,
    /// Where it leads through.
    #[serde(default)]
    via: Vec<Place>,
    /// What else to know.
    note: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Unit {
    Metric,
    Imperial,
}

#[derive(Deserialize, JsonSchema)]
enum Speed {
    /// At once.
    Fast,
    /// When there is time.
    Slow,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    /// A circle.
    Circle {
        /// From the middle to the rim.
        radius: f64,
    },
    /// A rectangle.
    Rectangle { width: f64, height: f64 },
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Amount {
    Exact(i64),
    Text(String),
}

/// A folder with folders in it.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Folder {
    name: String,
    #[serde(default)]
    folders: Vec<Folder>,
}

/// A number, or sums of sums.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Sum {
    Number(i64),
    Of(Vec<Sum>),
}

/// Takes nothing and gives nothing.
#[tool]
fn nothing() {}

/// Takes a struct.
///
/// Its second paragraph is for models, too.
#[tool(namespace = "travel", version = "1.0.0", title = "Plan a trip")]
fn plan(trip: Trip) -> usize {
    trip.via.len() + usize::from(trip.note.is_some() && trip.from.lat <= trip.to.lon)
}

/// Takes parameters.
#[tool(namespace = "travel", version = "1.0.0")]
fn fare(
    /// How far, in kilometres.
    distance: f64,
    /// How many travel.
    #[schemars(range(min = 1, max = 9))]
    people: u8,
    discount: Option<i64>,
    unit: Option<Unit>,
) -> f64 {
    let unit = if unit.is_some() { 1.0 } else { 0.0 };
    distance * f64::from(people) - discount.unwrap_or(0) as f64 + unit
}

/// Takes one lone enum of objects.
#[tool]
fn area(shape: Shape) -> f64 {
    match shape {
        Shape::Circle { radius } => radius * radius * std::f64::consts::PI,
        Shape::Rectangle { width, height } => width * height,
    }
}

/// Takes enums of every kind.
#[tool]
fn kinds(unit: Unit, speed: Speed, shape: Shape, amount: Amount) -> Unit {
    let _ = (area(shape), matches!(speed, Speed::Fast));
    match amount {
        Amount::Exact(0) => unit,
        Amount::Exact(_) => Unit::Metric,
        Amount::Text(text) => {
            if text.is_empty() {
                Unit::Metric
            } else {
                Unit::Imperial
            }
        }
    }
}

/// Takes maps and tuples.
#[tool]
fn containers(scores: HashMap<String, u64>, range: (i64, i64), pair: (String, f32)) -> Vec<String> {
    let total = scores.values().sum::<u64>();
    vec![format!("{total} {range:?} {pair:?}")]
}

/// Takes any JSON.
#[tool]
fn any(value: Value, more: Vec<Value>) -> Value {
    json!([value, more])
}

/// Takes and gives a recursive type.
#[tool]
fn folder(folder: Folder) -> Folder {
    folder
}

/// Takes and gives a recursive type that is no object.
#[tool]
fn sum(#[arg] sum: Sum) -> Sum {
    sum
}

/// Gives a list of a recursive type.
#[tool]
fn folders(#[arg] folders: Vec<Folder>) -> Vec<Folder> {
    folders
}

/// Takes and gives an enum of objects.
#[tool]
fn turn(shape: Shape) -> Shape {
    match shape {
        Shape::Rectangle { width, height } => Shape::Rectangle { width: height, height: width },
        circle => circle,
    }
}

/// Gives a struct.
#[tool]
fn locate(city: String) -> Place {
    Place { lat: city.len() as f32, lon: 1.5 }
}

/// Gives a struct, perhaps.
#[tool]
fn search(city: String) -> Option<Place> {
    (!city.is_empty()).then(|| locate(city))
}

/// Gives a number.
#[tool]
fn count(words: Vec<String>) -> i64 {
    words.len() as i64
}

/// Gives a text.
#[tool]
fn shout(text: String) -> Result<String, ToolError> {
    Ok(text.to_uppercase())
}

/// Gives a map.
#[tool]
fn lengths(words: Vec<String>) -> BTreeMap<String, usize> {
    words.into_iter().map(|w| (w.clone(), w.len())).collect()
}

/// Gives a picture.
#[tool]
fn picture() -> Content {
    Content::image(b"abc", "image/png")
}

/// Gives a number, and says it.
#[tool]
fn both() -> Structured<u8> {
    Structured::new(1, [Content::text("one")])
}

/// Has everything that can be said of a tool.
#[tool(
    namespace = "acme.mail",
    version = "2.0.0",
    title = "Send a mail",
    category = "mail",
    tags = ["Mail", "Send"],
    read_only = false,
    destructive = false,
    idempotent = false,
    open_world,
    aliases = ["acme.mail:post"],
    deprecated = "use `acme.mail:queue`.",
    icons = [
        "https://example.com/a.svg",
        icon(src = "https://example.com/b.png", mime_type = "image/png", sizes = ["48x48"], theme = "dark"),
    ],
    meta = "{\"com.example/team\": {\"z\": 1, \"a\": 2}}",
    examples = ["{\"to\": \"a@example.com\"}"],
    requires(oauth2(id = "google", scopes = ["mail.send"]), secret = "MAIL_KEY", user_id),
    timeout = "5s"
)]
fn send(to: String) -> bool {
    !to.is_empty()
}

/// Says only that it does not read only.
#[tool(read_only = false)]
fn write() {}

mod old {
    /// The first.
    #[toolkit::tool(namespace = "clock", version = "1.9.0")]
    pub(crate) fn tick() {}
}

mod new {
    /// The tenth.
    #[toolkit::tool(namespace = "clock", version = "1.10.0")]
    pub(crate) fn tick() {}
}

mod next {
    /// Not released yet.
    #[toolkit::tool(namespace = "clock", version = "2.0.0-rc.1")]
    pub(crate) fn tick() {}
}

fn everything() -> Catalog {
    Catalog::linked().unwrap()
}

#[track_caller]
fn list(revision: Revision) -> Vec<Value> {
    let list = list_tools(&everything(), revision, Naming::Name).unwrap();
    list["tools"].as_array().unwrap().clone()
}

#[track_caller]
fn listed(revision: Revision, name: &str) -> Value {
    let tools = list(revision);
    let found = tools.iter().find(|tool| tool["name"] == name);
    found.unwrap_or_else(|| panic!("{name} is listed")).clone()
}

fn text(revision: Revision) -> String {
    list_tools(&everything(), revision, Naming::NamespaceName).unwrap().to_string()
}

/// The official schema of `definition`, or `None` where the data is absent.
fn official(revision: Revision, definition: &str) -> Option<jsonschema::Validator> {
    let mut schema = shared_json(&format!("spec/mcp/{}.schema.json", revision.as_str()))?;
    schema["$ref"] = json!(format!("#/$defs/{definition}"));
    Some(jsonschema::validator_for(&schema).unwrap())
}

#[track_caller]
fn assert_fits(validator: &jsonschema::Validator, instance: &Value) {
    let errors: Vec<String> =
        validator.iter_errors(instance).map(|error| format!("{} at {}", error, error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn the_list_fits_the_official_list_tools_result() {
    for revision in REVISIONS {
        let Some(official) = official(revision, "ListToolsResult") else {
            continue;
        };
        for naming in [Naming::Name, Naming::NamespaceName] {
            let list = list_tools(&everything(), revision, naming).unwrap();
            assert_fits(&official, &list);
            ran(1);
        }
    }
}

#[test]
fn every_tool_fits_the_official_tool() {
    for revision in REVISIONS {
        let Some(official) = official(revision, "Tool") else {
            continue;
        };
        let mut wrong = Vec::new();
        for tool in list(revision) {
            let errors = official.iter_errors(&tool);
            wrong.extend(errors.map(|e| format!("{}: {e} at {}", tool["name"], e.instance_path())));
            ran(1);
        }
        assert!(wrong.is_empty(), "{revision:?}: {wrong:#?}");
    }
}

#[test]
fn a_list_has_no_fields_but_those_of_its_revision() {
    let keys = |revision| {
        let list = list_tools(&everything(), revision, Naming::Name).unwrap();
        let list = list.as_object().unwrap();
        list.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(keys(Revision::V2025_11_25), ["tools"]);
    assert_eq!(keys(Revision::V2026_07_28), ["cacheScope", "resultType", "tools", "ttlMs"]);
}

#[test]
fn an_empty_catalogue_gives_an_empty_list() {
    let empty = Catalog::from_entries(&[]).unwrap();
    for revision in REVISIONS {
        let list = list_tools(&empty, revision, Naming::Name).unwrap();
        assert_eq!(list["tools"], json!([]));
        if let Some(official) = official(revision, "ListToolsResult") {
            assert_fits(&official, &list);
            ran(1);
        }
    }
}

/// Every schema of the list, with what it belongs to.
fn schemas() -> Vec<(String, Value)> {
    let mut schemas = Vec::new();
    for revision in REVISIONS {
        for tool in list(revision) {
            for which in ["inputSchema", "outputSchema"] {
                if let Some(schema) = tool.get(which) {
                    let what = format!("{} {which} for {}", tool["name"], revision.as_str());
                    schemas.push((what, schema.clone()));
                }
            }
        }
    }
    schemas
}

#[test]
fn every_schema_fits_the_meta_schema() {
    for (what, schema) in schemas() {
        let checked = jsonschema::draft202012::meta::validate(&schema);
        assert!(checked.is_ok(), "{what}: {checked:?}");
        jsonschema::validator_for(&schema).unwrap_or_else(|e| panic!("{what}: {e}"));
        ran(1);
    }
}

/// Every `$ref` of `schema` with the pointer of the object it stands in.
fn references(schema: &Value) -> Vec<(String, String)> {
    fn walk(value: &Value, at: &str, found: &mut Vec<(String, String)>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    if let ("$ref", Value::String(reference)) = (key.as_str(), value) {
                        found.push((at.to_owned(), reference.clone()));
                    }
                    walk(value, &format!("{at}/{key}"), found);
                }
            }
            Value::Array(list) => {
                for (idx, value) in list.iter().enumerate() {
                    walk(value, &format!("{at}/{idx}"), found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(schema, "", &mut found);
    found
}

#[test]
fn every_reference_resolves_within_its_schema() {
    let mut n_references = 0;
    for (what, schema) in schemas() {
        for (at, reference) in references(&schema) {
            let pointer = reference.strip_prefix('#');
            let target = pointer.and_then(|pointer| schema.pointer(pointer));
            assert!(target.is_some_and(Value::is_object), "{what}: {reference} at {at}");
            n_references += 1;
        }
    }
    assert!(n_references > 0, "some of the types are recursive");
    ran(n_references);
}

#[test]
fn only_recursive_types_are_referred_to() {
    let mut wrong = Vec::new();
    for (what, schema) in schemas() {
        let all = references(&schema);
        let within = |pointer: &str| {
            let inside = format!("{pointer}/");
            let all = all.iter();
            all.filter(move |(at, _)| at == pointer || at.starts_with(&inside) || pointer.is_empty())
                .map(|(_, reference)| reference.trim_start_matches('#'))
                .collect::<Vec<_>>()
        };
        for (at, reference) in &all {
            let target = reference.trim_start_matches('#');
            let mut seen = BTreeSet::new();
            let mut pending = within(target);
            while let Some(next) = pending.pop() {
                if seen.insert(next) {
                    pending.extend(within(next));
                }
            }
            if !seen.contains(target) {
                wrong.push(format!("{what}: {reference} at {at}"));
            }
        }
        ran(1);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_schema_has_a_format_that_only_rust_knows() {
    let mut wrong = Vec::new();
    for (what, schema) in schemas() {
        let text = schema.to_string();
        for format in ["int", "uint", "float", "double"] {
            if text.contains(&format!("\"format\":\"{format}")) {
                wrong.push(format!("{what}: {format}"));
            }
        }
        ran(1);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_input_schema_has_an_object_at_its_root() {
    for revision in REVISIONS {
        for tool in list(revision) {
            assert_eq!(tool["inputSchema"]["type"], "object", "{}", tool["name"]);
            ran(1);
        }
    }
    let area = listed(Revision::V2025_11_25, "area");
    assert!(area["inputSchema"]["oneOf"].is_array(), "{area:#}");
}

#[test]
fn tools_are_in_the_order_of_their_ids() {
    let catalog = everything();
    let ids: Vec<String> = catalog.latest().map(|tool| tool.id().to_string()).collect();
    for naming in [Naming::Name, Naming::NamespaceName] {
        let list = list_tools(&catalog, Revision::V2026_07_28, naming).unwrap();
        let listed: Vec<&str> = list["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["_meta"][META_KEY]["id"].as_str().unwrap())
            .collect();
        assert_eq!(listed, ids);
    }
    // The order of names on the wire is another: `fare` comes before `send`, whose namespace comes first.
    let names: Vec<String> =
        list(Revision::V2026_07_28).iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    let place = |name| names.iter().position(|n| n == name).unwrap();
    assert!(place("send") < place("fare"));
}

#[test]
fn of_several_versions_the_highest_release_is_listed() {
    let ticks: Vec<Value> = list(Revision::V2026_07_28).into_iter().filter(|tool| tool["name"] == "tick").collect();
    assert_eq!(ticks.len(), 1);
    assert_eq!(ticks[0]["_meta"][META_KEY]["version"], "1.10.0");
    assert_eq!(ticks[0]["description"], "The tenth.");

    let unreleased = catalog![next::tick].unwrap();
    let list = list_tools(&unreleased, Revision::V2026_07_28, Naming::Name).unwrap();
    assert_eq!(list["tools"][0]["_meta"][META_KEY]["version"], "2.0.0-rc.1");
}

#[test]
fn everything_said_of_a_tool_is_listed() {
    for revision in REVISIONS {
        let mut send = listed(revision, "send");
        let tool = send.as_object_mut().unwrap();
        assert_eq!(tool.remove("title").unwrap(), "Send a mail");
        assert_eq!(
            tool.remove("description").unwrap(),
            "Has everything that can be said of a tool.\n\nDeprecated: use `acme.mail:queue`."
        );
        assert_eq!(
            tool.remove("annotations").unwrap(),
            json!({
                "readOnlyHint": false, "destructiveHint": false, "idempotentHint": false, "openWorldHint": true,
            })
        );
        assert_eq!(
            tool.remove("icons").unwrap(),
            json!([
                { "src": "https://example.com/a.svg" },
                {
                    "src": "https://example.com/b.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark",
                },
            ])
        );
        assert_eq!(
            tool.remove("_meta").unwrap(),
            json!({
                "com.example/team": { "a": 2, "z": 1 },
                "rs.toolkit/tool": {
                    "id": "acme.mail:send:2.0.0",
                    "namespace": "acme.mail",
                    "version": "2.0.0",
                    "category": "mail",
                    "tags": ["mail", "send"],
                    "requirements": {
                        "authorization": [{ "id": "google", "oauth2": { "scopes": ["mail.send"] } }],
                        "secrets": [{ "id": "MAIL_KEY" }],
                        "user_id": true,
                    },
                    "deprecated": "use `acme.mail:queue`.",
                    "aliases": ["acme.mail:post"],
                    "examples": [{"to": "a@example.com"}],
                    "timeoutMs": 5000,
                },
            })
        );
        let left: BTreeSet<&str> = tool.keys().map(String::as_str).collect();
        assert_eq!(left, BTreeSet::from(["inputSchema", "name", "outputSchema"]));
    }
}

#[test]
fn what_is_not_said_is_not_listed() {
    for revision in REVISIONS {
        let mut nothing = listed(revision, "nothing");
        nothing.as_object_mut().unwrap().remove("inputSchema");
        let expected = json!({
            "name": "nothing",
            "description": "Takes nothing and gives nothing.",
            "_meta": { META_KEY: { "id": "nothing" } },
        });
        assert_eq!(nothing, expected);
        assert_eq!(listed(revision, "picture").get("outputSchema"), None);
        assert_eq!(listed(revision, "write")["annotations"], json!({ "readOnlyHint": false }));
    }
}

#[test]
fn descriptions_and_limits_reach_the_client() {
    let fare = listed(Revision::V2025_11_25, "fare");
    let properties = &fare["inputSchema"]["properties"];
    assert_eq!(properties["distance"]["description"], "How far, in kilometres.");
    assert_eq!(properties["people"]["maximum"], 9);
    assert_eq!(fare["inputSchema"]["required"], json!(["distance", "people"]));
    let plan = listed(Revision::V2025_11_25, "plan");
    assert_eq!(plan["description"], "Takes a struct.\n\nIts second paragraph is for models, too.");
    let to = &plan["inputSchema"]["properties"]["to"];
    assert_eq!(to["description"], "Where it ends.");
}

/// Every tool that gives data, and a call of it.
const CALLS: [(&str, &str); 18] = [
    ("plan", r#"{"from":{"lat":1,"lon":2},"to":{"lat":1,"lon":2}}"#),
    ("fare", r#"{"distance":2.5,"people":2}"#),
    ("area", r#"{"kind":"rectangle","width":2,"height":3}"#),
    ("turn", r#"{"kind":"rectangle","width":2,"height":3}"#),
    ("kinds", r#"{"unit":"Metric","speed":"Slow","shape":{"kind":"circle","radius":1},"amount":"x"}"#),
    ("containers", r#"{"scores":{"a":1},"range":[1,2],"pair":["x",0.5]}"#),
    ("any", r##"{"value":null,"more":[1,{"$ref":"#"}]}"##),
    ("folder", r#"{"name":"a","folders":[{"name":"b","folders":[]}]}"#),
    ("sum", r#"{"sum":[1,[2,3]]}"#),
    ("folders", r#"{"folders":[{"name":"b","folders":[{"name":"c","folders":[]}]}]}"#),
    ("locate", r#"{"city":"Lima"}"#),
    ("search", r#"{"city":"Lima"}"#),
    ("search", r#"{"city":""}"#),
    ("count", r#"{"words":["a"]}"#),
    ("shout", r#"{"text":"a"}"#),
    ("lengths", r#"{"words":["a","result"]}"#),
    ("both", "{}"),
    ("send", r#"{"to":"a@example.com"}"#),
];

#[test]
fn wrapped_results_fit_the_listed_output_schema() {
    let dispatcher = Dispatcher::new(everything()).unwrap();
    let mut called = BTreeSet::new();
    for (name, arguments) in CALLS {
        let tool = dispatcher.catalog().get(name).unwrap();
        let value = dispatcher.call_sync(name, arguments).unwrap().value();
        for revision in REVISIONS {
            let listed = listed(revision, name);
            let arguments: Value = serde_json::from_str(arguments).unwrap();
            let input = jsonschema::validator_for(&listed["inputSchema"]).unwrap();
            assert_fits(&input, &arguments);
            let output = jsonschema::validator_for(&listed["outputSchema"]).unwrap();
            let wrapped = wrap_result(tool, revision, value.clone());
            assert_fits(&output, &wrapped);
            match revision {
                Revision::V2025_11_25 => {
                    assert!(wrapped.is_object(), "{name}: {wrapped}");
                    assert_eq!(listed["outputSchema"]["type"], "object", "{name}");
                }
                _ => assert_eq!(wrapped, value, "{name}"),
            }
            ran(1);
        }
        called.insert(name);
    }
    let with_output = list(Revision::V2026_07_28);
    let with_output = with_output.iter().filter(|t| t.get("outputSchema").is_some());
    for tool in with_output {
        assert!(called.contains(tool["name"].as_str().unwrap()), "{tool}");
    }
}

#[test]
fn only_a_result_that_need_not_be_an_object_is_wrapped() {
    let catalog = everything();
    let wrap = |name, value: Value| wrap_result(catalog.get(name).unwrap(), Revision::V2025_11_25, value);
    let object = json!({ "lat": 1.0, "lon": 2.0 });
    assert_eq!(wrap("locate", object.clone()), object);
    assert_eq!(wrap("search", object.clone()), json!({ "result": object }));
    assert_eq!(wrap("search", Value::Null), json!({ "result": null }));
    assert_eq!(wrap("count", json!(3)), json!({ "result": 3 }));
    assert_eq!(wrap("nothing", Value::Null), Value::Null);

    let recursive = listed(Revision::V2025_11_25, "sum");
    assert_eq!(recursive["outputSchema"]["required"], json!(["result"]), "{recursive:#}");
    assert!(
        jsonschema::is_valid(&recursive["outputSchema"], &json!({ "result": [1, [2]] }))
            && !jsonschema::is_valid(&recursive["outputSchema"], &json!({ "result": [1, ["x"]] })),
        "{recursive:#}"
    );
}

#[test]
fn two_builds_of_a_catalogue_give_the_same_bytes() {
    for revision in REVISIONS {
        assert_eq!(text(revision), text(revision));
    }
    // The order in which tools are given, as that in which they are linked, does not matter.
    let (a, b) = (
        catalog![send, plan, folder, old::tick, new::tick].unwrap(),
        catalog![new::tick, old::tick, folder, plan, send].unwrap(),
    );
    for revision in REVISIONS {
        let text = |catalog| {
            let list = list_tools(catalog, revision, Naming::Name);
            list.unwrap().to_string()
        };
        assert_eq!(text(&a), text(&b));
    }
}

// The features of this build decide whether maps sort their keys; run it with `--features serde_json/preserve_order`,
// too.
#[test]
fn all_keys_are_sorted_whatever_the_maps_do() {
    for revision in REVISIONS {
        let text = text(revision);
        let mut sorted: Value = serde_json::from_str(&text).unwrap();
        sorted.sort_all_objects();
        assert_eq!(text, sorted.to_string());
    }
}

#[test]
fn another_process_gives_the_same_bytes() {
    const PATH: &str = "TOOLKIT_TEST_LIST_TO";
    let texts = || REVISIONS.map(text).join("\n");
    if let Some(path) = std::env::var_os(PATH) {
        std::fs::write(path, texts()).unwrap();
        return;
    }
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mcp-list-{}.json", std::process::id()));
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "another_process_gives_the_same_bytes"])
        .env(PATH, &path)
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let other = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(texts(), other);
}

/// The record of a tool that is only a name.
fn named(namespace: Option<&'static str>, name: &'static str, version: Option<&'static str>) -> Entry {
    Entry {
        id: "",
        namespace,
        name,
        version,
        title: None,
        description: "A tool.",
        category: None,
        tags: &[],
        annotations: Annotations::NONE,
        aliases: &[],
        deprecated: None,
        icons: &[],
        meta: None,
        examples: &[],
        requirements: Requirements::NONE,
        timeout: None,
        location: Location { file: "lib.rs", line: 1, column: 1 },
        input: || json!({ "type": "object" }),
        output: || None,
        lone: None,
        states: &[],
        run: Run::Sync(|_| Err(ToolError::failed("not run"))),
    }
}

fn catalog_of(ids: &[&'static str]) -> Catalog {
    let entry = |id: &&'static str| -> &'static Entry {
        let parts: Vec<&'static str> = id.split(':').collect();
        Box::leak(Box::new(match parts[..] {
            [namespace, name, version] => named(Some(namespace), name, Some(version)),
            [namespace, name] => named(Some(namespace), name, None),
            _ => named(None, id, None),
        }))
    };
    let entries: Vec<&'static Entry> = ids.iter().map(entry).collect();
    Catalog::from_entries(&entries).unwrap()
}

#[track_caller]
fn check_names(ids: &[&'static str], naming: Naming, expected: &[(&[&str], &str)]) {
    let catalog = catalog_of(ids);
    let listed = list_tools(&catalog, Revision::V2026_07_28, naming);
    let problems = match listed {
        Ok(_) => Vec::new(),
        Err(problems) => problems.iter().cloned().collect::<Vec<Problem>>(),
    };
    let found: Vec<(Vec<&str>, &str)> = problems
        .iter()
        .map(|problem| {
            assert_eq!(problem.kind(), ProblemKind::WireName);
            (problem.tools().map(|(id, _)| id).collect(), problem.message())
        })
        .collect();
    let expected: Vec<(Vec<&str>, &str)> = expected.iter().map(|(ids, message)| (ids.to_vec(), *message)).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_clash_names_the_tools_and_the_naming_that_solves_it() {
    check_names(
        &["a:x", "b:x:1.0.0", "c:y"],
        Naming::Name,
        &[(
            &["a:x", "b:x:1.0.0"],
            "`a:x` and `b:x:1.0.0` would all be called `x`; `Naming::NamespaceName` gives every tool a name that works",
        )],
    );
    check_names(
        &["a.b:c", "a:b_c"],
        Naming::NamespaceName,
        &[(
            &["a:b_c", "a.b:c"],
            "`a:b_c` and `a.b:c` would all be called `a_b_c`; `Naming::Name` gives every tool a name that works",
        )],
    );
    check_names(&["a.b:c", "a:b_c"], Naming::Name, &[]);
}

#[test]
fn a_clash_that_no_naming_solves_asks_for_another_name() {
    let message =
        "`a:x.y` and `a:x_y` would all be called `x_y`; rename one, since no naming policy fits the whole catalogue";
    check_names(&["a:x.y", "a:x_y"], Naming::Name, &[(&["a:x.y", "a:x_y"], message)]);

    // `x` and `x` are told apart by their namespaces, but then the other two clash.
    let message =
        "`p:x` and `q:x` would all be called `x`; rename one, since no naming policy fits the whole catalogue";
    check_names(&["p:x", "q:x", "a.b:c", "a:b_c"], Naming::Name, &[(&["p:x", "q:x"], message)]);
}

#[test]
fn a_name_that_clients_refuse_is_told_with_the_naming_that_solves_it() {
    let rule = "which not every client takes; a name starts with a letter or `_`, goes on with letters, digits, `_` \
                and `-`, and has at most 64 characters";
    let message = format!(
        "`web:2fa` would be called `2fa`, {rule} (this has 3); `Naming::NamespaceName` gives every tool a name that works"
    );
    check_names(&["web:2fa"], Naming::Name, &[(&["web:2fa"], &message)]);

    let long: &'static str = "a:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    let name = long.replace(':', "_");
    assert_eq!(name.len(), 65);
    let message = format!(
        "`{long}` would be called `{name}`, {rule} (this has 65); `Naming::Name` gives every tool a name that works"
    );
    check_names(&[long], Naming::NamespaceName, &[(&[long], &message)]);
    check_names(&[long], Naming::Name, &[]);

    let message = format!(
        "`-` would be called `-`, {rule} (this has 1); rename it, since no naming policy fits the whole catalogue"
    );
    check_names(&["-"], Naming::Name, &[(&["-"], &message)]);
}

#[test]
fn what_cannot_be_listed_is_told_for_every_tool_at_once() {
    let mut no_object = named(None, "no_object", None);
    no_object.input = || json!({ "type": "string" });
    let mut no_meta = named(None, "no_meta", None);
    no_meta.meta = Some("[1]");
    let mut our_meta = named(None, "our_meta", None);
    our_meta.meta = Some("{\"rs.toolkit/tool\": 1}");
    let entries = [no_object, no_meta, our_meta, named(None, "2", None)];
    let entries: Vec<&'static Entry> = entries.map(|e| &*Box::leak(Box::new(e))).to_vec();
    let catalog = Catalog::from_entries(&entries).unwrap();
    let problems = list_tools(&catalog, Revision::V2026_07_28, Naming::Name).unwrap_err();
    let mut found: Vec<(&str, ProblemKind)> =
        problems.iter().map(|problem| (problem.tools().next().unwrap().0, problem.kind())).collect();
    found.sort_by_key(|(id, _)| *id);
    assert_eq!(
        found,
        [
            ("2", ProblemKind::WireName),
            ("no_meta", ProblemKind::InvalidMeta),
            ("no_object", ProblemKind::NotAnObject),
            ("our_meta", ProblemKind::InvalidMeta),
        ]
    );
}

fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[abc]([._][abc]){0,2}",
        1 => "[A-Za-z0-9_.-]{1,4}",
        1 => "[a-c]{60,66}",
    ]
}

fn ids() -> impl Strategy<Value = Vec<String>> {
    let version = prop_oneof![Just(""), Just(":1.0.0"), Just(":1.2.0"), Just(":2.0.0-rc.1")];
    let id = (proptest::option::of(part()), part(), version).prop_map(|(namespace, name, version)| match namespace {
        Some(namespace) => format!("{namespace}:{name}{version}"),
        None => name,
    });
    proptest::collection::btree_set(id, 1..7).prop_map(|ids| ids.into_iter().collect())
}

fn versions() -> impl Strategy<Value = String> {
    "a:[bc](:[012]\\.[09]\\.0(-rc\\.1)?)?"
}

/// Whether every tool of `catalog` gets a sound name of its own; written down once more, without the library's words.
fn names_work(catalog: &Catalog, naming: Naming) -> bool {
    let mut seen = BTreeMap::new();
    catalog.iter().all(|tool| {
        let id = tool.id();
        let mut name = id.name().replace('.', "_");
        if let (Naming::NamespaceName, Some(namespace)) = (naming, id.namespace()) {
            name = format!("{}_{name}", namespace.replace('.', "_"));
        }
        let bytes = name.as_bytes();
        let sound = bytes.len() <= 64 && !bytes[0].is_ascii_digit() && bytes[0] != b'-';
        let key = id.unversioned();
        sound && *seen.entry(name).or_insert_with(|| key.clone()) == key
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn names_on_the_wire_lead_back_or_the_error_names_both(
        ids in ids(),
        naming in prop_oneof![Just(Naming::Name), Just(Naming::NamespaceName)],
    ) {
        let leaked: Vec<&'static str> = ids.into_iter().map(|id| &*id.leak()).collect();
        let catalog = catalog_of(&leaked);
        match WireNames::of(&catalog, naming) {
            Ok(names) => {
                prop_assert!(names_work(&catalog, naming));
                let latest: Vec<&Tool> = catalog.latest().collect();
                for tool in &latest {
                    let found = names.get(&naming.wire_name(tool.id())).map(Tool::id);
                    prop_assert_eq!(found, Some(tool.id()));
                }
                let listed: Vec<&ToolId> = names.iter().map(|(_, tool)| tool.id()).collect();
                prop_assert_eq!(listed, latest.iter().map(|tool| tool.id()).collect::<Vec<_>>());
                let distinct: BTreeSet<&str> = names.iter().map(|(name, _)| name).collect();
                prop_assert_eq!(distinct.len(), latest.len());
            }
            Err(problems) => {
                prop_assert!(!names_work(&catalog, naming));
                for problem in problems.iter() {
                    let tools: Vec<&Tool> = problem
                        .tools()
                        .map(|(id, _)| catalog.iter().find(|tool| tool.id().to_string() == id).unwrap())
                        .collect();
                    for tool in &tools {
                        let message = problem.message();
                        prop_assert!(message.contains(&format!("`{}`", tool.id())), "{}", message);
                        prop_assert_eq!(naming.wire_name(tool.id()), naming.wire_name(tools[0].id()));
                    }
                    prop_assert!(tools.len() > 1 || problem.message().contains("not every client"));
                    for other in [Naming::Name, Naming::NamespaceName] {
                        let suggested = problem.message().contains(&format!("`Naming::{other:?}`"));
                        prop_assert_eq!(suggested, names_work(&catalog, other));
                    }
                }
            }
        }
    }

    #[test]
    fn every_tool_has_exactly_one_latest_version(
        ids in proptest::collection::btree_set(versions(), 1..7),
    ) {
        let leaked: Vec<&'static str> = ids.into_iter().map(|id: String| &*id.leak()).collect();
        let catalog = catalog_of(&leaked);
        let all: BTreeSet<String> = catalog.iter().map(|tool| tool.id().unversioned().to_string()).collect();
        let latest: Vec<&ToolId> = catalog.latest().map(Tool::id).collect();
        prop_assert_eq!(latest.len(), all.len());
        for id in latest {
            let is_prerelease = |id: &ToolId| id.semver().is_some_and(|version| !version.pre.is_empty());
            let others = catalog.iter().map(Tool::id).filter(|other| other.unversioned() == id.unversioned());
            for other in others {
                prop_assert!(other <= id || is_prerelease(other));
                prop_assert!(!is_prerelease(id) || is_prerelease(other));
            }
        }
    }
}
