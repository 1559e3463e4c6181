//! Checks of a schema, before any value is validated.
//!
//! | module | part |
//! |---|---|
//! | `plain` | accepts at once a schema that has only common keywords |
//! | `meta` | the meta-schemas, which every schema must match |
//! | `compiled` | the validator of a schema: `evaluate` if it supports the keywords, otherwise `jsonschema` |
//! | `dialect`, `graph`, `reference` | the dialects, the subschemas and the references, in the modules beside this one |
//! | `patterns`, `cost` | bounds of the regular expressions, and of the work to validate a value |

mod compiled;
mod meta;
#[cfg(feature = "jsonschema")]
mod plain;
#[cfg(all(test, feature = "jsonschema"))]
mod tests;

use serde_json::Value;

pub(super) use self::compiled::Compiled;
#[cfg(feature = "jsonschema")]
use self::compiled::Library;
use super::cost::Cost;
use super::dialect::Dialect;
use super::error::{SchemaDiagnostic, SchemaError, SchemaErrorKind};
use super::graph::{Graph, GraphFindings};
use super::patterns::Patterns;
use super::plan::Pattern;
use super::plan::{Plan, PlanObstacle, pointer_to};
use super::pointer::child;
use super::reference::References;
use crate::evaluate;
use crate::evaluate::Evaluator;
use crate::graph::MAX_DEPTH;
use crate::walk;

/// A valid schema, with its validator and the limits of the values that it accepts.
pub(super) struct Checked {
    pub(super) compiled: Compiled,
    pub(super) cost: Cost,
}

/// The stack size of the thread that builds deep validators: several times the need of the deepest in a debug build.
const STACK: usize = 32 << 20;

/// Checks a schema, of which `has_plan` tells whether a plan supports it.
///
/// # Errors
///
/// Returns all defects that can be found. A defect of the size, dialect or root prevents the search for others.
pub(super) fn check(schema: &Value, has_plan: bool) -> Result<Checked, SchemaError> {
    if !schema.is_object() {
        let message = "a schema must be a JSON object; use `{}` to accept every value";
        return Err(SchemaDiagnostic::new(SchemaErrorKind::InvalidSchema, "", message).into());
    }
    let size = Size::measure(schema)?;
    let dialect = Dialect::from_document(schema)?;
    if size.is_shallow() {
        return build_checked(schema, dialect, size.has_names, has_plan);
    }
    let deep = || build_checked(schema, dialect, size.has_names, has_plan);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, deep);
        let checked = thread
            .map_err(|error| error.to_string())
            .and_then(|thread| thread.join().map_err(|_| "the thread that checks it panicked".to_owned()));
        checked.unwrap_or_else(|error| {
            let message = format!("cannot check a schema that is nested this deep: {error}");
            Err(SchemaDiagnostic::new(SchemaErrorKind::TooComplex, "", message).into())
        })
    })
}

fn build_checked(schema: &Value, dialect: Dialect, has_names: bool, has_plan: bool) -> Result<Checked, SchemaError> {
    let references = References::new(schema, dialect, has_names && cfg!(feature = "jsonschema"))?;
    let (graph, GraphFindings { patterns, mut diagnostics, .. }) = Graph::new(schema, dialect, &references)?;
    let patterns = Patterns::new(patterns)?;
    let compiles = |text: &str| match Pattern::is_supported(text) {
        true => Pattern::compile(text, patterns.max_bytes()).is_ok(),
        #[cfg(feature = "jsonschema")]
        false => patterns.compiles(dialect, text),
        #[cfg(not(feature = "jsonschema"))]
        false => false,
    };
    let mut failed = None;
    if diagnostics.is_empty() {
        let cost = Cost::new(&graph)?;
        match build(schema, dialect, &patterns, &graph, has_plan) {
            Ok(compiled) => {
                diagnostics.extend(match &compiled {
                    Compiled::Evaluator(evaluator) => {
                        patterns.broken(|text| evaluator.has_pattern(text), &graph, |_| true)
                    }
                    // The library has compiled the patterns that a value can reach.
                    #[cfg(feature = "jsonschema")]
                    Compiled::Library(_) => {
                        let reached = graph.reached();
                        patterns.broken(compiles, &graph, |pattern| !reached[pattern.node])
                    }
                });
                diagnostics.extend(check_unknown_locations(dialect, &graph));
                #[cfg(feature = "jsonschema")]
                let cost = match &compiled {
                    Compiled::Evaluator(_) => cost,
                    Compiled::Library(_) => cost.of_library(&graph)?,
                };
                return match diagnostics.is_empty() {
                    true => Ok(Checked { compiled, cost }),
                    false => Err(SchemaError::new(diagnostics)),
                };
            }
            Err(diagnostic) => failed = Some(diagnostic),
        }
    }
    diagnostics.extend(meta_schema_violations(schema, dialect, ""));
    diagnostics.extend(patterns.broken(compiles, &graph, |_| true));
    diagnostics.extend(check_unknown_locations(dialect, &graph));
    // The error of the validator is less precise than the others.
    if diagnostics.is_empty() {
        diagnostics.extend(failed);
    }
    Err(SchemaError::new(diagnostics))
}

/// Checks a schema like [`check`], without creating its validator.
///
/// # Errors
///
/// Returns the errors of [`check`].
pub(super) fn check_alone(schema: &Value, has_plan: impl FnOnce() -> bool) -> Result<(), SchemaError> {
    // Without `jsonschema`, a plain schema is valid only if it also has a plan.
    #[cfg(feature = "jsonschema")]
    if plain::is_plain(schema) {
        return Ok(());
    }
    check(schema, has_plan()).map(drop)
}

/// Returns the first keyword that needs the feature `jsonschema`, if it is disabled. Checks nothing else.
pub(super) fn missing_feature(schema: &Value) -> Option<SchemaDiagnostic> {
    if cfg!(feature = "jsonschema") {
        return None;
    }
    if Dialect::from_document(schema).ok()? == Dialect::Draft7 {
        let error = check(schema, Plan::compile(schema).is_some()).err()?;
        return error.diagnostics().iter().find(|found| found.kind() == SchemaErrorKind::UnsupportedKeyword).cloned();
    }
    let mut pending = vec![schema];
    while let Some(subschema) = pending.pop() {
        let Some(keywords) = subschema.as_object() else { continue };
        if let Some((keyword, _)) = keywords.iter().find(|(keyword, value)| evaluate::needs_library(keyword, value)) {
            return Some(needs_feature(&pointer_to(schema, keywords).unwrap_or_default(), keyword));
        }
        walk::each(keywords, |_, sub| pending.push(sub));
    }
    None
}

/// Returns the defect of a keyword that needs the feature `jsonschema`. An empty one stands for the size of the schema.
fn needs_feature(schema: &str, keyword: &str) -> SchemaDiagnostic {
    let (pointer, subject) = match keyword {
        "" => (schema.to_owned(), "a schema of this size".to_owned()),
        "pattern" | "patternProperties" => {
            (child(schema, keyword), "a pattern with look-around or a back reference".to_owned())
        }
        keyword => (child(schema, keyword), format!("this use of `{keyword}`")),
    };
    let message = format!("{subject} needs the feature `jsonschema` of `toolkit-core`");
    SchemaDiagnostic::new(SchemaErrorKind::UnsupportedKeyword, pointer, message)
}

/// Builds the validator of a schema.
fn build(
    schema: &Value,
    dialect: Dialect,
    patterns: &Patterns<'_>,
    graph: &Graph<'_>,
    has_plan: bool,
) -> Result<Compiled, SchemaDiagnostic> {
    if !has_plan {
        let obstacle = match dialect {
            Dialect::Draft202012 => obstacle(schema, graph),
            Dialect::Draft7 => Plan::obstacle(schema),
        };
        #[cfg(feature = "jsonschema")]
        if obstacle.is_some() {
            return Library::build(schema, dialect, patterns).map(|library| Compiled::Library(Box::new(library)));
        }
        #[cfg(not(feature = "jsonschema"))]
        if let Some(PlanObstacle { pointer, keyword }) = obstacle {
            return Err(needs_feature(&pointer, &keyword));
        }
    }
    match meta::is_valid(schema, dialect) {
        true => Ok(Compiled::Evaluator(Evaluator::new(schema, patterns.max_bytes()))),
        false => Err(SchemaDiagnostic::new(SchemaErrorKind::InvalidSchema, "", "does not match its meta-schema")),
    }
}

/// Returns the first keyword that the evaluator does not support, in a document of draft 2020-12.
fn obstacle(root: &Value, graph: &Graph<'_>) -> Option<PlanObstacle> {
    graph.schemas().find_map(|(id, schema)| {
        let keywords = schema.as_object().into_iter().flatten();
        let mut unsupported = keywords.filter(|(keyword, value)| !evaluate::supports(root, keyword, value));
        let (keyword, _) = unsupported.next()?;
        Some(PlanObstacle { pointer: graph.pointer(id), keyword: keyword.clone() })
    })
}

/// Returns the defects of schemas that are reached by reference at locations without schema keywords.
fn check_unknown_locations(dialect: Dialect, graph: &Graph<'_>) -> Vec<SchemaDiagnostic> {
    graph
        .unknown_locations()
        .flat_map(|(id, schema)| meta_schema_violations(schema, dialect, &graph.pointer(id)))
        .collect()
}

/// Returns the violations of the meta-schema.
fn meta_schema_violations(schema: &Value, dialect: Dialect, place: &str) -> Vec<SchemaDiagnostic> {
    let violations = meta::violations(schema, dialect);
    let diagnostics = violations.into_iter().map(|mut violation| {
        let pointer = format!("{place}{}", std::mem::take(&mut violation.pointer));
        let message = violation.to_string();
        // The pointer already contains the location.
        let message = message.strip_prefix("the value ").unwrap_or(&message);
        SchemaDiagnostic::new(SchemaErrorKind::InvalidSchema, pointer, message)
    });
    diagnostics.collect()
}

/// The maximum depth at which the validator is built on the caller's stack. Schemas written by people are below it.
const MAX_SHALLOW: usize = 24;

/// The size of a document, measured without descending deeper than the limit.
struct Size {
    depth: usize,
    /// True if the document may name a schema by `$id` or an anchor.
    has_names: bool,
}

impl Size {
    /// Returns true if the validator may be built on the caller's stack.
    fn is_shallow(&self) -> bool {
        self.depth <= MAX_SHALLOW
    }

    /// Measures a document.
    ///
    /// # Errors
    ///
    /// Returns the defect of a document that is too deep.
    fn measure(schema: &Value) -> Result<Self, SchemaDiagnostic> {
        let mut size = Self { depth: 0, has_names: false };
        let mut pending = vec![(schema, 0)];
        while let Some((value, depth)) = pending.pop() {
            size.depth = size.depth.max(depth);
            if depth > MAX_DEPTH {
                let message = format!("the schema is nested deeper than {} levels", MAX_DEPTH);
                return Err(SchemaDiagnostic::new(SchemaErrorKind::TooComplex, "", message));
            }
            match value {
                Value::Array(items) => pending.extend(items.iter().map(|item| (item, depth + 1))),
                Value::Object(object) => {
                    let is_name = |name: &&str| object.get(*name).is_some_and(Value::is_string);
                    size.has_names |= ["$id", "$anchor", "$dynamicAnchor"].iter().any(is_name);
                    pending.extend(object.values().map(|value| (value, depth + 1)));
                }
                _ => {}
            }
        }
        Ok(size)
    }
}
