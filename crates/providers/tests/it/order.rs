//! Properties have the order of their declaration in every format.
#![allow(dead_code, reason = "only the schemas of the types are used")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use test_support::{ran, real_servers};
use toolkit::catalog::Naming;
use toolkit::mcp::{Revision, list_tools};
use toolkit::{Catalog, Tool, catalog, tool};
use toolkit_providers::html;
use toolkit_providers::typescript::{Detail, declarations};
use toolkit_providers::{anthropic, bedrock, gemini, markdown, openai};
use toolkit_schema::walk::{self, Token};

#[derive(Deserialize, JsonSchema)]
struct Plan {
    z_reasoning: String,
    y_step: Step,
    #[serde(default)]
    x_place: Option<Place>,
    #[serde(flatten)]
    more: More,
    s_limit: Option<u32>,
    r_tree: Tree,
    #[serde(alias = "b_former")]
    a_last: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "z_op", rename_all = "snake_case")]
enum Step {
    Sort { w_column: String, v_order: u8 },
    Cut { q_at: u32 },
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "y_kind", content = "c_data")]
enum Unit {
    Metre,
    Other { o_name: String, k_factor: f64 },
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    m_longitude: f64,
    l_latitude: f64,
    b_unit: Unit,
}

#[derive(Deserialize, JsonSchema)]
struct More {
    u_depth: u8,
    t_force: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Tree {
    i_node: String,
    h_children: Vec<Tree>,
}

#[derive(Serialize, JsonSchema)]
struct Report {
    zz_total: u32,
    aa_parts: u32,
}

/// Follows a plan.
#[tool]
fn follow(plan: Plan) -> Report {
    let _ = plan;
    Report { zz_total: 0, aa_parts: 0 }
}

/// Finds texts.
#[tool]
fn find(zy_query: String, #[arg(default = 5)] ab_limit: u32, za_sort: bool) -> Report {
    let _ = (zy_query, ab_limit, za_sort);
    Report { zz_total: 0, aa_parts: 0 }
}

/// The names of each object of the tools, in the order of their declaration.
const DECLARED: [&[&str]; 7] = [
    &["z_reasoning", "y_step", "x_place", "u_depth", "t_force", "s_limit", "r_tree", "a_last"],
    &["z_op", "w_column", "v_order", "q_at"],
    &["m_longitude", "l_latitude", "b_unit"],
    &["y_kind", "c_data"],
    &["o_name", "k_factor"],
    &["i_node", "h_children"],
    &["zy_query", "ab_limit", "za_sort"],
];

/// Returns the text of a catalog in each format.
fn texts(catalog: &Catalog) -> Vec<(String, String)> {
    let mut texts: Vec<(String, String)> =
        schemas(catalog).into_iter().map(|(format, json)| (format, json.to_string())).collect();
    texts.push(("html".to_owned(), html::document("Tools", None, catalog)));
    texts.push(("markdown".to_owned(), markdown::document("Tools", catalog)));
    texts.push(("typescript".to_owned(), declarations(catalog, Detail::Full).text));
    texts
}

fn schemas(catalog: &Catalog) -> Vec<(String, Value)> {
    let openai = |options| openai::tools(catalog, Naming::Name, options).unwrap().json;
    let anthropic = |options| anthropic::tools(catalog, Naming::Name, options).unwrap().json;
    let record = |tool: &Tool| tool.to_json();
    let formats = [
        ("manifest", catalog.iter().map(record).collect()),
        ("mcp", list_tools(catalog, Revision::V2026_07_28, Naming::Name).unwrap()),
        ("mcp 2025-11-25", list_tools(catalog, Revision::V2025_11_25, Naming::Name).unwrap()),
        ("openai", openai(openai::Options::responses())),
        ("openai strict", openai(openai::Options::responses().strict())),
        ("openai chat", openai(openai::Options::chat_completions())),
        ("openai chat strict", openai(openai::Options::chat_completions().strict())),
        ("anthropic", anthropic(anthropic::Options::default())),
        ("anthropic strict", anthropic(anthropic::Options::default().strict())),
        ("bedrock", bedrock::tools(catalog, Naming::Name, bedrock::Options::default()).unwrap().json),
        ("gemini", gemini::tools(catalog, Naming::Name, gemini::Options::default()).unwrap().json),
        ("gemini interactions", gemini::interaction_tools(catalog, Naming::Name).unwrap().json),
    ];
    formats.into_iter().map(|(format, json)| (format.to_owned(), json)).collect()
}

#[test]
fn every_format_has_the_declared_order() {
    let catalog = catalog![follow, find].unwrap();
    for (format, text) in texts(&catalog) {
        for names in DECLARED {
            let places: Vec<Option<usize>> = names.iter().map(|name| text.find(name)).collect();
            // Some formats have no recursive types, and a table of arguments not all nested ones.
            let found: Vec<usize> = places.iter().copied().flatten().collect();
            assert!(found.is_sorted(), "{format}: {names:?} at {places:?} in {text}");
            assert!(found.len() == names.len() || format != "mcp", "{format}: {names:?} at {places:?} in {text}");
        }
        assert!(!text.contains("b_former") || format == "manifest" || format == "html", "{format}: {text}");
    }
}

#[test]
fn required_names_follow_the_properties() {
    let catalog = catalog![follow, find].unwrap();
    for (format, json) in schemas(&catalog) {
        each_object(&json, &mut |properties, required| {
            let places: Vec<usize> =
                required.iter().filter_map(|name| properties.iter().position(|property| property == name)).collect();
            assert!(places.is_sorted() || format == "manifest", "{format}: {required:?} of {properties:?}");
        });
    }
}

fn each_object(json: &Value, visit: &mut impl FnMut(&[&str], &[&str])) {
    match json {
        Value::Array(items) => items.iter().for_each(|item| each_object(item, visit)),
        Value::Object(keywords) => {
            if let (Some(Value::Object(properties)), Some(Value::Array(required))) =
                (keywords.get("properties"), keywords.get("required"))
            {
                let properties: Vec<&str> = properties.keys().map(String::as_str).collect();
                visit(&properties, &required.iter().filter_map(Value::as_str).collect::<Vec<_>>());
            }
            keywords.values().for_each(|value| each_object(value, visit));
        }
        _ => {}
    }
}

#[test]
fn gemini_is_told_the_order_where_it_would_sort_by_name() {
    let tool = Tool::from_json(
        r#"{"name": "find", "inputSchema": {"type": "object", "properties": {
            "query": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
            "limit": {"type": "integer"}
        }}}"#,
    )
    .unwrap();
    let declaration = gemini::describe(&tool, "find", gemini::Options::default()).json;
    let parameters = &declaration["parametersJsonSchema"];
    assert_eq!(parameters["propertyOrdering"], serde_json::json!(["query", "limit"]));
    assert!(parameters["properties"]["query"].get("propertyOrdering").is_none());

    let read = gemini::read(&declaration).unwrap();
    assert_eq!(read.input().as_value().to_string(), tool_without_order(parameters).to_string());
    let sorted = r#"{"name": "find", "parametersJsonSchema": {"type": "object", "propertyOrdering": ["b", "a"],
        "properties": {"a": {}, "b": {}, "c": {}}}}"#;
    let read = gemini::read(&serde_json::from_str(sorted).unwrap()).unwrap();
    assert_eq!(read.input().as_value()["properties"].to_string(), r#"{"b":{},"a":{},"c":{}}"#);
}

fn tool_without_order(parameters: &Value) -> Value {
    let mut parameters = parameters.clone();
    parameters.as_object_mut().unwrap().shift_remove("propertyOrdering");
    parameters
}

#[test]
fn every_format_has_the_order_of_a_real_manifest_also_in_nested_objects() {
    let n_compared: usize = real_servers().iter().map(|(server, tools)| compare_orders(server, tools)).sum();
    assert!(n_compared > 300 || n_compared == 0, "{n_compared}");
    ran(n_compared);
}

#[test]
fn every_format_has_the_order_of_the_examples() {
    let lock: Value = serde_json::from_str(include_str!("../../../../examples/tools.lock.json")).unwrap();
    let tools: Vec<Tool> =
        lock["tools"].as_array().unwrap().iter().map(|tool| Tool::from_json(tool.clone()).unwrap()).collect();
    assert!(compare_orders("examples", &tools) > 20);
}

/// Compares the order of properties in each format with that of the tools, and returns the number of objects whose names are
/// not sorted.
fn compare_orders(server: &str, tools: &[Tool]) -> usize {
    let mut n_compared = 0;
    for tool in tools {
        let Ok(catalog) = Catalog::new([tool.clone()]) else { continue };
        let mut source = tool.input().as_value().clone();
        toolkit_schema::inline::inline(&mut source);
        let source = objects(&source);
        n_compared += source.iter().filter(|(_, names)| !names.is_sorted()).count();
        for (format, json) in schemas(&catalog) {
            for (path, names) in input_of(&json).map(objects).unwrap_or_default() {
                // The branches of a choice have one path, and a choice that is merged has the names of several.
                let mut same = source
                    .iter()
                    .filter(|(other, declared)| *other == path && names.iter().all(|name| declared.contains(name)));
                let has_order = |declared: &[String]| {
                    names.iter().map(|name| declared.iter().position(|other| other == name)).is_sorted()
                };
                let is_comparable = same.clone().next().is_some();
                assert!(
                    !is_comparable || same.any(|(_, declared)| has_order(declared)),
                    "{server} {} in {format} at {path:?}: {names:?}",
                    tool.id()
                );
            }
        }
    }
    n_compared
}

/// Returns the names of the properties of each object in a schema, with the names that lead to it.
fn objects(schema: &Value) -> Vec<(Vec<String>, Vec<String>)> {
    fn collect(schema: &Value, path: &[String], found: &mut Vec<(Vec<String>, Vec<String>)>) {
        let Value::Object(keywords) = schema else { return };
        if let Some(Value::Object(properties)) = keywords.get("properties") {
            found.push((path.to_vec(), properties.keys().cloned().collect()));
        }
        walk::each_at(keywords, |_, token, sub| match token {
            Token::Name(name) => collect(sub, &[path, &[name.to_owned()]].concat(), found),
            Token::Only | Token::Index(_) => collect(sub, path, found),
        });
    }
    let mut found = Vec::new();
    collect(schema, &[], &mut found);
    found
}

/// Returns the input schema of the only tool in a format.
fn input_of(json: &Value) -> Option<&Value> {
    const FIELDS: [&str; 4] = ["inputSchema", "input_schema", "parameters", "parametersJsonSchema"];
    match json {
        Value::Array(items) => items.iter().find_map(input_of),
        Value::Object(fields) => {
            let found = FIELDS.iter().find_map(|field| fields.get(*field));
            match found {
                // Bedrock's is in `json`.
                Some(schema) => Some(schema.get("json").unwrap_or(schema)),
                None => fields.values().find_map(input_of),
            }
        }
        _ => None,
    }
}
