//! Closing a schema: what it does not name, it refuses.

mod copies;
mod join;
mod mode;
mod overlap;

use std::cell::Cell;

use serde_json::{Map, Value};

use self::copies::Copies;
use self::mode::Mode;
use super::walk;

/// Closes the objects that `schema` describes, at the root and nested, against properties it does not name.
///
/// A type that is open stays open: whatever has its own `additionalProperties` or `unevaluatedProperties`, as a map, a
/// flattened map or the author's word does, keeps it.
///
/// Closing follows composition. A schema that stands alone gets `additionalProperties: false`. Where several describe
/// one object (`$ref` beside `properties`, `oneOf` beside `properties`, `allOf`), they are merged in a private copy and
/// that is closed; a definition is closed for its uses on its own. Where they can't be merged the place where they meet
/// gets `unevaluatedProperties: false`, and the parts are private copies left open. That happens with two unions at one
/// place (two flattened enums), contradicting keywords, `then`, `else` and `dependentSchemas`, a schema that joins
/// itself, and a merge of more than 64 branches.
///
/// Inside `not`, `if`, `contains` and `propertyNames` nothing is closed: refusing more there would accept more, or test
/// for something else. The branches of a pure `anyOf` or `oneOf` are whole alternatives and each is closed on its own,
/// so a value that several open branches of `oneOf` accepted may now be accepted by exactly one.
///
/// A schema that names its parts by `$anchor` or a nested `$id`, or has more than 100,000 values or 128 levels, is left
/// alone.
///
/// # Examples
///
/// ```
/// # use serde_json::json;
/// let mut schema = json!({ "type": "object", "properties": { "a": {} } });
/// toolkit::schema::close::close(&mut schema);
/// assert_eq!(schema["additionalProperties"], json!(false));
/// ```
pub fn close(schema: &mut Value) {
    if !schema.is_object() || !walk::is_tractable(schema) {
        return;
    }
    let original = std::mem::take(schema);
    *schema = Closer::new(&original).document();
}

/// Copies `original`, closed. Reads only the original, so that whatever is merged is still open.
struct Closer<'a> {
    original: &'a Value,
    copies: Copies<'a>,
    /// What is left to merge with, in JSON values.
    fuel: usize,
    /// How many schemas may still be looked at before it "can't be told" what they say.
    looks: Cell<usize>,
    depth: usize,
}

/// What a document may grow by, for each of its JSON values and at least: merging copies, and copies of copies.
const MERGE_FUEL: usize = 20;
const MERGE_FUEL_MIN: usize = 5_000;
/// How many schemas are looked at to find out whether parts disagree.
const LOOKS: usize = 100_000;
/// How deep a place may be for its schemas to be merged. A merge can lead to another inside it without end, where two
/// recursive schemas disagree, and each goes deeper.
const MERGE_DEPTH: usize = 64;

impl<'a> Closer<'a> {
    fn new(original: &'a Value) -> Self {
        Self {
            original,
            copies: Copies::new(original),
            fuel: MERGE_FUEL_MIN + MERGE_FUEL * walk::size(original),
            looks: Cell::new(LOOKS),
            depth: 0,
        }
    }

    fn document(mut self) -> Value {
        let mut root = self.convert(self.original, Mode::Closed);
        // A definition is copied when the first reference to it is, so one that nobody refers to is not there.
        let mut definitions = Map::new();
        while let Some((name, target, mode)) = self.copies.next() {
            let copy = self.convert(target, mode);
            definitions.insert(name, copy);
        }
        if let (Value::Object(root), false) = (&mut root, definitions.is_empty()) {
            root.insert("$defs".to_owned(), definitions.into());
        }
        // Those that only a merge which came to nothing referred to.
        walk::unused::remove_unused(&mut root);
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

    /// Leaves the parts that meet in `map` open and refuses what none of them names.
    fn guard(&mut self, map: &Map<String, Value>) -> Map<String, Value> {
        let (here, below) = self.without_refusing(map, Mode::Loose);
        let mut guarded = self.copy(map, here, below);
        if self.describes_an_object(map) {
            guarded.insert("unevaluatedProperties".to_owned(), false.into());
        }
        guarded
    }

    /// `here` and what is below it; but when two parts describe one property differently, closing each description
    /// would refuse what the other allows, so those stay as they are.
    fn without_refusing(&self, map: &Map<String, Value>, here: Mode) -> (Mode, Mode) {
        match (self.overlaps(map), here) {
            (false, _) => (here, Mode::Closed),
            (true, Mode::Loose) => (Mode::LooseOnly, Mode::Original),
            (true, _) => (Mode::Original, Mode::Original),
        }
    }

    /// Copies `map` with its parts that describe the same value in mode `here` and those that describe values inside
    /// it in mode `below`.
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
                    let mode = mode::of(keyword, here, below);
                    walk::rebuild(keyword, value, |sub| self.convert(sub, mode))
                }
            };
            copy.insert(keyword.clone(), value);
        }
        copy
    }
}

/// How a schema describes its value.
enum Composition {
    /// By its own keywords.
    Alone,
    /// By those of one other schema, or one of several.
    Elsewhere,
    /// By its own and others' together.
    Joined,
}

fn composition(map: &Map<String, Value>) -> Composition {
    let mut elsewhere =
        map.iter().filter(|(keyword, _)| mode::is_in_place(keyword)).map(|(keyword, value)| (keyword.as_str(), value));
    match (elsewhere.next(), elsewhere.next()) {
        (None, _) => Composition::Alone,
        (Some(_), Some(_)) => Composition::Joined,
        (Some((keyword, value)), None) => {
            let whole = match keyword {
                "$ref" | "anyOf" | "oneOf" => true,
                "allOf" => value.as_array().is_some_and(|parts| parts.len() == 1),
                _ => false,
            };
            if whole && !map.keys().any(|k| mode::is_about_objects(k)) {
                Composition::Elsewhere
            } else {
                Composition::Joined
            }
        }
    }
}

fn is_explicit(map: &Map<String, Value>) -> bool {
    map.contains_key("additionalProperties") || map.contains_key("unevaluatedProperties")
}

fn refuses_the_rest(keyword: &str, value: &Value) -> bool {
    matches!(keyword, "additionalProperties" | "unevaluatedProperties") && *value == false
}

/// Adds `additionalProperties: false` to a schema that describes an object by its properties.
fn seal(map: &mut Map<String, Value>) {
    let by_value = map.contains_key("const") || map.contains_key("enum");
    if by_value || is_explicit(map) || !mode::allows_objects(map) {
        return;
    }
    let named = |keyword: &str| map.get(keyword).and_then(Value::as_object).map_or(0, Map::len);
    let by_pattern = named("patternProperties") > 0;
    // With rules for keys or for their number, and no keys: a map in other words.
    let rules = ["propertyNames", "minProperties", "maxProperties"];
    if named("properties") == 0 && !by_pattern && rules.iter().any(|k| map.contains_key(*k)) {
        return;
    }
    // What is required is known, even if nothing is said of it.
    if let (Some(Value::Array(required)), false) = (map.get("required").cloned(), by_pattern) {
        let properties = map.entry("properties").or_insert_with(|| Map::new().into()).as_object_mut();
        if let Some(properties) = properties {
            for name in required.iter().filter_map(Value::as_str) {
                properties.entry(name).or_insert_with(|| Map::new().into());
            }
        }
    }
    map.insert("additionalProperties".to_owned(), false.into());
}
