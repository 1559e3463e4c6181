//! What becomes of each construct, word for word.

use super::*;

fn argument(schema: Value, dialect: &Dialect) -> (Value, Vec<String>) {
    let schema = json!({
        "type": "object", "properties": { "x": schema }, "required": ["x"], "additionalProperties": false,
    });
    let lowered = input(&schema, dialect);
    let losses = lowered.losses.iter().filter(|loss| loss.pointer.starts_with("/properties/x"));
    let losses = losses.map(ToString::to_string).collect();
    (lowered.schema["properties"]["x"].clone(), losses)
}

#[test]
fn each_construct_is_said_in_the_words_of_the_dialect() {
    let strict = Dialect::OPENAI_STRICT;
    let anthropic = Dialect::ANTHROPIC_STRICT;
    let open_api = Dialect::GEMINI_OPENAPI;
    for (dialect, schema, expected, losses) in [
        (&strict, json!({ "const": "a" }), json!({ "type": "string", "enum": ["a"] }), vec![]),
        (
            &strict,
            json!({ "type": "string", "format": "uri", "title": "T" }),
            json!({ "type": "string", "description": "Format: uri." }),
            vec![
                "input /properties/x: `format` is said in the description",
                "input /properties/x: `title` cannot be said",
            ],
        ),
        (
            &strict,
            json!({ "type": "string", "minLength": 1, "description": "A name" }),
            json!({ "type": "string", "description": "A name. At least 1 character." }),
            vec!["input /properties/x: `minLength` is said in the description"],
        ),
        (
            &strict,
            json!({ "oneOf": [{ "type": "string" }, { "type": "integer" }] }),
            json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] }),
            vec![],
        ),
        (
            &strict,
            json!({ "oneOf": [{ "type": "number" }, { "type": "integer" }] }),
            json!({ "anyOf": [{ "type": "number" }, { "type": "integer" }] }),
            vec!["input /properties/x: `oneOf` is said as `anyOf`, so that several may fit at once"],
        ),
        (
            &anthropic,
            json!({ "type": ["string", "null"], "minLength": 2 }),
            json!({ "anyOf": [{ "type": "string", "description": "At least 2 characters." }, { "type": "null" }] }),
            vec!["input /properties/x: `minLength` is said in the description"],
        ),
        (
            &anthropic,
            json!({ "type": "array", "items": { "type": "integer" }, "minItems": 3 }),
            json!({ "type": "array", "items": { "type": "integer" }, "minItems": 1, "description": "At least 3 items." }),
            vec!["input /properties/x: `minItems` of more than 1 is said in the description"],
        ),
        (&open_api, json!({ "type": ["string", "null"] }), json!({ "type": "STRING", "nullable": true }), vec![]),
        (
            &open_api,
            json!({ "type": "integer", "exclusiveMinimum": 3, "enum": [4, 5] }),
            json!({ "type": "INTEGER", "minimum": 4, "description": "One of 4, 5." }),
            vec!["input /properties/x: `enum` is said in the description"],
        ),
        (
            &strict,
            json!({ "type": "array", "prefixItems": [{ "type": "number" }, { "type": "number" }], "minItems": 2, "maxItems": 2 }),
            json!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 }),
            vec![],
        ),
        (
            &strict,
            json!({ "allOf": [{ "type": "string" }], "description": "alone" }),
            json!({ "type": "string", "description": "alone" }),
            vec![],
        ),
        (
            &strict,
            json!({ "not": { "type": "null" }, "type": "string" }),
            json!({ "type": "string" }),
            vec!["input /properties/x: `not` cannot be said"],
        ),
    ] {
        assert_eq!(
            argument(schema.clone(), dialect),
            (expected, losses.into_iter().map(str::to_owned).collect()),
            "{} {schema}",
            dialect.name
        );
    }
}

#[test]
fn what_a_strict_target_cannot_say_is_narrowed() {
    for (schema, keyword) in [
        (json!({}), "type"),
        (json!(true), "type"),
        (json!({ "type": "object" }), "additionalProperties"),
        (json!({ "type": "object", "additionalProperties": { "type": "integer" } }), "additionalProperties"),
        (
            json!({ "type": "object", "properties": { "a": { "type": "null" } }, "additionalProperties": true }),
            "additionalProperties",
        ),
    ] {
        for dialect in [Dialect::OPENAI_STRICT, Dialect::ANTHROPIC_STRICT] {
            let whole = json!({ "type": "object", "properties": { "x": schema }, "additionalProperties": false });
            let lowered = input(&whole, &dialect);
            let narrowed: Vec<&str> = lowered
                .losses
                .iter()
                .filter(|loss| loss.effect == Effect::Narrowed)
                .map(|loss| &*loss.keyword)
                .collect();
            assert_eq!(narrowed, [keyword], "{schema} in {}", dialect.name);
            assert!(!lowered.is_whole());
        }
    }
}

#[test]
fn recursion_stays_where_it_can_be_followed() {
    let tree = json!({
        "type": "object",
        "properties": { "root": { "$ref": "#/$defs/Node" } },
        "required": ["root"],
        "additionalProperties": false,
        "$defs": { "Node": {
            "type": "object",
            "properties": { "children": { "type": "array", "items": { "$ref": "#/$defs/Node" } }, "size": { "type": "integer", "minimum": 1 } },
            "required": ["children"],
            "additionalProperties": false,
        } },
    });
    let openai = input(&tree, &Dialect::OPENAI_STRICT);
    assert!(openai.is_whole() && openai.losses.is_empty(), "{:?}", openai.losses);
    assert_eq!(openai.schema["$defs"]["Node"]["required"], json!(["children", "size"]));
    let anthropic = input(&tree, &Dialect::ANTHROPIC_STRICT);
    assert!(!anthropic.is_whole());
    assert!(!anthropic.schema.to_string().contains("$ref"));
}

#[test]
fn a_choice_at_the_root_is_said_as_one_object() {
    let circle = json!({
        "type": "object",
        "properties": { "shape": { "const": "circle" }, "radius": { "type": "number" } },
        "required": ["shape", "radius"],
        "additionalProperties": false,
    });
    let square = json!({
        "type": "object",
        "properties": { "shape": { "const": "square" }, "side": { "type": "number" } },
        "required": ["shape", "side"],
        "additionalProperties": false,
    });
    let lowered = input(&json!({ "oneOf": [circle, square] }), &Dialect::OPENAI);
    assert_eq!(
        lowered.schema,
        json!({
            "type": "object",
            "properties": {
                "shape": { "type": "string", "enum": ["circle", "square"] },
                "radius": { "type": "number" },
                "side": { "type": "number" },
            },
            "required": ["shape"],
            "additionalProperties": false,
        })
    );
    assert_eq!(lowered.losses.len(), 1);
    assert_eq!((lowered.losses[0].effect, &*lowered.losses[0].keyword), (Effect::Widened, "oneOf"));
    let kept = input(&json!({ "type": "object", "oneOf": [circle, square] }), &Dialect::JSON_SCHEMA);
    assert!(kept.losses.is_empty() && kept.schema.get("oneOf").is_some());
}

#[test]
fn what_stands_beside_a_choice_is_written_into_each_branch() {
    let branch =
        |name: &str| json!({ "type": "object", "properties": { name: { "type": "integer" } }, "required": [name] });
    let flattened = json!({
        "type": "object",
        "properties": { "id": { "type": "string" } },
        "required": ["id"],
        "oneOf": [branch("a"), branch("b")],
        "unevaluatedProperties": false,
    });
    let (said, losses) = argument(flattened, &Dialect::OPENAI_STRICT);
    for (branch, name) in said["anyOf"].as_array().unwrap().iter().zip(["a", "b"]) {
        assert_eq!(branch["properties"], json!({ "id": { "type": "string" }, name: { "type": "integer" } }));
        assert_eq!(branch["additionalProperties"], false);
        assert_eq!(branch["required"].as_array().unwrap().len(), 2);
    }
    assert!(losses.iter().any(|loss| loss.contains("several may fit at once")), "{losses:?}");
}

#[test]
fn a_schema_that_is_too_large_says_by_how_much() {
    let values: Vec<String> = (0..1001).map(|n| n.to_string()).collect();
    let whole = json!({ "type": "object", "properties": { "x": { "type": "string", "enum": values } }, "required": ["x"], "additionalProperties": false });
    let lowered = input(&whole, &Dialect::OPENAI_STRICT);
    assert!(!lowered.is_whole());
    assert_eq!(
        lowered.losses[0].to_string(),
        "input root: `limit` of OpenAI strict is 1000 enum values; here are 1001"
    );
}
