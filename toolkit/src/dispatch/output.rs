//! Checks what a tool returns against its output schema.
//!
//! A tool that breaks its own schema has a defect. The model reads the place and the rule, in the words of the schema. The
//! value is withheld, since it could carry anything into a conversation, unless it is a number that JSON does not have.

use serde::Serialize;
use serde_json::Value;

use super::non_finite::{self, non_finite};
use crate::call::tree::held;
use crate::call::{ErrorKind, ToolError};
use crate::schema::{Schema, Violation, Violations, declared_place};

/// Checks the JSON of a result.
pub(crate) fn check_output(schema: &Schema, json: &[u8]) -> Result<(), ToolError> {
    let output: Value = serde_json::from_slice(json).map(held).map_err(ToolError::internal)?;
    check_output_tree(schema, &output)
}

/// Checks a result.
pub(super) fn check_output_tree(schema: &Schema, output: &Value) -> Result<(), ToolError> {
    schema.validate(output).map_err(|violations| mismatch(schema, &violations, &[]))
}

/// Checks the JSON of a value, in which a non-finite float is `null`.
pub(super) fn check_value(schema: &Schema, json: &[u8], value: &impl Serialize) -> Result<(), ToolError> {
    let output: Value = serde_json::from_slice(json).map(held).map_err(ToolError::internal)?;
    schema.validate(&output).map_err(|violations| mismatch(schema, &violations, &non_finite(value)))
}

#[cold]
fn mismatch(schema: &Schema, violations: &Violations, floats: &[(String, f64)]) -> ToolError {
    let float = |violation: &Violation| {
        let (_, float) = floats.iter().find(|(pointer, _)| *pointer == violation.pointer)?;
        Some(non_finite::name(*float))
    };
    let line = |violation: &Violation, pointer: String| {
        let line = Violation { pointer, sent: None, suggestion: None, ..violation.clone() };
        float(violation).map_or_else(|| line.to_string(), |float| format!("{line}, got {float}"))
    };
    let cause = violations.iter().map(|violation| line(violation, violation.pointer.clone()));
    let cause = cause.collect::<Vec<_>>().join("; ");
    let first = violations.first().map_or_else(String::new, |first| {
        // A key that the schema does not declare is part of the value.
        line(first, declared_place(schema.as_value(), &first.pointer))
    });
    let more = match violations.len() {
        0 | 1 => String::new(),
        n => format!("; and {} more", n - 1),
    };
    let message = format!("the result does not match the output schema: {first}{more}");
    ToolError::new(ErrorKind::InvalidOutput, message).caused_by(cause)
}
