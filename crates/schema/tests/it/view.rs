//! The simplified view of a schema.

use serde_json::{Map, Value, json};
use toolkit_schema::types::Types;
use toolkit_schema::view::{Field, Shape, View};

fn fields(schema: &Value) -> Vec<Field<'_>> {
    match View::new(schema).shape() {
        Shape::Object(fields) => fields,
        shape => panic!("not an object: {shape:?}"),
    }
}

fn of_property(schema: Value) -> String {
    let schema = json!({ "properties": { "it": schema }, "$defs": {
        "Tree": { "type": "array", "items": { "$ref": "#/$defs/Tree" } },
        "Node": { "type": "object", "properties": { "next": { "anyOf": [{ "$ref": "#/$defs/Node" }, { "type": "null" }] } } },
        "Place": { "type": "object", "properties": { "x": { "type": "number" } } },
    } });
    fields(&schema)[0].view.to_string()
}

#[test]
fn a_shape_is_described_in_a_few_words() {
    for (schema, words) in [
        (json!({ "type": "array", "items": { "type": "integer" } }), "list of integers"),
        (json!({ "type": "array", "items": { "enum": ["a", "b"] } }), "list of (a | b)"),
        (json!({ "type": "array", "items": { "enum": ["string"] } }), "list of string"),
        (
            json!({ "additionalProperties": { "type": "array", "items": {} }, "type": "object" }),
            "map of lists of anything",
        ),
        (json!({ "type": ["string", "integer", "null"] }), "string or integer"),
        (json!({ "anyOf": [{ "enum": ["a", 1] }, { "type": "string" }] }), "a | 1 or string"),
        (json!({ "anyOf": [{ "$ref": "#/$defs/Place" }, { "type": "null" }] }), "object"),
        (json!({ "type": "array", "prefixItems": [{ "type": "integer" }] }), "list"),
        (json!({ "type": "null" }), "null"),
        (json!({ "const": null }), "null"),
        (json!(true), "anything"),
        (json!({ "type": "string", "anyOf": [{ "type": "integer" }] }), "anything"),
    ] {
        assert_eq!(of_property(schema.clone()), words, "{schema}");
    }
}

#[test]
fn a_schema_within_itself_is_described_by_its_name() {
    assert_eq!(of_property(json!({ "$ref": "#/$defs/Tree" })), "Tree");
    assert_eq!(of_property(json!({ "type": "array", "items": { "$ref": "#/$defs/Node" } })), "list of Node");
    assert_eq!(of_property(json!({ "$ref": "#/$defs/Place" })), "object");
    let root = json!({ "type": "array", "items": { "$ref": "#" } });
    assert_eq!(View::new(&root).to_string(), "list of the same schema");
    let items = json!({ "items": { "type": "object", "additionalProperties": { "$ref": "#/items" } } });
    assert_eq!(View::new(&items).part("items").unwrap().to_string(), "map of the same schema");
    let cycle = json!({ "$ref": "#/$defs/A", "$defs": { "A": { "$ref": "#/$defs/B" }, "B": { "$ref": "#/$defs/A" } } });
    assert_eq!(View::new(&cycle).types(), Types::ALL);
}

#[test]
fn references_that_grow_exponentially_are_viewed_in_bounded_time() {
    let mut definitions = Map::new();
    for level in 0..60 {
        let below = json!({ "$ref": format!("#/$defs/d{level}") });
        let schema = json!({
            "anyOf": [{ "type": "array", "items": below }, { "type": "object", "additionalProperties": below }, below],
            "allOf": [below, below],
        });
        definitions.insert(format!("d{}", level + 1), schema);
    }
    let schema = json!({ "$ref": "#/$defs/d60", "$defs": definitions });
    let view = View::new(&schema);
    assert!(view.to_string().len() < 10_000);
    assert!(view.fields().is_empty() && !view.types().is_empty());
}

#[test]
fn the_fields_of_all_variants_are_those_of_an_object() {
    let schema = json!({
        "type": "object",
        "properties": { "name": { "type": "string" } },
        "oneOf": [
            { "properties": { "kind": { "const": "circle" }, "radius": { "type": "number" } }, "required": ["kind", "radius"] },
            { "properties": { "kind": { "const": "square" }, "name": { "type": "integer" } }, "required": ["kind", "side"] },
        ],
    });
    let fields = fields(&schema);
    let texts: Vec<_> = fields.iter().map(|field| (field.name, field.view.to_string(), field.is_required)).collect();
    assert!(texts.contains(&("kind", "circle | square".to_owned(), true)), "{texts:?}");
    assert!(texts.contains(&("radius", "number".to_owned(), false)), "{texts:?}");
    assert!(texts.contains(&("name", "string or integer".to_owned(), false)), "{texts:?}");
    let required = json!({ "type": "object", "required": ["undeclared"] });
    assert_eq!(
        (View::new(&required).fields()[0].name, View::new(&required).declared_fields().len()),
        ("undeclared", 0)
    );
}

#[test]
fn a_field_that_all_variants_declare_alike_keeps_its_limits() {
    let staff = json!({ "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": 4 });
    let variant = |kind| json!({ "properties": { "kind": { "const": kind }, "staff": staff } });
    let schema = json!({ "type": "object", "oneOf": [variant("day"), variant("night"), variant("off")] });
    let fields = fields(&schema);
    let staff = fields.iter().find(|field| field.name == "staff").unwrap();
    assert_eq!(staff.view.to_string(), "list of strings");
    let limits: Vec<String> = staff.view.limits().iter().map(ToString::to_string).collect();
    assert_eq!((limits, staff.view.part("items").is_some()), (vec!["1 to 4 items".to_owned()], true));
}

#[test]
fn a_choice_beside_a_reference_is_part_of_the_view() {
    let schema = json!({
        "allOf": [{ "$ref": "#/$defs/Base" }],
        "oneOf": [{ "properties": { "a": {} } }, { "properties": { "b": {} } }],
        "$defs": { "Base": { "type": "object", "properties": { "id": {} } } },
    });
    let names: Vec<&str> = fields(&schema).iter().map(|field| field.name).collect();
    assert_eq!(names, ["id", "a", "b"]);
}

#[test]
fn null_is_not_a_shape_beside_others() {
    for schema in [
        json!({ "type": ["string", "null"] }),
        json!({ "anyOf": [{ "type": "null" }, { "type": "string" }] }),
        json!({ "enum": ["a", null] }),
        json!({ "oneOf": [{ "const": "a" }, { "const": null }] }),
    ] {
        let view = View::new(&schema);
        assert!(view.accepts_null() && view.types() == Types::STRING.or(Types::NULL), "{schema}");
        assert!(matches!(view.shape(), Shape::Text | Shape::Constants(_)), "{schema}");
    }
    let object = json!({ "type": "object", "anyOf": [{ "required": ["a"] }, { "type": "null" }] });
    assert_eq!((View::new(&object).accepts_null(), View::new(&object).types()), (false, Types::OBJECT));
}

#[test]
fn a_constant_has_the_description_of_its_branch_or_of_its_line() {
    let branches = json!({ "oneOf": [{ "const": "c", "description": "Celsius." }, { "const": 1 }] });
    let lines = json!({ "enum": ["c", 1], "description": "The unit.\n- `c`: Celsius." });
    for schema in [&branches, &lines] {
        let Shape::Constants(constants) = View::new(schema).shape() else { panic!("{schema}") };
        let described: Vec<_> = constants.iter().map(|one| (one.value.clone(), one.description)).collect();
        assert_eq!(described, [(json!("c"), Some("Celsius.")), (json!(1), None)]);
    }
    assert_eq!(View::new(&lines).description(), Some("The unit."));
}

#[test]
fn the_width_of_a_number_is_no_limit() {
    let schema = json!({
        "type": "integer", "format": "uint32", "minimum": 1, "maximum": u32::MAX, "exclusiveMaximum": 9, "multipleOf": 2,
    });
    let limits: Vec<String> = View::new(&schema).limits().iter().map(ToString::to_string).collect();
    assert_eq!(limits, ["at least 1", "less than 9", "a multiple of 2"]);
    let text = json!({ "minLength": 1, "maxLength": 1, "pattern": "^a", "format": "interval" });
    let limits: Vec<String> = View::new(&text).limits().iter().map(ToString::to_string).collect();
    assert_eq!(limits, ["exactly 1 character", "matches ^a", "interval"]);
}

#[test]
fn each_limit_is_a_short_phrase() {
    for (schema, phrases) in [
        (json!({}), &[][..]),
        (json!({ "minimum": 1, "maximum": 14 }), &["1 to 14"]),
        (json!({ "minimum": 3, "maximum": 3 }), &["exactly 3"]),
        (json!({ "maximum": 1.5 }), &["at most 1.5"]),
        (json!({ "exclusiveMinimum": 0, "exclusiveMaximum": 9 }), &["more than 0", "less than 9"]),
        (json!({ "minLength": 2 }), &["at least 2 characters"]),
        (json!({ "maxItems": 1 }), &["at most 1 item"]),
        (json!({ "minItems": 1, "maxItems": 3, "uniqueItems": true }), &["1 to 3 items", "unique items"]),
        (json!({ "minProperties": 2, "maxProperties": 2 }), &["exactly 2 entries"]),
        (json!({ "uniqueItems": false, "pattern": 1, "format": 1 }), &[]),
        (json!({ "format": "date-time" }), &["date-time"]),
        (json!({ "format": "int32x" }), &["int32x"]),
        (json!({ "format": "floats" }), &["floats"]),
        (json!({ "format": "float" }), &[]),
        (json!({ "format": "double" }), &[]),
        (json!({ "format": "uint8" }), &[]),
        (json!({ "format": "int64" }), &[]),
        (json!({ "format": "uint" }), &[]),
    ] {
        let limits: Vec<String> = View::new(&schema).limits().iter().map(ToString::to_string).collect();
        assert_eq!(limits, phrases, "{schema}");
    }
}
