//! Checks of a schema, before any value is validated.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::Value;

use super::cost::Cost;
use super::dialect::Dialect;
use super::error::{SchemaDiagnostic, SchemaError, SchemaErrorKind};
use super::excerpt::quoted;
use super::graph::{Found, Graph};
use super::limits::MAX_DEPTH;
use super::patterns::{self, Patterns};
use super::reference::References;
use super::tagged;
use super::violation::Violations;

/// A valid schema with its compiled validator.
pub(super) struct Checked {
    validator: Validator,
    /// The same validator with a low backtrack limit, for values with much text. Present if a pattern needs
    /// backtracking.
    low_backtrack_limit: Option<Validator>,
    pub(super) cost: Cost,
    /// The schema with choices resolved by their tags, and its validator.
    discriminated: OnceLock<Option<(Value, Validator)>>,
}

impl Checked {
    pub(super) fn validator(&self, instance: &Value) -> &Validator {
        match &self.low_backtrack_limit {
            Some(low_backtrack_limit) if patterns::has_much_text(instance) => low_backtrack_limit,
            _ => &self.validator,
        }
    }

    /// Returns true if a pattern needs the backtracking engine.
    pub(super) fn has_backtracking_patterns(&self) -> bool {
        self.low_backtrack_limit.is_some()
    }

    /// Returns a variant of the schema that explains violations without visiting every branch of a choice. Returns
    /// `None` if the schema has no such variant.
    pub(super) fn by_discriminator(&self, schema: &Value) -> Option<&(Value, Validator)> {
        let made = self.discriminated.get_or_init(|| {
            // This is built on the caller's stack.
            Size::measure(schema).ok().filter(|size| size.depth <= MAX_SHALLOW)?;
            let schema = tagged::by_discriminator(schema)?;
            let validator =
                Patterns::default().low_backtrack_limit(Dialect::from_document(&schema).ok()?).build(&schema).ok()?;
            Some((schema, validator))
        });
        made.as_ref()
    }
}

/// The maximum depth at which the validator is built on the caller's stack. Schemas written by people are below it.
const MAX_SHALLOW: usize = 24;

/// The stack size of the thread that builds deep validators: several times the need of the deepest in a debug build.
const STACK: usize = 32 << 20;

/// Checks a schema.
///
/// # Errors
///
/// Returns all defects that can be found. A defect of the size, dialect or root prevents the search for others.
pub(super) fn check(schema: &Value) -> Result<Checked, SchemaError> {
    if !schema.is_object() {
        let message = "a schema must be a JSON object; use `{}` to accept every value";
        return Err(SchemaDiagnostic::new(SchemaErrorKind::InvalidSchema, "", message).into());
    }
    let size = Size::measure(schema)?;
    let dialect = Dialect::from_document(schema)?;
    if size.depth <= MAX_SHALLOW {
        return build_checked(schema, dialect, size.has_names);
    }
    let deep = || build_checked(schema, dialect, size.has_names);
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

fn build_checked(schema: &Value, dialect: Dialect, has_names: bool) -> Result<Checked, SchemaError> {
    let references = References::new(schema, dialect, has_names)?;
    let (graph, Found { patterns, mut diagnostics, .. }) = Graph::new(schema, dialect, &references)?;
    let patterns = Patterns::new(patterns)?;
    let options = patterns.options(dialect);
    if diagnostics.is_empty() {
        let cost = Cost::new(&graph)?;
        // `jsonschema` can panic on overlapping identifiers, and an untrusted schema must not end the program.
        let built = catch_unwind(AssertUnwindSafe(|| options.build(schema)));
        match built {
            Ok(Ok(validator)) => {
                // The validator has compiled the patterns that a value can reach.
                let reached = graph.reached();
                diagnostics.extend(patterns.broken(&options, &graph, |pattern| !reached[pattern.node]));
                diagnostics.extend(check_unknown_locations(dialect, &graph));
                if diagnostics.is_empty() {
                    let low_backtrack_limit = patterns
                        .need_backtracking()
                        .then(|| patterns.low_backtrack_limit(dialect).build(schema).ok())
                        .flatten();
                    return Ok(Checked { validator, low_backtrack_limit, cost, discriminated: OnceLock::new() });
                }
            }
            failed => {
                diagnostics.extend(meta_schema_violations(schema, dialect, ""));
                diagnostics.extend(patterns.broken(&options, &graph, |_| true));
                diagnostics.extend(check_unknown_locations(dialect, &graph));
                if diagnostics.is_empty() {
                    let (pointer, message) = match failed {
                        Ok(Err(error)) => (error.instance_path().to_string(), quoted(&error.to_string())),
                        _ => (String::new(), "the identifiers of its subschemas conflict".to_owned()),
                    };
                    diagnostics.push(SchemaDiagnostic::new(SchemaErrorKind::InvalidSchema, pointer, message));
                }
            }
        }
    } else {
        diagnostics.extend(meta_schema_violations(schema, dialect, ""));
        diagnostics.extend(patterns.broken(&options, &graph, |_| true));
        diagnostics.extend(check_unknown_locations(dialect, &graph));
    }
    Err(SchemaError::new(diagnostics))
}

/// The size of a document, measured without descending deeper than the limit.
struct Size {
    depth: usize,
    /// True if the document may name a schema by `$id` or an anchor.
    has_names: bool,
}

impl Size {
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

/// Returns the defects of schemas that are reached by reference at locations without schema keywords.
fn check_unknown_locations(dialect: Dialect, graph: &Graph<'_>) -> Vec<SchemaDiagnostic> {
    graph
        .unknown_locations()
        .flat_map(|(id, schema)| meta_schema_violations(schema, dialect, &graph.pointer(id)))
        .collect()
}

/// Returns the violations of the meta-schema.
fn meta_schema_violations(schema: &Value, dialect: Dialect, place: &str) -> Vec<SchemaDiagnostic> {
    let meta_schema = dialect.meta_schema();
    if meta_schema.is_valid(schema) {
        return Vec::new();
    }
    let violations = Violations::collect(&Value::Null, false, &meta_schema, schema).into_vec();
    let diagnostics = violations.into_iter().map(|mut violation| {
        let pointer = format!("{place}{}", std::mem::take(&mut violation.pointer));
        let message = violation.to_string();
        // The pointer already contains the location.
        let message = message.strip_prefix("the value ").unwrap_or(&message);
        SchemaDiagnostic::new(SchemaErrorKind::InvalidSchema, pointer, message)
    });
    diagnostics.collect()
}
