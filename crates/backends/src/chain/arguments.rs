//! Validation of a step's arguments before the chain runs, as far as they are known.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Value};
use toolkit::tool::Tool;
use toolkit_schema::is_too_deep;
use toolkit_schema::pointer::{tokens, unescaped};
use toolkit_schema::{Schema, Violation};

use super::diagnostic::{ChainDiagnostic, ChainDiagnosticKind, StepLocation};
use super::plan::{Previous, Wiring};
use super::step::{PREVIOUS, Step};

/// Reports the arguments of the step that `tool` would reject, whatever the earlier steps return.
pub(super) fn check(
    at_step: StepLocation<'_>,
    step: &Step,
    wiring: &Wiring<'_>,
    tool: &Tool,
    found: &mut Vec<ChainDiagnostic>,
) {
    let mut known = step.constants().clone();
    let mut open: BTreeSet<&str> = step.references().keys().map(String::as_str).collect();
    match wiring.previous {
        Previous::Unused => {}
        Previous::Null => drop(known.insert(PREVIOUS.to_owned(), Value::Null)),
        Previous::Of(_) => drop(open.insert(PREVIOUS)),
    }
    if known.values().any(is_too_deep) {
        let message = "the arguments are nested deeper than 127 levels";
        found.push(at_step.diagnostic(ChainDiagnosticKind::InvalidArguments, "/args", message));
        return;
    }
    let schema = if open.is_empty() { Cow::Borrowed(tool.input().as_value()) } else { without_outlook(tool.input()) };
    let compiled = match &schema {
        Cow::Borrowed(_) => None,
        Cow::Owned(value) => match Schema::from_value(value.clone()) {
            Ok(schema) => Some(schema),
            // The defect of the schema is reported when the tool is used.
            Err(_) => return,
        },
    };
    let schema = compiled.as_ref().unwrap_or(tool.input());
    // A placeholder makes each open argument present. Violations of its value are ignored.
    known.extend(open.iter().map(|&argument| (argument.to_owned(), Value::Null)));
    for violation in violations(schema, known, &open) {
        let argument = tokens(&violation.pointer).next();
        let pointer = match argument {
            Some(argument) if step.references().contains_key(&*argument) => format!("/from{}", violation.pointer),
            Some(argument) if argument == PREVIOUS && step.uses_previous() => "/usePrevious".to_owned(),
            _ => format!("/args{}", violation.pointer),
        };
        let line = violation.to_string();
        let message = line.strip_prefix(&format!("{} ", violation.pointer)).unwrap_or(&line);
        found.push(at_step.diagnostic(ChainDiagnosticKind::InvalidArguments, &pointer, message));
    }
}

/// Returns the violations of `schema`. A `null` for an optional argument counts as absent.
fn violations(schema: &Schema, known: Map<String, Value>, open: &BTreeSet<&str>) -> Vec<Violation> {
    let is_open = |violation: &Violation| tokens(&violation.pointer).next().is_some_and(|at| open.contains(&*at));
    let found = |value: &Value| {
        let mut found = schema.validate(value).err().map(|violations| violations.into_vec()).unwrap_or_default();
        found.retain(|violation| !is_open(violation) || violation.keyword == "additionalProperties");
        found
    };
    let mut value = Value::Object(known);
    let refused = found(&value);
    let nulls = refused.iter().filter(|violation| !is_open(violation));
    let n_removed = nulls.filter(|violation| remove_null(&mut value, &violation.pointer)).count();
    if n_removed > 0 { found(&value) } else { refused }
}

/// Removes the keywords that depend on several arguments, which cannot be checked while some are open.
fn without_outlook(schema: &Schema) -> Cow<'_, Value> {
    const OUTLOOK: [&str; 15] = [
        "$ref",
        "$dynamicRef",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "const",
        "enum",
        "dependentSchemas",
        "dependencies",
        "unevaluatedProperties",
        "maxProperties",
    ];
    let mut value = schema.as_value().clone();
    if let Value::Object(keywords) = &mut value {
        // In draft-07, keywords beside a `$ref` are ignored, and the target declares whether the object is closed.
        if keywords.contains_key("$ref") {
            keywords.retain(|keyword, _| keyword.starts_with('$') || keyword == "definitions");
        }
        keywords.retain(|keyword, _| !OUTLOOK.contains(&keyword.as_str()));
    }
    Cow::Owned(value)
}

/// Removes the property at `pointer` if it is `null`.
fn remove_null(value: &mut Value, pointer: &str) -> bool {
    if value.pointer(pointer) != Some(&Value::Null) {
        return false;
    }
    let Some((parent, key)) = pointer.rsplit_once('/') else { return false };
    let parent = value.pointer_mut(parent).and_then(Value::as_object_mut);
    parent.is_some_and(|object| object.remove(&*unescaped(key)).is_some())
}
