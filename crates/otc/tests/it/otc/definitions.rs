//! Tools of this library as definitions.

use toolkit::tool;
use toolkit_otc::{Definition, Naming, Server};

use super::*;

#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
struct Point {
    /// To the right.
    x: f64,
    y: f64,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Tree {
    branches: Vec<Tree>,
}

/// Moves points.
#[tool(namespace = "geo-2d", version = "1.2.0", title = "move-all")]
fn move_all(
    #[arg] first: Point,
    second_point: Point,
    #[serde(rename = "pointsBeyond")] points_beyond: Vec<Point>,
) -> Vec<Point> {
    let _ = points_beyond;
    vec![first, second_point]
}

/// Grows.
#[tool(namespace = "wood", version = "1.0.0")]
fn grow() -> Tree {
    Tree { branches: Vec::new() }
}

/// Has no namespace.
#[tool(version = "1.0.0")]
fn homeless() {}

/// Has no version.
#[tool(namespace = "wood")]
fn timeless() {}

/// Is not released.
#[tool(namespace = "wood", version = "1.0.0-rc.1")]
fn early() {}

/// Has the same id as another tool in this format.
#[tool(namespace = "geo.2d", name = "move_all", version = "1.2.0")]
fn move_them() {}

fn dispatcher() -> Dispatcher {
    let catalog = toolkit::catalog![move_all, grow, homeless, timeless, early, move_them].unwrap();
    Dispatcher::new(catalog).unwrap()
}

#[test]
fn a_function_is_defined_without_references_and_with_every_parameter_described() {
    let dispatcher = dispatcher();
    let tool = dispatcher.catalog().get("geo-2d:move_all").unwrap();
    let definition = json!(Definition::from_tool(tool, &Naming::default()).unwrap());
    assert_eq!(definition["id"], "geo_2d.move_all@1.2.0");
    assert_eq!(definition["name"], "move-all");
    let text = definition.to_string();
    assert!(!text.contains("$ref") && !text.contains("$defs"), "{text}");
    let properties = &definition["input_schema"]["parameters"]["properties"];
    let described = ["first", "second_point", "pointsBeyond"].map(|name| properties[name]["description"].clone());
    assert_eq!(described, ["first", "second point", "points beyond"]);
    assert_eq!(properties["first"]["properties"]["x"]["description"], "To the right.");
    assert_eq!(definition["output_schema"]["type"], "array");
    Definition::from_json(&definition).unwrap();
}

#[test]
fn inexpressible_tools_are_left_out_and_reported() {
    let server = Server::new(dispatcher());
    let offered: Vec<String> = server.published().definitions().map(|definition| definition.id().to_string()).collect();
    assert_eq!(offered, ["geo_2d.move_all@1.2.0"]);
    let told: Vec<String> = server.published().diagnostics().iter().map(ToString::to_string).collect();
    for (tool, reason) in [
        ("homeless", "the tool has no namespace"),
        ("wood:timeless", "the tool has none"),
        ("wood:early", "must be three numbers"),
        ("wood:grow", "its output schema has a `$ref` that cannot be inlined"),
        ("geo.2d:move_all", "another tool is already published as `geo_2d.move_all@1.2.0`"),
    ] {
        let is_told = |problem: &&String| problem.contains(tool) && problem.contains(reason);
        assert_eq!(told.iter().filter(is_told).count(), 1, "{tool}: {told:?}");
    }
    assert_eq!(told.len(), 5, "{told:?}");
}

#[test]
fn naming_provides_defaults() {
    let server = Server::new(dispatcher()).naming(&Naming::new("my-tools", "0.0.0"));
    let offered: Vec<String> = server.published().definitions().map(|definition| definition.id().to_string()).collect();
    assert_eq!(offered, ["geo_2d.move_all@1.2.0", "my_tools.homeless@1.0.0", "wood.timeless@0.0.0"]);
}

#[test]
fn a_deeply_nested_definition_is_rejected() {
    let mut deep = json!(1);
    for _ in 0..200 {
        deep = Value::Array(vec![deep]);
    }
    let mut definition = definition("Calculator.Add@1.0.0");
    definition["input_schema"]["parameters"]["default"] = deep;
    let error = Definition::from_json(&definition).unwrap_err();
    assert!(error.to_string().ends_with("exceeds the nesting limit of 127 levels"), "{error}");
}

/// Arguments of all kinds, for every property of a tool and for none.
fn arguments(tool: &Tool) -> Vec<Value> {
    let properties = tool.input().as_value()["properties"].as_object().cloned().unwrap_or_default();
    let values = [json!(null), json!(1), json!("x"), json!([]), json!({}), json!(true)];
    let alone = properties.keys().flat_map(|name| values.iter().map(move |value| json!({ name: value })));
    let all = values.iter().map(|value| {
        let all = properties.keys().map(|name| (name.clone(), value.clone()));
        json!(all.collect::<serde_json::Map<_, _>>())
    });
    alone.chain(all).chain([json!({})]).collect()
}

#[test]
fn tools_of_real_servers_are_defined_and_mean_the_same() {
    let Some(folder) = test_support::shared("data/manifests") else {
        return;
    };
    let naming = Naming::new("real-server", "0.0.0");
    let mut n_tools = 0;
    for file in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
        let Ok(manifest) = toolkit::Manifest::from_mcp_json(std::fs::read_to_string(&file).unwrap_or_default()) else {
            continue;
        };
        for tool in manifest.tools() {
            let definition =
                json!(Definition::from_tool(tool, &naming).unwrap_or_else(|problems| panic!("{problems}")));
            let properties = definition["input_schema"]["parameters"]["properties"].as_object();
            let is_described = |schema: &Value| schema["description"].as_str().is_some_and(|text| !text.is_empty());
            assert!(properties.into_iter().flatten().all(|(_, schema)| is_described(schema)), "{definition}");
            let again = Definition::from_json(&definition).unwrap().to_tool().unwrap();
            for arguments in arguments(tool) {
                let (one, other) = (tool.input().is_valid(&arguments), again.input().is_valid(&arguments));
                assert_eq!(one, other, "{} {arguments}", tool.name());
            }
            n_tools += 1;
        }
    }
    assert!(n_tools > 100, "only {n_tools} tools found");
    ran(n_tools);
}
