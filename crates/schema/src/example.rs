//! Generation of small values that a schema is likely to accept.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::{Value, json};

use super::format;
use super::view::{Shape, View};

/// The maximum depth to which references and objects are followed. A value that needs more is not small.
const MAX_DEPTH: usize = 8;

/// Returns a small value for `schema`, preferably from its examples and defaults. The caller checks that it matches.
pub(super) fn minimal(schema: &Value) -> Option<Value> {
    within(schema, schema)
}

/// Returns an example of the value at `pointer`.
pub fn at(schema: &Value, pointer: &str) -> Option<Value> {
    within(schema, format::schema_at(schema, pointer)?)
}

/// Returns a small value for a part of a document.
pub(super) fn within(document: &Value, part: &Value) -> Option<Value> {
    value(&View::at(document, part), 0)
}

fn value(view: &View<'_>, depth: usize) -> Option<Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    let given = view.get("const").or_else(|| view.get("examples")?.get(0));
    let given = given.or_else(|| view.default().filter(|value| !value.is_null()));
    if let Some(given) = given.or_else(|| view.get("enum")?.get(0)) {
        return Some(given.clone());
    }
    // The fields of an alternative are required together.
    let alternatives = if view.get("properties").is_none() { view.alternatives() } else { Vec::new() };
    if let Some(value) = alternatives.iter().find_map(|view| value(view, depth + 1)) {
        return Some(value);
    }
    let number = |keyword: &str| view.get(keyword).and_then(Value::as_i64);
    match view.shape() {
        Shape::Null => Some(Value::Null),
        Shape::Boolean => Some(json!(true)),
        Shape::Integer | Shape::Number => {
            let least = number("minimum").or_else(|| number("exclusiveMinimum").map(|least| least.saturating_add(1)));
            // An author who states a positive minimum means numbers of that size; the minimum of a type says nothing.
            let least = least.filter(|least| *least >= 0);
            let most = number("maximum").or_else(|| number("exclusiveMaximum").map(|most| most.saturating_sub(1)));
            Some(json!(least.unwrap_or(1).min(most.unwrap_or(i64::MAX))))
        }
        Shape::Text => {
            if let Some(pattern) = view.get("pattern").and_then(Value::as_str) {
                let common = format::of_pattern(pattern).and_then(format::example).map(str::to_owned);
                return common.or_else(|| matching(pattern)).map(Value::String);
            }
            if let Some(text) = view.get("format").and_then(Value::as_str).and_then(format::example) {
                return Some(text.into());
            }
            if view.get("contentEncoding").is_some_and(|encoding| encoding == "base64") {
                return Some("aGVsbG8=".into());
            }
            let length = usize::try_from(number("minLength").unwrap_or(1)).ok()?;
            (length <= MAX_LEN).then(|| Value::String("a".repeat(length.max(1))))
        }
        Shape::Constants(constants) => constants.first().map(|constant| constant.value.clone()),
        Shape::Tuple(items) => items.iter().map(|item| value(item, depth + 1)).collect(),
        Shape::List(items) => match usize::try_from(number("minItems").unwrap_or(0)).ok()? {
            0 => Some(json!([])),
            n_items => {
                let item = value(&items?, depth + 1)?;
                (n_items <= 16).then(|| Value::Array(vec![item; n_items]))
            }
        },
        Shape::Map(_) | Shape::Any => Some(json!({})),
        Shape::Object(fields) => {
            let required = fields.iter().filter(|field| field.is_required);
            required.map(|field| Some((field.name.to_owned(), value(&field.view, depth + 1)?))).collect()
        }
        Shape::Union(views) => views.iter().find_map(|view| value(view, depth + 1)),
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
