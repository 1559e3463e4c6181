//! The catalog in the formats of providers with their limits, and the options of Open Tool Calling.

use std::io::{self, Write};

use clap::Arg;
#[cfg(feature = "otc")]
use clap::ArgMatches;
use toolkit::Catalog;
use toolkit::catalog::Naming;
use toolkit_providers::{Dialect, Export, Usage, a2a, anthropic, bedrock, gemini, openai};

use crate::error::CommandError;
use crate::options::switch;
#[cfg(feature = "otc")]
use crate::options::{option, program_name};
use crate::style::table::Table;
use crate::style::{BOLD, PLAIN, printable};

/// The formats that a model or a client reads, except for Open Tool Calling, which is a feature.
pub(crate) const ALL: [&str; 10] = [
    "mcp",
    "openai",
    "openai-chat",
    "anthropic",
    "bedrock",
    "gemini",
    "gemini-interactions",
    "a2a",
    "typescript",
    "markdown",
];

/// The options of all formats; each format supports some of them.
#[derive(Clone, Copy, Default)]
pub(crate) struct FormatOptions {
    pub(crate) naming: Naming,
    pub(crate) strict: bool,
    pub(crate) defer_loading: bool,
    pub(crate) namespaces: bool,
    pub(crate) output_schemas: bool,
}

/// Exports the catalog in the format of a provider. Returns `None` for MCP, which has no losses.
pub(crate) fn export_as(
    catalog: &Catalog,
    format: &str,
    options: FormatOptions,
) -> Result<Option<Export>, CommandError> {
    let FormatOptions { naming, strict, defer_loading, namespaces, output_schemas } = options;
    let openai = |mut options: openai::Options| {
        (options.strict, options.defer_loading, options.namespaces) = (strict, defer_loading, namespaces);
        options.output_schemas = output_schemas;
        openai::tools(catalog, naming, options)
    };
    let export = match format {
        "openai" => openai(openai::Options::responses())?,
        "openai-chat" => openai(openai::Options::chat_completions())?,
        "anthropic" => {
            let mut options = anthropic::Options::default();
            (options.strict, options.defer_loading) = (strict, defer_loading);
            anthropic::tools(catalog, naming, options)?
        }
        "gemini" => {
            let mut options = gemini::Options::default();
            options.output_schemas = output_schemas;
            gemini::tools(catalog, naming, options)?
        }
        "gemini-interactions" => gemini::interaction_tools(catalog, naming)?,
        "bedrock" => {
            let mut options = bedrock::Options::default();
            options.strict = strict;
            bedrock::tools(catalog, naming, options)?
        }
        "a2a" => a2a::skills(catalog),
        _ => return Ok(None),
    };
    Ok(Some(export))
}

/// Creates the switch `--output-schemas`.
pub(crate) fn output_schemas_switch() -> Arg {
    switch("output-schemas").help("Add the schemas of results, for programs of the model (openai, gemini)")
}

/// Creates the option `--toolkit`.
#[cfg(feature = "otc")]
pub(crate) fn toolkit_option() -> Arg {
    let help = "Toolkit of tools without a namespace, for Open Tool Calling [default: the name of this program]";
    option("toolkit", "NAME").help(help)
}

/// Returns the toolkit and version of tools that have no namespace or version, for Open Tool Calling.
#[cfg(feature = "otc")]
pub(crate) fn otc_naming(matches: &ArgMatches) -> toolkit_otc::Naming {
    toolkit_otc::Naming::new(&matches.get_one::<String>("toolkit").cloned().unwrap_or_else(program_name), "0.0.0")
}

/// Reports tools on stderr that Open Tool Calling omits.
#[cfg(feature = "otc")]
pub(crate) fn report_left_out(published: &toolkit_otc::Published) {
    for diagnostic in published.diagnostics() {
        crate::stderr::say(crate::style::WARNING, &format!("omitted: {diagnostic}"));
    }
}

/// The dialects of the formats of providers, with and without strict mode.
const DIALECTS: [(&str, Dialect, Option<Dialect>); 6] = [
    ("openai", Dialect::OPENAI, Some(Dialect::OPENAI_STRICT)),
    ("openai-chat", Dialect::OPENAI, Some(Dialect::OPENAI_STRICT)),
    ("anthropic", Dialect::ANTHROPIC, Some(Dialect::ANTHROPIC_STRICT)),
    ("bedrock", Dialect::BEDROCK, Some(Dialect::BEDROCK_STRICT)),
    ("gemini", Dialect::GEMINI, None),
    ("gemini-interactions", Dialect::GEMINI, None),
];

/// Returns the formats of providers, whose rules `check` checks.
pub(crate) fn of_providers() -> impl Iterator<Item = &'static str> {
    DIALECTS.iter().map(|(name, ..)| *name)
}

/// Writes the rules of a format in tab-separated lines: the name, the condition and its source.
pub(crate) fn write_rules(format: &str, strict: bool) -> Result<(), CommandError> {
    let dialect = DIALECTS.iter().find(|(name, ..)| *name == format);
    let Some((_, plain, with_strict)) = dialect else {
        let formats: Vec<&str> = of_providers().collect();
        return Err(CommandError::usage(format!("--rules is supported by the formats {}", formats.join(", "))));
    };
    let dialect = with_strict.as_ref().filter(|_| strict).unwrap_or(plain);
    let mut out = anstream::stdout().lock();
    for (rule, source) in dialect.rules() {
        writeln!(out, "{}\t{}\t{source}", rule.name(), rule.accepts())?;
    }
    Ok(())
}

/// Returns a message for each tool that a provider rejects in one of the given formats.
pub(crate) fn rejections(
    catalog: &Catalog,
    naming: Naming,
    formats: impl Iterator<Item = &'static str>,
) -> Result<Vec<String>, CommandError> {
    let mut messages = Vec::new();
    for format in formats {
        let options = FormatOptions { naming, ..FormatOptions::default() };
        if let Some(export) = export_as(catalog, format, options)? {
            messages.extend(export.rejected().map(|(id, loss)| format!("{format}: `{id}`: {loss}")));
        }
    }
    Ok(messages)
}

/// The maximum number of tools in a line.
const MAX_NAMED: usize = 3;

/// Returns the limits of a request in those of the given formats that have limits of their own, and their usage with strict
/// mode for every tool that supports it.
pub(crate) fn usages(
    catalog: &Catalog,
    naming: Naming,
    formats: impl Iterator<Item = &'static str>,
) -> Result<Vec<Usage>, CommandError> {
    let mut usages = Vec::new();
    for format in formats.filter(|format| matches!(*format, "openai" | "anthropic" | "gemini")) {
        let options = FormatOptions { naming, strict: true, ..FormatOptions::default() };
        usages.extend(export_as(catalog, format, options)?.into_iter().flat_map(|export| export.usage));
    }
    Ok(usages)
}

/// Formats a limit on one line, with the tools that use most of it.
pub(crate) fn usage_line(usage: &Usage) -> String {
    match largest_tools(usage) {
        tools if tools.is_empty() => usage.to_string(),
        tools => format!("{usage}; largest: {tools}"),
    }
}

fn largest_tools(usage: &Usage) -> String {
    // Tools that count once are not worth listing.
    let takes = usage.tools.iter().filter(|(_, takes)| *takes > 1).take(MAX_NAMED);
    let named: Vec<String> = takes.map(|(id, takes)| format!("{} ({takes})", printable(&id.to_string()))).collect();
    named.join(", ")
}

/// Writes a table on a terminal, and otherwise tab-separated lines.
pub(crate) fn write_usages(usages: &[Usage]) -> io::Result<()> {
    let rows = usages.iter().map(|usage| {
        let (count, limit) = (usage.count.to_string(), usage.limit.to_string());
        [usage.target.to_owned(), usage.what.to_owned(), count, limit, largest_tools(usage)]
    });
    let table = Table::new(["TARGET", "LIMIT", "USED", "MAX", "LARGEST"], rows);
    table.write(|nth| if usages[nth].is_over() { BOLD } else { PLAIN })
}
