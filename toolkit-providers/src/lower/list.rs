//! Lists: items, tuples and lengths.

use serde_json::{Value, json};

use super::lowering::{Keywords, Lowering};
use crate::loss::Effect;
use toolkit_schema::child;

impl Lowering<'_> {
    /// Lowers the keywords of lists; `None` if no value is left.
    pub(super) fn lower_list(&mut self, keywords: &mut Keywords, at: &str) -> Option<()> {
        match keywords.remove("prefixItems") {
            Some(Value::Array(tuple)) => self.lower_tuple(keywords, tuple, at)?,
            _ => self.lower_items(keywords, at)?,
        }
        let is_array = match keywords.get("type") {
            Some(Value::Array(names)) => names.iter().any(|name| name == "array"),
            name => name.is_some_and(|name| name == "array"),
        };
        if self.dialect.items_required && is_array && !keywords.contains_key("items") {
            let items = self.schema(json!({}), &child(at, "items"))?;
            keywords.insert("items".to_owned(), items);
        }
        if let Some(most) = self.dialect.max_min_items
            && let Some(wanted) = keywords.get("minItems").and_then(Value::as_u64)
            && wanted > most
        {
            self.describe(keywords, "minItems");
            self.report(at, "minItems", Effect::Widened, format!("of more than {most} is moved to the description"));
            keywords.insert("minItems".to_owned(), most.into());
        }
        Some(())
    }

    /// Replaces `unevaluatedItems` by `items` where both have the same meaning, and removes it otherwise, if the dialect
    /// requires `items`, which evaluate all items.
    pub(super) fn lower_unevaluated_items(&mut self, keywords: &mut Keywords, at: &str) {
        if !self.dialect.items_required || !self.dialect.reads("unevaluatedItems") {
            return;
        }
        let Some(others) = keywords.remove("unevaluatedItems") else { return };
        let in_place =
            ["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "then", "else", "contains", "dependentSchemas"];
        if keywords.contains_key("items") {
            return;
        }
        if in_place.iter().any(|keyword| keywords.contains_key(*keyword)) {
            return self.report(
                at,
                "unevaluatedItems",
                Effect::Widened,
                "is not supported beside other parts of a schema",
            );
        }
        keywords.insert("items".to_owned(), others);
    }

    fn lower_items(&mut self, keywords: &mut Keywords, at: &str) -> Option<()> {
        let Some(items) = keywords.remove("items") else {
            return Some(());
        };
        match self.schema(items, &child(at, "items")) {
            Some(items) => drop(keywords.insert("items".to_owned(), items)),
            None => return self.limit_length(keywords, 0, at),
        }
        Some(())
    }

    /// Limits a list to `n` items, since no value matches the next one.
    fn limit_length(&mut self, keywords: &mut Keywords, n: u64, at: &str) -> Option<()> {
        if keywords.get("minItems").and_then(Value::as_u64).is_some_and(|least| least > n) {
            return self.exclude_type(keywords, "array", at);
        }
        if self.dialect.reads("maxItems") {
            let most = keywords.get("maxItems").and_then(Value::as_u64).unwrap_or(n).min(n);
            keywords.insert("maxItems".to_owned(), most.into());
            return Some(());
        }
        self.report(at, "items", Effect::Narrowed, format!("accepts no item after {n}; `maxItems` is not supported"));
        self.exclude_type(keywords, "array", at)
    }

    fn lower_tuple(&mut self, keywords: &mut Keywords, tuple: Vec<Value>, at: &str) -> Option<()> {
        let at_tuple = child(at, "prefixItems");
        let lowered = tuple.into_iter().enumerate();
        let lowered = lowered.map(|(idx, item)| self.schema(item, &child(&at_tuple, &idx.to_string())));
        let lowered: Vec<Option<Value>> = lowered.collect();
        // A list ends before the first position that accepts no value.
        if let Some(end) = lowered.iter().position(Option::is_none) {
            keywords.remove("items");
            let tuple: Vec<Value> = lowered.into_iter().take(end).flatten().collect();
            self.limit_length(keywords, end as u64, at)?;
            if !tuple.is_empty() && keywords.contains_key("maxItems") {
                return self.lower_supported_tuple(keywords, tuple, at);
            }
            return Some(());
        }
        self.lower_supported_tuple(keywords, lowered.into_iter().flatten().collect(), at)
    }

    fn lower_supported_tuple(&mut self, keywords: &mut Keywords, tuple: Vec<Value>, at: &str) -> Option<()> {
        if !self.dialect.reads("prefixItems") {
            return self.lower_tuple_to_items(keywords, tuple, at);
        }
        if self.dialect.items_required && keywords.get("items") == Some(&Value::Bool(false)) {
            keywords.remove("items");
            let most = keywords.get("maxItems").and_then(Value::as_u64).unwrap_or(u64::MAX).min(tuple.len() as u64);
            keywords.insert("maxItems".to_owned(), most.into());
        }
        keywords.insert("prefixItems".to_owned(), tuple.into());
        // `items: false` closes a tuple and is not the schema of an item.
        if keywords.get("items") != Some(&Value::Bool(false))
            && let Some(items) = keywords.remove("items")
        {
            let items = self.schema(items, &child(at, "items")).unwrap_or(Value::Bool(false));
            keywords.insert("items".to_owned(), items);
        }
        Some(())
    }

    /// Replaces the schemas of a tuple's items by a single one.
    fn lower_tuple_to_items(&mut self, keywords: &mut Keywords, mut tuple: Vec<Value>, at: &str) -> Option<()> {
        let closed = matches!(keywords.remove("items"), Some(Value::Bool(false)));
        let ends = keywords.get("maxItems").and_then(Value::as_u64).is_some_and(|most| most <= tuple.len() as u64);
        let all_alike = tuple.windows(2).all(|pair| pair[0] == pair[1]);
        if !(closed || ends) {
            self.report(at, "prefixItems", Effect::Widened, "is not supported; any item is accepted at any position");
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
            self.report(at, "prefixItems", Effect::Widened, "is not supported; each item is accepted at any position");
        }
        tuple.dedup();
        let items = match tuple.len() {
            1 => tuple.remove(0),
            _ => json!({ "anyOf": tuple }),
        };
        keywords.insert("items".to_owned(), items);
        Some(())
    }
}
