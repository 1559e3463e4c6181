//! `list`: lists the tools or the prompts. The resources are listed by `resources`.

use std::io::Write;

use clap::{ArgAction, ArgMatches, Command};
use serde_json::Value;
use toolkit::prompt::Prompt;
use toolkit::tool::normalize_tag;
use toolkit::{Catalog, Tool};

use crate::error::{CommandError, Exit};
use crate::options::{json_switch, option, switch, unless};
use crate::style::{self, BOLD, DIM, HIGHLIGHT, cut, one_line, padded, width};
use crate::{nats, proxied, report};

pub(crate) fn command() -> Command {
    Command::new("list")
        .about("List the tools")
        .long_about(
            "List the tools.\n\nOn a terminal, the output is a table; otherwise it has one line per tool with the \
             tab-separated columns id, hints and summary.",
        )
        .args([
            option("namespace", "NS").help("List only tools in this namespace"),
            option("tag", "TAG")
                .action(ArgAction::Append)
                .help("List only tools with this tag; if repeated, with all of the tags"),
            switch("all-versions").help("List all versions of each tool, not only the highest"),
            switch("prompts").help("List the prompts instead of the tools"),
            unless(
                cfg!(feature = "mcp"),
                "mcp",
                switch("resources")
                    .conflicts_with_all(["namespace", "tag", "all-versions", "prompts", "nats", "proxy"])
                    .help("List the resources of the server instead of the tools, with their MIME types"),
            ),
            json_switch("Print a JSON array of tools without their schemas"),
        ])
        .args(nats::options("List the tools of the workers at this NATS server, such as nats://localhost"))
        .args(
            proxied::options("Also list the tools of the MCP servers in FILE, which has the format of `serve --proxy`")
                .map(|option| option.conflicts_with("nats")),
        )
}

pub(crate) fn run(catalog: &Catalog, matches: &ArgMatches) -> Result<Exit, CommandError> {
    let is_wanted = wanted(matches);
    let (lists_prompts, all_versions) = (matches.get_flag("prompts"), matches.get_flag("all-versions"));
    let prompts: Vec<&Prompt> = catalog.prompts().filter(|prompt| is_wanted(prompt.tool())).collect();
    let tools: Vec<&Tool> = match (lists_prompts, all_versions) {
        (true, _) => prompts.iter().map(|prompt| prompt.tool()).collect(),
        (false, true) => catalog.iter().filter(|tool| is_wanted(tool)).collect(),
        (false, false) => catalog.latest().filter(|tool| is_wanted(tool)).collect(),
    };

    if matches.get_flag("json") {
        let records: Vec<Value> = match lists_prompts {
            true => prompts.iter().map(|prompt| prompt.to_mcp_json(&prompt.id().to_string())).collect(),
            false => tools.iter().map(|tool| report::tool_without_schemas(tool).into()).collect(),
        };
        style::write_json(&records)?;
    } else if tools.is_empty() {
        let why = if lists_prompts {
            "no prompt matches; `#[prompt]` turns a function into a prompt"
        } else if catalog.is_empty() && matches.contains_id("nats") {
            "no worker serves tools at this NATS server; start one with `serve --nats`"
        } else if catalog.is_empty() {
            report::NOT_LINKED
        } else {
            "no tool matches"
        };
        let _ = writeln!(anstream::stderr(), "{} {why}", style::NOTE);
    } else {
        let rows: Vec<Row> = tools.iter().map(|tool| Row::new(tool)).collect();
        match style::terminal_width() {
            Some(columns) => write_table(&rows, columns)?,
            None => write_lines(&rows)?,
        }
    }
    Ok(Exit::Success)
}

fn wanted(matches: &ArgMatches) -> impl Fn(&Tool) -> bool {
    let namespace = matches.get_one::<String>("namespace").cloned();
    let tags = matches.get_many::<String>("tag").unwrap_or_default();
    // A tag without valid characters becomes the empty tag, which no tool has.
    let tags: Vec<String> = tags.map(|tag| normalize_tag(tag).unwrap_or_default()).collect();
    move |tool| {
        namespace.as_deref().is_none_or(|wanted| tool.id().namespace() == Some(wanted))
            && tags.iter().all(|wanted| tool.tags().iter().any(|tag| tag == wanted))
    }
}

struct Row {
    id: String,
    deprecated: bool,
    hints: String,
    summary: String,
}

impl Row {
    fn new(tool: &Tool) -> Self {
        let deprecated = tool.deprecated().is_some();
        let mut hints = report::hints(tool.annotations());
        if deprecated {
            hints.insert(0, "deprecated");
        }
        Self { id: tool.id().to_string(), deprecated, hints: hints.join(", "), summary: one_line(&tool.summary()) }
    }
}

/// Writes tab-separated lines without a header or truncation.
fn write_lines(rows: &[Row]) -> Result<(), CommandError> {
    let mut out = std::io::stdout().lock();
    for row in rows {
        writeln!(out, "{}\t{}\t{}", row.id, row.hints, row.summary)?;
    }
    Ok(())
}

fn write_table(rows: &[Row], columns: usize) -> Result<(), CommandError> {
    /// The minimum width of a summary beside the id and the hints.
    const MIN_SUMMARY: usize = 32;

    let widest =
        |texts: &mut dyn Iterator<Item = &str>, header: &str| texts.map(width).max().unwrap_or(0).max(width(header));
    let id_columns = widest(&mut rows.iter().map(|row| &*row.id), "ID");
    let hint_columns = widest(&mut rows.iter().map(|row| &*row.hints), "HINTS");
    let summary_columns = columns.saturating_sub(id_columns + hint_columns + 4);
    if summary_columns < MIN_SUMMARY {
        return write_blocks(rows, columns);
    }

    let mut out = anstream::stdout().lock();
    let header = format!("{}  {}  SUMMARY", padded("ID", id_columns), padded("HINTS", hint_columns));
    writeln!(out, "{DIM}{header}{}", DIM.clear())?;
    for row in rows {
        let id = padded(&row.id, id_columns);
        let hints = padded(&row.hints, hint_columns);
        let summary = cut(&row.summary, summary_columns);
        let paint = if row.deprecated { HIGHLIGHT } else { DIM };
        writeln!(out, "{BOLD}{id}{}  {paint}{hints}{}  {summary}", BOLD.clear(), paint.clear())?;
    }
    Ok(())
}

/// Writes the summary of each tool below its id, for a narrow terminal. Ids are never truncated, since users copy them.
fn write_blocks(rows: &[Row], columns: usize) -> Result<(), CommandError> {
    let mut out = anstream::stdout().lock();
    for row in rows {
        let paint = if row.deprecated { HIGHLIGHT } else { DIM };
        // Hints that do not fit beside the id have a line of their own.
        let between = if width(&row.id) + 2 + width(&row.hints) > columns { "\n    " } else { "  " };
        writeln!(out, "{BOLD}{}{}{between}{paint}{}{}", row.id, BOLD.clear(), row.hints, paint.clear())?;
        writeln!(out, "    {}", cut(&row.summary, columns.saturating_sub(4)))?;
    }
    Ok(())
}
