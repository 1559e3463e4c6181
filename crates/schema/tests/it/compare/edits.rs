//! One-step edits of schemas, as authors make them.

use serde_json::{Map, Value, json};

use test_support::mutate::Dice;

/// Makes a single change somewhere in a schema.
pub fn edit(schema: &mut Value, dice: &mut Dice) {
    let mut places = Vec::new();
    find(schema, &mut String::new(), &mut places);
    let at = dice.pick(&places).clone();
    if let Some(Value::Object(keywords)) = schema.pointer_mut(&at) {
        change(keywords, dice, at.is_empty());
    }
}

fn find(schema: &Value, at: &mut String, places: &mut Vec<String>) {
    let Value::Object(keywords) = schema else {
        return;
    };
    places.push(at.clone());
    let mut below = |key: String, schema: &Value, places: &mut Vec<String>| {
        let length = at.len();
        at.push_str(&key);
        find(schema, at, places);
        at.truncate(length);
    };
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("properties" | "$defs", Value::Object(named)) => {
                for (name, schema) in named {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    below(format!("/{keyword}/{name}"), schema, places);
                }
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(list)) => {
                for (idx, schema) in list.iter().enumerate() {
                    below(format!("/{keyword}/{idx}"), schema, places);
                }
            }
            ("items" | "additionalProperties", schema) => below(format!("/{keyword}"), schema, places),
            _ => {}
        }
    }
}

fn change(keywords: &mut Map<String, Value>, dice: &mut Dice, is_root: bool) {
    for _ in 0..20 {
        let before = keywords.clone();
        match dice.below(12) {
            0 => drop(keywords.insert("description".to_owned(), json!("Otherwise."))),
            1 if keywords.get("type").is_some_and(|name| name == "integer") => {
                keywords.insert("type".to_owned(), json!("number"));
            }
            2 if keywords.get("type").is_some_and(|name| name == "string") => {
                let length = dice.below(4);
                keywords.insert("minLength".to_owned(), json!(length));
            }
            3 if keywords.get("type").is_some_and(|name| name == "integer" || name == "number") => {
                let bound = *dice.pick(&["minimum", "maximum"]);
                keywords.insert(bound.to_owned(), json!(dice.below(10)));
            }
            4 => {
                let bound = ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern"];
                bound.iter().for_each(|bound| drop(keywords.shift_remove(*bound)));
            }
            5 => {
                if let Some(Value::Object(properties)) = keywords.get_mut("properties") {
                    properties.insert("more".to_owned(), json!({ "type": ["string", "null"] }));
                }
            }
            6 => {
                if let Some(Value::Object(properties)) = keywords.get_mut("properties")
                    && let Some(name) = properties.keys().next().cloned()
                {
                    properties.shift_remove(&name);
                    if let Some(Value::Array(required)) = keywords.get_mut("required") {
                        required.retain(|other| *other != json!(name));
                    }
                }
            }
            7 => {
                let name = keywords.get("properties").and_then(Value::as_object).and_then(|named| named.keys().next());
                if let Some(name) = name.cloned()
                    && let Value::Array(required) = keywords.entry("required").or_insert_with(|| json!([]))
                {
                    match required.iter().position(|other| *other == json!(name)) {
                        Some(place) => drop(required.remove(place)),
                        None => required.push(json!(name)),
                    }
                }
            }
            8 => {
                if let Some(Value::Array(values)) = keywords.get_mut("enum") {
                    if dice.one_in(2) && values.len() > 1 {
                        values.pop();
                    } else {
                        values.push(json!("one more"));
                    }
                }
            }
            // The input of a tool remains an object.
            9 if !is_root => {
                if let Some(Value::String(name)) = keywords.get("type").cloned() {
                    keywords.insert("type".to_owned(), json!([name, "null"]));
                }
            }
            10 => {
                if let Some(open) = keywords.get("additionalProperties").and_then(Value::as_bool) {
                    keywords.insert("additionalProperties".to_owned(), json!(!open));
                }
            }
            _ if keywords.get("type").is_some_and(|name| name == "array") => {
                let bound = *dice.pick(&["minItems", "maxItems"]);
                keywords.insert(bound.to_owned(), json!(dice.below(4)));
            }
            _ => {}
        }
        if *keywords != before {
            return;
        }
    }
}
