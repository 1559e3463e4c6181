//! `show`: everything about one tool.

use std::io::{self, Write};

use clap::{Arg, ArgMatches, Command};
use serde_json::Value;
use toolkit::schema::CheckPath;
use toolkit::{Catalog, Tool};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::options::{json_switch, program_name};
use crate::record;
use crate::shape::{Kind, Shape, constraints, kind_in_words};
use crate::style::{self, CAREFUL, FAINT, STRONG, printable, wrapped};
use crate::table::{self, Side};

/// How wide a page is where there is no terminal to say so.
const PAGE: usize = 100;

pub(crate) fn command() -> Command {
    Command::new("show")
        .about("Shows everything about a tool")
        .args([tool_id(), json_switch("The tool's record with its schemas")])
}

fn tool_id() -> Arg {
    Arg::new("id")
        .value_name("ID")
        .required(true)
        .help("The tool: `namespace:name:version`, or less where that is enough")
}

pub(crate) fn run(catalog: &Catalog, matches: &ArgMatches) -> Result<Exit, Failure> {
    let id = matches.get_one::<String>("id").map(String::as_str);
    let tool = catalog.resolve(id.unwrap_or_default())?;
    if matches.get_flag("json") {
        style::write_json(&record::full(tool))?;
    } else {
        let columns = style::terminal_width().unwrap_or(PAGE);
        write_page(&mut anstream::stdout().lock(), tool, columns)?;
    }
    Ok(Exit::Success)
}

fn write_page(out: &mut impl Write, tool: &Tool, columns: usize) -> io::Result<()> {
    writeln!(out, "{STRONG}{}{}", tool.id(), STRONG.clear())?;
    for line in wrapped(&printable(tool.description()), columns.saturating_sub(2)) {
        writeln!(out, "{}", format!("  {line}").trim_end())?;
    }
    write_facts(out, tool)?;

    heading(out, "Arguments")?;
    match Shape::of(tool.input().as_value()).kind() {
        Kind::Object(properties) => table::write(out, Side::Arguments, &properties, columns)?,
        Kind::Map(None) => writeln!(out, "  none")?,
        kind => writeln!(out, "  {}", printable(&kind_in_words(&kind)))?,
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
    writeln!(out, "\n{STRONG}{text}{}", STRONG.clear())
}

fn write_facts(out: &mut impl Write, tool: &Tool) -> io::Result<()> {
    let hints = record::hints(tool.annotations()).join(", ");
    let version = tool.id().version().unwrap_or_default();
    let limit = tool.timeout().map(|limit| format!("{limit:?}")).unwrap_or_default();
    let facts = [
        ("title", tool.title().unwrap_or_default().to_owned()),
        ("version", version.to_owned()),
        ("category", tool.category().unwrap_or_default().to_owned()),
        ("hints", hints),
        ("tags", tool.tags().join(", ")),
        ("needs", needs(tool)),
        ("time limit", limit),
        ("also called", tool.aliases().join(", ")),
        ("checked", checked(tool)),
        ("location", tool.location().map(|location| location.to_string()).unwrap_or_default()),
    ];
    writeln!(out)?;
    if let Some(instead) = tool.deprecated() {
        writeln!(out, "  {CAREFUL}deprecated{}   {}", CAREFUL.clear(), printable(instead))?;
    }
    for (name, fact) in facts.iter().filter(|(_, fact)| !fact.is_empty()) {
        writeln!(out, "  {FAINT}{name:<11}{}  {}", FAINT.clear(), printable(fact))?;
    }
    Ok(())
}

/// How arguments and results are checked against their schemas.
fn checked(tool: &Tool) -> String {
    let sides = [("arguments", Some(tool.input().path())), ("result", tool.output().map(|schema| schema.path()))];
    let as_trees: Vec<String> = sides
        .into_iter()
        .filter_map(|(side, path)| path.filter(|path| *path != CheckPath::Plan).map(|path| format!("{side} {path}")))
        .collect();
    if as_trees.is_empty() { CheckPath::Plan.to_string() } else { as_trees.join("; ") }
}

/// What the host must hold, in words.
fn needs(tool: &Tool) -> String {
    let requirements = tool.requirements();
    let mut needs = Vec::new();
    for authorization in &*requirements.authorization {
        let scopes = authorization.oauth2.scopes.join(", ");
        let scopes = if scopes.is_empty() { scopes } else { format!(" ({scopes})") };
        needs.push(format!("OAuth 2 with {}{scopes}", authorization.id));
    }
    needs.extend(requirements.secrets.iter().map(|secret| format!("secret {}", secret.id)));
    if requirements.user_id {
        needs.push("the user's id".to_owned());
    }
    needs.join("; ")
}

fn write_result(out: &mut impl Write, schema: &Value, columns: usize) -> io::Result<()> {
    let shape = Shape::of(schema);
    let kind = shape.kind();
    let or_null = if shape.is_nullable() { " or null" } else { "" };
    let limits = constraints(&shape);
    let limits = if limits.is_empty() { String::new() } else { format!(" ({})", limits.join("; ")) };
    let words = format!("{}{or_null}{limits}", kind_in_words(&kind));
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

/// JSON as one word of a POSIX shell.
fn quoted(json: &Value) -> String {
    format!("'{}'", json.to_string().replace('\'', r"'\''"))
}
