//! Locations in a schema, as JSON Pointers, and the parts of a value that they describe.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::super::{child, walk};

/// The maximum number of locations that are reached from one.
const MAX_PLACES: usize = 128;
/// The maximum number of properties of a map that are tried as keys.
const MAX_KEYS: usize = 32;

/// A schema in which locations are looked up.
pub(super) struct Places<'s>(pub(super) &'s Value);

impl<'s> Places<'s> {
    /// Returns the given locations and those of the schemas that they refer to or combine.
    pub(super) fn alternatives(&self, places: &[String]) -> Vec<String> {
        let mut found = places.to_vec();
        let mut idx = 0;
        while idx < found.len() && found.len() < MAX_PLACES {
            let place = found[idx].clone();
            idx += 1;
            let Some(Value::Object(schema)) = self.0.pointer(&place) else { continue };
            let referred = schema.get("$ref").and_then(Value::as_str).and_then(walk::pointer);
            let choices = ["anyOf", "oneOf", "allOf"].into_iter().flat_map(|keyword| {
                let n_branches = schema.get(keyword).and_then(Value::as_array).map_or(0, Vec::len);
                let within = child(&place, keyword);
                (0..n_branches).map(move |branch| child(&within, &branch.to_string()))
            });
            for next in referred.into_iter().chain(choices) {
                if !found.contains(&next) {
                    found.push(next);
                }
            }
        }
        found
    }

    pub(super) fn properties(&self, place: &str) -> Option<&'s Map<String, Value>> {
        self.0.pointer(place)?.get("properties")?.as_object()
    }

    /// Returns the location of the object whose properties are all fields of a struct. Returns `None` unless it is
    /// unique.
    pub(super) fn object_of(&self, places: &[String], fields: &[&str]) -> Option<String> {
        let mut homes = places.iter().filter(|place| {
            let properties = self.properties(place);
            properties.is_some_and(|names| !names.is_empty() && names.keys().all(|name| fields.contains(&&**name)))
        });
        homes.next().filter(|_| homes.next().is_none()).cloned()
    }

    /// Returns the locations that describe the value of `key` in an object.
    pub(super) fn member(&self, places: &[String], key: &str) -> Vec<String> {
        let of = |place: &String| {
            let Some(schema) = self.0.pointer(place) else { return Vec::new() };
            if self.properties(place).is_some_and(|properties| properties.contains_key(key)) {
                return vec![child(&child(place, "properties"), key)];
            }
            let patterns = schema.get("patternProperties").and_then(Value::as_object);
            let within = child(place, "patternProperties");
            let mut found: Vec<String> =
                patterns.into_iter().flat_map(Map::keys).map(|pattern| child(&within, pattern)).collect();
            if schema.get("additionalProperties").is_some_and(Value::is_object) {
                found.push(child(place, "additionalProperties"));
            }
            found
        };
        places.iter().flat_map(of).collect()
    }

    /// Returns the names of the properties that a map declares.
    pub(super) fn keys(&self, places: &[String]) -> BTreeSet<String> {
        let names = places.iter().filter_map(|place| self.properties(place)).flat_map(Map::keys);
        names.take(MAX_KEYS).cloned().collect()
    }

    /// Returns the variants in the schema of an enum: strings, and objects with one property.
    pub(super) fn variants(&self, places: &[String]) -> BTreeSet<&'s str> {
        let mut found = BTreeSet::new();
        for schema in places.iter().filter_map(|place| self.0.pointer(place)) {
            let texts = schema.get("enum").and_then(Value::as_array).into_iter().flatten().chain(schema.get("const"));
            found.extend(texts.filter_map(Value::as_str));
            let properties = schema.get("properties").and_then(Value::as_object);
            found.extend(properties.into_iter().flat_map(Map::keys).map(String::as_str));
        }
        found
    }

    /// Returns the number of items that have a schema of their own.
    pub(super) fn n_items(&self, places: &[String]) -> usize {
        let prefix = |place: &String| self.0.pointer(place)?.get("prefixItems")?.as_array().map(Vec::len);
        places.iter().filter_map(prefix).max().unwrap_or(0)
    }

    /// Returns the locations that describe an item of an array.
    pub(super) fn item(&self, places: &[String], idx: usize) -> Vec<String> {
        let of = |place: &String| {
            let schema = self.0.pointer(place)?;
            let in_prefix = schema.get("prefixItems").is_some_and(|prefix| prefix.get(idx).is_some());
            match in_prefix {
                true => Some(child(&child(place, "prefixItems"), &idx.to_string())),
                false => schema.get("items").map(|_| child(place, "items")),
            }
        };
        places.iter().filter_map(of).collect()
    }
}
