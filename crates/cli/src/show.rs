//! `show`: describes a tool or a prompt, with a table of its properties in which nested objects are indented below their row.

use std::io::{self, Write};

use clap::{Arg, ArgMatches, Command};
use serde_json::Value;
use toolkit::schema::CheckPath;
use toolkit::schema::view::{Field, Shape, View};
use toolkit::{Catalog, Tool};

use crate::error::{CommandError, Exit};
use crate::flags::{default, limits};
use crate::options::{json_switch, program_name};
use crate::style::{self, BOLD, DIM, HIGHLIGHT, PLAIN, padded, printable, width, wrapped};
use crate::{nats, proxied, report};

/// The width of the output if stdout is not a terminal.
const DEFAULT_COLUMNS: usize = 100;

pub(crate) fn command() -> Command {
    Command::new("show")
        .about("Show the description, arguments and result of a tool, a prompt or a resource")
        .args([tool_id(), json_switch("Print the tool as JSON, with its schemas")])
        .args(nats::options("Show a tool of the workers at this NATS server, such as nats://localhost"))
        .args(
            proxied::options("Show a tool of the MCP servers in FILE, which has the format of `serve --proxy`")
                .map(|option| option.conflicts_with("nats")),
        )
}

fn tool_id() -> Arg {
    Arg::new("id").value_name("ID").required(true).help(
        "The id of the tool or the prompt, `namespace:name:version`; the version and the namespace are optional if \
             unambiguous. Or the URI of a resource",
    )
}

pub(crate) fn run(catalog: &Catalog, matches: &ArgMatches) -> Result<Exit, CommandError> {
    let id = matches.get_one::<String>("id").map(String::as_str);
    let id = id.unwrap_or_default();
    let columns = style::terminal_width().unwrap_or(DEFAULT_COLUMNS);
    let as_json = matches.get_flag("json");
    let (tool, prompt) = match (catalog.resolve(id), catalog.prompt(id)) {
        (Err(_), Some(prompt)) => (prompt.tool(), Some(prompt)),
        (tool, _) => (tool.map_err(|error| CommandError::unresolved(catalog, id, error))?, None),
    };
    match prompt {
        Some(prompt) if as_json => style::write_json(&prompt.to_mcp_json(&prompt.id().to_string()))?,
        Some(_) => write_start(&mut anstream::stdout().lock(), tool, columns)?,
        None if as_json => style::write_json(&report::tool_as_json(tool))?,
        None => write_page(&mut anstream::stdout().lock(), tool, columns)?,
    }
    Ok(Exit::Success)
}

/// Writes what tools and prompts have: the description, the facts and the arguments.
fn write_start(out: &mut impl Write, tool: &Tool, columns: usize) -> io::Result<()> {
    writeln!(out, "{BOLD}{}{}", tool.id(), BOLD.clear())?;
    for line in wrapped(&printable(tool.description()), columns.saturating_sub(2)) {
        writeln!(out, "{}", format!("  {line}").trim_end())?;
    }
    write_facts(out, tool)?;

    heading(out, "Arguments")?;
    let view = View::new(tool.input().as_value());
    match view.shape() {
        Shape::Object(fields) => write_table(out, PropertiesOf::Arguments, fields, columns),
        Shape::Map(None) => writeln!(out, "  none"),
        _ => writeln!(out, "  {}", printable(&view.to_string())),
    }
}

fn write_page(out: &mut impl Write, tool: &Tool, columns: usize) -> io::Result<()> {
    write_start(out, tool, columns)?;
    heading(out, "Result")?;
    match tool.output() {
        Some(schema) => write_result(out, schema.as_value(), columns)?,
        None => writeln!(out, "  no structured result")?,
    }

    let examples = tool.examples();
    let example = examples.into_iter().next().or_else(|| tool.input().example());
    if let Some(example) = example {
        heading(out, "Example")?;
        let call = format!("{} call {} {}", program_name(), tool.id(), style::shell_word(&example.to_string()));
        writeln!(out, "  {}", printable(&call))?;
    }
    Ok(())
}

fn heading(out: &mut impl Write, text: &str) -> io::Result<()> {
    writeln!(out, "\n{BOLD}{text}{}", BOLD.clear())
}

fn write_facts(out: &mut impl Write, tool: &Tool) -> io::Result<()> {
    let hints = report::hints(tool.annotations()).join(", ");
    let version = tool.id().version().unwrap_or_default();
    let limit = tool.timeout().map(|limit| format!("{limit:?}")).unwrap_or_default();
    let facts = [
        ("title", tool.title().unwrap_or_default().to_owned()),
        ("version", version.to_owned()),
        ("category", tool.category().unwrap_or_default().to_owned()),
        ("hints", hints),
        ("tags", tool.tags().join(", ")),
        ("requires", requirements(tool)),
        ("timeout", limit),
        ("aliases", tool.aliases().join(", ")),
        ("validation", validation(tool)),
        ("location", tool.location().map(|location| location.to_string()).unwrap_or_default()),
    ];
    writeln!(out)?;
    if let Some(instead) = tool.deprecated() {
        writeln!(out, "  {HIGHLIGHT}deprecated{}   {}", HIGHLIGHT.clear(), printable(instead))?;
    }
    for (name, fact) in facts.iter().filter(|(_, fact)| !fact.is_empty()) {
        writeln!(out, "  {DIM}{name:<11}{}  {}", DIM.clear(), printable(fact))?;
    }
    Ok(())
}

/// Describes how arguments and results are validated.
fn validation(tool: &Tool) -> String {
    let sides = [("arguments", Some(tool.input().path())), ("result", tool.output().map(|schema| schema.path()))];
    let as_trees: Vec<String> = sides
        .into_iter()
        .filter_map(|(side, path)| path.filter(|path| *path != CheckPath::Plan).map(|path| format!("{side} {path}")))
        .collect();
    if as_trees.is_empty() { CheckPath::Plan.to_string() } else { as_trees.join("; ") }
}

/// Describes the required credentials.
fn requirements(tool: &Tool) -> String {
    let requirements = tool.requirements();
    let mut needs = Vec::new();
    for authorization in &*requirements.authorization {
        let scopes = authorization.scopes.join(", ");
        let scopes = if scopes.is_empty() { scopes } else { format!(" ({scopes})") };
        needs.push(format!("OAuth 2 with {}{scopes}", authorization.id));
    }
    needs.extend(requirements.secrets.iter().map(|secret| format!("secret {}", secret.id)));
    if !requirements.scopes.is_empty() {
        needs.push(format!("a token with {}", requirements.scopes.join(", ")));
    }
    if requirements.user_id {
        needs.push("the user's id".to_owned());
    }
    needs.join("; ")
}

fn write_result(out: &mut impl Write, schema: &Value, columns: usize) -> io::Result<()> {
    let view = View::new(schema);
    let or_null = if view.accepts_null() { " or null" } else { "" };
    let limits = match limits(&view) {
        limits if limits.is_empty() => limits,
        limits => format!(" {limits}"),
    };
    let words = format!("{view}{or_null}{limits}");
    match view.shape() {
        Shape::Object(fields) => return write_table(out, PropertiesOf::Result, fields, columns),
        Shape::List(Some(items)) => {
            writeln!(out, "  {}", printable(&words))?;
            if let Shape::Object(fields) = items.shape() {
                write_table(out, PropertiesOf::Result, fields, columns)?;
            }
        }
        _ => writeln!(out, "  {}", printable(&words))?,
    }
    Ok(())
}

/// The maximum depth of nested objects, at which recursive types end.
const MAX_DEPTH: usize = 4;
/// The maximum width of the type column, which a long enumeration could fill otherwise.
const MAX_KIND_COLUMNS: usize = 34;
const MIN_TEXT_COLUMNS: usize = 24;

/// The origin of the properties, which determines the column "required".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PropertiesOf {
    /// Arguments of the tool: required ones are marked.
    Arguments,
    /// The result of the tool: optional ones are marked.
    Result,
}

struct Row {
    name: String,
    kind: String,
    need: String,
    text: String,
}

/// Writes a table of `fields`, wrapped to `columns` if possible.
pub(crate) fn write_table(
    out: &mut impl Write,
    side: PropertiesOf,
    fields: Vec<Field<'_>>,
    columns: usize,
) -> io::Result<()> {
    let mut rows = Vec::new();
    add_rows(fields, side, &mut Vec::new(), &mut rows);
    let widest = |cell: fn(&Row) -> &str, most: usize| {
        let widths = rows.iter().map(|row| width(cell(row)));
        widths.filter(|columns| *columns <= most).max().unwrap_or(0)
    };
    let name_columns = widest(|row| &row.name, 32);
    let kind_columns = widest(|row| &row.kind, MAX_KIND_COLUMNS);
    let need_columns = widest(|row| &row.need, 24);
    let indent = 2 + name_columns + 2 + kind_columns + 2 + need_columns + 2;
    let text_columns = columns.saturating_sub(indent).max(MIN_TEXT_COLUMNS);

    for row in &rows {
        let mut lines = wrapped(&row.text, text_columns).into_iter();
        let fits =
            width(&row.name) <= name_columns && width(&row.kind) <= kind_columns && width(&row.need) <= need_columns;
        // If a cell is too long, the description starts on the next line.
        let first = if fits { lines.next() } else { None };
        let first = first.unwrap_or_default();
        let mut cells = vec![(BOLD, &row.name, name_columns), (PLAIN, &row.kind, kind_columns)];
        if need_columns > 0 {
            cells.push((DIM, &row.need, need_columns));
        }
        cells.push((PLAIN, &first, 0));
        // No trailing spaces.
        while cells.last().is_some_and(|(_, text, _)| text.is_empty()) {
            cells.pop();
        }
        let n_cells = cells.len();
        for (idx, (paint, text, columns)) in cells.into_iter().enumerate() {
            let columns = if idx + 1 == n_cells { 0 } else { columns };
            write!(out, "  {paint}{}{}", padded(text, columns), paint.clear())?;
        }
        writeln!(out)?;
        for line in lines {
            writeln!(out, "{}{line}", " ".repeat(indent))?;
        }
    }
    Ok(())
}

/// Adds the rows of `fields`; `within` are the enclosing objects.
fn add_rows<'s>(fields: Vec<Field<'s>>, side: PropertiesOf, within: &mut Vec<View<'s>>, rows: &mut Vec<Row>) {
    for field in fields {
        let shape = field.view.shape();
        rows.push(row(&field, &shape, side, within.len()));
        let nested = match shape {
            Shape::List(Some(view)) | Shape::Map(Some(view)) => view,
            _ => field.view,
        };
        // A recursive type is expanded once.
        let is_explained = within.iter().any(|outer| outer.is_same(&nested));
        if is_explained || within.len() == MAX_DEPTH {
            continue;
        }
        if let Shape::Object(fields) = nested.shape() {
            within.push(nested);
            add_rows(fields, side, within, rows);
            within.pop();
        }
    }
}

fn row(field: &Field<'_>, shape: &Shape<'_>, side: PropertiesOf, depth: usize) -> Row {
    let view = &field.view;
    let need = match (side, default(view)) {
        (PropertiesOf::Arguments, Some(default)) => format!("default {default}"),
        (PropertiesOf::Arguments, None) if field.is_required => "required".to_owned(),
        (PropertiesOf::Result, _) if field.is_required => String::new(),
        _ => "optional".to_owned(),
    };
    let mut text = String::new();
    if let Some(description) = view.description() {
        text.push_str(&printable(description));
    }
    let limits = limits(view);
    if !limits.is_empty() {
        let space = if text.is_empty() { "" } else { " " };
        text.push_str(&format!("{space}{}", printable(&limits)));
    }
    if let Shape::Constants(constants) = shape {
        for constant in constants {
            if let Some(description) = constant.description {
                let line_break = if text.is_empty() { "" } else { "\n" };
                let value = constant.value.as_str().map_or_else(|| constant.value.to_string(), str::to_owned);
                text.push_str(&format!("{line_break}{}: {}", printable(&value), printable(description)));
            }
        }
    }
    let or_null = if view.accepts_null() && field.is_required { " or null" } else { "" };
    Row {
        name: format!("{}{}", "  ".repeat(depth), printable(field.name)),
        kind: format!("{}{or_null}", printable(&view.to_string())),
        need: printable(&need).into_owned(),
        text,
    }
}
