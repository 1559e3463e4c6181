//! Arrays and tuples.

use serde_json::{Value, json};

use super::lowering::{Lowering, describe};
use super::objects::exclude_type;
use super::schema::lower_schema;
use crate::dialect::Rule;
use crate::loss::Effect;
use toolkit_schema::merge::Keywords;
use toolkit_schema::{child, walk};

/// Lowers the keywords of lists; `None` if no value is left.
pub(super) fn lower_list(lowering: &mut Lowering<'_>, keywords: &mut Keywords, at: &str) -> Option<()> {
    match keywords.shift_remove("prefixItems") {
        Some(Value::Array(tuple)) => lower_tuple(lowering, keywords, tuple, at)?,
        _ => lower_items(lowering, keywords, at)?,
    }
    if lowering.requires(Rule::Items) && walk::may_be(keywords, "array") && !keywords.contains_key("items") {
        let items = lower_schema(lowering, json!({}), &child(at, "items"))?;
        keywords.insert("items".to_owned(), items);
    }
    if lowering.requires(Rule::MinItems) && keywords.get("minItems").and_then(Value::as_u64) > Some(1) {
        describe(keywords, "minItems");
        lowering.report(at, "minItems", Effect::Widened, "of more than 1 is moved to the description");
        keywords.insert("minItems".to_owned(), 1.into());
    }
    Some(())
}

/// Replaces `unevaluatedItems` by `items` where both have the same meaning, and removes it otherwise, if the dialect
/// requires `items`, which evaluate all items.
pub(super) fn lower_unevaluated_items(lowering: &mut Lowering<'_>, keywords: &mut Keywords, at: &str) {
    if !lowering.requires(Rule::Items) || !lowering.dialect.reads("unevaluatedItems") {
        return;
    }
    let Some(others) = keywords.shift_remove("unevaluatedItems") else { return };
    let in_place =
        ["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "then", "else", "contains", "dependentSchemas"];
    if keywords.contains_key("items") {
        return;
    }
    if in_place.iter().any(|keyword| keywords.contains_key(*keyword)) {
        return lowering.report(
            at,
            "unevaluatedItems",
            Effect::Widened,
            "is not supported beside other parts of a schema",
        );
    }
    keywords.insert("items".to_owned(), others);
}

fn lower_items(lowering: &mut Lowering<'_>, keywords: &mut Keywords, at: &str) -> Option<()> {
    let Some(items) = keywords.shift_remove("items") else {
        return Some(());
    };
    match lower_schema(lowering, items, &child(at, "items")) {
        Some(items) => drop(keywords.insert("items".to_owned(), items)),
        None => return limit_length(lowering, keywords, 0, at),
    }
    Some(())
}

/// Limits a list to `n` items, since no value matches the next one.
fn limit_length(lowering: &mut Lowering<'_>, keywords: &mut Keywords, n: u64, at: &str) -> Option<()> {
    if keywords.get("minItems").and_then(Value::as_u64).is_some_and(|least| least > n) {
        return exclude_type(lowering, keywords, "array", at);
    }
    if lowering.dialect.reads("maxItems") {
        let most = keywords.get("maxItems").and_then(Value::as_u64).unwrap_or(n).min(n);
        keywords.insert("maxItems".to_owned(), most.into());
        return Some(());
    }
    lowering.report(at, "items", Effect::Narrowed, format!("accepts no item after {n}; `maxItems` is not supported"));
    exclude_type(lowering, keywords, "array", at)
}

fn lower_tuple(lowering: &mut Lowering<'_>, keywords: &mut Keywords, tuple: Vec<Value>, at: &str) -> Option<()> {
    let at_tuple = child(at, "prefixItems");
    let lowered = tuple.into_iter().enumerate();
    let lowered = lowered.map(|(idx, item)| lower_schema(lowering, item, &child(&at_tuple, &idx.to_string())));
    let lowered: Vec<Option<Value>> = lowered.collect();
    // A list ends before the first position that accepts no value.
    if let Some(end) = lowered.iter().position(Option::is_none) {
        keywords.shift_remove("items");
        let tuple: Vec<Value> = lowered.into_iter().take(end).flatten().collect();
        limit_length(lowering, keywords, end as u64, at)?;
        if !tuple.is_empty() && keywords.contains_key("maxItems") {
            return lower_supported_tuple(lowering, keywords, tuple, at);
        }
        return Some(());
    }
    lower_supported_tuple(lowering, keywords, lowered.into_iter().flatten().collect(), at)
}

fn lower_supported_tuple(
    lowering: &mut Lowering<'_>,
    keywords: &mut Keywords,
    tuple: Vec<Value>,
    at: &str,
) -> Option<()> {
    if !lowering.dialect.reads("prefixItems") {
        return lower_tuple_to_items(lowering, keywords, tuple, at);
    }
    if lowering.requires(Rule::Items) && keywords.get("items") == Some(&Value::Bool(false)) {
        keywords.shift_remove("items");
        let most = keywords.get("maxItems").and_then(Value::as_u64).unwrap_or(u64::MAX).min(tuple.len() as u64);
        keywords.insert("maxItems".to_owned(), most.into());
    }
    keywords.insert("prefixItems".to_owned(), tuple.into());
    // `items: false` closes a tuple and is not the schema of an item.
    if keywords.get("items") != Some(&Value::Bool(false))
        && let Some(items) = keywords.shift_remove("items")
    {
        let items = lower_schema(lowering, items, &child(at, "items")).unwrap_or(Value::Bool(false));
        keywords.insert("items".to_owned(), items);
    }
    Some(())
}

/// Replaces the schemas of a tuple's items by a single one.
fn lower_tuple_to_items(
    lowering: &mut Lowering<'_>,
    keywords: &mut Keywords,
    mut tuple: Vec<Value>,
    at: &str,
) -> Option<()> {
    let closed = matches!(keywords.shift_remove("items"), Some(Value::Bool(false)));
    let ends = keywords.get("maxItems").and_then(Value::as_u64).is_some_and(|most| most <= tuple.len() as u64);
    let all_alike = tuple.windows(2).all(|pair| pair[0] == pair[1]);
    if !(closed || ends) {
        lowering.report(at, "prefixItems", Effect::Widened, "is not supported; any item is accepted at any position");
        return Some(());
    }
    if closed {
        let n_items = tuple.len();
        let most = keywords.entry("maxItems").or_insert_with(|| n_items.into());
        if most.as_u64().is_some_and(|most| most > n_items as u64) {
            *most = n_items.into();
        }
    }
    if !all_alike {
        lowering.report(at, "prefixItems", Effect::Widened, "is not supported; each item is accepted at any position");
    }
    tuple.dedup();
    let items = match tuple.len() {
        1 => tuple.remove(0),
        _ => json!({ "anyOf": tuple }),
    };
    keywords.insert("items".to_owned(), items);
    Some(())
}
