//! `show`: describes a tool.

use std::io::{self, Write};

use clap::{Arg, ArgMatches, Command};
use serde_json::Value;
use toolkit::schema::CheckPath;
use toolkit::{Catalog, Tool};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::nats;
use crate::options::{json_switch, program_name};
use crate::report;
use crate::shape::{Kind, Shape, constraints, describe_kind};
use crate::style::{self, BOLD, DIM, HIGHLIGHT, printable, wrapped};
use crate::table::{self, Side};

/// The width of the output if stdout is not a terminal.
const DEFAULT_COLUMNS: usize = 100;

pub(crate) fn command() -> Command {
    Command::new("show")
        .about("Show the description, arguments and result of a tool")
        .args([tool_id(), json_switch("Print the tool as JSON, with its schemas")])
        .args(nats::options("Show a tool of the workers at this NATS server, such as nats://localhost"))
}

fn tool_id() -> Arg {
    Arg::new("id")
        .value_name("ID")
        .required(true)
        .help("The id of the tool, `namespace:name:version`; the version and the namespace are optional if unambiguous")
}

pub(crate) fn run(catalog: &Catalog, matches: &ArgMatches) -> Result<Exit, CommandError> {
    let id = matches.get_one::<String>("id").map(String::as_str);
    let tool = catalog.resolve(id.unwrap_or_default())?;
    if matches.get_flag("json") {
        style::write_json(&report::tool_as_json(tool))?;
    } else {
        let columns = style::terminal_width().unwrap_or(DEFAULT_COLUMNS);
        write_page(&mut anstream::stdout().lock(), tool, columns)?;
    }
    Ok(Exit::Success)
}

fn write_page(out: &mut impl Write, tool: &Tool, columns: usize) -> io::Result<()> {
    writeln!(out, "{BOLD}{}{}", tool.id(), BOLD.clear())?;
    for line in wrapped(&printable(tool.description()), columns.saturating_sub(2)) {
        writeln!(out, "{}", format!("  {line}").trim_end())?;
    }
    write_facts(out, tool)?;

    heading(out, "Arguments")?;
    match Shape::new(tool.input().as_value()).kind() {
        Kind::Object(properties) => table::write(out, Side::Arguments, &properties, columns)?,
        Kind::Map(None) => writeln!(out, "  none")?,
        kind => writeln!(out, "  {}", printable(&describe_kind(&kind)))?,
    }

    heading(out, "Result")?;
    match tool.output() {
        Some(schema) => write_result(out, schema.as_value(), columns)?,
        None => writeln!(out, "  no structured result")?,
    }

    let examples = tool.examples();
    let example = examples.into_iter().next().or_else(|| tool.input().example());
    if let Some(example) = example {
        heading(out, "Example")?;
        let call = format!("{} call {} {}", program_name(), tool.id(), quoted(&example));
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
        let scopes = authorization.oauth2.scopes.join(", ");
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
    let shape = Shape::new(schema);
    let kind = shape.kind();
    let or_null = if shape.is_nullable() { " or null" } else { "" };
    let limits = constraints(&shape);
    let limits = if limits.is_empty() { String::new() } else { format!(" ({})", limits.join("; ")) };
    let words = format!("{}{or_null}{limits}", describe_kind(&kind));
    match &kind {
        Kind::Object(properties) => return table::write(out, Side::Result, properties, columns),
        Kind::List(items) => {
            writeln!(out, "  {}", printable(&words))?;
            if let Kind::Object(properties) = items.kind() {
                table::write(out, Side::Result, &properties, columns)?;
            }
        }
        _ => writeln!(out, "  {}", printable(&words))?,
    }
    Ok(())
}

/// Quotes JSON for a POSIX shell.
fn quoted(json: &Value) -> String {
    format!("'{}'", json.to_string().replace('\'', r"'\''"))
}
