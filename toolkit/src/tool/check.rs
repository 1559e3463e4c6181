//! Checks of a tool by itself: its id, schemas, examples and `_meta`.

use serde_json::Value;

use super::problem::{Problem, ProblemKind, Problems};
use super::{Literal, META_KEY, Tool, check_alias, check_name};
use crate::schema::{SchemaError, finite, quoted, root};

/// Checks a tool by itself.
///
/// # Errors
///
/// Returns every problem.
pub(crate) fn problems_of(tool: &Tool) -> Result<(), Problems> {
    let mut problems = Vec::new();
    check_tool(tool, &mut problems);
    Problems::none_or(problems)
}

pub(crate) fn check_tool(tool: &Tool, problems: &mut Vec<Problem>) {
    check_id(tool, problems);
    check_schemas(tool, problems);
    check_keys(tool, problems);
    check_object(tool, problems);
    check_examples(tool, problems);
    check_meta(tool, problems);
}

/// Checks names and version. The macro has checked those of a function; those of a tool that was read are unchecked.
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

/// Shortens a foreign text for a message.
pub(crate) fn brief(text: &str) -> String {
    text.chars().take(64).collect::<String>().escape_debug().to_string()
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

pub(crate) fn check_object(tool: &Tool, problems: &mut Vec<Problem>) {
    if !root::is_object(tool.input().as_value()) {
        let message = "its arguments are no object: the root of the input schema must say `\"type\": \"object\"`";
        problems.push(Problem::new(ProblemKind::NotAnObject, message, [tool]));
    }
}

pub(crate) fn check_meta(tool: &Tool, problems: &mut Vec<Problem>) {
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
