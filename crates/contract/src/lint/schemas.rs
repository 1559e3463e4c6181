//! Lint rules about the schemas of arguments.

use serde_json::Value;

use super::diagnostic::{LintDiagnostic, Rule};
use toolkit::Tool;
use toolkit_schema::{child, inline, walk};

pub(super) fn check(tool: &Tool, diagnostics: &mut Vec<LintDiagnostic>) {
    let mut schema = tool.input().as_value().clone();
    inline::inline(&mut schema);
    for (name, argument) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let place = child("inputSchema/properties", name);
        if !is_described(argument) {
            let message = "has no description; describe its meaning and format";
            diagnostics.push(LintDiagnostic::new(Rule::UndescribedParameter, tool, &place, message));
        }
        if is_untyped(argument) {
            let message = "has no type; declare the accepted values";
            diagnostics.push(LintDiagnostic::new(Rule::UntypedParameter, tool, &place, message));
        }
    }
}

fn is_described(argument: &Value) -> bool {
    let says =
        |keyword: &str| argument.get(keyword).and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty());
    let branches = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|choice| argument.get(choice)?.as_array());
    says("description") || says("title") || branches.flatten().any(is_described)
}

fn is_untyped(argument: &Value) -> bool {
    match argument {
        Value::Object(keywords) => keywords.keys().all(|keyword| walk::is_annotation(keyword)),
        _ => true,
    }
}
