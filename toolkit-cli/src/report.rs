//! Diagnostics and findings, as text and as JSON.

use std::io::{self, Write};

use serde_json::{Value, json};
use toolkit::catalog::Diagnostics;
use toolkit::lint::{Finding, Level};

use crate::style::{self, printable};

/// Writes each diagnostic on a line, followed by the locations and ids of its tools.
pub(crate) fn write_problems(out: &mut impl Write, problems: &Diagnostics) -> io::Result<()> {
    for problem in problems.iter() {
        writeln!(out, "{} {}", style::ERROR, printable(problem.message()))?;
        for (id, location) in problem.tools() {
            let location = location.map(|location| location.to_string()).unwrap_or_default();
            writeln!(out, "  {}--> {location}{} {id}", style::LOCATION, style::LOCATION.clear())?;
        }
    }
    Ok(())
}

/// Converts the diagnostics to a JSON array of objects.
pub(crate) fn problems_as_json(problems: &Diagnostics) -> Value {
    let problems = problems.iter().map(|problem| {
        let tools = problem.tools().map(|(id, at)| match at {
            Some(at) => json!({ "id": id, "file": at.file, "line": at.line, "column": at.column }),
            None => json!({ "id": id }),
        });
        json!({
            "kind": snake_case(&format!("{:?}", problem.kind())),
            "message": problem.message(),
            "tools": tools.collect::<Vec<_>>(),
        })
    });
    problems.collect()
}

/// Writes each finding on a line.
pub(crate) fn write_findings(out: &mut impl Write, findings: &[Finding]) -> io::Result<()> {
    for finding in findings {
        let level = if finding.level == Level::Error { style::ERROR } else { style::WARNING };
        writeln!(out, "{level} {}", printable(&finding.to_string()))?;
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
