//! Two schemas of one thing, compared by what they accept.

use serde_json::{Map, Value};

use super::Verdict;
use super::covers::{alone, covers};
use super::witness::witness;
use crate::schema::{child, inline, walk};

/// Which of two schemas has to accept what the other does.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Direction {
    /// What was accepted has to be accepted still.
    Taken,
    /// What is given has to have been promised before.
    Given,
}

/// A difference at one place.
pub(super) struct Difference {
    pub(super) verdict: Verdict,
    pub(super) pointer: String,
    pub(super) what: String,
    pub(super) example: Option<Value>,
}

/// Every difference between two schemas.
pub(super) fn differences(old: &Value, new: &Value, direction: Direction) -> Vec<Difference> {
    let [old, new] = [old, new].map(|schema| {
        let mut schema = schema.clone();
        inline::inline(&mut schema);
        schema
    });
    if old == new {
        return Vec::new();
    }
    let pair = Pair { old: &old, new: &new, direction };
    let (whole, why) = verdict(&old, &new, direction);
    let mut found = Vec::new();
    pair.look(&old, &new, "", &mut found);
    // The whole decides: what looks like a break at its place may be made up for elsewhere, or the other way round.
    for difference in &mut found {
        difference.verdict = difference.verdict.min(whole);
    }
    if found.iter().map(|difference| difference.verdict).max() != Some(whole) {
        let what = why.unwrap_or_else(|| said(whole, direction).to_owned());
        found.insert(0, Difference { verdict: whole, pointer: String::new(), what, example: None });
    }
    if whole == Verdict::Breaking
        && let Some(worst) = found.iter_mut().find(|difference| difference.verdict == whole)
    {
        worst.example = match direction {
            Direction::Taken => witness(&old, &new),
            Direction::Given => witness(&new, &old),
        };
    }
    found
}

/// What a change from `old` to `new` means, and why that cannot be told.
fn verdict(old: &Value, new: &Value, direction: Direction) -> (Verdict, Option<String>) {
    let (has_to_cover, is_covered) = match direction {
        Direction::Taken => (new, old),
        Direction::Given => (old, new),
    };
    match covers(has_to_cover, is_covered) {
        Ok(true) => match covers(is_covered, has_to_cover) {
            Ok(true) => (Verdict::Cosmetic, None),
            _ => (Verdict::Additive, None),
        },
        Ok(false) => (Verdict::Breaking, None),
        // No proof either way; one value that is refused is proof enough.
        Err(_) if witness(is_covered, has_to_cover).is_some() => (Verdict::Breaking, None),
        Err(why) => (Verdict::Unknown, Some(why)),
    }
}

fn said(verdict: Verdict, direction: Direction) -> &'static str {
    match (verdict, direction) {
        (Verdict::Breaking, Direction::Taken) => "refuses what it accepted",
        (Verdict::Breaking, Direction::Given) => "gives what it did not promise",
        (Verdict::Additive, Direction::Taken) => "accepts more",
        (Verdict::Additive, Direction::Given) => "promises more",
        _ => "is said in other words",
    }
}

struct Pair<'s> {
    old: &'s Value,
    new: &'s Value,
    direction: Direction,
}

impl Pair<'_> {
    /// Looks for the smallest places that differ: along the properties of objects and the items of lists.
    fn look(&self, old: &Value, new: &Value, at: &str, found: &mut Vec<Difference>) {
        if old == new {
            return;
        }
        let before = found.len();
        if let (Some(was), Some(is)) = (old.as_object(), new.as_object()) {
            self.look_at_properties(was, is, at, found);
            if let (Some(was), Some(is)) = (was.get("items"), is.get("items")) {
                self.look(was, is, &child(at, "items"), found);
            }
            if only_described(was) == only_described(is) && found.len() == before {
                let what = "is described in other words".to_owned();
                found.push(Difference { verdict: Verdict::Cosmetic, pointer: at.to_owned(), what, example: None });
                return;
            }
        }
        if found.len() == before {
            let (verdict, why) = verdict(&alone(old, self.old), &alone(new, self.new), self.direction);
            let what = why.unwrap_or_else(|| said(verdict, self.direction).to_owned());
            found.push(Difference { verdict, pointer: at.to_owned(), what, example: None });
        }
    }

    fn look_at_properties(
        &self,
        was: &Map<String, Value>,
        is: &Map<String, Value>,
        at: &str,
        found: &mut Vec<Difference>,
    ) {
        let empty = Map::new();
        let [old, new] = [was, is].map(|schema| schema.get("properties").and_then(Value::as_object).unwrap_or(&empty));
        let requires = |schema: &Map<String, Value>, name: &str| {
            schema
                .get("required")
                .and_then(Value::as_array)
                .is_some_and(|names| names.iter().any(|other| other == name))
        };
        let taken = self.direction == Direction::Taken;
        let mut tell = |name: &str, verdict: Verdict, what: &str| {
            let pointer = child(&child(at, "properties"), name);
            found.push(Difference { verdict, pointer, what: what.to_owned(), example: None });
        };
        let (mut both, mut names): (Vec<&String>, Vec<&String>) = (Vec::new(), old.keys().chain(new.keys()).collect());
        names.sort_unstable();
        names.dedup();
        for name in names {
            match (old.contains_key(name), new.contains_key(name), requires(was, name), requires(is, name)) {
                (true, true, required, requires) => {
                    both.push(name);
                    match (required, requires, taken) {
                        (false, true, true) => tell(name, Verdict::Breaking, "is required now"),
                        (true, false, true) => tell(name, Verdict::Additive, "is optional now"),
                        (true, false, false) => tell(name, Verdict::Breaking, "is no longer promised"),
                        (false, true, false) => tell(name, Verdict::Additive, "is promised now"),
                        _ => {}
                    }
                }
                (false, _, _, true) if taken => tell(name, Verdict::Breaking, "is new and required"),
                (false, ..) => tell(name, Verdict::Additive, "is new"),
                (true, _, true, _) if !taken => tell(name, Verdict::Breaking, "is no longer given"),
                (true, ..) if taken => tell(name, Verdict::Breaking, "is no longer taken"),
                _ => tell(name, Verdict::Additive, "is no longer given"),
            }
        }
        for name in both {
            self.look(&old[name], &new[name], &child(&child(at, "properties"), name), found);
        }
    }
}

/// A schema without the words that only describe.
fn only_described(schema: &Map<String, Value>) -> Map<String, Value> {
    let kept = schema.iter().filter(|(keyword, _)| !walk::is_annotation(keyword));
    kept.map(|(keyword, value)| (keyword.clone(), value.clone())).collect()
}
