//! `list --resources` and `show URI`: the resources of the server of this program, which its `resources/list` and
//! `resources/templates/list` contain.

use std::io::Write;

use clap::ArgMatches;
use serde_json::{Value, json};
use toolkit::Catalog;
use toolkit_mcp_server::{ServeError, Server};

use crate::error::{CommandError, Exit};
use crate::in_process::request;
use crate::options::program_name;
use crate::program::Program;
use crate::runtime;
use crate::style::{self, BOLD, DIM, one_line, printable};

/// The fields that `show` prints on lines of their own, in this order.
const FACTS: [&str; 4] = ["title", "name", "mimeType", "size"];

/// Returns true if `text` is the URI of a resource, or a template of URIs, and not the id of a tool.
pub(crate) fn is_uri(text: &str) -> bool {
    text.contains("://")
}

/// Lists the resources, one on each line: the URI, the MIME type and the description.
pub(crate) fn list(catalog: Catalog, matches: &ArgMatches, program: Program) -> Result<Exit, CommandError> {
    let resources = resources(catalog, program)?;
    if matches.get_flag("json") {
        style::write_json(&resources)?;
        return Ok(Exit::Success);
    }
    if resources.is_empty() {
        let why = "this program has no resources; `Program::server` and `ServerBuilder::resources` add them";
        let _ = writeln!(anstream::stderr(), "{} {why}", style::NOTE);
    }
    let mut out = anstream::stdout().lock();
    for resource in &resources {
        let text = |key: &str| one_line(resource[key].as_str().unwrap_or_default());
        let about = if resource["description"].is_null() { text("name") } else { text("description") };
        writeln!(out, "{}\t{}\t{about}", one_line(uri(resource)), text("mimeType"))?;
    }
    Ok(Exit::Success)
}

/// Shows the fields of a resource.
pub(crate) fn show(catalog: Catalog, matches: &ArgMatches, program: Program) -> Result<Exit, CommandError> {
    let wanted = matches.get_one::<String>("id").map(String::as_str).unwrap_or_default();
    let resources = resources(catalog, program)?;
    let Some(resource) = resources.iter().find(|resource| uri(resource) == wanted) else {
        let lists =
            format!("`{} list --resources` lists all, also templates, each shown by its own text", program_name());
        let message = format!("no resource has the URI `{}`; {lists}", printable(wanted));
        return Err(CommandError::usage(message));
    };
    if matches.get_flag("json") {
        style::write_json(resource)?;
        return Ok(Exit::Success);
    }
    let mut out = anstream::stdout().lock();
    writeln!(out, "{BOLD}{}{}", printable(wanted), BOLD.clear())?;
    if let Some(description) = resource["description"].as_str() {
        writeln!(out, "  {}", printable(description))?;
    }
    writeln!(out)?;
    for name in FACTS.iter().filter(|name| !resource[**name].is_null()) {
        let fact = resource[*name].as_str().map_or_else(|| resource[*name].to_string(), str::to_owned);
        writeln!(out, "  {DIM}{name:<11}{}  {}", DIM.clear(), printable(&fact))?;
    }
    Ok(Exit::Success)
}

/// Returns the URI of a resource, or that of a template.
fn uri(resource: &Value) -> &str {
    resource["uri"].as_str().or_else(|| resource["uriTemplate"].as_str()).unwrap_or_default()
}

/// Returns the resources and then the templates, as MCP lists them.
fn resources(catalog: Catalog, program: Program) -> Result<Vec<Value>, CommandError> {
    let runtime = runtime::create()?;
    let dispatcher = runtime::dispatcher(&runtime, catalog, program.dispatcher)?;
    let builder = (program.server)(Server::builder(dispatcher)).map_err(CommandError::Setup)?;
    let server = builder.build().map_err(|error| match error {
        ServeError::Catalog(diagnostics) => CommandError::Catalog(diagnostics),
        other => CommandError::failed("invalid_catalog", other.to_string()),
    })?;
    let mut all = Vec::new();
    for (method, key) in [("resources/list", "resources"), ("resources/templates/list", "resourceTemplates")] {
        let mut cursor = Value::Null;
        loop {
            let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
            let mut page = runtime.block_on(request(&server, method, &params))?;
            if let Some(message) = page["error"]["message"].as_str() {
                return Err(CommandError::failed("resources", format!("{method}: {message}")));
            }
            if let Value::Array(listed) = page["result"][key].take() {
                all.extend(listed);
            }
            cursor = page["result"]["nextCursor"].take();
            if cursor.is_null() {
                break;
            }
        }
    }
    // A provider that is still running must not keep the process alive.
    runtime.shutdown_background();
    Ok(all)
}
