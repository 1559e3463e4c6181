//! Arguments that a provider's schema made null are restored to what the tool's schema expects.

use serde_json::{Value, json};
use toolkit::schema::Schema;

#[test]
fn null_is_absent_behind_every_reference() {
    let target = json!({
        "$anchor": "here",
        "type": "object",
        "properties": { "a": { "type": "integer" } },
        "additionalProperties": false,
    });
    for reference in ["#/$defs/x~1y%25", "#/%24defs/x%7E1y%25", "#here", "#/properties/other"] {
        let schema = json!({
            "properties": { "it": { "$ref": reference }, "other": target },
            "$defs": { "x/y%": { "$ref": "#/properties/other" } },
        });
        let schema = Schema::from_value(schema).unwrap();
        let restored = toolkit_providers::restore(&schema, json!({ "it": { "a": null } }));
        assert_eq!(restored, json!({ "it": {} }), "{reference}");
    }
}

// The branch with more properties has more nulls, and so has more violations than the others.
#[test]
fn null_is_absent_in_the_intended_branch() {
    let branch = |properties: Value, required: Value| json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    let text = json!({ "type": "string" });
    let small = branch(json!({ "k": text, "w": { "type": "integer" } }), json!(["k"]));
    let large = branch(json!({ "k": text, "x": text, "y": text, "z": small }), json!(["k"]));
    let deep = branch(json!({ "in": { "anyOf": [small, large] }, "note": text }), json!(["in"]));
    for keyword in ["anyOf", "oneOf"] {
        let schema = Schema::from_value(json!({ "properties": { "it": { keyword: [small, large, deep] } } })).unwrap();
        for (sent, restored) in [
            (json!({ "k": "a", "x": null, "y": null, "z": null }), json!({ "k": "a" })),
            (
                json!({ "k": "a", "x": "b", "y": null, "z": { "k": "c", "w": null } }),
                json!({ "k": "a", "x": "b", "z": { "k": "c" } }),
            ),
            (
                json!({ "in": { "k": "a", "x": "b", "y": null, "z": null }, "note": null }),
                json!({ "in": { "k": "a", "x": "b" } }),
            ),
        ] {
            assert_eq!(
                toolkit_providers::restore(&schema, json!({ "it": sent })),
                json!({ "it": restored }),
                "{keyword}"
            );
        }
    }
}

#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
#[schemars(rename = "a/b~c%25 é")]
struct Odd {
    #[serde(default)]
    n: u8,
    #[serde(default)]
    next: Vec<Odd>,
}

#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Filter {
    odd: Odd,
}

// schemars percent-encodes such names in references.
#[test]
fn null_is_absent_in_a_type_whose_name_is_percent_encoded() {
    let sent = json!({ "odd": { "n": null, "next": [{ "n": null, "next": null }] } });
    let restored = toolkit_providers::restore(&Schema::input::<Filter>().unwrap(), sent);
    assert_eq!(restored, json!({ "odd": { "next": [{}] } }));
}
