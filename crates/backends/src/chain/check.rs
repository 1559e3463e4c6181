//! Checks of a chain against the schemas of its tools, with the validation of each step's arguments as far as they are known.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Value};
use toolkit::dispatch::Dispatcher;
use toolkit::tool::Tool;
use toolkit_schema::pointer::{tokens, unescaped};
use toolkit_schema::types::Types;
use toolkit_schema::{Schema, Violation, child, is_too_deep, walk};

use super::definition::Chain;
use super::diagnostic::{ChainDiagnostic, ChainDiagnosticKind, MAX_DIAGNOSTICS, StepLocation, shown};
use super::plan::{Plan, Previous, Taken, Wiring};
use super::reach::{Reach, reach};
use super::step::{PREVIOUS, Step};

/// Returns the plan of a chain, and its defects with these tools.
pub(super) fn check<'c>(chain: &'c Chain, dispatcher: &Dispatcher) -> (Plan<'c>, Vec<ChainDiagnostic>) {
    let (plan, mut diagnostics) = Plan::new(chain);
    let mut tools: Vec<Option<&Tool>> = Vec::new();
    for ((at_step, step), wiring) in StepLocation::all(chain).zip(&plan.wirings) {
        if let Err((pointer, message)) = step.wait() {
            diagnostics.push(at_step.diagnostic(ChainDiagnosticKind::InvalidWait, pointer, message));
        }
        let tool = match dispatcher.prepared(step.tool()) {
            Ok(prepared) => prepared.tool(),
            Err(error) => {
                diagnostics.push(at_step.diagnostic(ChainDiagnosticKind::UnknownTool, "/toolId", error.message()));
                tools.push(None);
                continue;
            }
        };
        if let Err(message) = check_attempts(step, tool) {
            diagnostics.push(at_step.diagnostic(ChainDiagnosticKind::InvalidAttempts, "/attempts", message));
        }
        check_arguments(at_step, step, wiring, tool, &mut diagnostics);
        for taken in &wiring.taken {
            if let Some(source) = tools[taken.step] {
                check_taken(at_step, &child("/from", taken.argument), *taken, source, tool, &mut diagnostics);
            }
        }
        if let Previous::Of(idx) = wiring.previous
            && let Some(source) = tools[idx]
        {
            let taken = Taken { argument: PREVIOUS, step: idx, pointer: "" };
            check_taken(at_step, "/usePrevious", taken, source, tool, &mut diagnostics);
        }
        tools.push(Some(tool));
    }
    diagnostics.sort_by_key(ChainDiagnostic::step);
    diagnostics.truncate(MAX_DIAGNOSTICS);
    (plan, diagnostics)
}

/// The maximum number of calls of a step.
const MAX_ATTEMPTS: u32 = 100;

fn check_attempts(step: &Step, tool: &Tool) -> Result<(), String> {
    match step.max_attempts() {
        Some(2..=MAX_ATTEMPTS) if !tool.annotations().may_repeat() => {
            Err(format!("{} may not be called again, since it is neither `read_only` nor `idempotent`", tool.id()))
        }
        Some(n) if !(1..=MAX_ATTEMPTS).contains(&n) => Err(format!("must be from 1 to {MAX_ATTEMPTS}")),
        _ => Ok(()),
    }
}

/// Compares the type that `source` returns with the type that `tool` accepts.
fn check_taken(
    at_step: StepLocation<'_>,
    at: &str,
    taken: Taken<'_>,
    source: &Tool,
    tool: &Tool,
    diagnostics: &mut Vec<ChainDiagnostic>,
) {
    // A tool without an output schema may return anything.
    let Some(output) = source.output() else { return };
    // A schema derived from a type lists every field of the type; a handwritten schema may omit some.
    let is_complete = source.location().is_some();
    let given = match reach(output.as_value(), taken.pointer, is_complete) {
        Reach::Open => return,
        Reach::Nothing => {
            let message = format!("the result of {} has no value at {}", source.id(), shown(taken.pointer));
            diagnostics.push(at_step.diagnostic(ChainDiagnosticKind::NothingThere, &format!("{at}/pointer"), message));
            return;
        }
        Reach::Typed(given) => given,
    };
    let Reach::Typed(wanted) = reach(tool.input().as_value(), &child("", taken.argument), false) else { return };
    let may_be_absent = given.meets(Types::NULL) && !walk::requires(tool.input().as_value(), taken.argument);
    if !given.meets(wanted) && !may_be_absent {
        let message = format!("{} returns {given}, but {} must be {wanted}", source.id(), shown(taken.argument));
        diagnostics.push(at_step.diagnostic(ChainDiagnosticKind::TypeMismatch, at, message));
    }
}

/// Reports the arguments of the step that `tool` would reject, whatever the earlier steps return.
fn check_arguments(
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

/// Removes the keywords that depend on several arguments, which cannot be checked while some are open. A schema without any
/// stays as it is compiled.
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
    let is_outlook = |keyword: &String| OUTLOOK.contains(&keyword.as_str());
    if !schema.as_value().as_object().is_some_and(|keywords| keywords.keys().any(is_outlook)) {
        return Cow::Borrowed(schema.as_value());
    }
    let mut value = schema.as_value().clone();
    if let Value::Object(keywords) = &mut value {
        // In draft-07, keywords beside a `$ref` are ignored, and the target declares whether the object is closed.
        if keywords.contains_key("$ref") {
            keywords.clear();
        }
        keywords.retain(|keyword, _| !is_outlook(keyword));
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
    parent.is_some_and(|object| object.shift_remove(&*unescaped(key)).is_some())
}
