//! `bundle server-json` and `bundle labels`: the entry of a server in the MCP registry, and the labels of a container image.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::{ArgAction, ArgGroup, ArgMatches, Command, value_parser};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use toolkit::Catalog;

use super::settings::Settings;
use super::{Metadata, description, failed, registry_name, title};
use crate::error::{CommandError, Exit};
use crate::options::option;
use crate::program::Program;
use crate::{bundle, style};

const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
/// The maximum length of a description and of a title.
const MAX_TEXT: usize = 100;

pub(super) fn command() -> Command {
    let url = |name: &'static str| option(name, "URL").value_parser(https);
    Command::new("server-json")
        .about("Write server.json, the entry of this program in the MCP registry")
        .long_about(
            "Write server.json, the entry of this program in the MCP registry. `mcp-publisher publish` sends it there.\n\n\
             It refers to an MCPB file, a container image or a running server, each at a public address.",
        )
        .group(ArgGroup::new("where").args(["mcpb", "image", "remote"]).required(true).multiple(true))
        .args([
            registry_name(),
            title(),
            description(),
            url("website").help("Page about the server"),
            url("repository").help("The source code [default: the repository of the package]"),
            option("mcpb", "FILE")
                .value_parser(value_parser!(PathBuf))
                .requires("mcpb-url")
                .help("MCPB file, whose digest is written"),
            url("mcpb-url").requires("mcpb").help("Address of the MCPB file, which contains `mcp`"),
            option("image", "IMAGE")
                .value_parser(image)
                .action(ArgAction::Append)
                .help("Container image with its tag, such as ghcr.io/USER/NAME:1.0.0"),
            url("remote").action(ArgAction::Append).help("URL of a running server"),
            option("output", "FILE")
                .short('o')
                .value_parser(value_parser!(PathBuf))
                .help("The output file [default: stdout]"),
        ])
}

pub(super) fn run(catalog: &Catalog, matches: &ArgMatches, program: &Program) -> Result<Exit, CommandError> {
    let server = server(catalog, matches, program)?;
    let text = serde_json::to_string_pretty(&server).map_err(io::Error::from)?;
    match matches.get_one::<PathBuf>("output") {
        Some(path) => bundle::create(path, |mut out| out.write_all(format!("{text}\n").as_bytes()))?,
        None => style::write_line(&text)?,
    }
    Ok(Exit::Success)
}

fn server(catalog: &Catalog, matches: &ArgMatches, program: &Program) -> Result<Value, CommandError> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let texts = |name: &str| matches.get_many::<String>(name).unwrap_or_default();
    let metadata = Metadata::new(matches, program)?;
    let mut server = json!({
        "$schema": SCHEMA,
        "name": text("name"),
        "description": short("description", metadata.description)?,
        "version": metadata.version,
    });
    if let Some(title) = text("title") {
        server["title"] = json!(short("title", title)?);
    }
    if let Some(website) = text("website") {
        server["websiteUrl"] = json!(website);
    }
    if let Some(url) = text("repository").or(program.package.repository.as_deref()) {
        server["repository"] = json!({ "url": url, "source": host_name(url) });
    }
    let settings = Settings::of(program, catalog);
    let mut packages = Vec::new();
    if let (Some(path), Some(url)) = (matches.get_one::<PathBuf>("mcpb"), text("mcpb-url")) {
        if !url.contains("mcp") {
            return Err(CommandError::usage(format!(
                "`--mcpb-url {url}`: the registry accepts only a URL that contains `mcp`"
            )));
        }
        packages.push(json!({
            "registryType": "mcpb",
            "identifier": url,
            "version": metadata.version,
            "fileSha256": sha256(path)?,
            "transport": { "type": "stdio" },
        }));
    }
    packages.extend(texts("image").map(|image| {
        let mut package = json!({ "registryType": "oci", "identifier": image, "transport": { "type": "stdio" } });
        let mut arguments = settings.package_arguments();
        if !arguments.is_empty() {
            // The arguments of a container take the place of all default ones.
            arguments.insert(0, json!({ "type": "positional", "value": "serve" }));
            package["packageArguments"] = json!(arguments);
        }
        package
    }));
    if !packages.is_empty() {
        let variables = settings.environment_variables();
        if !variables.is_empty() {
            packages.iter_mut().for_each(|package| package["environmentVariables"] = json!(variables));
        }
        server["packages"] = json!(packages);
    }
    let remotes: Vec<Value> = texts("remote").map(|url| json!({ "type": "streamable-http", "url": url })).collect();
    if !remotes.is_empty() {
        server["remotes"] = json!(remotes);
    }
    Ok(server)
}

/// Checks the length of a text.
fn short<'t>(field: &str, text: &'t str) -> Result<&'t str, CommandError> {
    let n_chars = text.chars().count();
    match n_chars <= MAX_TEXT {
        true => Ok(text),
        false => Err(CommandError::usage(format!(
            "the {field} has {n_chars} characters; the registry accepts at most {MAX_TEXT}, and --{field} sets another one"
        ))),
    }
}

/// Returns the host of source code, as the registry names it.
fn host_name(url: &str) -> &str {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest).split('/').next().unwrap_or_default();
    match host {
        "github.com" => "github",
        "gitlab.com" => "gitlab",
        other => other,
    }
}

fn sha256(path: &Path) -> Result<String, CommandError> {
    let mut digest = Sha256::new();
    let mut file = File::open(path).map_err(|error| failed(path, &error))?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(|error| failed(path, &error))? {
            0 => break,
            n_bytes => digest.update(&buffer[..n_bytes]),
        }
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn https(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").unwrap_or_default();
    let is_url =
        !rest.is_empty() && !rest.starts_with('/') && !text.contains(|c: char| c.is_whitespace() || c.is_control());
    if is_url { Ok(text.to_owned()) } else { Err("expected an https URL, such as https://example.com".to_owned()) }
}

/// Parses the name of an image with an exact tag.
fn image(text: &str) -> Result<String, String> {
    let (name, tag) = text.rsplit_once(':').unwrap_or((text, ""));
    let is_exact = !name.is_empty() && !tag.is_empty() && tag != "latest" && !tag.contains('/');
    match is_exact && !text.contains(char::is_whitespace) {
        true => Ok(text.to_owned()),
        false => {
            Err("expected an image with an exact tag, such as ghcr.io/USER/NAME:1.0.0, and not `latest`".to_owned())
        }
    }
}

pub(super) fn labels_command() -> Command {
    Command::new("labels")
        .about("Print the labels of a container image with this program, for its Containerfile")
        .long_about(
            "Print the labels of a container image with this program, as instructions for its Containerfile.\n\n\
             The MCP registry accepts an image only if its label io.modelcontextprotocol.server.name is the name in \
             `server.json`. The revision and the time are known to the build: `--label` of the build adds \
             org.opencontainers.image.revision and org.opencontainers.image.created.",
        )
        .args([registry_name(), title(), description()])
}

pub(super) fn labels(matches: &ArgMatches, program: &Program) -> Result<Exit, CommandError> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let metadata = Metadata::new(matches, program)?;
    let labels = [
        ("io.modelcontextprotocol.server.name", text("name")),
        ("org.opencontainers.image.title", text("title").or(Some(&program.name))),
        ("org.opencontainers.image.description", Some(metadata.description)),
        ("org.opencontainers.image.version", Some(metadata.version)),
        ("org.opencontainers.image.licenses", program.package.license.as_deref()),
        ("org.opencontainers.image.source", program.package.repository.as_deref()),
    ];
    for (label, value) in labels {
        if let Some(value) = value {
            style::write_line(&format!("LABEL {label}={}", quoted(value)))?;
        }
    }
    Ok(Exit::Success)
}

/// Quotes a value for a Containerfile, in which `$` begins a variable.
fn quoted(value: &str) -> String {
    let mut text = String::from("\"");
    for c in value.chars() {
        match c {
            '"' | '\\' | '$' => text.extend(['\\', c]),
            c if c.is_control() => text.push(' '),
            c => text.push(c),
        }
    }
    text.push('"');
    text
}
