//! Tools, diagnostics and lints, as text and as JSON.

#[cfg(any(feature = "durable", feature = "install"))]
use std::io::IsTerminal;
use std::io::{self, Write};

#[cfg(any(feature = "durable", feature = "install"))]
use clap::ArgMatches;
use serde_json::{Map, Value, json};
use toolkit::Tool;
use toolkit::catalog::{DiagnosticKind, Diagnostics};
use toolkit::tool::Annotations;
use toolkit_contract::lint::{Level, LintDiagnostic};

#[cfg(any(feature = "durable", feature = "install"))]
use crate::stderr::say;
use crate::style::{self, printable};

/// What to do about a program without tools.
pub(crate) const NOT_LINKED: &str =
    "no tools are linked into this program; list crates that the program does not refer to in `toolkit::link!`";

/// Returns the canonical JSON of a tool with its id and its source location.
pub(crate) fn tool_as_json(tool: &Tool) -> Map<String, Value> {
    let Value::Object(mut record) = tool.to_json() else {
        return Map::new();
    };
    record.insert("id".to_owned(), tool.id().to_string().into());
    if let Some(location) = tool.location() {
        let place = json!({ "file": location.file, "line": location.line, "column": location.column });
        record.insert("location".to_owned(), place);
    }
    record
}

/// Returns the JSON of a tool without its schemas.
pub(crate) fn tool_without_schemas(tool: &Tool) -> Map<String, Value> {
    let mut record = tool_as_json(tool);
    record.retain(|name, _| !matches!(name.as_str(), "inputSchema" | "outputSchema"));
    record
}

/// Returns the hints of a tool in words, including explicit negative ones, and the one that a missing hint implies.
pub(crate) fn hints(annotations: &Annotations) -> Vec<&'static str> {
    let hint = |hint: Option<bool>, yes, no| hint.map(|hint| if hint { yes } else { no });
    [
        hint(annotations.read_only, "read-only", "writes"),
        hint(annotations.destructive, "destructive", "not destructive")
            .or(annotations.may_be_destructive().then_some("may be destructive")),
        hint(annotations.idempotent, "idempotent", "not idempotent"),
        hint(annotations.open_world, "open world", "closed world"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Writes each diagnostic on a line, followed by the locations and ids of its tools.
pub(crate) fn write_diagnostics(out: &mut impl Write, diagnostics: &Diagnostics) -> io::Result<()> {
    for diagnostic in diagnostics.iter() {
        writeln!(out, "{} {}", style::ERROR, printable(diagnostic.message()))?;
        for (id, location) in diagnostic.tools() {
            let location = location.map(|location| location.to_string()).unwrap_or_default();
            writeln!(out, "  {}--> {location}{} {id}", style::LOCATION, style::LOCATION.clear())?;
        }
    }
    if diagnostics.iter().any(|diagnostic| diagnostic.kind() == DiagnosticKind::MissingState) {
        let example = "toolkit_cli::program!().dispatcher(|dispatcher| Ok(dispatcher.state(STATE))).main()";
        writeln!(out, "{} a program passes its state in `main`: `{example}`", style::NOTE)?;
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

/// Returns true for `--yes`, or if the user answers a question with yes. Without a terminal, it prints `without_answer`.
#[cfg(any(feature = "durable", feature = "install"))]
pub(crate) fn is_confirmed(matches: &ArgMatches, question: &str, without_answer: &str) -> io::Result<bool> {
    if matches.get_flag("yes") {
        return Ok(true);
    }
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        say(style::NOTE, without_answer);
        return Ok(false);
    }
    write!(anstream::stderr(), "{question} [y/N] ")?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
