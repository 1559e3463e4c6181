//! Diagnostics and lints, as text and as JSON.

use std::io::{self, Write};

use serde_json::{Value, json};
use toolkit::catalog::Diagnostics;
use toolkit_contract::lint::{Level, LintDiagnostic};

use crate::style::{self, printable};

/// Writes each diagnostic on a line, followed by the locations and ids of its tools.
pub(crate) fn write_diagnostics(out: &mut impl Write, diagnostics: &Diagnostics) -> io::Result<()> {
    for diagnostic in diagnostics.iter() {
        writeln!(out, "{} {}", style::ERROR, printable(diagnostic.message()))?;
        for (id, location) in diagnostic.tools() {
            let location = location.map(|location| location.to_string()).unwrap_or_default();
            writeln!(out, "  {}--> {location}{} {id}", style::LOCATION, style::LOCATION.clear())?;
        }
    }
    Ok(())
}

/// Converts the diagnostics to a JSON array of objects.
pub(crate) fn diagnostics_as_json(diagnostics: &Diagnostics) -> Value {
    let diagnostics = diagnostics.iter().map(|diagnostic| {
        let tools = diagnostic.tools().map(|(id, at)| match at {
            Some(at) => json!({ "id": id, "file": at.file, "line": at.line, "column": at.column }),
            None => json!({ "id": id }),
        });
        json!({
            "kind": snake_case(&format!("{:?}", diagnostic.kind())),
            "message": diagnostic.message(),
            "tools": tools.collect::<Vec<_>>(),
        })
    });
    diagnostics.collect()
}

/// Writes each lint on a line.
pub(crate) fn write_lints(out: &mut impl Write, lints: &[LintDiagnostic]) -> io::Result<()> {
    for lint in lints {
        let level = if lint.level == Level::Error { style::ERROR } else { style::WARNING };
        writeln!(out, "{level} {}", printable(&lint.to_string()))?;
    }
    Ok(())
}

/// Formats a number with a noun, as in `1 tool` and `2 tools`.
pub(crate) fn counted(n: usize, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {noun}{plural}")
}

/// Converts the name of a variant to snake case, such as `InvalidArguments` to `invalid_arguments`.
pub(crate) fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for (idx, c) in name.char_indices() {
        if c.is_ascii_uppercase() && idx > 0 {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}
