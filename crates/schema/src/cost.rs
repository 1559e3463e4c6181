//! An upper bound for the cost of validation, computed from the schema alone: the order of the schemas that refer
//! to one another, and the number of visits to each level of a value.
//!
//! A validator visits a value once for each schema that applies to it. References make this exponential: in the depth
//! of the schema, if each of forty definitions refers to the next one twice, and in the depth of the *value*, if a
//! recursive schema applies several branches to the same property. Therefore the schemas that can meet at one location
//! are counted per level of the value, and a value whose levels add up to too many visits is rejected without being
//! visited.

mod visits;

use serde_json::Value;

use self::visits::{VISIT_BUDGET, VisitedBy, Visits};
use super::error::{SchemaDiagnostic, SchemaErrorKind};
use super::graph::{Graph, MAX_DEPTH, SchemaNode};
use super::json::is_deeper;

/// The bounds for the cost of values.
pub(super) struct Cost {
    /// The maximum depth of a value. Unlimited if the validator does not recurse with the value.
    depth: usize,
    /// The visits to validate a value, and those to explain why it does not match, which include every branch.
    checking: Visits,
    explaining: Visits,
}

/// The maximum number of visits for an explanation, each of which may allocate an error.
const EXPLANATION_BUDGET: u64 = 1_000_000;
/// The maximum depth of nested schemas, and with it the stack of the validator.
const MAX_STACK: usize = 384;
/// The minimum depth that a schema must allow for values. Otherwise the schema is rejected.
const MIN_DEPTH: usize = 4;

impl Cost {
    /// Counts the visits to a value of any shape.
    ///
    /// # Errors
    ///
    /// Returns the defect of a schema that is too expensive for any value.
    pub(super) fn new(graph: &Graph<'_>) -> Result<Self, SchemaDiagnostic> {
        let order = in_order(graph)?;
        let depth = depth(graph, &order)?;
        let checking = Visits::count(graph, &order, VisitedBy::Check)?;
        let has_tags = graph.nodes.iter().any(|node| !node.tagged.is_empty());
        let explaining =
            if has_tags { Visits::count(graph, &order, VisitedBy::Explanation)? } else { checking.clone() };
        Ok(Self { depth, checking, explaining })
    }

    /// Returns the bounds for values that `jsonschema` validates.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Cost::new`].
    #[cfg(feature = "jsonschema")]
    pub(super) fn of_library(self, graph: &Graph<'_>) -> Result<Self, SchemaDiagnostic> {
        Ok(Self { checking: Visits::count(graph, &in_order(graph)?, VisitedBy::Library)?, ..self })
    }

    /// Returns the rule that `instance` violates by its size, or `None` if it may be validated.
    pub(super) fn exceeded_limit(&self, instance: &Value) -> Option<String> {
        if self.depth < usize::MAX && is_deeper(instance, self.depth) {
            return Some(format!("is nested too deep: this schema accepts at most {} levels", self.depth));
        }
        self.checking.exceed(instance, VISIT_BUDGET).map(|level| {
            format!(
                "is too expensive to validate: too many subschemas apply to its parts at level {level}; send a smaller value"
            )
        })
    }

    /// Estimates the number of visits to `instance` and its parts.
    pub(super) fn estimate(&self, instance: &Value) -> u64 {
        self.checking.sum(instance)
    }

    /// Returns how much detail an explanation of `instance` can have within the limits.
    pub(super) fn error_detail(&self, instance: &Value) -> ErrorDetail {
        if is_deeper(instance, MAX_DEPTH) {
            ErrorDetail::None
        } else if self.explaining.exceed(instance, EXPLANATION_BUDGET).is_none() {
            ErrorDetail::Full
        } else if self.checking.exceed(instance, EXPLANATION_BUDGET).is_none() {
            ErrorDetail::Discriminated
        } else {
            ErrorDetail::None
        }
    }
}

/// The detail in which violations can be reported within the limits.
pub(super) enum ErrorDetail {
    Full,
    /// By visiting only the branches that match the tags of the value.
    Discriminated,
    None,
}

/// Returns the maximum depth of a value.
///
/// A schema without recursion visits a fixed number of levels. A recursive one descends with the value, and uses stack
/// for each level; so does the comparison of items.
fn depth(graph: &Graph<'_>, order: &[usize]) -> Result<usize, SchemaDiagnostic> {
    let highest = longest(graph, order, |node| node.beside().collect());
    let follows = match sorted(graph, |node| node.beside().chain(node.below()).collect()) {
        Ok(order) => longest(graph, &order, |node| node.beside().chain(node.below()).collect()) > MAX_STACK,
        Err(_) => true,
    };
    if !follows && !graph.compares_items {
        return Ok(usize::MAX);
    }
    let levels = MAX_STACK / highest;
    if levels < MIN_DEPTH {
        let most = MAX_STACK / MIN_DEPTH;
        let message = format!("more than {most} schemas refer to or combine one another in a chain, for one value");
        return Err(SchemaDiagnostic::new(SchemaErrorKind::TooComplex, "", message));
    }
    Ok(levels.min(MAX_DEPTH))
}

/// Returns the schemas in an order in which each follows those that apply to the same value.
fn in_order(graph: &Graph<'_>) -> Result<Vec<usize>, SchemaDiagnostic> {
    sorted(graph, |node| node.beside().collect()).map_err(|id| {
        let message = "the schema refers to itself for the same value, which would never end";
        SchemaDiagnostic::new(SchemaErrorKind::InvalidSchema, graph.pointer(id), message)
    })
}

/// Sorts the schemas so that each follows its `others`. Returns a schema of a cycle if there is one.
fn sorted(graph: &Graph<'_>, others: impl Fn(&SchemaNode<'_>) -> Vec<usize>) -> Result<Vec<usize>, usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; graph.nodes.len()];
    let mut order = Vec::with_capacity(graph.nodes.len());
    for start in 0..graph.nodes.len() {
        let mut pending = vec![(start, false)];
        while let Some((id, is_left)) = pending.pop() {
            if is_left {
                marks[id] = Mark::Done;
                order.push(id);
            } else if marks[id] == Mark::New {
                marks[id] = Mark::Open;
                pending.push((id, true));
                for other in others(&graph.nodes[id]) {
                    match marks[other] {
                        Mark::New => pending.push((other, false)),
                        Mark::Open => return Err(other),
                        Mark::Done => {}
                    }
                }
            }
        }
    }
    Ok(order)
}

/// Returns the length of the longest chain of schemas.
fn longest(graph: &Graph<'_>, order: &[usize], others: impl Fn(&SchemaNode<'_>) -> Vec<usize>) -> usize {
    let mut lengths = vec![1; graph.nodes.len()];
    for &id in order {
        lengths[id] += others(&graph.nodes[id]).into_iter().map(|other| lengths[other]).max().unwrap_or_default();
    }
    lengths.into_iter().max().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::dialect::Dialect;
    use crate::reference::References;

    fn cost(schema: &Value) -> Result<Cost, SchemaDiagnostic> {
        let references = References::new(schema, Dialect::Draft202012, false)?;
        Cost::new(&Graph::new(schema, Dialect::Draft202012, &references)?.0)
    }

    #[test]
    fn the_depth_of_a_value_is_bounded_only_if_the_validator_recurses_with_it() {
        for (schema, depth) in [
            (json!({}), usize::MAX),
            (json!({ "properties": { "a": { "items": { "type": "string" } } } }), usize::MAX),
            (json!({ "uniqueItems": true }), MAX_DEPTH),
            (json!({ "properties": { "a": { "$ref": "#" } } }), MAX_DEPTH),
            // Each level has a chain of five schemas: the reference, the root, and three nested parts.
            (json!({ "allOf": [{ "allOf": [{ "allOf": [{}] }] }], "items": { "$ref": "#" } }), MAX_STACK / 5),
        ] {
            assert_eq!(cost(&schema).unwrap().depth, depth, "{schema}");
        }
    }

    #[test]
    fn definitions_that_refer_twice_to_the_next_one_double_the_visits() {
        let doubling = |n: usize| {
            let next = |i: usize| json!({ "$ref": format!("#/$defs/{}", i + 1) });
            let mut definitions: Map<String, Value> =
                (0..n).map(|i| (i.to_string(), json!({ "allOf": [next(i), { "anyOf": [next(i)] }] }))).collect();
            definitions.insert(n.to_string(), json!({}));
            json!({ "$ref": "#/$defs/0", "$defs": definitions })
        };
        // Few visits are not counted.
        assert_eq!(cost(&doubling(4)).unwrap().estimate(&json!(1)), 64);
        let visits = |n| cost(&doubling(n)).unwrap().estimate(&json!(1));
        assert!(visits(10) > 1 << 10 && visits(11) > 2 * visits(10), "{} {}", visits(10), visits(11));
        assert_eq!(cost(&doubling(40)).err().unwrap().kind(), SchemaErrorKind::TooComplex);
    }

    #[test]
    fn a_value_is_explained_in_full_only_if_every_branch_can_be_visited() {
        let branch = |tag: &str| {
            let properties = json!({ "tag": { "const": tag }, "next": { "$ref": "#" } });
            json!({ "type": "object", "required": ["tag"], "properties": properties })
        };
        let cost = cost(&json!({ "oneOf": [branch("a"), branch("b"), branch("c")] })).unwrap();
        let nested = |n| (0..n).fold(json!(null), |next, _| json!({ "tag": "a", "next": next }));
        assert!(matches!(cost.error_detail(&nested(3)), ErrorDetail::Full));
        assert!(matches!(cost.error_detail(&nested(40)), ErrorDetail::Discriminated));
        assert!(matches!(cost.error_detail(&nested(MAX_DEPTH + 1)), ErrorDetail::None));
    }

    #[cfg(feature = "jsonschema")]
    #[test]
    fn a_value_that_cannot_be_interrupted_is_bounded_by_the_lists_that_it_is_compared_with() {
        use crate::Schema;

        let listed: Vec<u32> = (0..8_000).collect();
        let interrupted = json!({ "items": { "enum": listed } });
        let mut by_library = interrupted.clone();
        by_library["items"]["$anchor"] = json!("item");
        let values = json!(vec![0; 50_000]);
        assert!(Schema::from_value(interrupted).unwrap().is_valid(&values));
        let violations = Schema::from_value(by_library.clone()).unwrap().validate(&values).unwrap_err();
        assert!(violations.to_string().contains("too expensive to validate"), "{violations}");
        assert!(Schema::from_value(by_library).unwrap().is_valid(&json!(vec![0; 10_000])));
    }
}
