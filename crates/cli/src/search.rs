//! `search`: searches for tools.

use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use toolkit::{Catalog, Tool};
use toolkit_search::{Hit, Index, Query, Snapshot};

use crate::error::{CommandError, Exit};
use crate::options::{json_switch, option, switch, unless};
use crate::style::{self, HIGHLIGHT, cut, one_line, printable, width};
use crate::{nats, proxied};

pub(crate) fn command() -> Command {
    Command::new("search")
        .about("Search for tools")
        .long_about(
            "Search names, tags, descriptions and arguments of the tools, and list the best matches first.\n\nThe \
             search is case-insensitive, stems words, and tolerates typos and prefixes of names. On a terminal, the \
             output is a table; otherwise it has one line per tool with the tab-separated columns id, score and summary.",
        )
        .args([
            Arg::new("query").value_name("QUERY").required(true).num_args(1..).help("Words that describe the tool"),
            option("limit", "N")
                .short('n')
                .value_parser(value_parser!(u32).range(1..))
                .default_value("5")
                .help("Maximum number of tools"),
            option("namespace", "NS").help("Search only tools in this namespace"),
            option("tag", "TAG")
                .action(ArgAction::Append)
                .help("Search only tools with this tag; if repeated, with any of the tags"),
            switch("all-versions").help("Search all versions of each tool, not only the highest"),
            json_switch("Print a JSON array of summaries and scores"),
        ])
        .arg(model())
        .args(nats::options("Search the tools of the workers at this NATS server, such as nats://localhost"))
        .args(
            proxied::options("Also search the tools of the MCP servers in FILE, which has the format of `serve --proxy`")
                .map(|option| option.conflicts_with("nats")),
        )
}

fn model() -> Arg {
    let model = option("model", "DIR").value_parser(value_parser!(PathBuf));
    let model = model.help("Also search semantically, with the sentence-embedding model in this directory");
    unless(cfg!(feature = "embed"), "embed", model)
}

pub(crate) fn run(catalog: &Catalog, matches: &ArgMatches) -> Result<Exit, CommandError> {
    let all_versions = matches.get_flag("all-versions");
    let tools: Vec<&Tool> = if all_versions { catalog.iter().collect() } else { catalog.latest().collect() };
    let words: Vec<&str> = matches.get_many::<String>("query").unwrap_or_default().map(String::as_str).collect();
    let question = words.join(" ");
    let mut query = Query::new(&*question);
    if let Some(namespace) = matches.get_one::<String>("namespace") {
        query = query.namespace(namespace);
    }
    for tag in matches.get_many::<String>("tag").unwrap_or_default() {
        query = query.tag(tag);
    }
    let limit = matches.get_one::<u32>("limit").map_or(5, |limit| *limit as usize);
    let index = Index::from_tools(tools).snapshot();
    let hits = found(&index, query, limit, matches)?;

    if matches.get_flag("json") {
        style::write_json(&hits)?;
    } else if hits.is_empty() {
        let _ = writeln!(anstream::stderr(), "{} no tool matches; `list` lists all tools", style::NOTE);
    } else {
        match style::terminal_width() {
            Some(columns) => write_table(&index, &question, &hits, columns)?,
            None => write_lines(&hits)?,
        }
    }
    Ok(Exit::Success)
}

#[cfg(not(feature = "embed"))]
fn found(index: &Snapshot, query: Query<'_>, limit: usize, _matches: &ArgMatches) -> Result<Vec<Hit>, CommandError> {
    Ok(index.search(query, limit))
}

/// Searches by words, and semantically if there is a model.
#[cfg(feature = "embed")]
fn found(index: &Snapshot, query: Query<'_>, limit: usize, matches: &ArgMatches) -> Result<Vec<Hit>, CommandError> {
    use toolkit_search::embed::LocalModel;
    use toolkit_search::{Fusion, Semantic};

    let Some(directory) = matches.get_one::<PathBuf>("model") else {
        return Ok(index.search(query, limit));
    };
    let failed = |message: String| CommandError::failed("model", message);
    let semantic = Semantic::new(LocalModel::open(directory).map_err(|error| failed(error.to_string()))?);
    semantic.update(index).map_err(|error| failed(error.to_string()))?;
    semantic.search(index, query, Fusion::default(), limit).map_err(|error| failed(error.to_string()))
}

/// Writes tab-separated lines without a header or highlights.
fn write_lines(hits: &[Hit]) -> Result<(), CommandError> {
    let mut out = std::io::stdout().lock();
    for Hit { summary, score, .. } in hits {
        let text = one_line(&summary.short_description);
        writeln!(out, "{}\t{score:.2}\t{text}", printable(&summary.id))?;
    }
    Ok(())
}

fn write_table(index: &Snapshot, question: &str, hits: &[Hit], columns: usize) -> Result<(), CommandError> {
    /// The minimum width of a summary beside the id. Below that, it is on a line of its own.
    const MIN_SUMMARY: usize = 32;

    let id_columns = hits.iter().map(|hit| width(&printable(&hit.summary.id))).max().unwrap_or(0);
    let rest = columns.saturating_sub(id_columns + 2);
    let is_narrow = rest < MIN_SUMMARY;
    let summary_columns = if is_narrow { columns.saturating_sub(4) } else { rest };
    let mut out = anstream::stdout().lock();
    for Hit { summary, .. } in hits {
        let id = printable(&summary.id);
        let text = one_line(&summary.short_description);
        let space = match is_narrow {
            true => "\n    ".to_owned(),
            false => " ".repeat(id_columns.saturating_sub(width(&id)) + 2),
        };
        let (id, text) =
            (highlighted(index, question, &id), highlighted(index, question, &cut(&text, summary_columns)));
        writeln!(out, "{id}{space}{text}")?;
    }
    Ok(())
}

/// Highlights the words of the query in a text.
fn highlighted(index: &Snapshot, question: &str, text: &str) -> String {
    let mut shown = String::new();
    let mut end = 0;
    for place in index.highlights(question, text) {
        let _ = write!(shown, "{}{HIGHLIGHT}{}{}", &text[end..place.start], &text[place.clone()], HIGHLIGHT.clear());
        end = place.end;
    }
    shown.push_str(&text[end..]);
    shown
}
