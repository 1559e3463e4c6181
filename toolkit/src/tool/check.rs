//! Checks of a single tool: its id, schemas, examples and `_meta`.

use serde_json::Value;

use super::diagnostic::{Diagnostic, DiagnosticKind, Diagnostics};
use super::{Literal, META_KEY, Tool, check_alias, check_name};
use toolkit_schema::{SchemaError, finite, quoted, root};

/// Checks a single tool.
///
/// # Errors
///
/// Returns every defect.
pub(crate) fn validate_tool(tool: &Tool) -> Result<(), Diagnostics> {
    let mut diagnostics = Vec::new();
    check_tool(tool, &mut diagnostics);
    Diagnostics::none_or(diagnostics)
}

pub(crate) fn check_tool(tool: &Tool, diagnostics: &mut Vec<Diagnostic>) {
    check_id(tool, diagnostics);
    check_schemas(tool, diagnostics);
    check_keys(tool, diagnostics);
    check_object(tool, diagnostics);
    check_examples(tool, diagnostics);
    check_meta(tool, diagnostics);
}

/// Checks the names and the version. The macro has checked those of functions; those of parsed tools are unchecked.
fn check_id(tool: &Tool, diagnostics: &mut Vec<Diagnostic>) {
    let id = tool.id();
    let names = [("name", Some(id.name())), ("namespace", id.namespace())];
    for (what, name) in names {
        if let Some(Err(reason)) = name.map(check_name) {
            diagnostics.push(Diagnostic::new(DiagnosticKind::InvalidName, format!("the {what} {reason}"), [tool]));
        }
    }
    for alias in tool.aliases() {
        if let Err(reason) = check_alias(alias) {
            let message = format!("the alias {} {reason}", quoted(alias));
            diagnostics.push(Diagnostic::new(DiagnosticKind::InvalidName, message, [tool]));
        }
    }
    if let (Some(version), None) = (id.version(), id.semver()) {
        let message = format!("the version must be a semantic version such as `1.0.0`, got `{}`", brief(version));
        diagnostics.push(Diagnostic::new(DiagnosticKind::InvalidVersion, message, [tool]));
    }
}

/// Shortens and escapes a foreign text for a message.
pub(crate) fn brief(text: &str) -> String {
    text.chars().take(64).collect::<String>().escape_debug().to_string()
}

fn check_schemas(tool: &Tool, diagnostics: &mut Vec<Diagnostic>) {
    let mut invalid = |which: &str, error: SchemaError| {
        diagnostics.extend(error.diagnostics().iter().map(|diagnostic| {
            let message = format!("the {which} schema is invalid: {diagnostic}");
            Diagnostic::new(DiagnosticKind::InvalidSchema, message, [tool])
        }));
    };
    if let Err(error) = tool.input().check_alone() {
        invalid("input", error);
    }
    if let Some(Err(error)) = tool.output().map(|schema| schema.check_alone()) {
        invalid("output", error);
    }
    if !finite::has_finite_value(tool.input().as_value()) {
        let message = "no arguments match the input schema: a type contains itself in a required field";
        diagnostics.push(Diagnostic::new(DiagnosticKind::InvalidSchema, message, [tool]));
    }
}

/// Reports maps whose keys cannot be deserialized from a string: the schema accepts values that no call can use.
fn check_keys(tool: &Tool, diagnostics: &mut Vec<Diagnostic>) {
    for place in tool.explored().impossible_maps {
        let message = format!(
            "{} is a map whose keys are not strings in JSON, so that no call can send an entry; use a list of pairs, \
             such as `Vec<(K, V)>`, or a key that serde reads from a string",
            match &*place {
                "" => "the input".to_owned(),
                place => format!("the argument {}", quoted(place)),
            },
        );
        diagnostics.push(Diagnostic::new(DiagnosticKind::ImpossibleKey, message, [tool]));
    }
}

pub(crate) fn check_object(tool: &Tool, diagnostics: &mut Vec<Diagnostic>) {
    if !root::is_object(tool.input().as_value()) {
        let message = "the arguments are not an object: the root of the input schema must have `\"type\": \"object\"`";
        diagnostics.push(Diagnostic::new(DiagnosticKind::NotAnObject, message, [tool]));
    }
}

pub(crate) fn check_meta(tool: &Tool, diagnostics: &mut Vec<Diagnostic>) {
    let message = match tool.metadata().meta.as_ref().map(Literal::parse) {
        None => return,
        Some(Ok(Value::Object(meta))) if !meta.contains_key(META_KEY) => return,
        Some(Ok(Value::Object(_))) => {
            format!("`meta` must not have the key `{META_KEY}`, under which the tool's own record is published")
        }
        Some(_) => "`meta` must be a JSON object".to_owned(),
    };
    diagnostics.push(Diagnostic::new(DiagnosticKind::InvalidMeta, message, [tool]));
}

fn check_examples(tool: &Tool, diagnostics: &mut Vec<Diagnostic>) {
    for (idx, example) in tool.metadata().examples.iter().enumerate() {
        let wrong = match example.parse() {
            Err(error) => error.to_string(),
            Ok(example) => match tool.input().validate(&example) {
                Err(violations) => violations.to_string().replace('\n', "; "),
                Ok(()) => continue,
            },
        };
        let message = format!("example {} is invalid: {wrong}", idx + 1);
        diagnostics.push(Diagnostic::new(DiagnosticKind::InvalidExample, message, [tool]));
    }
}
