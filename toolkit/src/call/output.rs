//! Validation of results against the output schema.
//!
//! A mismatch is a defect of the tool. The error contains the location and the violated rule in terms of the schema.
//! The value is withheld, because it could carry anything into a conversation; only non-finite numbers are shown.

use serde_json::Value;

use super::error::ToolError;
use super::kind::ErrorKind;
use toolkit_schema::tree::held;
use toolkit_schema::{Schema, Violation, Violations, declared_pointer};

/// Validates a result in JSON.
pub(crate) fn check_output(schema: &Schema, json: &[u8]) -> Result<(), ToolError> {
    let output: Value = serde_json::from_slice(json).map(held).map_err(ToolError::internal)?;
    check_output_tree(schema, &output)
}

/// Validates a result.
pub(crate) fn check_output_tree(schema: &Schema, output: &Value) -> Result<(), ToolError> {
    schema.validate(output).map_err(|violations| mismatch(schema, &violations, &[]))
}

/// Validates the JSON of a value whose non-finite floats are `null`.
pub(crate) fn check_value(schema: &Schema, json: &[u8], floats: &[(String, f64)]) -> Result<(), ToolError> {
    let output: Value = serde_json::from_slice(json).map(held).map_err(ToolError::internal)?;
    schema.validate(&output).map_err(|violations| mismatch(schema, &violations, floats))
}

/// Returns the error of a result with a map whose key JSON cannot represent, at a JSON Pointer.
pub(crate) fn not_json(schema: Option<&Schema>, pointer: String) -> ToolError {
    // A key that the schema does not declare is part of the value.
    let place = schema.map_or_else(|| pointer.clone(), |schema| declared_pointer(schema.as_value(), &pointer));
    let place = if place.is_empty() { "the result".to_owned() } else { format!("the result at {place}") };
    let message = format!(
        "{place} is a map whose keys are not strings in JSON; return a list of pairs, or use keys that serde writes as \
         strings"
    );
    ToolError::new(ErrorKind::InvalidOutput, message).caused_by(pointer)
}

#[cold]
fn mismatch(schema: &Schema, violations: &Violations, floats: &[(String, f64)]) -> ToolError {
    let float = |violation: &Violation| {
        let (_, float) = floats.iter().find(|(pointer, _)| *pointer == violation.pointer)?;
        Some(float_name(*float))
    };
    let line = |violation: &Violation, pointer: String| {
        let mut line = violation.clone();
        (line.pointer, line.sent, line.suggestion) = (pointer, None, None);
        float(violation).map_or_else(|| line.to_string(), |float| format!("{line}, got {float}"))
    };
    let cause = violations.iter().map(|violation| line(violation, violation.pointer.clone()));
    let cause = cause.collect::<Vec<_>>().join("; ");
    let first = violations.first().map_or_else(String::new, |first| {
        // A key that the schema does not declare is part of the value.
        line(first, declared_pointer(schema.as_value(), &first.pointer))
    });
    let more = match violations.len() {
        0 | 1 => String::new(),
        n => format!("; and {} more", n - 1),
    };
    let message = format!("the result does not match the output schema: {first}{more}");
    ToolError::new(ErrorKind::InvalidOutput, message).caused_by(cause)
}

/// Returns the name of a non-finite float for messages.
fn float_name(float: f64) -> &'static str {
    match float {
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => "NaN",
    }
}
