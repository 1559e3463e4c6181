//! Closing of schemas against undeclared properties, which merges the schemas that describe one object.

mod copies;
mod joined;
mod overlap;

use serde_json::{Map, Value};

use self::copies::{Copies, Mode, is_explicit, refuses_the_rest, seal};
use self::overlap::Overlap;
use super::walk;

/// Closes the objects that `schema` describes, at the root and nested, against properties that it does not declare.
///
/// An object with its own `additionalProperties` or `unevaluatedProperties` keeps it, so that maps, flattened maps and
/// types that an author opens explicitly stay open.
///
/// Closing follows composition. A schema that stands alone gets `additionalProperties: false`. If several schemas
/// describe one object (`$ref` beside `properties`, `oneOf` beside `properties`, `allOf`), they are merged into a
/// private copy, which is closed; a shared definition is closed separately for its other uses. If they cannot be
/// merged, the schema that combines them gets `unevaluatedProperties: false`, and its parts become private copies that
/// stay open. The following cannot be merged: two unions in one place (such as two flattened enums), contradicting
/// keywords, `then`, `else` and `dependentSchemas`, a schema that includes itself, and more than 64 branches.
///
/// Nothing is closed inside `not`, `if`, `contains` and `propertyNames`, where rejecting more would accept more or
/// change the test. The branches of a plain `anyOf` or `oneOf` are complete alternatives and are closed separately, so
/// a value that several open branches of a `oneOf` accepted may now be accepted by exactly one.
///
/// A schema that has an `$anchor` or a nested `$id`, more than 100,000 values or more than 128 levels is not changed.
///
/// # Examples
///
/// ```
/// # use serde_json::json;
/// let mut schema = json!({ "type": "object", "properties": { "a": {} } });
/// toolkit_schema::close::close(&mut schema);
/// assert_eq!(schema["additionalProperties"], json!(false));
/// ```
pub fn close(schema: &mut Value) {
    if !schema.is_object() || !walk::is_tractable(schema) {
        return;
    }
    if is_plain(schema) {
        seal_each(schema);
        return;
    }
    let original = std::mem::take(schema);
    *schema = Closer::new(&original).document();
}

/// Returns true if no schema of a document is combined with another one or is a test, as in those of most types: each object
/// is closed where it stands.
fn is_plain(schema: &Value) -> bool {
    let Value::Object(map) = schema else { return true };
    let stands_alone = |keyword: &String| {
        !copies::is_in_place(keyword) && !copies::is_test(keyword) && !walk::CONTAINERS.contains(&keyword.as_str())
    };
    let mut is_plain_below = true;
    map.keys().all(stands_alone) && {
        walk::each(map, |_, sub| is_plain_below = is_plain_below && is_plain(sub));
        is_plain_below
    }
}

fn seal_each(schema: &mut Value) {
    if let Value::Object(map) = schema {
        walk::each_mut(map, |_, sub| seal_each(sub));
        seal(map);
    }
}

/// Creates a closed copy of `original`. Merges read the original, in which nothing is closed yet.
struct Closer<'a> {
    original: &'a Value,
    copies: Copies<'a>,
    overlap: Overlap<'a>,
    /// The remaining budget for merging, in JSON values.
    fuel: usize,
    depth: usize,
}

/// The merge budget of a document, per JSON value and at least. Merging creates copies, and copies of copies.
const MERGE_FUEL: usize = 20;
const MERGE_FUEL_MIN: usize = 5_000;
/// The maximum depth of a location at which schemas are merged. Two recursive schemas that disagree can make each merge
/// lead to a deeper one, without end.
const MERGE_DEPTH: usize = 64;

impl<'a> Closer<'a> {
    fn new(original: &'a Value) -> Self {
        Self {
            original,
            copies: Copies::new(original),
            overlap: Overlap::new(original),
            fuel: MERGE_FUEL_MIN + MERGE_FUEL * walk::size(original),
            depth: 0,
        }
    }

    fn document(mut self) -> Value {
        let mut root = self.convert(self.original, Mode::Closed);
        // A definition is copied at its first reference, so that unreferenced definitions are dropped.
        let mut definitions = Map::new();
        while let Some((name, target, mode)) = self.copies.next() {
            let copy = self.convert(target, mode);
            definitions.insert(name, copy);
        }
        if let (Value::Object(root), false) = (&mut root, definitions.is_empty()) {
            root.insert("$defs".to_owned(), definitions.into());
        }
        // Removes the definitions that only an abandoned merge referred to.
        walk::remove_unused(&mut root);
        root
    }

    fn convert(&mut self, schema: &Value, mode: Mode) -> Value {
        let Value::Object(map) = schema else {
            return schema.clone();
        };
        self.depth += 1;
        let converted = self.convert_object(map, mode);
        self.depth -= 1;
        converted.into()
    }

    fn convert_object(&mut self, map: &Map<String, Value>, mode: Mode) -> Map<String, Value> {
        if mode != Mode::Closed {
            return self.copy(map, mode, mode.below());
        }
        if is_explicit(map) {
            let (here, below) = self.without_refusing(map, Mode::Open);
            return self.copy(map, here, below);
        }
        match composition(map) {
            Composition::Alone => {
                let mut closed = self.copy(map, mode, mode);
                seal(&mut closed);
                closed
            }
            Composition::Elsewhere => self.copy(map, mode, mode),
            Composition::Joined => self.merge(map).unwrap_or_else(|| self.guard(map)),
        }
    }

    /// Keeps the schemas combined in `map` open and rejects properties that none of them declares.
    fn guard(&mut self, map: &Map<String, Value>) -> Map<String, Value> {
        let (here, below) = self.without_refusing(map, Mode::Loose);
        let mut guarded = self.copy(map, here, below);
        if self.overlap.describes_an_object(map) {
            guarded.insert("unevaluatedProperties".to_owned(), false.into());
        }
        guarded
    }

    /// Returns `here` and the mode for the values inside. If two parts describe one property differently, closing both
    /// descriptions would reject what either allows, so the values inside are copied unchanged.
    fn without_refusing(&self, map: &Map<String, Value>, here: Mode) -> (Mode, Mode) {
        match (self.overlap.exists_in(map), here) {
            (false, _) => (here, Mode::Closed),
            (true, Mode::Loose) => (Mode::LooseOnly, Mode::Original),
            (true, _) => (Mode::Original, Mode::Original),
        }
    }

    /// Copies `map`: the parts that describe the same value in mode `here`, and those that describe values inside it in
    /// mode `below`.
    fn copy(&mut self, map: &Map<String, Value>, here: Mode, below: Mode) -> Map<String, Value> {
        let mut copy = Map::new();
        for (keyword, value) in map {
            if walk::CONTAINERS.contains(&keyword.as_str()) {
                continue;
            }
            if here.drops_refusals() && refuses_the_rest(keyword, value) {
                continue;
            }
            let value = match (keyword.as_str(), value) {
                ("$ref", Value::String(reference)) => self.copies.reference(reference, here).into(),
                _ => {
                    let mode = copies::for_keyword(keyword, here, below);
                    walk::rebuild(keyword, value, |sub| self.convert(sub, mode))
                }
            };
            copy.insert(keyword.clone(), value);
        }
        copy
    }
}

/// The composition of a schema for one value.
enum Composition {
    /// Only its own keywords.
    Alone,
    /// Only another schema, or a choice between several.
    Elsewhere,
    /// Several schemas together.
    Joined,
}

fn composition(map: &Map<String, Value>) -> Composition {
    let mut elsewhere = map
        .iter()
        .filter(|(keyword, _)| copies::is_in_place(keyword))
        .map(|(keyword, value)| (keyword.as_str(), value));
    match (elsewhere.next(), elsewhere.next()) {
        (None, _) => Composition::Alone,
        (Some(_), Some(_)) => Composition::Joined,
        (Some((keyword, value)), None) => {
            let whole = match keyword {
                "$ref" | "anyOf" | "oneOf" => true,
                "allOf" => value.as_array().is_some_and(|parts| parts.len() == 1),
                _ => false,
            };
            if whole && !map.keys().any(|k| copies::is_about_objects(k)) {
                Composition::Elsewhere
            } else {
                Composition::Joined
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Closer, close, is_plain};

    #[test]
    fn an_object_that_nothing_is_combined_with_is_closed_in_place_as_in_a_copy() {
        let inner = json!({ "type": "object", "properties": { "b": true }, "required": ["b", "c"] });
        let plain = [
            json!({ "type": "object", "properties": { "a": inner, "list": { "type": "array", "items": inner } } }),
            json!({ "type": ["object", "null"], "additionalProperties": inner, "properties": { "default": inner } }),
            json!({ "patternProperties": { "^x": inner }, "required": ["y"], "default": { "properties": {} } }),
            json!({ "type": "object", "minProperties": 1, "prefixItems": [inner, false], "items": inner }),
            json!({ "const": { "a": 1 }, "type": "object", "unevaluatedProperties": inner }),
        ];
        for schema in plain {
            assert!(is_plain(&schema), "{schema}");
            let mut closed = schema.clone();
            close(&mut closed);
            assert_eq!(closed, Closer::new(&schema).document());
        }
        let combined: [Value; 4] =
            [json!({ "$ref": "#" }), json!({ "not": {} }), json!({ "$defs": {} }), json!({ "items": { "anyOf": [] } })];
        assert!(!combined.iter().any(is_plain));
    }
}
