//! Properties that only the branches of a condition or alternative declare.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::keywords::{BRANCHES, Object, add, list, required};
use crate::simplify::Simplifier;

impl Simplifier<'_> {
    /// Adds the properties that only the branches of a schema declare.
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
        // A closed object has no other properties, even if its branches declare some.
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
                required(schema, place)?.iter().filter_map(Value::as_str).for_each(|name| found.add_name(name));
                simple.insert(BRANCHES.to_owned(), found.0.into());
            }
        }
        Ok(())
    }
}

/// The properties in the branches of a schema. None is required; the dispatcher validates their combination.
#[derive(Default)]
struct Branches(Object);

impl Branches {
    /// Adds the properties of a branch. A property with different schemas in two branches becomes any value.
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

    /// Adds a property without a schema.
    fn add_name(&mut self, name: &str) {
        self.0.entry(name).or_insert_with(|| json!({}));
    }
}

/// Returns true if two schemas are equal except for their descriptions.
fn is_same(a: &Value, b: &Value) -> bool {
    let (Value::Object(a), Value::Object(b)) = (a, b) else { return a == b };
    let n_keywords = |schema: &Object| schema.len() - usize::from(schema.contains_key("description"));
    n_keywords(a) == n_keywords(b) && a.iter().all(|(word, value)| word == "description" || b.get(word) == Some(value))
}
