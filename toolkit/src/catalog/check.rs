//! What can only be seen once schemas are built.

use serde_json::Value;

use super::problem::{Problem, ProblemKind, Problems};
use super::wire::{Naming, WireNames};
use super::{Catalog, Takes};
use crate::schema::{SchemaError, root};
use crate::tool::{META_KEY, Tool};

impl Catalog {
    /// Checks everything about every tool: that its schemas are sound and take an object, that its examples fit, that
    /// its `meta` is an object without [`META_KEY`], and that it gets a name of its own on the wire.
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
    #[expect(clippy::test_attr_in_doctest, reason = "the example is a test, and stands where a user puts it")]
    pub fn check(&self, naming: Naming) -> Result<(), Problems> {
        let mut problems = Vec::new();
        for tool in self {
            check_schemas(tool, &mut problems);
            check_object(tool, &mut problems);
            check_examples(tool, &mut problems);
            check_meta(tool, &mut problems);
        }
        WireNames::collect(self, naming, &mut problems);
        Problems::none_or(problems)
    }

    /// What others may see: the highest version of every tool, under its name on the wire.
    ///
    /// # Errors
    ///
    /// What an adapter cannot pass over in silence, for every tool at once: a name that does not work, arguments that
    /// are no object, a `meta` that is none. Whether the schemas are sound is left to [`Catalog::check`], since it
    /// takes a validator for each.
    pub(crate) fn listed(&self, naming: Naming) -> Result<WireNames<'_>, Problems> {
        let mut problems = Vec::new();
        for tool in self.latest() {
            check_object(tool, &mut problems);
            check_meta(tool, &mut problems);
        }
        let names = WireNames::collect(self, naming, &mut problems);
        Problems::none_or(problems).map(|()| names)
    }
}

/// Finds lone arguments that are no objects, as far as possible without building a schema: collecting must stay cheap.
pub(super) fn check_lone_arguments(tools: &[Tool], problems: &mut Vec<Problem>) {
    for tool in tools {
        match tool.entry().lone.map(|takes| takes()) {
            None | Some(Takes::Object) => {}
            Some(Takes::Unknown) => check_object(tool, problems),
            Some(Takes::Other) => problems.push(not_an_object(tool)),
        }
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
}

fn not_an_object(tool: &Tool) -> Problem {
    let message = "its only argument is no struct, so it needs a name in the JSON; mark the parameter `#[arg]`";
    Problem::new(ProblemKind::NotAnObject, message, [tool])
}

fn check_object(tool: &Tool, problems: &mut Vec<Problem>) {
    if !root::is_object(tool.input().as_value()) {
        problems.push(not_an_object(tool));
    }
}

fn check_meta(tool: &Tool, problems: &mut Vec<Problem>) {
    let message = match tool.entry().meta.map(serde_json::from_str) {
        None => return,
        Some(Ok(Value::Object(meta))) if !meta.contains_key(META_KEY) => return,
        Some(Ok(Value::Object(_))) => {
            format!("`meta` must not have the key `{META_KEY}`, under which the tool's own record is published")
        }
        Some(_) => "`meta` must be a JSON object".to_owned(),
    };
    problems.push(Problem::new(ProblemKind::InvalidMeta, message, [tool]));
}

fn check_examples(tool: &Tool, problems: &mut Vec<Problem>) {
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
}
