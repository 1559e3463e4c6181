//! The order of the schemas that refer to one another, and the length of their chains.

use super::super::error::{SchemaDiagnostic, SchemaErrorKind};
use super::super::graph::{Graph, Node};

/// Returns the schemas in an order in which each follows those that apply to the same value.
pub(super) fn in_order(graph: &Graph<'_>) -> Result<Vec<usize>, SchemaDiagnostic> {
    sorted(graph, |node| node.beside().collect()).map_err(|id| {
        let message = "the schema refers to itself for the same value, which would never end";
        SchemaDiagnostic::new(SchemaErrorKind::InvalidSchema, graph.pointer(id), message)
    })
}

/// Sorts the schemas so that each follows its `others`. Returns a schema of a cycle if there is one.
pub(super) fn sorted(graph: &Graph<'_>, others: impl Fn(&Node<'_>) -> Vec<usize>) -> Result<Vec<usize>, usize> {
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
pub(super) fn longest(graph: &Graph<'_>, order: &[usize], others: impl Fn(&Node<'_>) -> Vec<usize>) -> usize {
    let mut lengths = vec![1; graph.nodes.len()];
    for &id in order {
        lengths[id] += others(&graph.nodes[id]).into_iter().map(|other| lengths[other]).max().unwrap_or_default();
    }
    lengths.into_iter().max().unwrap_or(1)
}
