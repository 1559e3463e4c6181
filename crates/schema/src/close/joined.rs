//! Merging of the schemas that describe one object into a single schema that can be closed.
//!
//! Closing and merging call each other: the values inside a merged schema are closed in turn.

use serde_json::{Map, Value, json};

use super::{Closer, MERGE_DEPTH};
use crate::close::copies::{Mode, is_about_objects, refuses_the_rest, seal};
use crate::walk;

/// The maximum number of branches of a merged schema.
const MAX_BRANCHES: usize = 64;
/// The maximum number of references and nested parts that are followed from a schema.
const MAX_CHAIN: usize = 64;

/// The keywords of all schemas that apply to one value, taken from the original and not closed yet.
#[derive(Clone, Default)]
pub(super) struct Joined {
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
    pub(super) fn merge(&mut self, map: &Map<String, Value>) -> Option<Map<String, Value>> {
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
            let mode = super::copies::for_keyword(keyword, Mode::Closed, Mode::Closed);
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
                (keyword, _) if super::copies::is_in_place(keyword) => return None,
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
        Value::Object(mut only) if only.len() == 1 && only.contains_key("allOf") => only.shift_remove("allOf"),
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
