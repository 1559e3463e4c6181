//! Generation of small values that a schema is likely to accept.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::{Map, Value, json};

use super::{format, walk};

/// The maximum depth to which references and objects are followed. A value that needs more is not small.
const MAX_DEPTH: usize = 8;

/// Returns a small value for `schema`, preferably from its examples and defaults. The caller checks that it matches.
pub(super) fn minimal(schema: &Value) -> Option<Value> {
    value(schema, schema, 0)
}

/// Returns an example of the value at `pointer`.
pub fn at(schema: &Value, pointer: &str) -> Option<Value> {
    within(schema, format::schema_at(schema, pointer)?)
}

/// Returns a small value for a part of a document.
pub(super) fn within(document: &Value, part: &Value) -> Option<Value> {
    value(document, part, 0)
}

fn value(root: &Value, schema: &Value, depth: usize) -> Option<Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    let Some(schema) = schema.as_object() else {
        return (schema == &Value::Bool(true)).then_some(Value::Null);
    };
    let given = schema.get("const").or_else(|| schema.get("examples")?.get(0));
    let given = given.or_else(|| schema.get("default").filter(|value| !value.is_null()));
    let given = given.or_else(|| schema.get("enum")?.get(0));
    if let Some(given) = given {
        return Some(given.clone());
    }
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return value(root, walk::resolve(root, reference)?, depth + 1);
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(branches) = schema.get(keyword).and_then(Value::as_array) {
            let mut values = branches.iter().filter_map(|branch| value(root, branch, depth + 1));
            let first = values.next()?;
            if !schema.contains_key("properties") {
                return Some(first);
            }
        }
    }
    let named = match schema.get("type") {
        Some(Value::String(name)) => Some(name.as_str()),
        Some(Value::Array(names)) => names.iter().find_map(Value::as_str),
        _ => None,
    };
    let number = |keyword: &str| schema.get(keyword).and_then(Value::as_i64);
    match named {
        Some("object") | None => {
            let mut object = Map::new();
            let properties = schema.get("properties").and_then(Value::as_object);
            let required = schema.get("required").and_then(Value::as_array);
            for name in required.into_iter().flatten().filter_map(Value::as_str) {
                let property = properties.and_then(|properties| properties.get(name))?;
                object.insert(name.to_owned(), value(root, property, depth + 1)?);
            }
            Some(Value::Object(object))
        }
        Some("array") => {
            let n_items = usize::try_from(number("minItems").unwrap_or(0)).ok()?;
            if let Some(prefix) = schema.get("prefixItems").and_then(Value::as_array) {
                let items = prefix.iter().map(|item| value(root, item, depth + 1));
                return items.collect::<Option<Vec<_>>>().map(Value::Array);
            }
            if n_items == 0 {
                return Some(json!([]));
            }
            let item = value(root, schema.get("items")?, depth + 1)?;
            (n_items <= 16).then(|| Value::Array(vec![item; n_items]))
        }
        Some("string") => {
            if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
                let common = format::of_pattern(pattern).and_then(format::example).map(str::to_owned);
                return common.or_else(|| matching(pattern)).map(Value::String);
            }
            if let Some(text) = schema.get("format").and_then(Value::as_str).and_then(format::example) {
                return Some(text.into());
            }
            let length = usize::try_from(number("minLength").unwrap_or(1)).ok()?;
            (length <= 64).then(|| Value::String("a".repeat(length.max(1))))
        }
        Some("integer" | "number") => {
            let least = number("minimum").or_else(|| number("exclusiveMinimum").map(|least| least.saturating_add(1)));
            // An author who states a positive minimum means numbers of that size; the minimum of a type says nothing.
            let least = least.filter(|least| *least >= 0);
            let most = number("maximum").or_else(|| number("exclusiveMaximum").map(|most| most.saturating_sub(1)));
            Some(json!(least.unwrap_or(1).min(most.unwrap_or(i64::MAX))))
        }
        Some("boolean") => Some(json!(true)),
        Some("null") => Some(Value::Null),
        Some(_) => None,
    }
}

/// The maximum length of an example.
const MAX_LEN: usize = 64;

/// Returns a short string that `pattern` probably matches. The caller checks that it does.
fn matching(pattern: &str) -> Option<String> {
    let hir = ParserBuilder::new().unicode(false).utf8(false).nest_limit(64).build().parse(pattern).ok()?;
    let mut text = Vec::new();
    append(&hir, &mut text)?;
    String::from_utf8(text).ok()
}

fn append(hir: &Hir, text: &mut Vec<u8>) -> Option<()> {
    match hir.kind() {
        // Anchors need no characters, since the text is the whole value.
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.extend_from_slice(&literal.0),
        HirKind::Class(Class::Bytes(class)) => {
            let has = |byte: &u8| class.ranges().iter().any(|range| (range.start()..=range.end()).contains(byte));
            let byte = (b'a'..=b'z').chain(b'A'..=b'Z').chain(b'1'..=b'9').chain(b' '..=b'~').find(has);
            text.push(byte?);
        }
        HirKind::Class(Class::Unicode(class)) => {
            let first = class.ranges().first()?.start();
            text.extend_from_slice(first.encode_utf8(&mut [0; 4]).as_bytes());
        }
        HirKind::Repetition(repetition) => {
            // The repeated part may be empty, and then the length does not bound the loop.
            for _ in 0..repetition.min.min(MAX_LEN as u32 + 1) {
                append(&repetition.sub, text)?;
            }
        }
        HirKind::Capture(capture) => append(&capture.sub, text)?,
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| append(part, text))?,
        HirKind::Alternation(branches) => append(branches.first()?, text)?,
    }
    (text.len() <= MAX_LEN).then_some(())
}
