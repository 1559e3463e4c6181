//! `export`: writes the catalog in the format of another system.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::Value;
use toolkit::Catalog;
use toolkit::mcp::{self, Revision};
use toolkit::tool::ToolId;
use toolkit_providers::{Export, Loss, markdown, openapi, typescript};

use crate::error::{CommandError, Exit};
use crate::formats::{self, FormatOptions, export_as, output_schemas_switch};
#[cfg(feature = "otc")]
use crate::formats::{otc_naming, report_left_out, toolkit_option};
use crate::options::{naming, naming_option, option, program_name, switch};
use crate::program::Program;
use crate::proxied;
use crate::report::counted;
use crate::style::{self, printable};

pub(crate) fn command() -> Command {
    let export = Command::new("export").about("Write the tools in the format of another system").args(
        proxied::options("Also write the tools of the MCP servers in FILE, which has the format of `serve --proxy`"),
    );
    #[cfg(feature = "otc")]
    let export = export.arg(toolkit_option());
    export.args([
        Arg::new("format")
            .long("format")
            .value_parser(PossibleValuesParser::new(formats()))
            .default_value("mcp")
            .help("The format of the output"),
        switch("strict").help("Enable strict mode for every tool that supports it (openai, anthropic, bedrock)"),
        switch("defer-loading")
            .help("Defer the definitions of tools until the model searches for them (openai, anthropic)"),
        output_schemas_switch(),
        switch("namespaces").help("Group tools by namespace (openai)"),
        Arg::new("detail")
            .long("detail")
            .value_parser(["full", "compact", "signatures"])
            .help("The amount of documentation; the default is full (typescript)"),
        switch("rules")
            .help("Print the rules by which the provider rejects tools, with their sources, instead of tools"),
        switch("without-rejected").help("Leave out the tools that the provider rejects"),
        switch("losses").help("Print everything that the format cannot express to stderr"),
        Arg::new("revision")
            .long("revision")
            .value_parser(["2025-11-25", "2026-07-28"])
            .default_value("2026-07-28")
            .help("The protocol revision (mcp)"),
        naming_option(),
        option("output", "FILE")
            .short('o')
            .value_parser(value_parser!(PathBuf))
            .default_value("-")
            .hide_default_value(true)
            .help("The output file; `-`, the default, is stdout"),
    ])
}

/// Returns the values of `--format`. Those of disabled features are hidden.
fn formats() -> impl Iterator<Item = PossibleValue> {
    // No model reads a document of OpenAPI, so that it costs none.
    let others = [("openapi", true), ("html", cfg!(feature = "html")), ("otc", cfg!(feature = "otc"))];
    let others = others.map(|(name, is_on)| PossibleValue::new(name).hide(!is_on));
    formats::ALL.into_iter().map(PossibleValue::new).chain(others)
}

pub(crate) fn run(catalog: &Catalog, matches: &ArgMatches, program: &Program) -> Result<Exit, CommandError> {
    let format = matches.get_one::<String>("format").map_or("mcp", String::as_str);
    check_options(format, matches)?;
    if matches.get_flag("rules") {
        formats::write_rules(format, matches.get_flag("strict"))?;
        return Ok(Exit::Success);
    }
    match format {
        "otc" if cfg!(not(feature = "otc")) => return Err(CommandError::missing_feature("otc")),
        "html" if cfg!(not(feature = "html")) => return Err(CommandError::missing_feature("html")),
        _ => {}
    }
    #[cfg(feature = "otc")]
    if format == "otc" {
        let naming = otc_naming(matches);
        let published = toolkit_otc::Published::new(catalog, &naming);
        report_left_out(&published);
        let defined =
            catalog.iter().filter_map(|tool| Some((tool, toolkit_otc::Definition::from_tool(tool, &naming).ok()?)));
        let losses = defined.map(|(tool, definition)| (tool.id().clone(), definition.losses(tool))).collect::<Vec<_>>();
        report_losses(&losses, matches.get_flag("losses"));
        write(&published.to_json(), matches)?;
        return Ok(Exit::Success);
    }
    if format == "typescript" {
        let declared = typescript::declarations(catalog, detail(matches));
        report_losses(&declared.losses, matches.get_flag("losses"));
        write_text(&declared.text, matches)?;
        return Ok(Exit::Success);
    }
    if format == "markdown" {
        write_text(&markdown::document(&program_name(), catalog), matches)?;
        return Ok(Exit::Success);
    }
    if format == "openapi" {
        let list = mcp::list_tools(catalog, Revision::V2026_07_28, naming(matches))?;
        let tools = list["tools"].as_array().into_iter().flatten();
        // As a server has them.
        let version = program.version.as_deref().unwrap_or("0.0.0");
        write(&openapi::document(&program.name, version, tools), matches)?;
        return Ok(Exit::Success);
    }
    #[cfg(feature = "html")]
    if format == "html" {
        let program = program_name();
        write_text(&toolkit_providers::html::document(&program, Some(&program), catalog), matches)?;
        return Ok(Exit::Success);
    }
    let json = match export_as(catalog, format, options(matches))? {
        Some(export) => {
            report_limits(&export, matches.get_flag("losses"));
            report_not_strict(&export);
            report_losses(&export.losses, matches.get_flag("losses"));
            let leaves_out = matches.get_flag("without-rejected");
            for (id, loss) in export.rejected() {
                let (label, verb) =
                    if leaves_out { (style::NOTE, "is left out") } else { (style::WARNING, "is rejected") };
                let _ = writeln!(anstream::stderr(), "{label} `{id}` {verb}: {}", printable(&loss.to_string()));
            }
            if leaves_out { export.without_rejected().json } else { export.json }
        }
        None => {
            let revision = match matches.get_one::<String>("revision").map(String::as_str) {
                Some("2025-11-25") => Revision::V2025_11_25,
                _ => Revision::V2026_07_28,
            };
            mcp::list_tools(catalog, revision, naming(matches))?
        }
    };
    write(&json, matches)?;
    Ok(Exit::Success)
}

/// Rejects options that the format does not support.
fn check_options(format: &str, matches: &ArgMatches) -> Result<(), CommandError> {
    let known = [
        ("strict", &["openai", "openai-chat", "anthropic", "bedrock"][..]),
        ("namespaces", &["openai"]),
        ("defer-loading", &["openai", "anthropic"]),
        ("output-schemas", &["openai", "gemini"]),
    ];
    let given = known.into_iter().filter(|(option, _)| matches.get_flag(option));
    let detail = matches.contains_id("detail").then_some(("detail", &["typescript"][..]));
    for (option, formats) in given.chain(detail) {
        if !formats.contains(&format) {
            let formats = formats.join(", ");
            let message = format!("--{option} is supported by the formats {formats}, not by {format}");
            return Err(CommandError::usage(message));
        }
    }
    Ok(())
}

fn detail(matches: &ArgMatches) -> typescript::Detail {
    match matches.get_one::<String>("detail").map(String::as_str) {
        Some("compact") => typescript::Detail::Compact,
        Some("signatures") => typescript::Detail::Signatures,
        _ => typescript::Detail::Full,
    }
}

fn options(matches: &ArgMatches) -> FormatOptions {
    FormatOptions {
        naming: naming(matches),
        strict: matches.get_flag("strict"),
        defer_loading: matches.get_flag("defer-loading"),
        namespaces: matches.get_flag("namespaces"),
        output_schemas: matches.get_flag("output-schemas"),
    }
}

/// Reports exceeded limits of a request on stderr, or all limits.
fn report_limits(export: &Export, all: bool) {
    let mut err = anstream::stderr();
    for usage in export.usage.iter().filter(|usage| all || usage.is_over()) {
        let label = if usage.is_over() { style::WARNING } else { style::NOTE };
        let _ = writeln!(err, "{label} {}", formats::usage_line(usage));
    }
}

/// Reports the tools that are not strict, those with the same reason in one line.
fn report_not_strict(export: &Export) {
    let mut by_reason: BTreeMap<String, Vec<&ToolId>> = BTreeMap::new();
    for (id, reasons) in &export.not_strict {
        by_reason.entry(reasons.first().map(ToString::to_string).unwrap_or_default()).or_default().push(id);
    }
    for (why, ids) in by_reason {
        let others = match ids.len() - 1 {
            0 => " is".to_owned(),
            n => format!(" and {} are", counted(n, "other tool")),
        };
        let (id, why) = (ids[0], printable(&why));
        let _ = writeln!(anstream::stderr(), "{} `{id}`{others} not strict: {why}", style::NOTE);
    }
}

/// Reports on stderr what the format cannot express: a summary, or all losses.
fn report_losses(losses: &[(ToolId, Vec<Loss>)], all: bool) {
    let mut err = anstream::stderr();
    if all {
        for (id, losses) in losses {
            for loss in losses {
                let _ = writeln!(err, "{} {id}: {}", style::NOTE, printable(&loss.to_string()));
            }
        }
        return;
    }
    let n_losses: usize = losses.iter().map(|(_, losses)| losses.len()).sum();
    if n_losses > 0 {
        let _ = writeln!(
            err,
            "{} the format cannot express {}; --losses lists them",
            style::NOTE,
            counted(n_losses, "detail")
        );
    }
}

fn write(json: &Value, matches: &ArgMatches) -> Result<(), CommandError> {
    // Indented also if stdout is not a terminal, so that the same tools give the same bytes.
    let text = serde_json::to_string_pretty(json).map_err(std::io::Error::from)?;
    write_text(&text, matches)
}

fn write_text(text: &str, matches: &ArgMatches) -> Result<(), CommandError> {
    let text = text.trim_end();
    match matches.get_one::<PathBuf>("output") {
        Some(path) if path != Path::new("-") => std::fs::write(path, format!("{text}\n"))
            .map_err(|error| CommandError::failed("io", format!("cannot write {}: {error}", path.display()))),
        _ => Ok(style::write_line(text)?),
    }
}
