//! The contents of the list, validated by the official schemas.

use super::*;

#[test]
fn the_list_matches_the_official_schema() {
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
fn every_tool_matches_the_official_schema() {
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
fn a_list_has_only_the_fields_of_its_revision() {
    let keys = |revision| {
        let list = list_tools(&everything(), revision, Naming::Name).unwrap();
        let list = list.as_object().unwrap();
        list.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(keys(Revision::V2025_11_25), ["tools"]);
    assert_eq!(keys(Revision::V2026_07_28), ["cacheScope", "resultType", "tools", "ttlMs"]);
}

#[test]
fn an_empty_catalog_has_an_empty_list() {
    let empty = Catalog::new([]).unwrap();
    for revision in REVISIONS {
        let list = list_tools(&empty, revision, Naming::Name).unwrap();
        assert_eq!(list["tools"], json!([]));
        if let Some(official) = official(revision, "ListToolsResult") {
            assert_fits(&official, &list);
            ran(1);
        }
    }
}

/// Returns every schema of the list with a label.
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
fn every_schema_matches_the_meta_schema() {
    for (what, schema) in schemas() {
        let checked = jsonschema::draft202012::meta::validate(&schema);
        assert!(checked.is_ok(), "{what}: {checked:?}");
        jsonschema::validator_for(&schema).unwrap_or_else(|e| panic!("{what}: {e}"));
        ran(1);
    }
}

/// Collects every `$ref` of `schema` with the pointer of the surrounding object.
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
fn only_recursive_types_have_references() {
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
fn no_schema_has_a_rust_specific_format() {
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
            let input = &tool["inputSchema"];
            assert!(input["type"] == "object" && input["properties"].is_object(), "{tool:#}");
            let choices = ["allOf", "anyOf", "oneOf", "not", "if", "enum", "const", "$ref"];
            assert!(choices.iter().all(|keyword| input.get(keyword).is_none()), "{tool:#}");
            ran(1);
        }
    }
    let area = listed(Revision::V2025_11_25, "area");
    assert_eq!(area["inputSchema"]["properties"]["kind"]["enum"], json!(["circle", "rectangle"]), "{area:#}");
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
    // Wire names have another order: `fare` comes before `send`, whose namespace comes first.
    let names: Vec<String> =
        list(Revision::V2026_07_28).iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    let place = |name| names.iter().position(|n| n == name).unwrap();
    assert!(place("send") < place("fare"));
}

#[test]
fn the_highest_release_of_a_tool_is_listed() {
    let ticks: Vec<Value> = list(Revision::V2026_07_28).into_iter().filter(|tool| tool["name"] == "tick").collect();
    assert_eq!(ticks.len(), 1);
    assert_eq!(ticks[0]["_meta"][META_KEY]["version"], "1.10.0");
    assert_eq!(ticks[0]["description"], "The tenth.");

    let unreleased = catalog![tools::next::tick].unwrap();
    let list = list_tools(&unreleased, Revision::V2026_07_28, Naming::Name).unwrap();
    assert_eq!(list["tools"][0]["_meta"][META_KEY]["version"], "2.0.0-rc.1");
}

#[test]
fn all_metadata_of_a_tool_is_listed() {
    for revision in REVISIONS {
        let mut send = listed(revision, "send");
        let tool = send.as_object_mut().unwrap();
        assert_eq!(tool.shift_remove("title").unwrap(), "Send a mail");
        assert_eq!(
            tool.shift_remove("description").unwrap(),
            "Has everything that can be said of a tool.\n\nDeprecated: use `acme.mail:queue`."
        );
        assert_eq!(
            tool.shift_remove("annotations").unwrap(),
            json!({
                "readOnlyHint": false, "destructiveHint": false, "idempotentHint": false, "openWorldHint": true,
            })
        );
        assert_eq!(
            tool.shift_remove("icons").unwrap(),
            json!([
                { "src": "https://example.com/a.svg" },
                {
                    "src": "https://example.com/b.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark",
                },
            ])
        );
        assert_eq!(
            tool.shift_remove("_meta").unwrap(),
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
fn missing_metadata_is_not_listed() {
    for revision in REVISIONS {
        let mut nothing = listed(revision, "nothing");
        nothing.as_object_mut().unwrap().shift_remove("inputSchema");
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

#[test]
fn a_field_that_was_read_as_null_is_not_listed() {
    let null = json!({
        "name": "x", "inputSchema": { "type": "object" }, "outputSchema": null, "title": null, "icons": null,
        "annotations": { "title": null, "readOnlyHint": true }, "execution": null,
    });
    let catalog = Catalog::new([Tool::from_mcp_json(null).unwrap()]).unwrap();
    for revision in REVISIONS {
        let list = list_tools(&catalog, revision, Naming::Name).unwrap();
        let fields: Vec<&String> = list["tools"][0].as_object().unwrap().keys().collect();
        assert_eq!(fields, ["_meta", "annotations", "inputSchema", "name"]);
        assert_eq!(list["tools"][0]["annotations"], json!({ "readOnlyHint": true }));
        if let Some(official) = official(revision, "ListToolsResult") {
            assert_fits(&official, &list);
            ran(1);
        }
    }
}
