//! The shapes of Rust types that matter most, written out.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolkit_schema::{generate, inline};

#[track_caller]
fn check<T: JsonSchema>(expect: Value) {
    let schema = generate::input::<T>();
    assert_eq!(schema, expect, "{schema:#}");
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Circle {
    radius: f64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "type")]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Shape {
    Circle(Circle),
    Square { side: f64 },
    Nothing,
}

#[test]
fn a_tagged_newtype_is_merged_with_its_struct_and_the_struct_is_closed_too() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Args {
        shape: Shape,
        lone: Circle,
    }
    check::<Args>(json!({
        "type": "object",
        "properties": { "shape": { "$ref": "#/$defs/Shape" }, "lone": { "$ref": "#/$defs/Circle" } },
        "required": ["shape", "lone"],
        "additionalProperties": false,
        "$defs": {
            "Circle": {
                "type": "object",
                "properties": { "radius": { "type": "number" } },
                "required": ["radius"],
                "additionalProperties": false,
            },
            "Shape": { "oneOf": [
                {
                    "type": "object",
                    "properties": { "type": { "type": "string", "const": "Circle" }, "radius": { "type": "number" } },
                    "required": ["type", "radius"],
                    "additionalProperties": false,
                },
                {
                    "type": "object",
                    "properties": { "type": { "type": "string", "const": "Square" }, "side": { "type": "number" } },
                    "required": ["type", "side"],
                    "additionalProperties": false,
                },
                {
                    "type": "object",
                    "properties": { "type": { "type": "string", "const": "Nothing" } },
                    "required": ["type"],
                    "additionalProperties": false,
                },
            ] },
        },
    }));
}

#[test]
fn a_flattened_enum_gives_every_branch_the_fields_beside_it() {
    /// Draws.
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Draw {
        colour: String,
        #[serde(flatten)]
        shape: Shape,
    }
    let branch = |tag: &str, more: &str| {
        let mut properties = json!({
            "colour": { "type": "string" },
            "type": { "type": "string", "const": tag },
        });
        let mut required = vec!["colour", "type"];
        if !more.is_empty() {
            properties[more] = json!({ "type": "number" });
            required.push(more);
        }
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    };
    check::<Draw>(json!({
        "description": "Draws.",
        "type": "object",
        "oneOf": [branch("Circle", "radius"), branch("Square", "side"), branch("Nothing", "")],
    }));
}

#[test]
fn two_flattened_enums_are_guarded_where_they_meet() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "how")]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum How {
        Filled { with: String },
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Draw {
        #[serde(flatten)]
        shape: Shape,
        #[serde(flatten)]
        how: How,
    }
    let schema = generate::input::<Draw>();
    assert_eq!(schema["unevaluatedProperties"], json!(false));
    assert!(!schema.to_string().contains("additionalProperties"), "{schema:#}");
}

#[test]
fn a_documented_enum_is_one_enum_that_keeps_what_was_said() {
    /// How bad it is.
    #[derive(Deserialize, JsonSchema)]
    enum Severity {
        /// Nobody
        /// wakes up.
        Low,
        /// Everybody does.
        High,
        Unknown,
    }
    check::<Severity>(json!({
        "type": "string",
        "enum": ["Unknown", "Low", "High"],
        "description": "How bad it is.\n\n- `Low`: Nobody wakes up.\n- `High`: Everybody does.",
    }));
}

#[test]
fn rust_numbers_become_bounds() {
    check::<u8>(json!({ "type": "integer", "minimum": 0, "maximum": 255 }));
    check::<i32>(json!({ "type": "integer", "minimum": i32::MIN, "maximum": i32::MAX }));
    check::<u64>(json!({ "type": "integer", "minimum": 0 }));
    check::<i64>(json!({ "type": "integer" }));
    check::<f32>(json!({ "type": "number", "minimum": f32::MIN, "maximum": f32::MAX }));
    check::<f64>(json!({ "type": "number" }));
    check::<Option<u16>>(json!({ "type": ["integer", "null"], "minimum": 0, "maximum": 65535 }));
}

#[test]
fn any_value_stays_any_value_and_a_map_stays_a_map() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Args {
        any: Value,
        map: serde_json::Map<String, Value>,
        points: HashMap<String, Circle>,
    }
    check::<Args>(json!({
        "type": "object",
        "properties": {
            "any": {},
            "map": { "type": "object", "additionalProperties": true },
            "points": { "type": "object", "additionalProperties": { "$ref": "#/$defs/Circle" } },
        },
        "required": ["any", "map", "points"],
        "additionalProperties": false,
        "$defs": { "Circle": {
            "type": "object",
            "properties": { "radius": { "type": "number" } },
            "required": ["radius"],
            "additionalProperties": false,
        } },
    }));
}

#[test]
fn an_empty_struct_takes_nothing() {
    #[derive(Deserialize, JsonSchema)]
    struct Empty {}
    check::<Empty>(json!({ "type": "object", "additionalProperties": false }));
}

#[test]
fn an_output_stays_open() {
    let schema = generate::output::<Shape>();
    assert!(!schema.to_string().contains("additionalProperties"), "{schema:#}");
}

#[test]
fn a_title_stays_only_if_the_author_wrote_it() {
    #[derive(JsonSchema)]
    #[schemars(title = "A circle")]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Titled {
        radius: f64,
    }
    assert_eq!(generate::input::<Titled>()["title"], json!("A circle"));
    assert_eq!(generate::input::<Circle>().get("title"), None);
}

#[test]
fn the_tag_of_a_struct_is_unknown_to_schemars() {
    // Wrong: serde writes the tag and the schema refuses it. schemars does not say that there is one.
    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "type")]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Tagged {
        a: bool,
    }
    check::<Tagged>(json!({
        "type": "object",
        "properties": { "a": { "type": "boolean" } },
        "required": ["a"],
        "additionalProperties": false,
    }));
}

#[test]
fn a_recursive_definition_stays_and_others_are_written_out() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Tree {
        /// Where it stands.
        at: Circle,
        children: Vec<Tree>,
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Grove {
        oldest: Tree,
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Plant {
        grove: Grove,
    }
    let circle = json!({
        "description": "Where it stands.",
        "type": "object",
        "properties": { "radius": { "type": "number" } },
        "required": ["radius"],
        "additionalProperties": false,
    });
    let mut schema = generate::input::<Plant>();
    inline::inline(&mut schema);
    assert_eq!(
        schema,
        json!({
            "type": "object",
            "properties": { "grove": {
                "type": "object",
                "properties": { "oldest": { "$ref": "#/$defs/Tree" } },
                "required": ["oldest"],
                "additionalProperties": false,
            } },
            "required": ["grove"],
            "additionalProperties": false,
            "$defs": { "Tree": {
                "type": "object",
                "properties": {
                    "at": circle,
                    "children": { "type": "array", "items": { "$ref": "#/$defs/Tree" } },
                },
                "required": ["at", "children"],
                "additionalProperties": false,
            } },
        })
    );
}
