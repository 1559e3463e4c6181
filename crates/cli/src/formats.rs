//! The catalog in the formats of providers.

use toolkit::Catalog;
use toolkit::catalog::Naming;
use toolkit_providers::{Export, a2a, anthropic, gemini, openai};

use crate::error::CommandError;

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
