//! Resolution of references, and the kinds of values that a schema accepts.

use serde_json::{Map, Value};

use super::Compiler;
use crate::number::integer;
use crate::plan::node::Kinds;
use crate::walk;

/// The maximum number of consecutive references. More are a cycle, or are treated as one.
const HOPS: usize = 32;

/// The maximum number of branches visited for one plan, since nested unions can double at every step.
const VISIT_BUDGET: usize = 10_000;

impl<'s> Compiler<'s> {
    /// Follows a `$ref` and an `allOf` with one element, if they are the only keyword of their schema.
    pub(super) fn follow(&self, mut schema: &'s Value) -> Option<&'s Value> {
        for _ in 0..HOPS {
            let Value::Object(keywords) = schema else {
                return Some(schema);
            };
            schema = match self.only_keyword(keywords)? {
                Some(("$ref", to)) => {
                    let target = to.as_str().and_then(|to| self.target(to));
                    self.or_record_obstacle(keywords, "$ref", target)?
                }
                Some(("allOf", Value::Array(all))) if all.len() == 1 => &all[0],
                _ => return Some(schema),
            };
        }
        None
    }

    /// Resolves a reference to the root or to a definition of the root. A longer path might pass through a value that
    /// is not a schema, or that changes the base URI.
    fn target(&self, reference: &str) -> Option<&'s Value> {
        let pointer = walk::pointer(reference)?;
        if pointer.is_empty() {
            return Some(self.root);
        }
        let name = pointer.strip_prefix("/$defs/").or_else(|| pointer.strip_prefix("/definitions/"))?;
        if name.contains('/') {
            return None;
        }
        self.root.pointer(&pointer)
    }

    /// Returns the kinds of values that a schema may accept: possibly too many, but never too few (except for
    /// [`Kinds::FLOAT`]).
    pub(super) fn kinds(&self, schema: &'s Value, hops: usize) -> Option<Kinds> {
        let hops = hops.checked_sub(1)?;
        self.visits.set(self.visits.get() + 1);
        (self.visits.get() <= VISIT_BUDGET).then_some(())?;
        let keywords = match self.follow(schema)? {
            Value::Bool(true) => return Some(Kinds::ALL),
            Value::Bool(false) => return Some(Kinds::NONE),
            Value::Object(keywords) => keywords,
            _ => return None,
        };
        if let Some(("anyOf" | "oneOf", Value::Array(branches))) = self.only_keyword(keywords)? {
            return branches.iter().try_fold(Kinds::NONE, |all, branch| Some(all.or(self.kinds(branch, hops)?)));
        }
        declared_kinds(keywords)
    }

    pub(super) fn kinds_of_branch(&self, schema: &'s Value) -> Option<Kinds> {
        self.kinds(schema, HOPS)
    }
}

/// Returns the kinds of values that `type`, `enum` and `const` allow.
pub(super) fn declared_kinds(keywords: &Map<String, Value>) -> Option<Kinds> {
    let types = match keywords.get("type") {
        None => Kinds::ALL,
        Some(Value::String(name)) => Kinds::from_type(name)?,
        Some(Value::Array(names)) => {
            names.iter().try_fold(Kinds::NONE, |all, name| Some(all.or(Kinds::from_type(name.as_str()?)?)))?
        }
        Some(_) => return None,
    };
    let values = match allowed_values(keywords)? {
        None => Kinds::ALL,
        Some(values) => values.iter().try_fold(Kinds::NONE, |all, value| Some(all.or(kind_of(value)?)))?,
    };
    Some(types.and(values))
}

/// Returns the values of `enum` or `const`, or `Some(None)` without either.
pub(super) fn allowed_values(keywords: &Map<String, Value>) -> Option<Option<&[Value]>> {
    match (keywords.get("enum"), keywords.get("const")) {
        (None, None) => Some(None),
        (Some(Value::Array(values)), None) => Some(Some(values)),
        (None, Some(value)) => Some(Some(std::slice::from_ref(value))),
        _ => None,
    }
}

/// Returns the kind of a value that can be compared during reading, or `None` for floats, arrays and objects.
fn kind_of(value: &Value) -> Option<Kinds> {
    match value {
        Value::Null => Some(Kinds::NULL),
        Value::Bool(true) => Some(Kinds::TRUE),
        Value::Bool(false) => Some(Kinds::FALSE),
        Value::Number(number) => integer(number).map(|_| Kinds::INTEGER),
        Value::String(_) => Some(Kinds::STRING),
        Value::Array(_) | Value::Object(_) => None,
    }
}
