//! The status of a server as a table or as lines.

use std::io::{self, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::report::{Backend, Report};
use crate::report::counted;
use crate::style::{self, BOLD, DIM, HIGHLIGHT, PLAIN, padded, printable, width};

const HEADERS: [&str; 9] = ["NAME", "STATE", "FOR", "TOOLS", "LEFT OUT", "CALLS", "RUNNING", "ERRORS", "RESTARTS"];

/// Writes the status to stdout, and errors of the configuration to stderr.
pub(super) fn write(report: &Report) -> io::Result<()> {
    for error in &report.configuration_errors {
        let _ = writeln!(anstream::stderr(), "{} {}", style::ERROR, printable(error));
    }
    match style::terminal_width() {
        Some(_) => write_table(report, &mut anstream::stdout().lock()),
        None => write_lines(report, &mut io::stdout().lock()),
    }
}

fn write_lines(report: &Report, out: &mut impl Write) -> io::Result<()> {
    for backend in &report.backends {
        let Backend { name, state, tools, left_out, calls, restarts, last_error, .. } = backend;
        let error = one_line(last_error.as_deref().unwrap_or_default());
        let (ended, n_errors) = (calls.ended, calls.n_errors());
        let (name, state) = (one_line(name), one_line(state));
        writeln!(out, "{name}\t{state}\t{tools}\t{left_out}\t{ended}\t{n_errors}\t{restarts}\t{error}")?;
    }
    Ok(())
}

fn write_table(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let n_running = usize::try_from(report.calls_running).unwrap_or(usize::MAX);
    let n_tools = usize::try_from(report.tools).unwrap_or(usize::MAX);
    writeln!(out, "{}, {}", counted(n_tools, "tool"), counted(n_running, "running call"))?;
    if report.backends.is_empty() {
        return Ok(());
    }
    let rows: Vec<[String; 9]> = report.backends.iter().map(cells).collect();
    let widths: Vec<usize> = (0..HEADERS.len())
        .map(|nth| rows.iter().map(|row| width(&row[nth])).max().unwrap_or(0).max(width(HEADERS[nth])))
        .collect();
    let line = |cells: [&str; 9]| {
        let cells = std::iter::zip(cells, &widths).map(|(cell, columns)| padded(cell, *columns));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    writeln!(out, "{DIM}{}{}", line(HEADERS), DIM.clear())?;
    for (backend, row) in std::iter::zip(&report.backends, &rows) {
        let paint = if backend.is_ready() { PLAIN } else { HIGHLIGHT };
        writeln!(out, "{paint}{}{}", line(row.each_ref().map(String::as_str)), paint.clear())?;
        if !backend.is_ready()
            && let Some(error) = &backend.last_error
        {
            let next = backend.next_attempt.map(|at| format!("; next attempt in {}", span(at - now())));
            writeln!(out, "  {BOLD}{}{}{}", one_line(error), BOLD.clear(), next.unwrap_or_default())?;
        }
        for reason in &backend.left_out_reasons {
            writeln!(out, "  {DIM}{}{}", one_line(reason), DIM.clear())?;
        }
    }
    Ok(())
}

fn cells(backend: &Backend) -> [String; 9] {
    let number = |n: u64| n.to_string();
    [
        one_line(&backend.name),
        one_line(&backend.state),
        backend.since.map(|since| span(now() - since)).unwrap_or_default(),
        number(backend.tools),
        number(backend.left_out),
        number(backend.calls.ended),
        number(backend.calls.running),
        number(backend.calls.n_errors()),
        number(backend.restarts),
    ]
}

fn one_line(text: &str) -> String {
    printable(text).replace(['\n', '\t'], " ")
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// Formats a number of seconds with its two largest units, such as `3m 12s`.
fn span(seconds: f64) -> String {
    let seconds = Duration::try_from_secs_f64(seconds.ceil()).unwrap_or_default().as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) => format!("{minutes}m {}s", seconds % 60),
        (0, ..) => format!("{hours}h {}m", minutes % 60),
        _ => format!("{days}d {}h", hours % 24),
    }
}
