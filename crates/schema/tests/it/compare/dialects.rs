//! Each document is interpreted by its own dialect, as in validation.

use super::*;

const DRAFT_07: &str = "http://json-schema.org/draft-07/schema#";
const DRAFT_2020_12: &str = "https://json-schema.org/draft/2020-12/schema";

fn document(dialect: &str, it: &Value) -> Value {
    json!({ "$schema": dialect, "type": "object", "properties": { "it": it } })
}

/// Returns the verdict on a change from one schema to another, each in its dialect.
fn change(old: (&str, Value), new: (&str, Value)) -> Option<Verdict> {
    verdict(&inputs(&document(old.0, &old.1), &document(new.0, &new.1)))
}

#[test]
fn formats_and_encodings_neither_widen_nor_narrow() {
    for dialect in [DRAFT_07, DRAFT_2020_12] {
        for annotation in ["format", "contentEncoding", "contentMediaType", "title", "x-note"] {
            let with = |mut schema: Value| {
                schema[annotation] = json!("date");
                schema
            };
            let harmless = |old: Value, new: Value| {
                assert!(
                    change((dialect, old.clone()), (dialect, new.clone())) <= Some(Verdict::Cosmetic),
                    "{old} to {new}"
                );
            };
            let breaks = |old: Value, new: Value| {
                assert_eq!(
                    change((dialect, old.clone()), (dialect, new.clone())),
                    Some(Verdict::Breaking),
                    "{old} to {new}"
                );
            };
            let text = json!({ "type": "string" });
            harmless(text.clone(), with(text.clone()));
            harmless(with(text.clone()), text.clone());
            breaks(with(text.clone()), json!({ "type": "string", (annotation): "date", "minLength": 10 }));
            breaks(with(text.clone()), json!({ "type": "string", (annotation): "date", "enum": ["2020-01-01"] }));
            breaks(with(text.clone()), json!({ "type": "string", (annotation): "date", "const": "2020-01-01" }));
            // No value of the enumeration has that format, and all of them are accepted.
            let words = json!({ "type": "string", "enum": ["a", "b"] });
            harmless(words.clone(), with(words.clone()));
            breaks(with(words), json!({ "type": "string", "enum": ["a"] }));
            // A negated annotation rejects everything.
            breaks(text.clone(), json!({ "not": with(json!({})) }));
            assert_eq!(
                change((dialect, json!({ "not": with(json!({})) })), (dialect, text.clone())),
                Some(Verdict::Additive)
            );
        }
    }
}

#[test]
fn the_same_text_is_interpreted_by_its_dialect() {
    let old = |it: Value| (DRAFT_07, it);
    let new = |it: Value| (DRAFT_2020_12, it);
    for (it, value) in [
        (json!({ "prefixItems": [{ "type": "string" }] }), json!([1])),
        (json!({ "contains": { "type": "string" }, "minContains": 2 }), json!(["a"])),
        (json!({ "dependentRequired": { "a": ["b"] } }), json!({ "a": 1 })),
        (json!({ "unevaluatedProperties": false }), json!({ "a": 1 })),
        (json!({ "$ref": "#/properties/any", "type": "string" }), json!(1)),
    ] {
        let [was, is] = [DRAFT_07, DRAFT_2020_12].map(|dialect| {
            let mut schema = document(dialect, &it);
            schema["properties"]["any"] = json!({});
            schema
        });
        let value = json!({ "it": value });
        let accepts = |schema: &Value| Schema::from_value(schema.clone()).unwrap().is_valid(&value);
        assert_eq!((accepts(&was), accepts(&is)), (true, false), "{it}");
        assert_eq!(verdict(&inputs(&was, &is)), Some(Verdict::Breaking), "{it}");
        assert!(verdict(&inputs(&is, &was)) <= Some(Verdict::Additive), "{it}");
    }
    // The same meaning in the keywords of each dialect.
    for (was, is) in [
        (json!({ "items": [{ "type": "string" }] }), json!({ "prefixItems": [{ "type": "string" }] })),
        (
            json!({ "items": [true], "additionalItems": { "type": "null" } }),
            json!({ "prefixItems": [true], "items": { "type": "null" } }),
        ),
        (json!({ "dependencies": { "a": ["b"] } }), json!({ "dependentRequired": { "a": ["b"] } })),
        (
            json!({ "dependencies": { "a": { "required": ["b"] } } }),
            json!({ "dependentSchemas": { "a": { "required": ["b"] } } }),
        ),
    ] {
        assert_eq!(change(old(was.clone()), new(is.clone())), Some(Verdict::Cosmetic), "{was} to {is}");
        assert_eq!(change(new(is.clone()), old(was.clone())), Some(Verdict::Cosmetic), "{is} to {was}");
    }
}

#[test]
fn definitions_are_found_under_either_name() {
    let schema = |dialect: &str, container: &str| {
        json!({
            "$schema": dialect,
            "type": "object",
            "properties": { "it": { "$ref": format!("#/{container}/Node") } },
            (container): {
                "Node": { "type": "object", "properties": { "next": { "$ref": format!("#/{container}/Node") } } }
            }
        })
    };
    let (old, new) = (schema(DRAFT_07, "definitions"), schema(DRAFT_2020_12, "$defs"));
    assert_eq!(verdict(&inputs(&old, &new)), Some(Verdict::Cosmetic));
    let mut narrower = new.clone();
    narrower["$defs"]["Node"]["required"] = json!(["next"]);
    assert!(verdict(&inputs(&old, &narrower)) >= Some(Verdict::Unknown));
    narrower["$defs"]["Node"] = json!({ "type": "object", "properties": { "next": { "type": "object" } } });
    assert_eq!(verdict(&inputs(&new, &narrower)), Some(Verdict::Additive));
}

/// A part that is compared on its own must not be mistaken for the document.
#[test]
fn the_root_is_that_of_the_document() {
    let tree = |limit: u64| {
        json!({
            "type": "object",
            "properties": {
                "size": { "type": "integer", "minimum": limit },
                "children": { "type": "array", "items": { "$ref": "#" }, "maxItems": 3 }
            }
        })
    };
    assert_eq!(verdict(&inputs(&tree(1), &tree(0))), Some(Verdict::Additive));
    assert_eq!(verdict(&inputs(&tree(0), &tree(1))), Some(Verdict::Breaking));
    let mut other = tree(0);
    other["properties"]["children"]["maxItems"] = json!(4);
    assert_eq!(verdict(&inputs(&tree(0), &other)), Some(Verdict::Additive));
    assert_eq!(verdict(&inputs(&tree(1), &other)), Some(Verdict::Additive));
}

#[test]
fn numbers_compare_by_value() {
    for (old, new) in [
        (json!({ "maximum": 100 }), json!({ "maximum": 1e2 })),
        (json!({ "enum": [1, 2.0] }), json!({ "enum": [2, 1.0] })),
        (json!({ "const": { "a": [1] } }), json!({ "const": { "a": [1.0] } })),
        (json!({ "minLength": 2.0 }), json!({ "minLength": 2 })),
    ] {
        let differences = inputs(&document(DRAFT_2020_12, &old), &document(DRAFT_2020_12, &new));
        assert!(verdict(&differences) <= Some(Verdict::Cosmetic), "{old} to {new}: {differences:?}");
    }
    let large = |n: u64| json!({ "type": "integer", "maximum": n });
    let verdict = change((DRAFT_2020_12, large(9_007_199_254_740_993)), (DRAFT_2020_12, large(9_007_199_254_740_992)));
    assert!(verdict >= Some(Verdict::Unknown), "one less, which no float tells: {verdict:?}");
}
