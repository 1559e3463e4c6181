//! Samples of arrays and objects.

use serde_json::{Map, Value, json};

use super::scalars::names;
use super::{MAX_SAME, MAX_SAMPLES, Sampler, WitnessSide};
use crate::Schema;

/// The maximum number of properties of an object that is generated for its size.
const MAX_COUNT: u64 = 32;
/// The maximum number of differing properties for which all samples are generated.
const MAX_DIFFERING: usize = 100;
/// The maximum number of properties of which each is omitted once.
const MAX_LEFT_OUT: usize = 16;

impl Sampler<'_> {
    /// Returns arrays of several lengths, and arrays that vary in one item.
    pub(super) fn lists(
        &self,
        side: WitnessSide,
        keywords: &Map<String, Value>,
        other: Option<&Value>,
        depth: usize,
    ) -> Vec<Value> {
        const MAX_ITEMS: u64 = 64;

        let get = |keyword: &str| keywords.get(keyword).filter(|value| !value.is_array());
        let rest = if self.is_draft_07(side) { get("items").or(get("additionalItems")) } else { get("items") };
        let same = other.and_then(|other| other.get("items")).filter(|other| !other.is_array());
        let items = self.samples(side, rest.unwrap_or(&Value::Bool(true)), same, depth - 1);
        let prefix = ["prefixItems", "items"].into_iter().find_map(|keyword| keywords.get(keyword)?.as_array());
        let prefix = prefix.map_or(&[][..], Vec::as_slice);
        let same = ["prefixItems", "items"].into_iter().find_map(|keyword| other?.get(keyword)?.as_array());
        let places = prefix.iter().enumerate().take(MAX_ITEMS as usize);
        let places: Vec<Vec<Value>> = places
            .map(|(idx, place)| self.samples(side, place, same.and_then(|same| same.get(idx)), depth - 1))
            .collect();
        let first: Vec<Value> = places.iter().filter_map(|values| values.first().cloned()).collect();
        let bounds = ["minItems", "maxItems"].into_iter();
        let bounds = bounds.flat_map(|bound| [keywords.get(bound), other.and_then(|other| other.get(bound))]);
        let bounds = bounds.filter_map(|bound| bound?.as_u64());
        let mut lengths: Vec<u64> =
            bounds.flat_map(|bound| [bound.saturating_sub(1), bound, bound.saturating_add(1)]).collect();
        lengths.extend([0, 1, 2, first.len() as u64, first.len() as u64 + 1]);
        lengths.retain(|length| *length <= MAX_ITEMS);
        let least = keywords.get("minItems").and_then(Value::as_u64).unwrap_or(1).clamp(1, MAX_ITEMS);
        let filled = |first: &[Value], item: &Value, length: u64| -> Value {
            let rest = (first.len() as u64..length).map(|_| item.clone());
            first.iter().take(length as usize).cloned().chain(rest).collect()
        };
        let mut lists: Vec<Value> = Vec::new();
        if let Some(item) = items.first() {
            lists.extend(lengths.into_iter().map(|length| filled(&first, item, length)));
        }
        let length = least.max(first.len() as u64 + 1);
        lists.extend(
            items.iter().filter(|_| self.spend_values(length as usize)).map(|item| filled(&first, item, length)),
        );
        for contained in [keywords.get("contains"), other.and_then(|other| other.get("contains"))].into_iter().flatten()
        {
            let items = self.samples(side, contained, None, depth - 1);
            for item in items.iter().take(MAX_SAME) {
                lists.extend((1..4).filter(|n| self.spend_values(*n)).map(|n| Value::Array(vec![item.clone(); n])));
            }
        }
        for (idx, values) in places.iter().enumerate() {
            let others = [Value::Null, json!(7), json!("another")];
            for value in values.iter().skip(1).chain(&others) {
                if idx >= first.len() || !self.spend_values(first.len() + 1) {
                    break;
                }
                let mut first = first.clone();
                first[idx] = value.clone();
                lists.push(Value::Array(first));
            }
        }
        lists
    }

    /// Returns the smallest and the largest object, and both with one property varied or omitted.
    pub(super) fn objects(
        &self,
        side: WitnessSide,
        keywords: &Map<String, Value>,
        other: Option<&Value>,
        depth: usize,
    ) -> Vec<Value> {
        let empty = Map::new();
        let properties = keywords.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let others = other.and_then(|other| other.get("properties")?.as_object()).unwrap_or(&empty);
        let required = names(Some(keywords), "required");
        let other_required = names(other.and_then(Value::as_object), "required");
        let mut of_each: Vec<(&str, Vec<Value>)> = Vec::new();
        let mut n_differing = 0;
        for (name, schema) in properties {
            let same = others.get(name);
            n_differing += usize::from(same != Some(schema));
            // A single difference is sufficient as an example.
            let same = if n_differing > MAX_DIFFERING { Some(schema) } else { same };
            of_each.push((name, self.fitting(side, schema, same, depth)));
        }
        let is_missing = |name: &&&str| !properties.contains_key(**name);
        of_each.extend(required.iter().filter(is_missing).map(|name| (*name, vec![Value::Null])));
        let first = |(name, values): &(&str, Vec<Value>)| Some(((*name).to_owned(), values.first()?.clone()));
        let full: Map<String, Value> = of_each.iter().filter_map(first).collect();
        let is_required = |name: &str| required.contains(&name);
        let least = full.iter().filter(|(name, _)| is_required(name));
        let least: Map<String, Value> = least.map(|(name, value)| (name.clone(), value.clone())).collect();
        let mut objects = vec![least.clone(), full.clone()];
        let mut add = |base: &Map<String, Value>, name: &str, value: Option<&Value>| {
            if !self.spend_values(base.len() + 1) {
                return;
            }
            let mut object = base.clone();
            match value {
                Some(value) => drop(object.insert(name.to_owned(), value.clone())),
                None => drop(object.shift_remove(name)),
            }
            objects.push(object);
        };
        // Each value is also tried alone, since two values together may be rejected for another reason.
        for (name, schema) in others.iter().filter(|(name, _)| !properties.contains_key(*name)).take(MAX_SAMPLES) {
            let mut values = self.samples(side.opposite(), schema, None, depth - 1);
            values.truncate(MAX_SAME);
            values.extend([json!({ "another": 1 }), json!("another"), json!(7), Value::Null]);
            values.iter().for_each(|value| add(&least, name, Some(value)));
        }
        let dependent = ["dependentRequired", "dependentSchemas", "dependencies"].into_iter().flat_map(|keyword| {
            let of_other = other.and_then(|other| other.get(keyword));
            [keywords.get(keyword), of_other].into_iter().flatten().filter_map(Value::as_object)
        });
        for key in dependent.flat_map(Map::keys).take(MAX_SAMPLES) {
            add(&least, key, full.get(key).or(Some(&Value::from(1))));
        }
        let pattern = keywords.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
        for (pattern, schema) in pattern.take(MAX_SAME) {
            let name = Schema::from_value(json!({ "type": "string", "pattern": pattern }));
            if let Some(Value::String(name)) = name.ok().and_then(|schema| schema.example()) {
                let values = self.samples(side, schema, None, depth - 1);
                values.iter().take(8).for_each(|value| add(&least, &name, Some(value)));
            }
        }
        for (name, values) in &of_each {
            let is_decided_otherwise = is_required(name) != other_required.contains(name);
            if of_each.len() <= MAX_LEFT_OUT || is_decided_otherwise || !others.contains_key(*name) {
                add(&least, name, None);
                add(&full, name, None);
                let mut one = least.clone();
                one.extend(full.get(*name).map(|value| ((*name).to_owned(), value.clone())));
                add(&one, "", None);
            }
            let differs = others.get(*name).is_some_and(|other| properties.get(*name) != Some(other));
            let n_values = if differs || of_each.len() <= MAX_LEFT_OUT { values.len() } else { 1 };
            for value in values.iter().skip(1).take(n_values) {
                add(&least, name, Some(value));
            }
        }
        for (name, values) in of_each.iter().take(MAX_SAMPLES) {
            values.iter().skip(1).for_each(|value| add(&full, name, Some(value)));
        }
        let counts = ["minProperties", "maxProperties"]
            .into_iter()
            .flat_map(|bound| [keywords.get(bound), other.and_then(|other| other.get(bound))].into_iter().flatten());
        for count in counts.filter_map(Value::as_u64).filter(|count| *count <= MAX_COUNT) {
            for (base, count) in [(&least, count.saturating_sub(1)), (&least, count + 1)] {
                let mut object = base.clone();
                let more = (0..).map(|n| (format!("more{n}"), json!(n)));
                object.extend(more.take((count as usize).saturating_sub(base.len())));
                add(&object, "", None);
            }
        }
        let rest = keywords.get("additionalProperties").filter(|rest| rest.is_object());
        let rest = rest.map(|rest| self.samples(side, rest, None, depth - 1)).unwrap_or_default();
        rest.iter().take(8).chain([&json!(1), &json!("a")]).for_each(|value| add(&least, "another", Some(value)));
        for (name, _) in others.iter().filter(|(name, _)| properties.contains_key(*name)).take(2) {
            add(&least, name, Some(&Value::Null));
        }
        objects.into_iter().map(Value::Object).collect()
    }
}
