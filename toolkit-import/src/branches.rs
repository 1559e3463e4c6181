//! The properties that only the branches of a condition or a choice name.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::simplify::Simplifier;
use crate::words::{BRANCHES, Object, add, list, required};

impl Simplifier<'_> {
    /// Adds the properties that only the branches of a schema name to those that it has.
    pub(crate) fn branches(
        &mut self,
        schema: &Object,
        simple: &mut Object,
        place: &str,
        is_part: bool,
    ) -> Result<(), String> {
        let mut found = match simple.remove(BRANCHES) {
            Some(Value::Object(of_parts)) => Branches(of_parts),
            _ => Branches::default(),
        };
        let has_properties = simple.contains_key("properties");
        if !has_properties && !is_part {
            return Ok(());
        }
        // A closed object takes no others, whatever its branches name.
        if schema.get("additionalProperties") != Some(&json!(false)) {
            let mut branches = list(schema, "oneOf", place)?;
            branches.extend(list(schema, "anyOf", place)?);
            let at = |word: &str| format!("{place}/{word}");
            branches.extend(["then", "else"].iter().filter_map(|word| Some((at(word), schema.get(*word)?))));
            if let Some(Value::Object(dependent)) = schema.get("dependentSchemas") {
                branches
                    .extend(BTreeMap::from_iter(dependent).values().map(|branch| (at("dependentSchemas"), *branch)));
            }
            for (at, branch) in branches {
                if let Value::Object(branch) = self.inlined(branch, &at)? {
                    found.add(branch);
                }
            }
        }
        match simple.get_mut("properties") {
            Some(Value::Object(properties)) => add(properties, found.0),
            _ => {
                required(schema, place)?.iter().filter_map(Value::as_str).for_each(|name| found.name(name));
                simple.insert(BRANCHES.to_owned(), found.0.into());
            }
        }
        Ok(())
    }
}

/// What the branches of one schema name, none of it required: which go together, the dispatcher checks.
#[derive(Default)]
struct Branches(Object);

impl Branches {
    /// Adds a branch: a property on which it and another one do not agree is any value.
    fn add(&mut self, mut branch: Object) {
        for word in ["properties", BRANCHES] {
            let Some(Value::Object(properties)) = branch.remove(word) else { continue };
            for (name, property) in properties {
                match self.0.get_mut(&name) {
                    Some(have) if !is_same(have, &property) => *have = json!({}),
                    Some(_) => {}
                    None => drop(self.0.insert(name, property)),
                }
            }
        }
    }

    /// Adds what has only a name.
    fn name(&mut self, name: &str) {
        self.0.entry(name).or_insert_with(|| json!({}));
    }
}

/// Whether two schemas differ in no more than what they say of themselves.
fn is_same(a: &Value, b: &Value) -> bool {
    let (Value::Object(a), Value::Object(b)) = (a, b) else { return a == b };
    let says = |schema: &Object| schema.len() - usize::from(schema.contains_key("description"));
    says(a) == says(b) && a.iter().all(|(word, value)| word == "description" || b.get(word) == Some(value))
}
