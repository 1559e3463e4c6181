//! The tools of real servers.

use serde_json::{Value, json};
use toolkit::tool::Namespace;
use toolkit::{Catalog, Manifest, Tool};

use crate::{shared, shared_text};

/// Returns the tools of [`real_manifests`], valid or not.
///
/// # Panics
///
/// Panics in the cases of [`real_manifests`].
#[must_use]
pub fn real_tools() -> Vec<Tool> {
    real_servers().into_iter().flat_map(|(_, tools)| tools).collect()
}

/// Returns the tools of [`real_manifests`], valid or not, by the name of their file.
///
/// # Panics
///
/// Panics in the cases of [`real_manifests`].
#[must_use]
pub fn real_servers() -> Vec<(String, Vec<Tool>)> {
    let tools = |manifest: &Manifest| manifest.listings().filter_map(|listing| listing.tool().cloned()).collect();
    real_files().iter().map(|(name, manifest)| (name.clone(), tools(manifest))).collect()
}

/// Returns the valid tools of [`real_servers`], with a namespace for each server.
///
/// # Panics
///
/// Panics in the cases of [`real_manifests`].
#[must_use]
pub fn real_catalog() -> Catalog {
    let mut servers = real_servers();
    servers.sort_by(|(a, _), (b, _)| a.cmp(b));
    let tools = servers.into_iter().enumerate().flat_map(|(idx, (name, tools))| {
        // Two manifests may have the same file name.
        let name = format!("{}-{idx}", name.replace(|c: char| !c.is_ascii_alphanumeric(), "-"));
        let namespace: Namespace = name.parse().expect("it is a name");
        let tools = tools.into_iter().filter(|tool| Catalog::new([tool.clone()]).is_ok());
        tools.map(move |tool| tool.in_namespace(namespace.clone()))
    });
    Catalog::new(tools).expect("each tool is valid, and has a name of its own")
}

/// Returns the manifests of the shared data in any order; none if the data is absent, which counts as a skip.
///
/// # Panics
///
/// Panics if the data is absent although `TOOLKIT_REQUIRE_DATA=1` requires it.
#[must_use]
pub fn real_manifests() -> Vec<Manifest> {
    real_files().into_iter().map(|(_, manifest)| manifest).collect()
}

fn real_files() -> Vec<(String, Manifest)> {
    let (mut manifests, mut folders) = (Vec::new(), Vec::from_iter(shared("data/manifests")));
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the data can be read") {
            let path = entry.expect("the data can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(manifest) = Manifest::from_mcp_json(std::fs::read(&path).expect("it can be read")) {
                manifests.push((path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), manifest));
            }
        }
    }
    manifests
}

/// The 1,080 tools of a real catalog in Open Tool Calling, as definitions; none where the data is absent, which counts
/// as a skip. The data lists parameters one by one, and has types where a definition has schemas.
///
/// # Panics
///
/// Panics if the data is absent although `TOOLKIT_REQUIRE_DATA=1` requires it.
#[must_use]
pub fn real_definitions() -> Vec<Value> {
    let text = shared_text("data/catalog-otc-arcade.jsonl").unwrap_or_default();
    text.lines().map(|line| definition(&serde_json::from_str(line).expect("the data is JSON"))).collect()
}

fn definition(record: &Value) -> Value {
    let text = |key: &str| record[key].as_str().expect("it is a text");
    let mut parameters = json!({ "type": "object" });
    for parameter in record["parameters"].as_array().into_iter().flatten() {
        let name = parameter["name"].as_str().expect("a parameter has a name");
        parameters["properties"][name] = parameter_schema(parameter);
        if parameter["required"] == true {
            let required = parameters.as_object_mut().and_then(|map| {
                let required = map.entry("required").or_insert_with(|| json!([]));
                required.as_array_mut()
            });
            required.expect("it is an array").push(json!(name));
        }
    }
    let (path, version) = text("fullyQualifiedName").split_once('@').expect("an id has a version");
    let mut definition = json!({
        "id": format!("{path}@{version}"),
        "name": path.replace('.', "_"),
        "description": text("description"),
        "version": version,
        "input_schema": { "parameters": parameters },
        "output_schema": typed(&record["output"]["type"], &record["output"]["description"]),
    });
    if let Value::Object(auth) = &record["auth"] {
        // A case without a name is identified by its kind.
        let id = auth["providerId"].as_str().or(auth["providerType"].as_str());
        let authorization = json!([{ "id": id, "oauth2": { "scopes": auth["scopes"] } }]);
        definition["requirements"]["authorization"] = authorization;
    }
    let secrets = record["secrets"].as_array().into_iter().flatten();
    let secrets: Vec<Value> = secrets.map(|id| json!({ "id": id })).collect();
    if !secrets.is_empty() {
        definition["requirements"]["secrets"] = secrets.into();
    }
    definition
}

fn parameter_schema(parameter: &Value) -> Value {
    let mut schema = typed(&parameter["type"], &parameter["description"]);
    let values = parameter["enum"].as_array().filter(|values| !values.is_empty());
    if parameter["type"] == "array" {
        schema["items"] = typed(&parameter["innerType"], &Value::Null);
        if let Some(values) = values {
            schema["items"]["enum"] = json!(values);
        }
    } else if let Some(values) = values {
        schema["enum"] = json!(values);
    }
    schema
}

/// `json` is any value.
fn typed(name: &Value, description: &Value) -> Value {
    let mut schema = json!({});
    if name.is_string() && name != "json" {
        schema["type"] = name.clone();
    }
    if description.is_string() {
        schema["description"] = description.clone();
    }
    schema
}
