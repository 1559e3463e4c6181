//! The catalog in the formats of providers, and the options of Open Tool Calling.

#[cfg(feature = "otc")]
use clap::{Arg, ArgMatches};
use toolkit::Catalog;
use toolkit::catalog::Naming;
use toolkit_providers::{Export, a2a, anthropic, gemini, openai};

use crate::error::CommandError;
#[cfg(feature = "otc")]
use crate::options::program_name;

/// The options of all formats; each format supports some of them.
#[derive(Clone, Copy, Default)]
pub(crate) struct FormatOptions {
    pub(crate) naming: Naming,
    pub(crate) strict: bool,
    pub(crate) defer_loading: bool,
    pub(crate) namespaces: bool,
}

/// Exports the catalog in the format of a provider. Returns `None` for MCP, which has no losses.
pub(crate) fn export_as(
    catalog: &Catalog,
    format: &str,
    options: FormatOptions,
) -> Result<Option<Export>, CommandError> {
    let FormatOptions { naming, strict, defer_loading, namespaces } = options;
    let openai = |mut options: openai::Options| {
        (options.strict, options.defer_loading, options.namespaces) = (strict, defer_loading, namespaces);
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
        "gemini" => gemini::tools(catalog, naming, gemini::SchemaFormat::JsonSchema)?,
        "gemini-openapi" => gemini::tools(catalog, naming, gemini::SchemaFormat::OpenApi)?,
        "a2a" => a2a::skills(catalog),
        _ => return Ok(None),
    };
    Ok(Some(export))
}

/// Creates the option `--toolkit`.
#[cfg(feature = "otc")]
pub(crate) fn toolkit_option() -> Arg {
    let help = "Toolkit of tools without a namespace, for Open Tool Calling [default: the name of this program]";
    Arg::new("toolkit").long("toolkit").value_name("NAME").help(help)
}

/// Returns the toolkit and version of tools that have no namespace or version, for Open Tool Calling.
#[cfg(feature = "otc")]
pub(crate) fn otc_naming(matches: &ArgMatches) -> toolkit_otc::Naming {
    toolkit_otc::Naming::new(&matches.get_one::<String>("toolkit").cloned().unwrap_or_else(program_name), "0.0.0")
}

/// Reports tools on stderr that Open Tool Calling omits.
#[cfg(feature = "otc")]
pub(crate) fn report_left_out(published: &toolkit_otc::Published) {
    use std::io::Write;

    use crate::style::{self, printable};

    for diagnostic in published.diagnostics() {
        let _ = writeln!(anstream::stderr(), "{} omitted: {}", style::WARNING, printable(&diagnostic.to_string()));
    }
}
