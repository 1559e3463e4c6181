//! Documents of OpenAPI.

use serde_json::{Value, json};
use test_support::real_catalog;
use toolkit::catalog::Naming;
use toolkit::mcp::{Revision, list_tools};
use toolkit::{Catalog, Tool};
use toolkit_providers::openapi;

fn document(catalog: &Catalog) -> Value {
    let list = list_tools(catalog, Revision::V2026_07_28, Naming::NamespaceName).unwrap();
    openapi::document("Tools", "1.0.0", list["tools"].as_array().unwrap())
}

/// Returns all references in a document.
fn references(value: &Value) -> Vec<&str> {
    let own = value.get("$ref").and_then(Value::as_str);
    let children: Vec<&Value> = match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        _ => Vec::new(),
    };
    own.into_iter().chain(children.into_iter().flat_map(references)).collect()
}

#[track_caller]
fn assert_all_references_lead_somewhere(document: &Value) {
    for reference in references(document) {
        let pointer = reference.strip_prefix('#').expect("a reference within the document");
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
}

#[test]
fn a_recursive_definition_becomes_a_component_and_an_object_stays_in_place() {
    let input = json!({
        "type": "object",
        "properties": {
            "tree": { "$ref": "#/$defs/A Tree" },
            "place": { "$ref": "#/$defs/Place" },
            "again": { "$ref": "#/properties/count" },
            "count": { "type": "integer" },
        },
        "$defs": {
            "A Tree": { "type": "object", "properties": { "children": { "items": { "$ref": "#/$defs/A%20Tree" }, "type": "array" } } },
            "Place": { "type": "object", "properties": { "x": { "type": "number" } } },
        },
    });
    let tool = Tool::builder("plant").input(input).build().unwrap();
    let document = document(&Catalog::new([tool]).unwrap());
    assert_all_references_lead_somewhere(&document);
    let body = &document["paths"]["/tools/plant"]["post"]["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!(body["properties"]["tree"]["$ref"], "#/components/schemas/plant-input-A.20Tree");
    assert_eq!(body["properties"]["place"]["properties"]["x"]["type"], "number");
    assert_eq!(body.get("$defs"), None);
}

#[test]
fn a_document_of_real_tools_has_no_broken_reference_and_lacks_no_field() {
    let list = list_tools(&real_catalog(), Revision::V2026_07_28, Naming::NamespaceName).unwrap();
    let tools = list["tools"].as_array().unwrap();
    let document = openapi::document("Tools", "1.0.0", tools);
    assert_all_references_lead_somewhere(&document);
    assert_eq!(document["paths"].as_object().unwrap().len(), tools.len());
    for tool in tools {
        let operation = &document["paths"][format!("/tools/{}", tool["name"].as_str().unwrap())]["post"];
        for (field, value) in tool.as_object().unwrap() {
            let at = match field.as_str() {
                "name" => &operation["operationId"],
                "title" => &operation["summary"],
                "description" => &operation["description"],
                "inputSchema" | "outputSchema" => continue,
                other => &operation["x-mcp-tool"][other],
            };
            assert_eq!(at, value, "{}: {field}", tool["name"]);
        }
    }
}
