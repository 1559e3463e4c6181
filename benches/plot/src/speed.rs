//! The table of ratios in README, from the results.

use std::io;
use std::path::Path;

use crate::results::{Results, Table};

/// The first line of the table, by which it is found in README.
const HEAD: &str = "| call | measured |\n|---|---|\n";

/// Returns README with the ratios of the results in a directory.
///
/// # Errors
///
/// Returns an error if a result or the table in README is missing.
pub fn in_readme(readme: &str, results: &Path) -> io::Result<String> {
    let missing = || io::Error::other(format!("README has no table that starts with {HEAD:?}"));
    let (before, rest) = readme.split_once(HEAD).ok_or_else(missing)?;
    let (_, after) = rest.split_once("\n\n").ok_or_else(missing)?;
    Ok(format!("{before}{HEAD}{}\n\n{after}", rows(results)?))
}

fn rows(results: &Path) -> io::Result<String> {
    let read = |name: &str| Results::read(&results.join(name).with_extension("json"));
    let (dispatch, servers) = (read("dispatch")?, read("servers")?);
    let calls = ["add", "search", "batch"].map(|title| dispatch.table(title));
    let calls: Vec<&Table> = calls.into_iter().collect::<io::Result<_>>()?;
    let http = ["HTTP, 2026-07-28", "HTTP, 2025-11-25"].map(|title| servers.table(title));
    let http: Vec<&Table> = http.into_iter().collect::<io::Result<_>>()?;

    let floor = "floor: serde, function, serde";
    let (own, rmcp) = ("MCP `params` to result: `Dispatcher::call`", "MCP `params` to result: rmcp ");
    let allocations = Span::new(&calls, "allocations", "`Dispatcher::call_sync`", Some(floor))?;
    if allocations.low != 1.0 || allocations.high != 1.0 {
        return Err(io::Error::other("a call makes more allocations than serde alone: change what README says"));
    }
    Ok(format!(
        "| synchronous tool, validated on both sides, compared to serde alone on the same bytes | {} times, with as many \
         allocations ({}) |\n\
         | from the `params` of an MCP call to its result, compared to {}, which does not validate against the schema | {} \
         times ({}) |\n\
         | MCP over HTTP with 64 calls in flight, processor time compared to a bare axum handler | {} times; a server on {}: \
         {} times ({}) |",
        Span::new(&calls, "ratio", "`Dispatcher::call_sync`", None)?,
        dispatch.date,
        version(&calls, rmcp)?,
        Span::new(&calls, "ns", own, Some(rmcp))?,
        dispatch.date,
        Span::new(&http, "ratio", "`toolkit-mcp-server`", None)?,
        version(&http, "rmcp ")?,
        Span::new(&http, "ratio", "rmcp ", None)?,
        servers.date,
    ))
}

/// Returns the name and version of rmcp in the names of the rows that start so.
fn version(tables: &[&Table], start: &str) -> io::Result<String> {
    let row = tables.iter().flat_map(|table| &table.rows).find(|row| row.name.starts_with(start));
    let rest = row.and_then(|row| row.name.split("rmcp ").nth(1)).ok_or_else(|| absent(start))?;
    Ok(format!("rmcp {}", rest.split([' ', ',']).next().unwrap_or_default()))
}

/// The smallest and the largest value of some rows.
struct Span {
    low: f64,
    high: f64,
}

impl Span {
    /// Reads a column of the rows whose names start with `start`, in each table, divided by that of `reference`.
    fn new(tables: &[&Table], column: &str, start: &str, reference: Option<&str>) -> io::Result<Self> {
        let mut span = Self { low: f64::INFINITY, high: 0.0 };
        for table in tables {
            let values = |start: &str| {
                let rows = table.rows.iter().filter(|row| row.name.starts_with(start));
                rows.filter_map(|row| table.value(row, column)).collect::<Vec<_>>()
            };
            let divisor = match reference {
                Some(reference) => *values(reference).first().ok_or_else(|| absent(reference))?,
                None => 1.0,
            };
            for value in values(start) {
                span.low = span.low.min(value / divisor);
                span.high = span.high.max(value / divisor);
            }
        }
        if span.low.is_finite() { Ok(span) } else { Err(absent(start)) }
    }
}

impl std::fmt::Display for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.2} to {:.2}", self.low, self.high)
    }
}

fn absent(row: &str) -> io::Error {
    io::Error::other(format!("the results have no row `{row}`"))
}
