//! The exact output and losses of lowering each construct.

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
fn each_construct_is_lowered_to_the_dialect() {
    let strict = Dialect::OPENAI_STRICT;
    let anthropic = Dialect::ANTHROPIC_STRICT;
    for (dialect, schema, expected, losses) in [
        (&strict, json!({ "const": "a" }), json!({ "type": "string", "enum": ["a"] }), vec![]),
        (
            &strict,
            json!({ "type": "string", "format": "uri", "title": "T" }),
            json!({ "type": "string", "description": "Format: uri." }),
            vec![
                "input /properties/x: `format` is moved to the description",
                "input /properties/x: `title` is not supported",
            ],
        ),
        (
            &strict,
            json!({ "type": "string", "minLength": 1, "description": "A name" }),
            json!({ "type": "string", "description": "A name. At least 1 character." }),
            vec!["input /properties/x: `minLength` is moved to the description"],
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
            vec!["input /properties/x: `oneOf` is replaced by `anyOf`, so that several branches may match"],
        ),
        (
            &anthropic,
            json!({ "type": ["string", "null"], "minLength": 2 }),
            json!({ "anyOf": [{ "type": "string", "description": "At least 2 characters." }, { "type": "null" }] }),
            vec!["input /properties/x: `minLength` is moved to the description"],
        ),
        (
            &anthropic,
            json!({ "type": "array", "items": { "type": "integer" }, "minItems": 3 }),
            json!({ "type": "array", "items": { "type": "integer" }, "minItems": 1, "description": "At least 3 items." }),
            vec!["input /properties/x: `minItems` of more than 1 is moved to the description"],
        ),
        (
            &Dialect::GEMINI,
            json!({ "type": "integer", "exclusiveMinimum": 3 }),
            json!({ "type": "integer", "minimum": 4 }),
            vec![],
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
            vec!["input /properties/x: `not` is not supported"],
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
fn features_that_strict_mode_cannot_express_are_narrowed() {
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
fn recursion_is_kept_if_the_dialect_supports_it() {
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
fn a_choice_at_the_root_becomes_a_single_object() {
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
            "description": "One of these forms:\n- {shape: \"circle\", radius}\n- {shape: \"square\", side}",
        })
    );
    assert_eq!(lowered.losses.len(), 1);
    assert_eq!((lowered.losses[0].effect, &*lowered.losses[0].keyword), (Effect::Widened, "oneOf"));
}

#[test]
fn an_alias_of_an_argument_is_sent_to_no_provider() {
    let plain = json!({
        "type": "object",
        "properties": { "city": { "type": "string" }, "days": { "type": "integer" } },
        "required": ["city"],
        "additionalProperties": false,
    });
    let names: [(&str, &[&str]); 2] = [("city", &["town", "place"]), ("days", &["n"])];
    let schema = toolkit_schema::alias::with_aliases(plain.clone(), &names);
    for dialect in &DIALECTS {
        let (lowered, without) = (input(&schema, dialect), input(&plain, dialect));
        assert_eq!(lowered.schema, without.schema, "{}", dialect.name);
        assert_eq!(lowered.is_whole(), without.is_whole(), "{}", dialect.name);
        let losses: Vec<String> = lowered.losses.iter().map(ToString::to_string).collect();
        let expected = "input /properties/town: `properties` is an alias of `city`, which is sent instead";
        assert!(losses.iter().any(|loss| loss == expected), "{losses:#?}");
    }
}

#[test]
fn keywords_beside_a_choice_are_merged_into_each_branch() {
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
    assert!(losses.iter().any(|loss| loss.contains("several branches may match")), "{losses:?}");
}

#[test]
fn the_loss_of_a_large_schema_contains_its_size() {
    let values: Vec<String> = (0..1001).map(|n| n.to_string()).collect();
    let whole = json!({ "type": "object", "properties": { "x": { "type": "string", "enum": values } }, "required": ["x"], "additionalProperties": false });
    let lowered = input(&whole, &Dialect::OPENAI_STRICT);
    assert!(!lowered.is_whole());
    assert_eq!(
        lowered.losses[0].to_string(),
        "input root: `limit` of OpenAI strict is 1000 enum values, but the schema has 1001"
    );
}

/// Returns a tool with one argument.
fn taking(argument: Value) -> Value {
    json!({ "type": "object", "properties": { "x": argument }, "required": ["x"], "additionalProperties": false })
}

fn effects(lowered: &Lowered) -> Vec<Effect> {
    lowered.losses.iter().map(|loss| loss.effect).collect()
}

// `BTreeMap<u32, String>` as described by schemars.
#[test]
fn a_map_with_integer_keys_does_not_become_an_empty_object() {
    let map = json!({
        "type": "object",
        "patternProperties": { "^\\d+$": { "type": "string" } },
        "additionalProperties": false,
    });
    let sent = json!({ "x": { "7": "seven" } });
    for dialect in DIALECTS {
        let lowered = input(&taking(map.clone()), &dialect);
        let accepts = jsonschema::validator_for(&lowered.schema).unwrap().is_valid(&sent);
        assert_eq!(
            accepts,
            !dialect.requires(toolkit_providers::Rule::Closed),
            "{}: {:#}",
            dialect.name,
            lowered.schema
        );
        assert_eq!(lowered.is_whole(), accepts, "{}: {:?}", dialect.name, lowered.losses);
    }
    let gemini = input(&taking(map), &Dialect::GEMINI);
    assert_eq!(gemini.schema["properties"]["x"]["additionalProperties"], json!({ "type": "string" }));
    assert_eq!(effects(&gemini), [Effect::Widened, Effect::Widened]);
}

#[test]
fn an_optional_argument_may_be_null_with_any_keywords() {
    for argument in [
        json!({ "type": "string", "anyOf": [{ "type": "string", "enum": ["a"] }, { "type": "string", "pattern": "^b" }] }),
        json!({ "type": "string", "enum": ["a"] }),
        json!({ "type": "string", "const": "a" }),
        json!({ "type": ["string", "integer"], "enum": ["a", 1] }),
        json!({ "type": "string", "allOf": [{ "pattern": "^a" }, { "minLength": 1 }] }),
        json!({ "type": "string", "not": { "type": "null" } }),
        json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] }),
        json!({ "type": ["object", "null"], "properties": { "a": { "type": "integer" } }, "additionalProperties": false }),
    ] {
        let schema = json!({ "type": "object", "properties": { "x": argument }, "additionalProperties": false });
        let lowered = input(&schema, &Dialect::OPENAI_STRICT);
        let accepts = jsonschema::validator_for(&lowered.schema).unwrap();
        assert!(accepts.is_valid(&json!({ "x": null })), "{:#}", lowered.schema);
        assert!(!accepts.is_valid(&json!({ "x": 1.5 })), "{:#}", lowered.schema);
        assert!(lowered.is_whole(), "{:?}", lowered.losses);
    }
}

// Other parts of the schema declare properties of the same object.
#[test]
fn closing_an_object_keeps_other_declared_properties_or_reports_a_loss() {
    let parts = [
        json!({ "if": { "required": ["a"] }, "then": { "properties": { "b": { "type": "integer" } } } }),
        json!({ "dependentSchemas": { "a": { "properties": { "b": { "type": "integer" } } } } }),
        json!({ "allOf": [{ "properties": { "b": { "type": "integer" } } }] }),
        json!({ "anyOf": [{ "properties": { "b": { "type": "integer" } } }] }),
        json!({ "$ref": "#/$defs/B" }),
        json!({ "additionalProperties": { "type": "integer" } }),
    ];
    let sent = json!({ "x": { "a": 1, "b": 2 } });
    for part in parts {
        let mut object =
            json!({ "type": "object", "properties": { "a": { "type": "integer" } }, "unevaluatedProperties": false });
        object.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
        let mut schema = taking(object);
        schema["$defs"] = json!({ "B": {
            "properties": { "b": { "type": "integer" }, "next": { "$ref": "#/$defs/B" } },
        } });
        assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&sent), "{part}");
        for dialect in DIALECTS {
            let lowered = input(&schema, &dialect);
            let accepts = jsonschema::validator_for(&lowered.schema).unwrap();
            let is_said = held_to(&lowered.schema, &sent).iter().any(|way| accepts.is_valid(way));
            assert!(is_said || !lowered.is_whole(), "{}: {:#}", dialect.name, lowered.schema);
        }
    }
}

#[test]
fn unsatisfiable_schemas_stay_so_or_a_loss_is_reported() {
    for impossible in [
        json!({ "type": "object", "required": ["a"], "additionalProperties": false }),
        json!({ "type": "object", "properties": { "a": false }, "required": ["a"] }),
        json!({ "type": "array", "items": false, "minItems": 1 }),
        json!({ "type": ["string", "null"], "enum": [1] }),
        json!({ "type": "string", "const": "a", "enum": ["b"] }),
        json!({ "anyOf": [false, { "not": {} }] }),
        json!({ "enum": [] }),
    ] {
        for dialect in DIALECTS {
            let schema = json!({
                "type": "object", "properties": { "x": { "type": "array", "items": impossible }, "y": impossible },
            });
            let lowered = input(&schema, &dialect);
            let text = lowered.schema.to_string();
            assert!(!text.contains(r#""anyOf":[]"#) && !text.contains(r#""type":[]"#), "{}: {text}", dialect.name);
            let accepts = jsonschema::validator_for(&lowered.schema).unwrap();
            let sent = [json!({}), json!({ "a": null }), json!("x"), json!(null), json!([]), json!("b")];
            let widens = has(&lowered, Effect::Widened);
            let fits = sent.iter().any(|sent| accepts.is_valid(&json!({ "x": [sent], "y": sent })));
            assert!(!fits || widens, "{}: {impossible} is {:#}", dialect.name, lowered.schema);
        }
    }
}

// Recursive schemas from four tools of a chart server: the items of `children` are nodes of the same kind.
#[test]
fn a_recursive_list_is_removed_if_the_dialect_does_not_support_it() {
    let node = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string" },
            "children": { "type": "array", "items": { "$ref": "#/properties/data" } },
        },
        "required": ["name"],
    });
    let schema = json!({ "type": "object", "properties": { "data": node }, "required": ["data"] });
    let lowered = input(&schema, &Dialect::ANTHROPIC_STRICT);
    assert!(!lowered.is_whole() && !has(&lowered, Effect::Widened), "{:?}", lowered.losses);
    let said = lowered.schema.to_string();
    assert!(said.contains(r#""name""#) && !said.contains(r#""children""#), "{said}");
    let openai = input(&schema, &Dialect::OPENAI_STRICT);
    assert!(openai.is_whole(), "{:?}", openai.losses);
    let accepts = jsonschema::validator_for(&openai.schema).unwrap();
    let leaf = json!({ "name": "b", "children": null });
    assert!(accepts.is_valid(&json!({ "data": { "name": "a", "children": [leaf] } })));
    assert!(!accepts.is_valid(&json!({ "data": { "name": "a", "children": ["b"] } })));
}

#[test]
fn a_draft_07_schema_is_lowered_with_the_semantics_of_draft_07() {
    let schema = |inner: Value| {
        let mut schema = taking(inner);
        schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        schema
    };
    let pair =
        json!({ "type": "array", "items": [{ "type": "string" }, { "type": "integer" }], "additionalItems": false });
    let lowered = input(&schema(pair), &Dialect::OPENAI);
    let accepts = jsonschema::validator_for(&lowered.schema).unwrap();
    assert!(accepts.is_valid(&json!({ "x": ["a", 1] })) && !accepts.is_valid(&json!({ "x": [1, "a"] })));
    assert!(!accepts.is_valid(&json!({ "x": ["a", 1, 2] })));
    let depends = json!({ "type": "object", "dependencies": { "a": ["b"] } });
    let lowered = input(&schema(depends), &Dialect::OPENAI);
    assert!(!jsonschema::validator_for(&lowered.schema).unwrap().is_valid(&json!({ "x": { "a": 1 } })));
}

#[test]
fn a_closed_object_without_properties_declares_none_as_the_official_packages_do() {
    let empty = json!({ "type": "object", "additionalProperties": false });
    let schema =
        json!({ "type": "object", "properties": { "x": empty }, "required": ["x"], "additionalProperties": false });
    for dialect in [Dialect::OPENAI_STRICT, Dialect::ANTHROPIC_STRICT, Dialect::BEDROCK_STRICT] {
        let lowered = lower(&schema, &dialect, Side::Input);
        assert_eq!(lowered.schema["properties"]["x"]["properties"], json!({}), "{}", dialect.name);
        assert_eq!(lowered.losses, [], "{}", dialect.name);
    }
    assert_eq!(lower(&schema, &Dialect::OPENAI, Side::Input).schema["properties"]["x"], empty);
}
