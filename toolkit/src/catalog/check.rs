//! What can only be seen once schemas are built.

use serde_json::Value;

use super::Catalog;
use super::problem::{Problem, ProblemKind, Problems};
use super::wire::{Naming, WireNames};
use crate::schema::{SchemaError, finite, quoted, root};
use crate::tool::{Literal, META_KEY, Tool, check_alias, check_name};

impl Catalog {
    /// Checks everything about every tool: that its id is one, that its schemas are sound and take an object, that its
    /// examples fit, that its `meta` is an object without [`META_KEY`], and that it gets a name of its own on the wire.
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
            check_tool(tool, &mut problems);
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

/// Everything that is wrong with a tool by itself.
pub(crate) fn problems_of(tool: &Tool) -> Result<(), Problems> {
    let mut problems = Vec::new();
    check_tool(tool, &mut problems);
    Problems::none_or(problems)
}

fn check_tool(tool: &Tool, problems: &mut Vec<Problem>) {
    check_id(tool, problems);
    check_schemas(tool, problems);
    check_keys(tool, problems);
    check_object(tool, problems);
    check_examples(tool, problems);
    check_meta(tool, problems);
}

/// What the macro has checked of a function, and nobody of a tool that was read.
fn check_id(tool: &Tool, problems: &mut Vec<Problem>) {
    let id = tool.id();
    let names = [("name", Some(id.name())), ("namespace", id.namespace())];
    for (what, name) in names {
        if let Some(Err(reason)) = name.map(check_name) {
            problems.push(Problem::new(ProblemKind::InvalidName, format!("its {what} {reason}"), [tool]));
        }
    }
    for alias in tool.aliases() {
        if let Err(reason) = check_alias(alias) {
            let message = format!("its former name {} {reason}", quoted(alias));
            problems.push(Problem::new(ProblemKind::InvalidName, message, [tool]));
        }
    }
    if let (Some(version), None) = (id.version(), id.semver()) {
        let message = format!("its version must be a semantic version such as `1.0.0`, and is `{}`", brief(version));
        problems.push(Problem::new(ProblemKind::InvalidVersion, message, [tool]));
    }
}

/// The front of a text that somebody else wrote.
fn brief(text: &str) -> String {
    text.chars().take(64).collect::<String>().escape_debug().to_string()
}

/// What keeps two tools whose ids are neighbours from being two versions of one: no name would lead to one of them.
pub(super) fn versions_of_one(a: &Tool, b: &Tool) -> Option<Problem> {
    let (one, other) = (a.id(), b.id());
    if (one.namespace(), one.name()) != (other.namespace(), other.name()) {
        return None;
    }
    let message = match (one.version(), other.version()) {
        (None, Some(_)) => {
            "one has no version, and its id means the highest version of the other; give both a version".to_owned()
        }
        (Some(written), Some(otherwise)) if one.semver().is_some() && one.semver() == other.semver() => {
            format!("`{}` and `{}` are one version; remove one, or give it another", brief(written), brief(otherwise))
        }
        _ => return None,
    };
    Some(Problem::new(ProblemKind::DuplicateId, message, [a, b]))
}

fn check_schemas(tool: &Tool, problems: &mut Vec<Problem>) {
    let mut invalid = |which: &str, error: SchemaError| {
        problems.extend(error.faults().iter().map(|fault| {
            let message = format!("the {which} schema is not sound: {fault}");
            Problem::new(ProblemKind::InvalidSchema, message, [tool])
        }));
    };
    if let Err(error) = tool.input().check_alone() {
        invalid("input", error);
    }
    if let Some(Err(error)) = tool.output().map(|schema| schema.check_alone()) {
        invalid("output", error);
    }
    if !finite::has_finite_value(tool.input().as_value()) {
        let message = "no arguments fit the input schema: a type contains itself in a field that is required";
        problems.push(Problem::new(ProblemKind::InvalidSchema, message, [tool]));
    }
}

/// Reports maps whose keys cannot be read from a string: the schema accepts what no call can read.
fn check_keys(tool: &Tool, problems: &mut Vec<Problem>) {
    for place in tool.explored().impossible_maps {
        let message = format!(
            "{} is a map whose keys are not strings in JSON, so that no call can send an entry; use a list of pairs, \
             such as `Vec<(K, V)>`, or a key that serde reads from a string",
            match &*place {
                "" => "the input".to_owned(),
                place => format!("the argument {}", quoted(place)),
            },
        );
        problems.push(Problem::new(ProblemKind::ImpossibleKey, message, [tool]));
    }
}

fn check_object(tool: &Tool, problems: &mut Vec<Problem>) {
    if !root::is_object(tool.input().as_value()) {
        let message = "its arguments are no object: the root of the input schema must say `\"type\": \"object\"`";
        problems.push(Problem::new(ProblemKind::NotAnObject, message, [tool]));
    }
}

fn check_meta(tool: &Tool, problems: &mut Vec<Problem>) {
    let message = match tool.metadata().meta.as_ref().map(Literal::parse) {
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
    for (idx, example) in tool.metadata().examples.iter().enumerate() {
        let wrong = match example.parse() {
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
