//! Properties of all definitions.

use proptest::prelude::*;
use toolkit_otc::{Definition, OtcId};

use super::*;

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({ "type": "string" })),
        Just(json!({ "type": "integer", "minimum": 0 })),
        Just(json!({ "enum": ["a", { "$ref": "data" }] })),
        Just(json!({})),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|items| json!({ "type": "array", "items": items })),
            prop::collection::btree_map("[a-z$]{1,4}|\\$ref|\\$defs", inner, 0..3)
                .prop_map(|properties| json!({ "type": "object", "properties": properties })),
        ]
    })
}

/// Parameters that are described, as the format wants them.
fn parameters() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-zA-Z_$]{1,8}|\\$ref|definitions", (schema(), "[a-z]{1,9}"), 0..4).prop_map(
        |properties| {
            let properties = properties.into_iter().map(|(name, (mut schema, description))| {
                schema["description"] = json!(description);
                (name, schema)
            });
            json!({ "type": "object", "properties": properties.collect::<serde_json::Map<_, _>>() })
        },
    )
}

fn requirements() -> impl Strategy<Value = Value> {
    let ids = || prop::collection::btree_set("[a-zA-Z_.-]{1,8}", 0..3);
    (ids(), ids(), any::<bool>()).prop_map(|(providers, secrets, user_id)| {
        let mut requirements = serde_json::Map::new();
        let mut providers = providers.into_iter().map(|id| json!({ "id": id })).collect::<Vec<_>>();
        if let Some(first) = providers.first_mut() {
            first["oauth2"] = json!({ "scopes": ["https://scope.example/read"] });
            requirements.insert("authorization".to_owned(), providers.into());
        }
        if !secrets.is_empty() {
            requirements.insert("secrets".to_owned(), secrets.into_iter().map(|id| json!({ "id": id })).collect());
        }
        if user_id {
            requirements.insert("user_id".to_owned(), true.into());
        }
        requirements.into()
    })
}

type Edit = fn(&mut Value);

/// Equivalent forms of a part of a definition.
fn edit() -> impl Strategy<Value = Edit> {
    let edits: [Edit; 9] = [
        |json| json["input_schema"]["parameters"] = json!({}),
        |json| json["input_schema"]["parameters"] = json!({ "properties": { "a": {} } }),
        |json| json["input_schema"]["parameters"] = json!({ "type": "object" }),
        |json| json["input_schema"]["parameters"]["additionalProperties"] = json!(false),
        |json| json["input_schema"]["parameters"]["properties"] = json!({ "a": { "type": "string" } }),
        |json| json["output_schema"] = json!({}),
        |json| json["output_schema"] = json!({ "type": "null" }),
        |json| json["output_schema"] = json!({ "type": "null", "description": "Nothing." }),
        |json| json["description"] = json!(" "),
    ];
    prop::sample::select(edits.to_vec())
}

fn definitions() -> impl Strategy<Value = Value> {
    let version = (0..20_u64, 0..20_u64, any::<u64>()).prop_map(|(x, y, z)| format!("{x}.{y}.{z}"));
    let output = prop_oneof![1 => Just(Value::Null), 4 => schema()];
    let words =
        ("[A-Za-z0-9_]{1,30}", "[A-Za-z0-9_]{1,30}", version, prop::option::of("[A-Za-z0-9_-]{1,64}"), "\\PC{1,40}");
    (words, parameters(), output, requirements()).prop_filter_map(
        "a description says something",
        |((toolkit, tool, version, name, description), parameters, output, requirements)| {
            let mut definition = json!({
                "id": format!("{toolkit}.{tool}@{version}"),
                "name": name.unwrap_or_else(|| format!("{toolkit}_{tool}")),
                "description": description,
                "version": version,
                "input_schema": { "parameters": parameters },
                "output_schema": output,
            });
            if requirements != json!({}) {
                definition["requirements"] = requirements;
            }
            (!description.trim().is_empty()).then_some(definition)
        },
    )
}

proptest! {
    #[test]
    fn a_definition_that_became_a_tool_is_published_as_it_was(json in definitions()) {
        let tool = Definition::from_json(&json).unwrap().to_tool().unwrap();
        let again = Definition::from_tool(&tool, &Default::default()).unwrap();
        prop_assert_eq!(serde_json::to_value(&again).unwrap(), json);
        prop_assert_eq!(again.to_tool().unwrap(), tool);
    }

    /// What the format leaves open is kept as it was said: a schema without `type`, a field without words.
    #[test]
    fn any_definition_that_is_read_is_written_as_it_was(
        json in definitions(),
        edits in prop::collection::vec(edit(), 0..4),
    ) {
        let mut json = json;
        for edit in edits {
            edit(&mut json);
        }
        let Ok(definition) = Definition::from_json(&json) else { return Ok(()) };
        prop_assert_eq!(&serde_json::to_value(&definition).unwrap(), &json);
        let Ok(tool) = definition.to_tool() else { return Ok(()) };
        let again = Definition::from_tool(&tool, &Default::default()).unwrap();
        prop_assert_eq!(&again, &definition);
        prop_assert_eq!(&again.to_tool().unwrap(), &tool);
        // The path through a manifest gives the same result.
        let read = Tool::from_json(serde_json::to_string(&tool.to_json()).unwrap()).unwrap();
        prop_assert_eq!(&Definition::from_tool(&read, &Default::default()).unwrap(), &definition);
    }

    #[test]
    fn any_text_is_an_id_or_an_error(text in "\\PC{0,20}|[A-Za-z_.@]{0,8}[.][A-Za-z_]{0,4}@?[0-9.]{0,8}") {
        if let Ok(id) = text.parse::<OtcId>() {
            prop_assert_eq!(id.to_string().parse::<OtcId>().unwrap(), id);
        }
    }

    /// Any list is read as tools or diagnostics.
    #[test]
    fn any_document_is_a_definition_or_refused(
        json in definitions(),
        field in "id|name|description|version|input_schema|output_schema|requirements",
        value in prop_oneof![Just(json!(null)), Just(json!(1)), Just(json!("x")), Just(json!([])), Just(json!({}))],
    ) {
        let mut json = json;
        json[field] = value;
        match Definition::from_json(&json) {
            Ok(definition) => { let _ = definition.to_tool(); }
            Err(error) => prop_assert!(error.to_string().len() < 1000),
        }
    }
}
