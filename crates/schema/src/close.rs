//! Closing of schemas against undeclared properties, which merges the schemas that describe one object.

mod copies;
mod overlap;

use serde_json::{Map, Value, json};

use self::copies::{Copies, Mode, is_about_objects, is_explicit, refuses_the_rest, seal};
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
    let original = std::mem::take(schema);
    *schema = Closer::new(&original).document();
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

// Merging of the schemas that describe one object into a single schema that can be closed.
//
// Closing and merging call each other: the values inside a merged schema are closed in turn.

/// The maximum number of branches of a merged schema.
const MAX_BRANCHES: usize = 64;
/// The maximum number of references and nested parts that are followed from a schema.
const MAX_CHAIN: usize = 64;

/// The keywords of all schemas that apply to one value, taken from the original and not closed yet.
#[derive(Clone, Default)]
struct Joined {
    keywords: Map<String, Value>,
    /// The choices: `oneOf` or `anyOf`, and the branches.
    unions: Vec<(&'static str, Vec<Value>)>,
    /// The references that were followed.
    chain: Vec<String>,
    /// The nesting depth of the schema that is being gathered.
    depth: usize,
}

impl Closer<'_> {
    /// Returns one closed schema equivalent to `map` and all that it combines, or `None` if there is none.
    fn merge(&mut self, map: &Map<String, Value>) -> Option<Map<String, Value>> {
        let mut joined = Joined::default();
        self.gather(map, &mut joined)?;
        let mut branches_left = MAX_BRANCHES;
        let depth = self.depth;
        let merged = self.distribute(joined, &mut branches_left);
        self.depth = depth;
        merged
    }

    /// Adds the keywords beside a choice to each of its branches, and closes the branches.
    fn distribute(&mut self, mut joined: Joined, branches_left: &mut usize) -> Option<Map<String, Value>> {
        self.depth += 1;
        if self.depth > MERGE_DEPTH {
            return None;
        }
        let Some((keyword, branches)) = joined.unions.pop() else {
            let mut closed = self.close_inside(&joined.keywords);
            seal(&mut closed);
            return Some(closed);
        };
        // The product of two choices would not resemble what the author wrote.
        if !joined.unions.is_empty() {
            return None;
        }

        let mut shared = joined.keywords.clone();
        shared.retain(|k, _| is_about_objects(k));
        // `type` is kept in both places, since many readers expect it at the root.
        let mut beside = joined.keywords;
        beside.retain(|k, _| k == "type" || !is_about_objects(k));
        let mut closed = self.close_inside(&beside);

        let mut merged = Vec::new();
        for branch in branches.iter().filter(|b| !is_ruled_out(&shared, b)) {
            *branches_left = branches_left.checked_sub(1)?;
            self.spend(shared.values())?;
            let mut joined = Joined { keywords: shared.clone(), chain: joined.chain.clone(), ..Joined::default() };
            self.gather_value(branch, &mut joined)?;
            merged.push(self.distribute(joined, branches_left)?.into());
            self.depth -= 1;
        }
        closed.insert(keyword.to_owned(), Value::Array(merged));
        Some(closed)
    }

    fn close_inside(&mut self, keywords: &Map<String, Value>) -> Map<String, Value> {
        let close = |(keyword, value): (&String, &Value)| {
            let mode = copies::for_keyword(keyword, Mode::Closed, Mode::Closed);
            let closed = walk::rebuild(keyword, value, |sub| self.convert(sub, mode));
            (keyword.clone(), closed)
        };
        keywords.iter().map(close).collect()
    }

    fn gather_value(&mut self, schema: &Value, into: &mut Joined) -> Option<()> {
        if into.depth >= MAX_CHAIN {
            return None;
        }
        match schema {
            Value::Object(map) => {
                into.depth += 1;
                self.gather(map, into)?;
                into.depth -= 1;
                Some(())
            }
            Value::Bool(true) => Some(()),
            _ => None,
        }
    }

    fn gather(&mut self, map: &Map<String, Value>, into: &mut Joined) -> Option<()> {
        // The keywords of the schema itself come first, so that its description takes precedence over that of a
        // reference.
        for (keyword, value) in map {
            match (keyword.as_str(), value) {
                ("oneOf", Value::Array(branches)) => into.unions.push(("oneOf", branches.clone())),
                ("anyOf", Value::Array(branches)) => into.unions.push(("anyOf", branches.clone())),
                ("$ref" | "allOf", _) => {}
                (keyword, _) if copies::is_in_place(keyword) => return None,
                ("$defs" | "definitions" | "$schema" | "$id", _) => {}
                _ => add(&mut into.keywords, keyword, value)?,
            }
            self.spend(std::iter::once(value))?;
        }
        if let Some(Value::String(reference)) = map.get("$ref") {
            if into.chain.contains(reference) {
                return None;
            }
            let target = walk::resolve(self.original, reference)?;
            into.chain.push(reference.clone());
            self.gather_value(target, into)?;
            // The branches of a choice are distributed later and may refer back to here.
            if into.unions.is_empty() {
                into.chain.pop();
            }
        }
        if let Some(Value::Array(parts)) = map.get("allOf") {
            for part in parts {
                self.gather_value(part, into)?;
            }
        }
        Some(())
    }

    fn spend<'v>(&mut self, values: impl Iterator<Item = &'v Value>) -> Option<()> {
        let mut pending: Vec<&Value> = values.collect();
        while let Some(value) = pending.pop() {
            self.fuel = self.fuel.checked_sub(1)?;
            match value {
                Value::Array(list) => pending.extend(list),
                Value::Object(map) => pending.extend(map.values()),
                _ => {}
            }
        }
        Some(())
    }
}

/// Adds a keyword to the gathered ones. Returns `None` if a single schema cannot express both.
fn add(keywords: &mut Map<String, Value>, keyword: &str, value: &Value) -> Option<()> {
    let keyword = match keyword {
        // A part that rejects undeclared properties would also reject those of the other parts. The merged schema is
        // closed instead.
        _ if refuses_the_rest(keyword, value) => return Some(()),
        // The two are equivalent in a schema without composition.
        "unevaluatedProperties" => "additionalProperties",
        keyword => keyword,
    };
    let Some(there) = keywords.get_mut(keyword) else {
        keywords.insert(keyword.to_owned(), value.clone());
        return Some(());
    };
    if there == value || walk::is_annotation(keyword) {
        return Some(());
    }
    match (keyword, there, value) {
        ("properties" | "patternProperties", Value::Object(there), Value::Object(more)) => {
            for (name, schema) in more {
                match there.get_mut(name) {
                    None => {
                        there.insert(name.clone(), schema.clone());
                    }
                    Some(there) => both(there, schema),
                }
            }
        }
        ("required", Value::Array(there), Value::Array(more)) => {
            for name in more {
                if !there.contains(name) {
                    there.push(name.clone());
                }
            }
        }
        ("additionalProperties", there, more) => both(there, more),
        ("type", there, more) => *there = common_types(there, more)?,
        _ => return None,
    }
    Some(())
}

/// Returns true if `branch` cannot match because the value must be an object, such as a string among the variants of a
/// tagged enum.
fn is_ruled_out(shared: &Map<String, Value>, branch: &Value) -> bool {
    let of_branch = match branch.get("type") {
        None => return false,
        Some(Value::Array(several)) => several.as_slice(),
        Some(one) => std::slice::from_ref(one),
    };
    let is_object = |ty: &Value| ty == "object";
    shared.get("type").is_some_and(is_object) && !of_branch.iter().any(is_object)
}

/// Combines two schemas in an `allOf`. The list is flat, since a hostile schema could otherwise nest it arbitrarily
/// deep.
fn both(there: &mut Value, more: &Value) {
    if there == more {
        return;
    }
    let all = match there.take() {
        Value::Object(mut only) if only.len() == 1 && only.contains_key("allOf") => only.remove("allOf"),
        one => Some(json!([one])),
    };
    if let Some(Value::Array(mut all)) = all {
        if !all.contains(more) {
            all.push(more.clone());
        }
        *there = json!({ "allOf": all });
    }
}

fn common_types(a: &Value, b: &Value) -> Option<Value> {
    let list = |types: &Value| match types {
        Value::Array(several) => several.clone(),
        one => vec![one.clone()],
    };
    let (a, b) = (list(a), list(b));
    let mut common: Vec<_> = a.into_iter().filter(|ty| b.contains(ty)).collect();
    match common.len() {
        // Possibly `integer` and `number`, possibly a contradiction. Neither is worth a merge.
        0 => None,
        1 => common.pop(),
        _ => Some(common.into()),
    }
}
