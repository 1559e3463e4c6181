//! The limits of providers, and the usage of a catalog.

use std::io::{self, Write};

use toolkit::Catalog;
use toolkit::catalog::{Diagnostics, Naming};
use toolkit_providers::{Usage, anthropic, gemini, openai};

use crate::style::{BOLD, DIM, padded, printable, terminal_width, width};

/// The maximum number of tools in a line.
const MAX_NAMED: usize = 3;

/// Returns the limits of a request for each provider, and their usage with strict mode for every tool that supports it.
pub(crate) fn usages(catalog: &Catalog, naming: Naming) -> Result<Vec<Usage>, Diagnostics> {
    let openai = openai::tools(catalog, naming, openai::Options::responses().strict())?;
    let anthropic = anthropic::tools(catalog, naming, anthropic::Options::default().strict())?;
    let gemini = gemini::tools(catalog, naming, gemini::SchemaFormat::JsonSchema)?;
    Ok([openai, anthropic, gemini].into_iter().flat_map(|export| export.usage).collect())
}

/// Formats a limit on one line, with the tools that use most of it.
pub(crate) fn line(usage: &Usage) -> String {
    match tools(usage) {
        tools if tools.is_empty() => usage.to_string(),
        tools => format!("{usage}; largest: {tools}"),
    }
}

fn tools(usage: &Usage) -> String {
    // Tools that count once are not worth listing.
    let takes = usage.tools.iter().filter(|(_, takes)| *takes > 1).take(MAX_NAMED);
    let named: Vec<String> = takes.map(|(id, takes)| format!("{} ({takes})", printable(&id.to_string()))).collect();
    named.join(", ")
}

/// Writes a table on a terminal, and otherwise tab-separated lines.
pub(crate) fn write(usages: &[Usage]) -> io::Result<()> {
    let rows = usages.iter().map(|usage| {
        [usage.target.to_owned(), usage.what.to_owned(), usage.count.to_string(), usage.limit.to_string(), tools(usage)]
    });
    let rows: Vec<[String; 5]> = rows.collect();
    let mut out = anstream::stdout().lock();
    if terminal_width().is_none() {
        for row in rows {
            writeln!(out, "{}", row.join("\t"))?;
        }
        return Ok(());
    }
    let header = ["TARGET", "LIMIT", "USED", "MAX", "LARGEST"];
    let columns = [0, 1, 2, 3].map(|nth| {
        let cells = rows.iter().map(|row| width(&row[nth]));
        cells.max().unwrap_or(0).max(width(header[nth]))
    });
    let line = |row: [&str; 5]| {
        let cells: Vec<String> = row.iter().zip(columns).map(|(cell, columns)| padded(cell, columns)).collect();
        format!("{}  {}", cells.join("  "), row[4])
    };
    writeln!(out, "{DIM}{}{}", line(header), DIM.clear())?;
    for (row, usage) in rows.iter().zip(usages) {
        let text = line(row.each_ref().map(String::as_str));
        match usage.is_over() {
            true => writeln!(out, "{BOLD}{}{}", text.trim_end(), BOLD.clear())?,
            false => writeln!(out, "{}", text.trim_end())?,
        }
    }
    Ok(())
}
