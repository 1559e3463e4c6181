//! Comparison of two schemas by the values that they accept.

use serde_json::{Map, Value};

use super::Verdict;
use super::budget::{Budget, Undecided};
use super::prove::{Document, Prover, Stack};
use super::witness::witness;
use toolkit_schema::equality;
use toolkit_schema::{Dialect, Schema, child, inline, walk};

/// The direction in which a schema must stay compatible.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Direction {
    /// For input: every value that was accepted must still be accepted.
    Input,
    /// For output: every value that is returned must have been allowed before.
    Output,
}

/// A difference at one location.
pub(super) struct Difference {
    pub(super) verdict: Verdict,
    pub(super) pointer: String,
    pub(super) what: String,
    pub(super) example: Option<Value>,
}

/// The resources of a comparison of catalogs.
pub(super) struct Work<'b> {
    pub(super) budget: &'b Budget,
    pub(super) stack: Stack,
}

/// Returns the differences between two schemas.
pub(super) fn differences(old: &Value, new: &Value, direction: Direction, work: &Work<'_>) -> Vec<Difference> {
    if equality::equal(old, new) {
        return Vec::new();
    }
    for (schema, when) in [(old, "before"), (new, "now")] {
        if let Err(error) = Schema::generated(schema.clone()).check_alone() {
            let what = format!("undecided: the schema {when} is not valid: {error}");
            return vec![Difference { verdict: Verdict::Unknown, pointer: String::new(), what, example: None }];
        }
    }
    let [inlined_old, inlined_new] = [old, new].map(|schema| {
        let mut schema = schema.clone();
        inline::inline(&mut schema);
        schema
    });
    let budget = work.budget.part();
    let (whole, why, example) = Pair::new(old, new, direction, &budget, work).verdict();
    if inlined_old == inlined_new && whole == Verdict::Cosmetic {
        return Vec::new();
    }
    let mut found = Vec::new();
    let (old, new) = (&inlined_old, &inlined_new);
    Pair::new(old, new, direction, &budget, work).find_differences(old, new, "", whole, &mut found);
    work.budget.deduct(&budget);
    // The verdict on the whole takes precedence: a change that breaks one location may be offset by another, or vice
    // versa.
    for difference in &mut found {
        difference.verdict = difference.verdict.min(whole);
    }
    if found.iter().map(|difference| difference.verdict).max() != Some(whole) {
        let what = why.unwrap_or_else(|| describe(whole, direction).to_owned());
        found.insert(0, Difference { verdict: whole, pointer: String::new(), what, example: None });
    }
    if let Some(worst) = found.iter_mut().find(|difference| difference.verdict == whole) {
        worst.example = example;
    }
    found
}

fn describe(verdict: Verdict, direction: Direction) -> &'static str {
    match (verdict, direction) {
        (Verdict::Breaking, Direction::Input) => "rejects values that it accepted",
        (Verdict::Breaking, Direction::Output) => "allows values that it did not allow before",
        (Verdict::Additive, Direction::Input) => "accepts more values",
        (Verdict::Additive, Direction::Output) => "guarantees more",
        _ => "is expressed differently",
    }
}

/// Two documents and their direction of compatibility.
struct Pair<'s, 'b> {
    old: &'s Value,
    new: &'s Value,
    direction: Direction,
    prover: Prover<'s, 'b>,
    /// The budget of all pairs, which also pays for the search for an example.
    all: &'b Budget,
}

impl<'s, 'b> Pair<'s, 'b> {
    fn new(old: &'s Value, new: &'s Value, direction: Direction, budget: &'b Budget, work: &'b Work<'b>) -> Self {
        let document = |root| Document::new(root, Dialect::from_document(root).unwrap_or(Dialect::Draft202012));
        let prover = Prover::new([document(old), document(new)], budget, work.stack);
        Self { old, new, direction, prover, all: work.budget }
    }

    /// Returns the verdict on the whole change, the reason if it is undecided, and an example if it breaks callers.
    fn verdict(&mut self) -> (Verdict, Option<String>, Option<Value>) {
        let (old, new) = (self.old, self.new);
        let unproven = match self.proven(old, new) {
            Ok(Some(verdict)) => return (verdict, None, None),
            Ok(None) => {
                let keyword = self.prover.unproven().map(|keyword| format!(": `{keyword}`")).unwrap_or_default();
                let accepts = match self.direction {
                    Direction::Input => "it still accepts every value that it accepted",
                    Direction::Output => "it allows only values that it allowed before",
                };
                format!("undecided: neither proven that {accepts}, nor refuted by an example{keyword}")
            }
            Err(stop) => stop.to_string(),
        };
        let example = match self.direction {
            Direction::Input => witness(old, new, self.all),
            Direction::Output => witness(new, old, self.all),
        };
        match example {
            Some(example) => (Verdict::Breaking, None, Some(example)),
            None => (Verdict::Unknown, Some(unproven), None),
        }
    }

    /// Returns the verdict on a change at one location, if it is proven to be compatible.
    fn proven(&mut self, old: &'s Value, new: &'s Value) -> Result<Option<Verdict>, Undecided> {
        let ((has_to_cover, is_covered), (old, new)) = match self.direction {
            Direction::Input => (((1, new), (0, old)), ((0, old), (1, new))),
            Direction::Output => (((0, old), (1, new)), ((1, new), (0, old))),
        };
        if !self.prover.accepts_all(has_to_cover, is_covered)? {
            return Ok(None);
        }
        Ok(Some(match self.prover.accepts_all(old, new) {
            Ok(true) => Verdict::Cosmetic,
            _ => Verdict::Additive,
        }))
    }

    /// Searches for the smallest locations that differ, along the properties of objects and the items of arrays.
    fn find_differences(
        &mut self,
        old: &'s Value,
        new: &'s Value,
        at: &str,
        whole: Verdict,
        found: &mut Vec<Difference>,
    ) {
        if old == new {
            return;
        }
        let before = found.len();
        if let (Some(was), Some(is)) = (old.as_object(), new.as_object()) {
            self.compare_properties(was, is, at, whole, found);
            if let (Some(was), Some(is)) = (was.get("items"), is.get("items")) {
                self.find_differences(was, is, &child(at, "items"), whole, found);
            }
            if without_annotations(was) == without_annotations(is) && found.len() == before {
                let what = "is described differently".to_owned();
                found.push(Difference { verdict: Verdict::Cosmetic, pointer: at.to_owned(), what, example: None });
                return;
            }
        }
        if found.len() == before {
            // A location that is not proven to be compatible gets the verdict of the whole.
            let verdict = self.proven(old, new).ok().flatten().unwrap_or(whole);
            let what = match verdict {
                // The reason is that of the whole.
                Verdict::Unknown => return,
                verdict => describe(verdict, self.direction).to_owned(),
            };
            found.push(Difference { verdict, pointer: at.to_owned(), what, example: None });
        }
    }

    fn compare_properties(
        &mut self,
        was: &'s Map<String, Value>,
        is: &'s Map<String, Value>,
        at: &str,
        whole: Verdict,
        found: &mut Vec<Difference>,
    ) {
        let [old, new] = [was, is].map(|schema| schema.get("properties").and_then(Value::as_object));
        let requires = |schema: &Map<String, Value>, name: &str| {
            schema
                .get("required")
                .and_then(Value::as_array)
                .is_some_and(|names| names.iter().any(|other| other == name))
        };
        let taken = self.direction == Direction::Input;
        let mut push = |name: &str, verdict: Verdict, what: &str| {
            let pointer = child(&child(at, "properties"), name);
            found.push(Difference { verdict, pointer, what: what.to_owned(), example: None });
        };
        let keys = |schema: Option<&'s Map<String, Value>>| schema.into_iter().flat_map(Map::keys);
        let (mut both, mut names): (Vec<&String>, Vec<&String>) = (Vec::new(), keys(old).chain(keys(new)).collect());
        names.sort_unstable();
        names.dedup();
        let has =
            |schema: Option<&Map<String, Value>>, name: &str| schema.is_some_and(|named| named.contains_key(name));
        for name in names {
            match (has(old, name), has(new, name), requires(was, name), requires(is, name)) {
                (true, true, required, requires) => {
                    both.push(name);
                    match (required, requires, taken) {
                        (false, true, true) => push(name, Verdict::Breaking, "is required now"),
                        (true, false, true) => push(name, Verdict::Additive, "is optional now"),
                        (true, false, false) => push(name, Verdict::Breaking, "is no longer guaranteed"),
                        (false, true, false) => push(name, Verdict::Additive, "is guaranteed now"),
                        _ => {}
                    }
                }
                (false, _, _, true) if taken => push(name, Verdict::Breaking, "is new and required"),
                (false, ..) => push(name, Verdict::Additive, "is new"),
                (true, _, true, _) if !taken => push(name, Verdict::Breaking, "is no longer returned"),
                (true, ..) if taken => push(name, Verdict::Breaking, "is no longer accepted"),
                _ => push(name, Verdict::Additive, "is no longer returned"),
            }
        }
        for name in both {
            if let (Some(old), Some(new)) = (old, new) {
                self.find_differences(&old[name], &new[name], &child(&child(at, "properties"), name), whole, found);
            }
        }
    }
}

/// Returns a schema without its annotations.
fn without_annotations(schema: &Map<String, Value>) -> Map<String, Value> {
    let kept = schema.iter().filter(|(keyword, _)| !walk::is_annotation(keyword));
    kept.map(|(keyword, value)| (keyword.clone(), value.clone())).collect()
}
