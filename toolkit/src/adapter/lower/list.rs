//! Lists: items, tuples and lengths.

use serde_json::{Value, json};

use super::{Keywords, Lowering};
use crate::adapter::loss::Effect;
use toolkit_schema::child;

impl Lowering<'_> {
    /// Lowers the keywords of lists; `None` if no value is left.
    pub(super) fn lower_list(&mut self, keywords: &mut Keywords, at: &str) -> Option<()> {
        match keywords.remove("prefixItems") {
            Some(Value::Array(places)) => self.lower_places(keywords, places, at)?,
            _ => self.lower_items(keywords, at)?,
        }
        if let Some(most) = self.dialect.max_min_items
            && let Some(wanted) = keywords.get("minItems").and_then(Value::as_u64)
            && wanted > most
        {
            self.describe(keywords, "minItems");
            self.lose(at, "minItems", Effect::Widened, format!("of more than {most} is moved to the description"));
            keywords.insert("minItems".to_owned(), most.into());
        }
        Some(())
    }

    fn lower_items(&mut self, keywords: &mut Keywords, at: &str) -> Option<()> {
        let Some(items) = keywords.remove("items") else {
            return Some(());
        };
        match self.schema(items, &child(at, "items")) {
            Some(items) => drop(keywords.insert("items".to_owned(), items)),
            None => return self.end_at(keywords, 0, at),
        }
        Some(())
    }

    /// Limits a list to `n` items, since no value matches the next one.
    fn end_at(&mut self, keywords: &mut Keywords, n: u64, at: &str) -> Option<()> {
        if keywords.get("minItems").and_then(Value::as_u64).is_some_and(|least| least > n) {
            return self.without(keywords, "array", at);
        }
        if self.dialect.reads("maxItems") {
            let most = keywords.get("maxItems").and_then(Value::as_u64).unwrap_or(n).min(n);
            keywords.insert("maxItems".to_owned(), most.into());
            return Some(());
        }
        self.lose(at, "items", Effect::Narrowed, format!("accepts no item after {n}; `maxItems` is not supported"));
        self.without(keywords, "array", at)
    }

    fn lower_places(&mut self, keywords: &mut Keywords, places: Vec<Value>, at: &str) -> Option<()> {
        let at_places = child(at, "prefixItems");
        let lowered = places.into_iter().enumerate();
        let lowered = lowered.map(|(idx, place)| self.schema(place, &child(&at_places, &idx.to_string())));
        let lowered: Vec<Option<Value>> = lowered.collect();
        // A list ends before the first position that accepts no value.
        if let Some(end) = lowered.iter().position(Option::is_none) {
            keywords.remove("items");
            let places: Vec<Value> = lowered.into_iter().take(end).flatten().collect();
            self.end_at(keywords, end as u64, at)?;
            if !places.is_empty() && keywords.contains_key("maxItems") {
                return self.lower_read_places(keywords, places, at);
            }
            return Some(());
        }
        self.lower_read_places(keywords, lowered.into_iter().flatten().collect(), at)
    }

    fn lower_read_places(&mut self, keywords: &mut Keywords, places: Vec<Value>, at: &str) -> Option<()> {
        if !self.dialect.reads("prefixItems") {
            return self.lower_places_to_items(keywords, places, at);
        }
        keywords.insert("prefixItems".to_owned(), places.into());
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
    fn lower_places_to_items(&mut self, keywords: &mut Keywords, mut places: Vec<Value>, at: &str) -> Option<()> {
        let closed = matches!(keywords.remove("items"), Some(Value::Bool(false)));
        let ends = keywords.get("maxItems").and_then(Value::as_u64).is_some_and(|most| most <= places.len() as u64);
        let all_alike = places.windows(2).all(|pair| pair[0] == pair[1]);
        if !(closed || ends) {
            self.lose(at, "prefixItems", Effect::Widened, "is not supported; any item is accepted at any position");
            return Some(());
        }
        if closed {
            let n_places = places.len();
            let most = keywords.entry("maxItems").or_insert_with(|| n_places.into());
            if most.as_u64().is_some_and(|most| most > n_places as u64) {
                *most = n_places.into();
            }
        }
        if !all_alike {
            self.lose(at, "prefixItems", Effect::Widened, "is not supported; each item is accepted at any position");
        }
        places.dedup();
        let items = match places.len() {
            1 => places.remove(0),
            _ => json!({ "anyOf": places }),
        };
        keywords.insert("items".to_owned(), items);
        Some(())
    }
}
