//! Names of variants whose tag is a property: aliases, and those that `#[serde(other)]` accepts.

use serde_json::{Map, Value, json};

use super::places::{Branch, Tagged};
use super::{Explorer, Position, Unlisted, quoted};
use crate::alias::OtherTag;
use crate::example;
use crate::pointer::child;

/// A name that no variant has.
pub(super) const NO_VARIANT: &str = "\u{1}none of the variants";

impl Explorer<'_> {
    /// Finds the names of variants that the schema of a tagged enum lacks. Returns false if the type is none.
    pub(super) fn explore_tags(&mut self, position: &Position, tagged: &Tagged<'_>, is_adjacent: bool) -> bool {
        let branches = &tagged.branches;
        let Some(sample) = branches.iter().find_map(|branch| self.sample(branch)) else { return false };
        let unknown = self.probe_after(position, &named(&sample, tagged.key, NO_VARIANT));
        let is_listed = |name: &&&'static str| branches.iter().any(|branch| branch.name == **name);
        let variants = unknown.variants.unwrap_or_default();
        if unknown.at_end && !unknown.is_rejected {
            let mut names: Vec<String> = branches.iter().map(|branch| branch.name.to_owned()).collect();
            names.sort_unstable();
            names.dedup();
            let other = OtherTag { key: tagged.key.to_owned(), name: None, names };
            // A flattened choice has a copy in each branch of another one.
            let first = |branch: &&Branch<'_>| branch.name == branches[0].name;
            self.found.tags.extend(branches.iter().filter(first).map(|branch| (branch.place.clone(), other.clone())));
        } else if !branches.iter().all(|branch| variants.contains(&branch.name)) {
            return false;
        }
        for (place, other) in variants.iter().enumerate().filter(|(_, name)| !is_listed(name)) {
            // serde lists a variant and its aliases side by side.
            let before = variants[..place].iter().rev().find(is_listed);
            let after = variants[place..].iter().find(is_listed);
            let near = |branch: &&Branch<'_>| [before, after].into_iter().flatten().any(|name| *name == branch.name);
            let mut near: Vec<&Branch<'_>> = branches.iter().filter(near).collect();
            near.sort_by_key(|branch| branch.name);
            near.dedup_by_key(|branch| branch.name);
            match self.owner_of_tag(position, tagged.key, &near, other) {
                Some(owner) => {
                    let (key, name) = (tagged.key.to_owned(), Some((*other).to_owned()));
                    let other = OtherTag { key, name, names: vec![owner.name.to_owned()] };
                    for Branch { place, .. } in branches.iter().filter(|branch| branch.name == owner.name) {
                        let found = (place.clone(), other.clone());
                        if !self.found.tags.contains(&found) {
                            self.found.tags.push(found);
                        }
                    }
                }
                None => self.found.unlisted.push((position.pointer.clone(), Unlisted::Variant(other))),
            }
        }
        if is_adjacent && !position.inside.iter().any(|outer| std::ptr::eq(*outer, variants)) {
            for Branch { name, place, properties, .. } in branches {
                if let Some(content) = properties.keys().find(|property| *property != tagged.key) {
                    let text = format!("{{{}:{},{}:", quoted(tagged.key), quoted(name), quoted(content));
                    let schema = child(&child(place, "properties"), content);
                    let mut inner = position.then(&text, content, vec![schema]);
                    inner.inside.push(variants);
                    self.pending.push_back(inner);
                }
            }
        }
        true
    }

    /// Returns the variant that an alias stands for. Returns `None` if it may be one of two with different data.
    fn owner_of_tag<'b, 's>(
        &mut self,
        position: &Position,
        key: &str,
        branches: &[&'b Branch<'s>],
        other: &str,
    ) -> Option<&'b Branch<'s>> {
        let mut owners = Vec::new();
        for branch in branches {
            let sample = self.sample(branch)?;
            let outcome = self.probe_after(position, &named(&sample, key, other));
            if outcome.at_end && !outcome.is_rejected {
                owners.push((*branch, sample));
            }
        }
        let [(first, first_sample), (second, second_sample)] = &owners[..] else {
            return owners.first().map(|(branch, _)| *branch);
        };
        // The variant whose data is not ignored rejects data of another type.
        if self.reads_own(position, key, other, first, second, first_sample) {
            return Some(first);
        }
        if self.reads_own(position, key, other, second, first, second_sample) {
            return Some(second);
        }
        // A variant without data of its own ignores that of the other.
        let has_no_own = |branch: &Branch<'_>, beside: &Branch<'_>| own(branch, beside, key).next().is_none();
        has_no_own(first, second).then_some(*first).or_else(|| has_no_own(second, first).then_some(*second))
    }

    /// Returns true if a name selects the variant of `branch`: a property that only this variant has is read.
    fn reads_own(
        &mut self,
        position: &Position,
        key: &str,
        other: &str,
        branch: &Branch<'_>,
        beside: &Branch<'_>,
        sample: &Map<String, Value>,
    ) -> bool {
        let wrong = [json!({ NO_VARIANT: null }), json!([[NO_VARIANT]]), json!(NO_VARIANT)];
        own(branch, beside, key).any(|name| {
            wrong.iter().any(|wrong| {
                let mut sample = sample.clone();
                sample.insert(name.clone(), wrong.clone());
                self.probe_after(position, &named(&sample, key, other)).is_rejected
            })
        })
    }

    fn sample(&self, branch: &Branch<'_>) -> Option<Map<String, Value>> {
        let schema = self.places.at(&branch.place)?;
        match example::within(self.places.0, schema)? {
            Value::Object(sample) => Some(sample),
            _ => None,
        }
    }
}

/// Returns the properties that one of two variants declares, or declares otherwise.
fn own<'b>(branch: &'b Branch<'_>, beside: &'b Branch<'_>, key: &'b str) -> impl Iterator<Item = &'b String> {
    let own = branch.properties.iter().filter(|(name, schema)| beside.properties.get(*name) != Some(schema));
    own.map(|(name, _)| name).filter(move |name| *name != key)
}

/// Returns the text of an object with a tag.
fn named(sample: &Map<String, Value>, key: &str, name: &str) -> String {
    let rest = sample.iter().filter(|(property, _)| *property != key);
    let rest: Vec<String> = rest.map(|(property, value)| format!(",{}:{value}", quoted(property))).collect();
    format!("{{{}:{}{}}}", quoted(key), quoted(name), rest.concat())
}
