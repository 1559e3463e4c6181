//! Locations in a schema, as JSON Pointers, and the parts of a value that they describe.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::pointer::{child, tokens};
use crate::walk;

/// The maximum number of locations that are reached from one.
const MAX_PLACES: usize = 128;
/// The maximum number of properties of a map that are tried as keys.
const MAX_KEYS: usize = 32;

/// A schema in which locations are looked up.
pub(super) struct Places<'s>(pub(super) &'s Value);

/// A choice between objects that a constant property distinguishes.
pub(super) struct Tagged<'s> {
    pub(super) key: &'s str,
    pub(super) branches: Vec<Branch<'s>>,
}

/// An object of such a choice.
pub(super) struct Branch<'s> {
    pub(super) place: String,
    /// The value of the tag.
    pub(super) name: &'s str,
    pub(super) properties: &'s Map<String, Value>,
}

impl<'s> Places<'s> {
    /// Returns the branches of a choice that have a required constant text under the same key.
    pub(super) fn tagged(&self, places: &[String]) -> Option<Tagged<'s>> {
        let mut branches = places.iter().filter(|place| {
            let last = place.rsplit('/').next();
            last.is_some_and(|token| token.parse::<usize>().is_ok())
        });
        let tags_of = |place: &String| {
            let branch = self.at(place)?;
            let properties = branch.get("properties")?.as_object()?;
            let text = |(key, schema): (&'s String, &'s Value)| {
                let name = schema.get("const")?.as_str()?;
                walk::requires(branch, key).then_some((key.as_str(), name))
            };
            Some((properties, properties.iter().find_map(text)?))
        };
        let (key, first) = branches.find_map(|place| {
            let (properties, (key, name)) = tags_of(place)?;
            Some((key, Branch { place: place.clone(), name, properties }))
        })?;
        let rest = branches.filter_map(|place| {
            let (properties, (other, name)) = tags_of(place)?;
            (other == key).then(|| Branch { place: place.clone(), name, properties })
        });
        Some(Tagged { key, branches: std::iter::once(first).chain(rest).collect() })
    }

    /// Returns the schema at a location. Most tokens have no escapes, so that none is copied, as [`Value::pointer`] does.
    pub(super) fn at(&self, place: &str) -> Option<&'s Value> {
        tokens(place).try_fold(self.0, |value, token| match value {
            Value::Object(object) => object.get(&*token),
            Value::Array(items) => items.get(token.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// Returns the given locations and those of the schemas that they refer to or combine.
    pub(super) fn alternatives(&self, places: &[String]) -> Vec<String> {
        let mut found = places.to_vec();
        let mut idx = 0;
        while idx < found.len() && found.len() < MAX_PLACES {
            let place = found[idx].clone();
            idx += 1;
            let Some(Value::Object(schema)) = self.at(&place) else { continue };
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
        self.at(place)?.get("properties")?.as_object()
    }

    /// Returns the location of the object at `place`, or that it refers to, if it is closed and declares no properties.
    ///
    /// `{"type": "object"}` is the schema of a struct without fields, and what authors write for any object.
    pub(super) fn closed_without_properties(&self, place: &str) -> Option<String> {
        let reference = self.at(place)?.get("$ref").and_then(Value::as_str);
        let place = reference.map_or_else(|| Some(place.to_owned()), walk::pointer)?;
        let schema = self.at(&place)?.as_object()?;
        let is_closed = schema.get("additionalProperties").is_some_and(|more| *more == false);
        let is_bare = schema
            .keys()
            .all(|keyword| matches!(keyword.as_str(), "type" | "additionalProperties") || walk::is_annotation(keyword));
        (is_closed && is_bare).then_some(place)
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
            let Some(schema) = self.at(place) else { return Vec::new() };
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
        for schema in places.iter().filter_map(|place| self.at(place)) {
            let texts = schema.get("enum").and_then(Value::as_array).into_iter().flatten().chain(schema.get("const"));
            found.extend(texts.filter_map(Value::as_str));
            let properties = schema.get("properties").and_then(Value::as_object);
            found.extend(properties.into_iter().flat_map(Map::keys).map(String::as_str));
        }
        found
    }

    /// Returns the location of the schema with the name of a variant without data.
    pub(super) fn name_of(&self, places: &[String], variant: &str) -> Option<String> {
        let has_name = |place: &&String| {
            let schema = self.at(place);
            let names = schema.and_then(|schema| schema.get("enum")?.as_array());
            let name = schema.and_then(|schema| schema.get("const"));
            names.into_iter().flatten().chain(name).any(|name| name == variant)
        };
        places.iter().find(has_name).cloned()
    }

    /// Returns the location of the object that has the data of a variant, and the schema of the data.
    pub(super) fn object_with(&self, places: &[String], variant: &str) -> Option<(String, Option<&'s Value>)> {
        places.iter().find_map(|place| Some((place.clone(), Some(self.properties(place)?.get(variant)?))))
    }

    /// Returns the number of items that have a schema of their own.
    pub(super) fn n_items(&self, places: &[String]) -> usize {
        let prefix = |place: &String| self.at(place)?.get("prefixItems")?.as_array().map(Vec::len);
        places.iter().filter_map(prefix).max().unwrap_or(0)
    }

    /// Returns the locations that describe an item of an array.
    pub(super) fn item(&self, places: &[String], idx: usize) -> Vec<String> {
        let of = |place: &String| {
            let schema = self.at(place)?;
            let in_prefix = schema.get("prefixItems").is_some_and(|prefix| prefix.get(idx).is_some());
            match in_prefix {
                true => Some(child(&child(place, "prefixItems"), &idx.to_string())),
                false => schema.get("items").map(|_| child(place, "items")),
            }
        };
        places.iter().filter_map(of).collect()
    }
}
