//! Output of a program that has run.

use std::io::{self, Write};

use toolkit_code::Execution;

use crate::style::{self, content_line, printable};

/// The maximum number of columns of the arguments and the result of a call.
const WIDTH: usize = 60;

/// Writes the value to stdout, and the rest to stderr.
pub(super) fn write(execution: &Execution) -> io::Result<()> {
    let mut err = anstream::stderr();
    for printed in &execution.printed {
        let _ = writeln!(err, "{}", printable(&printed.text));
    }
    for block in &execution.content {
        let _ = writeln!(err, "{}", printable(&content_line(block)));
    }
    match &execution.outcome {
        Ok(value) => style::write_line(value.get()),
        Err(failure) => {
            let _ = writeln!(err, "{} {}", style::ERROR, printable(&failure.to_string()));
            if let Some(source) = &failure.source {
                let _ = writeln!(err, "  {}", printable(source));
            }
            Ok(())
        }
    }
}

/// Writes everything as one JSON document.
pub(super) fn write_json(execution: &Execution) -> io::Result<()> {
    style::write_json(execution)
}

/// Writes one line for each call.
pub(super) fn write_trace(execution: &Execution) {
    let mut err = anstream::stderr();
    for call in &execution.calls {
        let (mark, result) = match &call.result {
            Ok(result) => ("->", result.get()),
            Err(error) => ("!!", &*error.message),
        };
        let line = call.line.map(|line| format!("{line}: ")).unwrap_or_default();
        let (args, result) = (printable(call.args.get()), printable(result));
        let _ = writeln!(
            err,
            "{line}{}({}) {mark} {} [{:.1?}]",
            printable(&call.tool),
            style::cut(&args, WIDTH),
            style::cut(&result, WIDTH),
            call.duration,
        );
    }
}
