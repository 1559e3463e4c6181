//! `cost`: counts the tokens of tool definitions.

use std::cmp::Reverse;
use std::io::{self, Write};

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::{Value, json};
use toolkit::Catalog;
use toolkit::catalog::Diagnostics;
use toolkit::mcp::{self, Revision};
use toolkit_providers::cost::Cost;
#[cfg(not(feature = "tokens"))]
use toolkit_providers::cost::estimate as count;
use toolkit_providers::{markdown, typescript};

use crate::error::{CommandError, Exit};
use crate::formats::{self, FormatOptions, export_as, output_schemas_switch};
#[cfg(feature = "otc")]
use crate::formats::{otc_naming, toolkit_option};
use crate::options::{json_switch, naming, naming_option, option, program_name, switch};
use crate::proxied;
use crate::style::{self, BOLD, DIM, NOTE, padded, printable, width};

/// Returns the values of `--format`: those of `export` whose texts a model reads, and the tools that a server lists in place
/// of many.
fn formats() -> impl Iterator<Item = &'static str> {
    let of_features =
        [("search-tools", cfg!(all(feature = "mcp", feature = "search"))), ("otc", cfg!(feature = "otc"))];
    formats::ALL.into_iter().chain(of_features.into_iter().filter(|(_, is_on)| *is_on).map(|(name, _)| name))
}

/// The costs of the tools in one format.
struct FormatCost {
    name: &'static str,
    tools: Vec<(String, Cost)>,
    /// That of all tools together.
    total: Cost,
}

impl FormatCost {
    fn new(name: &'static str, catalog: &Catalog, matches: &ArgMatches) -> Result<Self, CommandError> {
        let costs = |tools: Vec<Value>, id: &dyn Fn(usize, &Value) -> String| -> Vec<(String, Cost)> {
            tools.iter().enumerate().map(|(idx, tool)| (id(idx, tool), Cost::new(tool, &count))).collect()
        };
        let latest: Vec<String> = catalog.latest().map(|tool| tool.id().to_string()).collect();
        let by_place = |idx: usize, _: &Value| latest[idx].clone();
        let options = FormatOptions {
            naming: naming(matches),
            strict: matches.get_flag("strict"),
            output_schemas: matches.get_flag("output-schemas"),
            ..FormatOptions::default()
        };
        let tools = match name {
            #[cfg(all(feature = "mcp", feature = "search"))]
            "search-tools" => {
                let tools = toolkit_mcp_server::search_tools();
                costs(tools.iter().map(toolkit::Tool::to_mcp_json).collect(), &|idx, _| tools[idx].id().to_string())
            }
            #[cfg(feature = "otc")]
            "otc" => {
                let published = toolkit_otc::Published::new(catalog, &otc_naming(matches)).to_json();
                costs(listed(published, "/tools"), &|_, tool| tool["id"].as_str().unwrap_or_default().to_owned())
            }
            "typescript" | "markdown" => {
                let cost = |catalog: &Catalog| {
                    let mut cost = Cost::default();
                    cost.total = count(&match name {
                        "markdown" => markdown::document(&program_name(), catalog),
                        _ => typescript::declarations(catalog, typescript::Detail::Full).text,
                    });
                    cost
                };
                let tools =
                    catalog.latest().map(|tool| Ok((tool.id().to_string(), cost(&Catalog::new([tool.clone()])?))));
                let tools = tools.collect::<Result<_, Diagnostics>>()?;
                return Ok(Self { name, tools, total: cost(catalog) });
            }
            name => match export_as(catalog, name, options)? {
                Some(export) if export.json.pointer("/0/functionDeclarations").is_some() => {
                    costs(listed(export.json, "/0/functionDeclarations"), &by_place)
                }
                Some(export) => costs(listed(export.json, ""), &by_place),
                None => {
                    let list = mcp::list_tools(catalog, Revision::default(), naming(matches))?;
                    let mut tools = listed(list, "/tools");
                    // Clients do not pass `_meta` to the model.
                    tools.iter_mut().filter_map(Value::as_object_mut).for_each(|tool| drop(tool.shift_remove("_meta")));
                    costs(tools, &by_place)
                }
            },
        };
        let total = tools.iter().map(|(_, cost)| *cost).sum();
        Ok(Self { name, tools, total })
    }
}

fn listed(mut json: Value, at: &str) -> Vec<Value> {
    match json.pointer_mut(at).map(Value::take) {
        Some(Value::Array(tools)) => tools,
        _ => Vec::new(),
    }
}

/// The name of the token counter.
const COUNTER: &str = if cfg!(feature = "tokens") { "o200k_base" } else { "estimate" };

#[cfg(feature = "tokens")]
fn count(text: &str) -> usize {
    bpe_openai::o200k_base().count(text)
}

pub(crate) fn command() -> Command {
    let cost = Command::new("cost").about("Count the tokens of tool definitions").long_about(
        "Count the tokens of the tool definitions that a model reads: in every format, or with --format for each tool, \
         the most expensive first.\n\nThe total is that of the JSON as it is sent. Its parts are the name, the \
         description, the descriptions of arguments, the rest of the input schema, and the output schema. The formats \
         typescript and markdown are texts, which have only a total. On a terminal, the output \
         is a table; otherwise it has tab-separated lines, of which the first names the columns.",
    );
    #[cfg(feature = "otc")]
    let cost = cost.arg(toolkit_option());
    cost.args([
        Arg::new("format")
            .long("format")
            .value_parser(PossibleValuesParser::new(formats()))
            .help("List the costs of each tool in this format"),
        option("top", "N")
            .value_parser(value_parser!(u32).range(1..))
            .default_value("10")
            .help("Maximum number of tools"),
        switch("strict").help("Enable strict mode for every tool that supports it"),
        output_schemas_switch(),
        naming_option(),
        json_switch("Print the costs as JSON"),
    ])
    .args(proxied::options("Also count the tools of the MCP servers in FILE, which has the format of `serve --proxy`"))
}

pub(crate) fn run(catalog: &Catalog, matches: &ArgMatches) -> Result<Exit, CommandError> {
    let most = matches.get_one::<u32>("top").map_or(10, |most| *most as usize);
    match matches.get_one::<String>("format") {
        Some(wanted) => {
            let name = formats().find(|name| name == wanted).expect("clap rejects other formats");
            let mut form = FormatCost::new(name, catalog, matches)?;
            form.tools.sort_by_key(|(_, cost)| Reverse(cost.total));
            let (n_tools, total) = (form.tools.len(), form.total);
            form.tools.truncate(most);
            if matches.get_flag("json") {
                let record = |(id, cost): &(String, Cost)| {
                    let mut record = json!(cost);
                    record["id"] = json!(id);
                    record
                };
                let tools: Vec<Value> = form.tools.iter().map(record).collect();
                style::write_json(&json!({
                    "counter": COUNTER, "format": form.name, "nTools": n_tools, "cost": total, "tools": tools,
                }))?;
                return Ok(Exit::Success);
            }
            let rows = form.tools.iter().map(|(id, cost)| (printable(id).into_owned(), *cost));
            let sum = std::iter::once((format!("all {n_tools}"), total));
            write("TOOL", &rows.chain(sum).collect::<Vec<_>>())?;
        }
        None => {
            let forms: Result<Vec<FormatCost>, CommandError> =
                formats().map(|name| FormatCost::new(name, catalog, matches)).collect();
            let forms = forms?;
            if matches.get_flag("json") {
                let record =
                    |form: &FormatCost| json!({ "format": form.name, "nTools": form.tools.len(), "cost": form.total });
                let forms: Vec<Value> = forms.iter().map(record).collect();
                style::write_json(&json!({ "counter": COUNTER, "formats": forms }))?;
                return Ok(Exit::Success);
            }
            write("FORMAT", &forms.iter().map(|form| (form.name.to_owned(), form.total)).collect::<Vec<_>>())?;
        }
    }
    if cfg!(not(feature = "tokens")) {
        let text = "the token counts are estimated; the feature `tokens` counts with OpenAI's o200k_base";
        let _ = writeln!(anstream::stderr(), "{NOTE} {text}");
    }
    Ok(Exit::Success)
}

/// Writes a table on a terminal, and otherwise tab-separated lines, with a header.
fn write(first: &str, rows: &[(String, Cost)]) -> io::Result<()> {
    let cells = |cost: &Cost| {
        let rest = cost.input.saturating_sub(cost.input_descriptions);
        [cost.total, cost.name, cost.description, cost.input_descriptions, rest, cost.output].map(|n| n.to_string())
    };
    let mut out = anstream::stdout().lock();
    let header = ["TOKENS", "NAME", "DESCRIPTION", "ARGUMENTS", "INPUT", "OUTPUT"];
    if style::terminal_width().is_none() {
        writeln!(out, "{first}\t{}", header.join("\t"))?;
        for (name, cost) in rows {
            writeln!(out, "{name}\t{}", cells(cost).join("\t"))?;
        }
        return Ok(());
    }
    let name_columns = rows.iter().map(|(name, _)| width(name)).max().unwrap_or(0).max(width(first));
    let right = |cell: &str, header: &str| format!("{cell:>columns$}", columns = width(header).max(7));
    let line =
        |cells: [&str; 6]| cells.iter().zip(header).map(|(cell, header)| right(cell, header)).collect::<Vec<_>>();
    writeln!(out, "{DIM}{}  {}{}", padded(first, name_columns), line(header).join("  "), DIM.clear())?;
    for (name, cost) in rows {
        let cells = cells(cost);
        let cells = line(cells.each_ref().map(String::as_str)).join("  ");
        writeln!(out, "{BOLD}{}{}  {cells}", padded(name, name_columns), BOLD.clear())?;
    }
    Ok(())
}
