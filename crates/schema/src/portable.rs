//! Rewriting of schemas in keywords that more readers support.

use serde_json::{Map, Value, json};

use super::doc_link::without_doc_links;
use super::walk;

/// Rewrites `schema` without changing its meaning to serde.
///
/// - A subschema `true` becomes `{}` and `false` becomes `{"not": {}}`, except where a boolean is common, as in
///   `additionalProperties`.
/// - The integer and number formats of Rust are replaced by the bounds of an 8, 16 or 32-bit integer. Integers of 64
///   bits and more get no maximum, since a JavaScript client could not represent it.
/// - A choice between string constants becomes one `enum`, whose description includes the descriptions of the
///   constants.
/// - A link of rustdoc in a description becomes its text.
///
/// The values of `default`, `examples`, `const` and `enum` are not changed, nor is a schema with more than 100,000
/// values or 128 levels.
pub fn make(schema: &mut Value) {
    if walk::is_tractable(schema) {
        let keep_choices = points_into_a_choice(schema);
        rewrite(schema, keep_choices);
    }
}

fn rewrite(schema: &mut Value, keep_choices: bool) {
    match schema {
        Value::Bool(true) => *schema = json!({}),
        Value::Bool(false) => *schema = json!({ "not": {} }),
        Value::Object(map) => {
            walk::each_mut(map, |keyword, sub| {
                if !(sub.is_boolean() && boolean_is_usual(keyword)) {
                    rewrite(sub, keep_choices);
                }
            });
            replace_format(map);
            if let Some(Value::String(text)) = map.get_mut("description") {
                *text = without_doc_links(text);
            }
            if !keep_choices {
                collapse_choice(map);
            }
        }
        _ => {}
    }
}

fn boolean_is_usual(keyword: &str) -> bool {
    matches!(keyword, "additionalProperties" | "unevaluatedProperties" | "unevaluatedItems")
}

// A reference to a branch would dangle once the branches are collapsed into an `enum`.
fn points_into_a_choice(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.iter().any(|(key, value)| match value {
            Value::String(to) => key == "$ref" && walk::leads_into_a_choice(to),
            value => points_into_a_choice(value),
        }),
        Value::Array(list) => list.iter().any(points_into_a_choice),
        _ => false,
    }
}

fn replace_format(map: &mut Map<String, Value>) {
    let (integer, number) = (walk::may_be(map, "integer"), walk::may_be(map, "number"));
    let (min, max): (Option<i64>, Option<i64>) = match map.get("format").and_then(Value::as_str) {
        Some("int8") => (Some(i8::MIN.into()), Some(i8::MAX.into())),
        Some("int16") => (Some(i16::MIN.into()), Some(i16::MAX.into())),
        Some("int32") => (Some(i32::MIN.into()), Some(i32::MAX.into())),
        Some("uint8") => (Some(0), Some(u8::MAX.into())),
        Some("uint16") => (Some(0), Some(u16::MAX.into())),
        Some("uint32") => (Some(0), Some(u32::MAX.into())),
        Some("uint64" | "uint128" | "uint") => (Some(0), None),
        Some("int64" | "int128" | "int") if integer => (None, None),
        Some("float" | "double") if integer || number => (None, None),
        _ => return,
    };
    // These formats have another meaning for other types: an `int64` string is a number written in digits.
    if !(integer || number) {
        return;
    }
    map.shift_remove("format");
    if integer && !number {
        if let Some(min) = min {
            tighten(map, "minimum", "exclusiveMinimum", min, |there, min| there >= min);
        }
        if let Some(max) = max {
            tighten(map, "maximum", "exclusiveMaximum", max, |there, max| there <= max);
        }
    }
}

// 32-bit bounds are exact in an f64, so the comparison is exact too.
#[expect(clippy::cast_precision_loss, reason = "bounds of at most 32 bits are exact in an f64")]
fn tighten(map: &mut Map<String, Value>, keyword: &str, exclusive: &str, bound: i64, as_tight: fn(f64, f64) -> bool) {
    let there = |keyword| map.get(keyword).and_then(Value::as_f64).is_some_and(|there| as_tight(there, bound as f64));
    if !(there(keyword) || there(exclusive)) {
        map.insert(keyword.to_owned(), bound.into());
    }
}

fn collapse_choice(map: &mut Map<String, Value>) {
    let has = |keyword| map.contains_key(keyword);
    let keyword = match (has("oneOf"), has("anyOf")) {
        (true, false) => "oneOf",
        (false, true) => "anyOf",
        _ => return,
    };
    let typed = map.get("type").is_some_and(|ty| ty != "string");
    if typed || has("enum") || has("const") {
        return;
    }
    let Some(Value::Array(branches)) = map.get(keyword) else {
        return;
    };
    let Some((values, lines)) = constants(branches, keyword == "oneOf") else {
        return;
    };

    let mut description = match map.get("description") {
        Some(Value::String(text)) => text.clone(),
        Some(_) => return,
        None => String::new(),
    };
    if !lines.is_empty() {
        if !description.is_empty() {
            description.push_str("\n\n");
        }
        description.push_str(&lines.join("\n"));
        map.insert("description".to_owned(), description.into());
    }
    map.shift_remove(keyword);
    map.insert("type".to_owned(), "string".into());
    map.insert("enum".to_owned(), values.into());
}

/// Returns the values of branches that consist of string constants, and a line for each branch with a description.
fn constants(branches: &[Value], exclusive: bool) -> Option<(Vec<Value>, Vec<String>)> {
    let mut values = Vec::new();
    let mut lines = Vec::new();
    for branch in branches {
        let branch = branch.as_object()?;
        let known = |k: &String| matches!(k.as_str(), "type" | "const" | "enum" | "description");
        if !branch.keys().all(known) || branch.get("type").is_some_and(|ty| ty != "string") {
            return None;
        }
        let of_branch = match (branch.get("const"), branch.get("enum")) {
            (Some(value), None) => std::slice::from_ref(value),
            (None, Some(Value::Array(several))) => several,
            _ => return None,
        };
        for value in of_branch {
            value.as_str()?;
            match (values.contains(value), exclusive) {
                (false, _) => values.push(value.clone()),
                // Both branches of `oneOf` together reject such a value, but an `enum` would accept it.
                (true, true) => return None,
                (true, false) => {}
            }
        }
        if let Some(text) = branch.get("description") {
            let text = text.as_str()?.split_whitespace().collect::<Vec<_>>();
            let names: Vec<_> = of_branch.iter().filter_map(Value::as_str).collect();
            lines.push(format!("- `{}`: {}", names.join("`, `"), text.join(" ")));
        }
    }
    (!values.is_empty()).then_some((values, lines))
}
