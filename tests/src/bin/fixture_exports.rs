//! Exports the tools of real servers in each format; `tests/providers/run` validates the files.
//!
//! The files have the names and the form that `export --format` gives them for the tools of a program.

use std::error::Error;
use std::path::{Path, PathBuf};

use serde_json::Value;
use toolkit::catalog::Naming;
use toolkit::mcp::{Revision, list_tools};
use toolkit::tool::Namespace;
use toolkit::{Catalog, Manifest};
use toolkit_providers::{anthropic, gemini, openai};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args_os().nth(1).ok_or("expected a folder")?);
    let catalogs: Vec<Catalog> = test_support::real_manifests().iter().map(sound).collect::<Result<_, _>>()?;
    let openai = |options| move |catalog: &Catalog| Ok(openai::tools(catalog, Naming::Name, options)?.json);
    let anthropic = |options| move |catalog: &Catalog| Ok(anthropic::tools(catalog, Naming::Name, options)?.json);
    let write = |name: &str, export: &dyn Fn(&Catalog) -> Exported| write(&folder, name, &catalogs, export);

    write("mcp", &|catalog| Ok(list_tools(catalog, Revision::V2026_07_28, Naming::Name)?["tools"].take()))?;
    write("openai", &openai(openai::Options::responses().with_output_schemas()))?;
    write("openai--strict", &openai(openai::Options::responses().strict()))?;
    write("openai-chat", &openai(openai::Options::chat_completions()))?;
    write("openai-chat--strict", &openai(openai::Options::chat_completions().strict()))?;
    write("anthropic", &anthropic(anthropic::Options::default()))?;
    write("anthropic--strict", &anthropic(anthropic::Options::default().strict()))?;
    write("anthropic-deferred", &anthropic(anthropic::Options::default().deferred()))?;
    let grouped = openai::Options::responses().namespaced();
    write("openai-namespaces", &|catalog| openai(grouped)(&in_a_namespace(catalog)?))?;
    write("openai-namespaces--strict", &|catalog| openai(grouped.strict().deferred())(&in_a_namespace(catalog)?))?;
    let mut with_output = gemini::Options::default();
    with_output.output_schemas = true;
    write("gemini", &|catalog| Ok(gemini::tools(catalog, Naming::Name, with_output)?.json))?;
    write("gemini-interactions", &|catalog| Ok(gemini::interaction_tools(catalog, Naming::Name)?.json))
}

type Exported = Result<Value, Box<dyn Error>>;

/// Returns the tools without diagnostics.
fn sound(manifest: &Manifest) -> Result<Catalog, Box<dyn Error>> {
    Ok(Catalog::new(manifest.tools().cloned())?)
}

/// Converts the tools of a server as a host does.
fn in_a_namespace(catalog: &Catalog) -> Result<Catalog, Box<dyn Error>> {
    let namespace: Namespace = "server".parse()?;
    Ok(Catalog::new(catalog.iter().map(|tool| tool.in_namespace(namespace.clone())))?)
}

/// Writes the tools of all catalogs to one file.
fn write(
    folder: &Path,
    name: &str,
    catalogs: &[Catalog],
    export: &dyn Fn(&Catalog) -> Exported,
) -> Result<(), Box<dyn Error>> {
    let mut all = Vec::new();
    for catalog in catalogs {
        match export(catalog)? {
            Value::Array(tools) => all.extend(tools),
            other => return Err(format!("expected a list, got {other}").into()),
        }
    }
    Ok(std::fs::write(folder.join(format!("{name}.json")), Value::from(all).to_string())?)
}
