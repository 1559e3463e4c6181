//! Comparison of two schemas by the values that they accept.
//!
//! A schema of inputs must still accept everything that it accepted, and a schema of outputs must still guarantee
//! everything that it guaranteed. This is decided by the meaning of the schemas and not by their text: each schema is
//! interpreted as in validation, by its own dialect, and `format` is an annotation.
//!
//! The module `prove` proves that one schema accepts every value of another. If there is no proof, `witness` searches
//! for a counterexample. Both stop within a `budget`: comparing two schemas takes at most 250,000 steps, and all
//! comparisons of one [`Comparer`] at most 20,000,000; a step visits one keyword, property or item. A comparison that
//! exceeds its budget has the verdict [`Verdict::Unknown`], and its description names the budget.
//!
//! ```
//! use serde_json::json;
//! use toolkit_schema::Schema;
//! use toolkit_schema::compare::{Comparer, Verdict};
//!
//! let [old, new] = [json!({ "type": "integer", "exclusiveMinimum": 0 }), json!({ "type": "integer", "minimum": 10 })];
//! let (old, new) = (Schema::from_value(old)?, Schema::from_value(new)?);
//! let differences = Comparer::run(|comparer| comparer.inputs(&old, &new));
//! assert_eq!(differences[0].verdict, Verdict::Breaking);
//! assert!(differences[0].to_string().starts_with("root rejects values that it accepted, for example "));
//!
//! let differences = Comparer::run(|comparer| comparer.outputs(Some(&old), Some(&new)));
//! assert_eq!(differences[0].verdict, Verdict::Additive);
//! # Ok::<(), toolkit_schema::SchemaError>(())
//! ```

mod budget;
mod prove;
mod witness;

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use self::budget::{Budget, TOTAL_STEPS, Undecided};
use self::prove::{Document, Prover, STACK, Stack, accepts_all};
use self::witness::witness;
use super::dialect::Dialect;
use super::pointer::child;
use super::schema::Schema;
use super::{equality, inline, walk};

/// The effect of a change on callers.
///
/// Verdicts are ordered by severity.
///
/// # Examples
///
/// ```
/// use toolkit_schema::compare::Verdict;
///
/// assert!(Verdict::Breaking > Verdict::Unknown);
/// assert!(Verdict::Unknown > Verdict::Additive, "an undecided change counts as breaking");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Verdict {
    /// Programs cannot observe the change.
    Cosmetic,
    /// More is accepted or guaranteed than before.
    Additive,
    /// The effect could not be decided. Counts as breaking.
    Unknown,
    /// Something that worked before no longer works.
    Breaking,
}

/// A difference between two schemas at one location. `Display` prints the location, the description and the example.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Difference {
    /// The effect on callers.
    pub verdict: Verdict,
    /// The location: a JSON Pointer into the schema with its definitions inlined.
    pub pointer: String,
    /// The description of the difference, as a sentence without its subject.
    pub what: String,
    /// A value that used to be accepted and no longer is, or that is allowed now and was not before, if one was found.
    pub example: Option<Value>,
}

/// Compares pairs of schemas within one budget.
pub struct Comparer {
    budget: Budget,
    stack: Stack,
}

impl Comparer {
    /// Runs comparisons on a thread with a large stack, because the depth of a proof follows that of the schemas.
    ///
    /// If the thread cannot be created, they run on the current one, with proofs of a small depth.
    pub fn run<T: Send>(compare: impl Fn(&Comparer) -> T + Sync) -> T {
        let compare_on = |stack| compare(&Comparer { budget: Budget::new(TOTAL_STEPS), stack });
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || compare_on(Stack::Large));
            let compared = thread.ok().and_then(|thread| thread.join().ok());
            compared.unwrap_or_else(|| compare_on(Stack::Unknown))
        })
    }

    /// Compares the schema of an input with a later one: every value that was accepted must still be accepted.
    #[must_use]
    pub fn inputs(&self, old: &Schema, new: &Schema) -> Vec<Difference> {
        differences(old, new, Direction::Input, self)
    }

    /// Compares the schema of an output with a later one: every value that is returned must have been allowed before.
    /// Without a schema, nothing is guaranteed.
    #[must_use]
    pub fn outputs(&self, old: Option<&Schema>, new: Option<&Schema>) -> Vec<Difference> {
        match (old, new) {
            (Some(old), Some(new)) => differences(old, new, Direction::Output, self),
            (Some(_), None) => vec![Difference::of_whole(Verdict::Breaking, "is no longer guaranteed")],
            (None, Some(_)) => vec![Difference::of_whole(Verdict::Additive, "is guaranteed now")],
            (None, None) => Vec::new(),
        }
    }
}

impl Difference {
    fn of_whole(verdict: Verdict, what: impl Into<String>) -> Self {
        Self { verdict, pointer: String::new(), what: what.into(), example: None }
    }
}

impl Verdict {
    /// Returns `cosmetic`, `additive`, `unknown` or `breaking`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Cosmetic => "cosmetic",
            Verdict::Additive => "additive",
            Verdict::Unknown => "unknown",
            Verdict::Breaking => "breaking",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "root" } else { &self.pointer };
        write!(f, "{place} {}", self.what)?;
        match &self.example {
            Some(example) => write!(f, ", for example {example}"),
            None => Ok(()),
        }
    }
}

/// The direction in which a schema must stay compatible.
#[derive(Clone, Copy, PartialEq)]
enum Direction {
    /// For input: every value that was accepted must still be accepted.
    Input,
    /// For output: every value that is returned must have been allowed before.
    Output,
}

/// Returns the differences between two schemas.
fn differences(old: &Schema, new: &Schema, direction: Direction, comparer: &Comparer) -> Vec<Difference> {
    if equality::equal(old.as_value(), new.as_value()) {
        return Vec::new();
    }
    for (schema, when) in [(old, "before"), (new, "now")] {
        if let Err(error) = schema.check_alone() {
            let what = format!("undecided: the schema {when} is not valid: {error}");
            return vec![Difference::of_whole(Verdict::Unknown, what)];
        }
    }
    let (old, new) = (old.as_value(), new.as_value());
    let [inlined_old, inlined_new] = [old, new].map(inline::inlined);
    let budget = comparer.budget.part();
    let (whole, why, example) = Pair::new(old, new, direction, &budget, comparer).verdict();
    if inlined_old == inlined_new && whole == Verdict::Cosmetic {
        return Vec::new();
    }
    let mut found = Vec::new();
    let (old, new) = (&inlined_old, &inlined_new);
    Pair::new(old, new, direction, &budget, comparer).find_differences(old, new, "", whole, &mut found);
    comparer.budget.deduct(&budget);
    // The verdict on the whole takes precedence: a change that breaks one location may be offset by another, or vice
    // versa.
    for difference in &mut found {
        difference.verdict = difference.verdict.min(whole);
    }
    if found.iter().map(|difference| difference.verdict).max() != Some(whole) {
        let what = why.unwrap_or_else(|| describe(whole, direction).to_owned());
        found.insert(0, Difference::of_whole(whole, what));
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
    fn new(old: &'s Value, new: &'s Value, direction: Direction, budget: &'b Budget, comparer: &'b Comparer) -> Self {
        let document = |root| Document::new(root, Dialect::from_document(root).unwrap_or(Dialect::Draft202012));
        let prover = Prover::new([document(old), document(new)], budget, comparer.stack);
        Self { old, new, direction, prover, all: &comparer.budget }
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
        if !accepts_all(&mut self.prover, has_to_cover, is_covered)? {
            return Ok(None);
        }
        Ok(Some(match accepts_all(&mut self.prover, old, new) {
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
        let requires =
            |schema: &Map<String, Value>, name: &str| walk::required(schema).any(|required| required == name);
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
