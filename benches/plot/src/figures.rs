//! The plots, and the results that each of them shows.

use std::io;
use std::path::Path;

use crate::bars::{Bar, Bars, Group};
use crate::lines::{Line, Lines};
use crate::results::{Results, Row, Table};

/// The calls in the plot of the dispatcher: the start of the row's name, without versions, and the name of the bar.
const CALLS: [(&str, &str); 6] = [
    ("`Dispatcher::call_sync`", "toolkit, sync"),
    ("`Dispatcher::call`, async function", "toolkit, async"),
    ("tree and jsonschema", "JSON tree and jsonschema"),
    ("MCP `params` to result: `Dispatcher::call`", "toolkit, MCP"),
    ("MCP `params` to result: rmcp ", "rmcp, MCP"),
    ("MCP `params` to result: rust-mcp-sdk ", "rust-mcp-sdk, MCP"),
];

/// The table of calls whose arguments grow.
const GROWTH: &str = "growth of `batch`";

/// Lines of the plots of growth: the table, the row, and the name of the line.
const PAYLOADS: [(&str, &str, &str); 4] = [
    ("payload of records", "a byte: `Dispatcher::call_sync`", "toolkit, records"),
    ("payload of records", "a byte: serde, function, serde", "serde, records"),
    ("payload of one text", "a byte: `Dispatcher::call_sync`", "toolkit, one text"),
    ("payload of one text", "a byte: serde, function, serde", "serde, one text"),
];
const CATALOGS: [(&str, &str, &str); 4] = [
    ("catalog of small tools", "a tool: `Catalog::new`", "Catalog::new, small"),
    ("catalog of varied tools", "a tool: `Catalog::new`", "Catalog::new, varied"),
    ("catalog of small tools", "a tool: `ToolList::new`", "ToolList::new, small"),
    ("catalog of varied tools", "a tool: `ToolList::new`", "ToolList::new, varied"),
];
const CALLS_IN_FLIGHT: [(&str, &str, &str); 4] = [
    ("calls of `add` in flight", "a call: `Dispatcher::call`", "toolkit, add"),
    ("calls of `add` in flight", "a call: serde, async function, serde", "serde, add"),
    ("calls of `search` in flight", "a call: `Dispatcher::call`", "toolkit, search"),
    ("calls of `search` in flight", "a call: serde, async function, serde", "serde, search"),
];

/// Makes all plots from the results in a directory: the names of the files, without their extension, and their texts.
///
/// # Errors
///
/// Returns an error if a file or a part of it is missing.
pub fn all(results: &Path) -> io::Result<Vec<(&'static str, String)>> {
    let read = |name: &str| Results::read(&results.join(name).with_extension("json"));
    let (dispatch, speed) = (read("dispatch")?, read("search-speed")?);
    let mut plots = vec![
        ("dispatch", calls(&dispatch)?),
        ("servers", servers(&read("servers")?)?),
        ("lookups", lookups(&dispatch)?),
        ("search-quality", search_quality(&read("search-quality")?)),
        ("search-speed", search_speed(&speed)?),
    ];
    // Results of earlier versions lack this table.
    if let Ok(grown) = dispatch.table(GROWTH) {
        plots.push(("payload", payload(grown)));
    }
    // A run takes several minutes on an idle machine, so that the directory may not contain its results.
    if results.join("growth.json").exists() {
        let growth = read("growth")?;
        plots.push(("growth-payload", growth_of_payload(&growth)?));
        plots.push(("growth-catalog", growth_of_catalog(&growth)?));
        plots.push(("growth-calls", growth_of_calls(&growth)?));
    }
    Ok(plots)
}

fn calls(results: &Results) -> io::Result<String> {
    let groups = ["add", "search", "batch"].map(|title| {
        let table = results.table(title)?;
        let bars = CALLS.iter().filter_map(|(row, name)| {
            let row = table.rows.iter().find(|found| found.name.starts_with(row))?;
            bar(table, row, name, name.starts_with("toolkit"), "ratio")
        });
        Ok(Group { heading: title.to_owned(), bars: bars.collect() })
    });
    let bars = Bars {
        title: "A call, compared to serde and the bare function".to_owned(),
        axis: "time of a call from bytes to bytes, relative to serde_json and the same function (dashed line); \
               lines are p10 to p90"
            .to_owned(),
        is_log: false,
        reference: Some(1.0),
        groups: groups.into_iter().collect::<io::Result<_>>()?,
    };
    Ok(bars.to_svg())
}

fn servers(results: &Results) -> io::Result<String> {
    let table = results.table("HTTP, 2026-07-28")?;
    let bars = table.rows.iter().filter_map(|row| {
        let name = row.name.replace('`', "");
        bar(table, row, &name, name == "toolkit-mcp-server", "ratio")
    });
    let bars = Bars {
        title: "A tool call at an MCP server over HTTP".to_owned(),
        axis: "processor time of the server with 64 calls in flight, relative to a bare axum handler (logarithmic)"
            .to_owned(),
        is_log: true,
        reference: Some(1.0),
        groups: vec![Group { heading: String::new(), bars: bars.collect() }],
    };
    Ok(bars.to_svg())
}

fn payload(table: &Table) -> String {
    let lines = Lines {
        title: "Calls with growing arguments".to_owned(),
        axis: "time of a call, relative to serde_json and the same function".to_owned(),
        x_axis: "bytes of the arguments".to_owned(),
        is_log: false,
        lines: lines(table, "bytes", "ratio", |row| {
            CALLS.iter().find(|(call, _)| row.starts_with(call)).map(|(_, name)| *name)
        }),
    };
    lines.to_svg()
}

fn lookups(results: &Results) -> io::Result<String> {
    let mut found = Table::new("", &["tools", "ns"]);
    for n_tools in [10, 1_000, 100_000] {
        let table = results.table(&format!("4,096 lookups among {n_tools} tools"))?;
        for row in &table.rows {
            let time = table.value(row, "ns").map(|nanos| nanos / 4_096.0);
            found.row(row.name.clone(), [Some(f64::from(n_tools)), time]);
        }
    }
    let lines = Lines {
        title: "Finding a tool by its name".to_owned(),
        axis: "nanoseconds of one lookup".to_owned(),
        x_axis: "tools in the catalog".to_owned(),
        is_log: false,
        lines: lines(&found, "tools", "ns", |name| match name {
            "`Catalog::get`" => Some("Catalog::get"),
            _ => Some("HashMap<&str, usize>"),
        }),
    };
    Ok(lines.to_svg())
}

fn growth_of_payload(results: &Results) -> io::Result<String> {
    let lines = Lines {
        title: "Cost of a byte as the payload grows".to_owned(),
        axis: "nanoseconds for each byte of the arguments, with the work that belongs to it".to_owned(),
        x_axis: "bytes of the arguments".to_owned(),
        is_log: false,
        lines: growing(results, "bytes", &PAYLOADS)?,
    };
    Ok(lines.to_svg())
}

fn growth_of_catalog(results: &Results) -> io::Result<String> {
    let lines = Lines {
        title: "Cost of a tool as the catalog grows".to_owned(),
        axis: "nanoseconds for each tool (logarithmic)".to_owned(),
        x_axis: "tools in the catalog".to_owned(),
        is_log: true,
        lines: growing(results, "tools", &CATALOGS)?,
    };
    Ok(lines.to_svg())
}

fn growth_of_calls(results: &Results) -> io::Result<String> {
    let lines = Lines {
        title: "Cost of a call as the calls in flight grow".to_owned(),
        axis: "nanoseconds for each call, from its task to its result".to_owned(),
        x_axis: "calls in flight".to_owned(),
        is_log: false,
        lines: growing(results, "calls", &CALLS_IN_FLIGHT)?,
    };
    Ok(lines.to_svg())
}

/// Creates a line of times for each of the rows.
fn growing(results: &Results, size: &str, rows: &[(&str, &str, &'static str)]) -> io::Result<Vec<Line>> {
    let mut found = Vec::new();
    for (title, row, name) in rows {
        let table = results.table(title)?;
        found.extend(lines(table, size, "ns", |found| (found == *row).then_some(*name)));
    }
    Ok(found)
}

fn search_quality(results: &Results) -> String {
    let groups = results.tables.iter().map(|table| {
        let bars = table.rows.iter().filter_map(|row| {
            let name = if row.name == "L2" { "best published" } else { &row.name };
            bar(table, row, name, row.name == "toolkit", "ndcg_10")
        });
        Group { heading: table.title.clone(), bars: bars.collect() }
    });
    let bars = Bars {
        title: "Search: how high the right tools rank".to_owned(),
        axis: "nDCG@10 of text search on public sets of questions; more is better".to_owned(),
        is_log: false,
        reference: None,
        groups: groups.collect(),
    };
    bars.to_svg()
}

fn search_speed(results: &Results) -> io::Result<String> {
    let table = results.table("search")?;
    let lines = Lines {
        title: "Search: time of a query".to_owned(),
        axis: "microseconds of the median query of three words, ten results (logarithmic)".to_owned(),
        x_axis: "tools in the index".to_owned(),
        is_log: true,
        lines: lines(table, "tools", "p50_us", |name| match name {
            "toolkit" => Some("toolkit"),
            "tantivy 0.27.0" => Some("tantivy"),
            "bm25 2.3.2" => Some("bm25"),
            _ => None,
        }),
    };
    Ok(lines.to_svg())
}

/// Creates a bar, unless the value was not measured.
fn bar(table: &Table, row: &Row, name: &str, is_own: bool, column: &str) -> Option<Bar> {
    let bound = |suffix: &str| table.value(row, &format!("{column}_{suffix}"));
    let range = bound("p10").zip(bound("p90")).map(|(low, high)| [low, high]);
    Some(Bar { name: name.to_owned(), is_own, value: table.value(row, column)?, range })
}

/// Creates a line for each name of rows, in the order of `toolkit` first.
fn lines(table: &Table, x: &str, y: &str, name_of: impl Fn(&str) -> Option<&'static str>) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for row in &table.rows {
        let point = table.value(row, x).zip(table.value(row, y));
        let (Some(name), Some((x, y))) = (name_of(&row.name), point) else { continue };
        match lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line.points.push([x, y]),
            None => lines.push(Line { name: name.to_owned(), points: vec![[x, y]] }),
        }
    }
    lines.sort_by_key(|line| !(line.name.starts_with("toolkit") || line.name.starts_with("Catalog")));
    lines
}
