//! What can only be seen once schemas are built.

use serde_json::Value;

use super::Catalog;
use super::problem::{Problem, ProblemKind, Problems};
use super::wire::{Naming, WireNames};
use crate::schema::SchemaError;
use crate::tool::Tool;

impl Catalog {
    /// Checks everything about every tool: that its schemas are sound and take an object, that its examples fit, that
    /// its `meta` is an object, and that it gets a name of its own on the wire.
    ///
    /// It builds every schema, so it belongs into a test:
    ///
    /// ```
    /// #[test]
    /// fn the_catalogue_is_sound() {
    ///     toolkit::Catalog::linked().and_then(|catalog| catalog.check(Default::default())).unwrap();
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Every problem, each with the place of its tool.
    pub fn check(&self, naming: Naming) -> Result<(), Problems> {
        let mut problems = Vec::new();
        for tool in self {
            check_schemas(tool, &mut problems);
            check_texts(tool, &mut problems);
        }
        if let Err(clashes) = WireNames::of(self, naming) {
            problems.extend(clashes.iter().cloned());
        }
        Problems::none_or(problems)
    }
}

fn check_schemas(tool: &Tool, problems: &mut Vec<Problem>) {
    let mut invalid = |which: &str, error: SchemaError| {
        let message = format!("the {which} schema is not sound: {error}");
        problems.push(Problem::new(ProblemKind::InvalidSchema, message, [tool]));
    };
    if let Err(error) = tool.input().check() {
        invalid("input", error);
    }
    if let Some(Err(error)) = tool.output().map(|schema| schema.check()) {
        invalid("output", error);
    }
    if !takes_object(tool.input().as_value()) {
        let message = "its only argument is no struct, so it needs a name in the JSON; mark the parameter `#[arg]`";
        problems.push(Problem::new(ProblemKind::NotAnObject, message, [tool]));
    }
}

/// Whether every value that fits is an object, as far as the root shows.
pub(super) fn takes_object(schema: &Value) -> bool {
    let is_object = |schema: &Value| schema.get("type").and_then(Value::as_str) == Some("object");
    let branches = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array);
    is_object(schema) || branches.is_some_and(|branches| !branches.is_empty() && branches.iter().all(is_object))
}

fn check_texts(tool: &Tool, problems: &mut Vec<Problem>) {
    let entry = tool.entry();
    for (idx, text) in entry.examples.iter().enumerate() {
        let wrong = match serde_json::from_str::<Value>(text) {
            Err(error) => error.to_string(),
            Ok(example) => match tool.input().validate(&example) {
                Err(violations) => violations.to_string().replace('\n', "; "),
                Ok(()) => continue,
            },
        };
        let message = format!("example {} does not fit: {wrong}", idx + 1);
        problems.push(Problem::new(ProblemKind::InvalidExample, message, [tool]));
    }
    let is_object = |text| matches!(serde_json::from_str(text), Ok(Value::Object(_)));
    if !entry.meta.is_none_or(is_object) {
        let message = "`meta` must be a JSON object";
        problems.push(Problem::new(ProblemKind::InvalidMeta, message, [tool]));
    }
}
