//! The clients: the differences of their configurations, and the entry of a server in each, with the server that it starts or
//! connects to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::builder::PossibleValue;
use clap::{ArgMatches, ValueEnum};
use serde_json::{Map, Value, json};
use toolkit::Catalog;

use super::places::{Os, Places};
use crate::error::CommandError;
use crate::program_options::ProgramOptions;
use crate::{credentials, program_options};

toolkit::named! {
    /// A client whose configuration `install` changes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum Client {
        ClaudeDesktop = "claude-desktop",
        ClaudeCode = "claude-code",
        Cursor = "cursor",
        VsCode = "vscode",
    }
}

/// Where an entry applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// In all projects of the user.
    User,
    /// In the project of the current directory.
    Project,
}

impl ValueEnum for Client {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()))
    }
}

impl Client {
    /// Returns the name for readers.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
        }
    }

    /// Returns the key of the object with all servers.
    pub(super) fn servers_key(self) -> &'static str {
        if self == Self::VsCode { "servers" } else { "mcpServers" }
    }

    /// Returns true if an entry states its transport in the field `type`.
    pub(super) fn has_type(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::VsCode)
    }

    /// Returns true if a server can be a URL.
    pub(super) fn has_remote_servers(self) -> bool {
        self != Self::ClaudeDesktop
    }

    /// Returns the text that this client replaces with the value of an environment variable of the user, or with a value
    /// that it asks for; `None` if it replaces nothing.
    pub(super) fn reference(self, server: &str, variable: &str) -> Option<String> {
        match self {
            Self::ClaudeDesktop => None,
            // Without a default, an entry whose variable is not set is an error.
            Self::ClaudeCode => Some(format!("${{{variable}:-}}")),
            Self::Cursor => Some(format!("${{env:{variable}}}")),
            Self::VsCode => Some(format!("${{input:{}}}", input_id(server, variable))),
        }
    }

    /// Returns the configuration files; none if the client's own command changes them.
    pub(super) fn files(self, scope: Scope, os: Os, places: &Places) -> Result<Vec<PathBuf>, String> {
        let project = |path: &str| Ok(vec![PathBuf::from(path)]);
        match (self, scope) {
            (Self::ClaudeDesktop, Scope::Project) => {
                Err("Claude Desktop has no configuration for one project; its `--scope` is `user`".to_owned())
            }
            (Self::ClaudeDesktop, Scope::User) => places.claude_desktop(os),
            (Self::ClaudeCode, Scope::Project) => project(".mcp.json"),
            (Self::ClaudeCode, Scope::User) => Ok(Vec::new()),
            (Self::Cursor, Scope::Project) => project(".cursor/mcp.json"),
            (Self::Cursor, Scope::User) => Ok(vec![places.home(os)?.join(".cursor/mcp.json")]),
            (Self::VsCode, Scope::Project) => project(".vscode/mcp.json"),
            (Self::VsCode, Scope::User) => Ok(vec![places.configuration(os)?.join("Code/User/mcp.json")]),
        }
    }
}

impl ValueEnum for Scope {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::User, Self::Project]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(if *self == Self::User { "user" } else { "project" }))
    }
}

/// Returns the id of the input of VS Code that asks for the value of a variable.
pub(super) fn input_id(server: &str, variable: &str) -> String {
    format!("{server}-{variable}")
}

/// The connection of a client to the server.
#[derive(Debug)]
pub(super) enum Launch {
    /// The client starts a program.
    Program { command: String, arguments: Vec<String>, environment: Vec<Variable> },
    /// The client connects to a URL, with the token in an environment variable.
    Remote { url: String, token: Option<String> },
}

/// An environment variable of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) name: String,
    /// The value, or `None` if the client gets it from the user.
    pub(super) value: Option<String>,
}

/// The entry of a server.
#[derive(Debug)]
pub(super) struct Entry {
    /// The fields, as the client reads them.
    pub(super) fields: Vec<(&'static str, Value)>,
    /// The variables in `env` whose values the user has to fill in; the fields contain an empty text.
    pub(super) to_fill_in: Vec<String>,
    /// The inputs of VS Code that the fields refer to.
    pub(super) inputs: Vec<Value>,
}

impl Entry {
    /// Creates the entry of the server `name` for a client.
    pub(super) fn new(client: Client, name: &str, launch: &Launch) -> Self {
        let mut entry = Self { fields: Vec::new(), to_fill_in: Vec::new(), inputs: Vec::new() };
        match launch {
            Launch::Program { command, arguments, environment } => {
                if client.has_type() {
                    entry.set("type", json!("stdio"));
                }
                entry.set("command", json!(command));
                entry.set("args", json!(arguments));
                let values = environment.iter().map(|variable| {
                    let value = variable.value.clone().unwrap_or_else(|| entry.reference(client, name, &variable.name));
                    (variable.name.clone(), Value::String(value))
                });
                let values: Map<String, Value> = values.collect();
                if !values.is_empty() {
                    entry.set("env", Value::Object(values));
                }
            }
            Launch::Remote { url, token } => {
                if client.has_type() {
                    entry.set("type", json!("http"));
                }
                entry.set("url", json!(url));
                if let Some(token) = token {
                    let token = entry.reference(client, name, token);
                    entry.set("headers", json!({ "Authorization": format!("Bearer {token}") }));
                }
            }
        }
        entry
    }

    /// Returns the fields of another transport, which contradict the fields of this entry.
    pub(super) fn obsolete_fields(&self) -> &'static [&'static str] {
        if self.fields.iter().any(|(field, _)| *field == "url") {
            &["command", "args", "env", "cwd"]
        } else {
            &["url", "headers"]
        }
    }

    fn set(&mut self, field: &'static str, value: Value) {
        self.fields.push((field, value));
    }

    /// Returns the text that stands for the value of a variable.
    fn reference(&mut self, client: Client, server: &str, variable: &str) -> String {
        let reference = client.reference(server, variable);
        if reference.is_none() {
            self.to_fill_in.push(variable.to_owned());
        }
        if client == Client::VsCode {
            self.inputs.push(json!({
                "type": "promptString",
                "id": input_id(server, variable),
                "description": format!("{variable} of {server}"),
                "password": true,
            }));
        }
        reference.unwrap_or_default()
    }
}

/// Reads the options for the server, among them those of the program.
pub(super) fn launch(
    catalog: &Catalog,
    matches: &ArgMatches,
    options: Option<&ProgramOptions>,
    client: Client,
) -> Result<Launch, CommandError> {
    if let Some(url) = matches.get_one::<String>("http") {
        if let Some(name) = options.and_then(ProgramOptions::first_given) {
            let message = format!("`{name}` is for a server that the client starts, and {url} runs already");
            return Err(CommandError::usage(message));
        }
        if !client.has_remote_servers() {
            let message = format!(
                "the configuration of {} has only programs; add {url} in its settings, under connectors",
                client.title()
            );
            return Err(CommandError::usage(message));
        }
        let token = matches.get_one::<String>("token-env").cloned();
        return Ok(Launch::Remote { url: url.clone(), token });
    }
    let own = options.map(ProgramOptions::words_anywhere).transpose()?.unwrap_or_default();
    let extra = matches.get_many::<String>("arguments").unwrap_or_default();
    let own_and_extra = own.into_iter().chain(extra.cloned());
    let secrets = options.into_iter().flat_map(ProgramOptions::args).filter_map(program_options::secret);
    let environment = environment(catalog, matches, secrets)?;
    if matches.get_flag("dev") {
        let (command, mut arguments) = development()?;
        let mut of_serve = own_and_extra.peekable();
        if of_serve.peek().is_some() {
            arguments.push("--".to_owned());
        }
        arguments.extend(of_serve);
        return Ok(Launch::Program { command, arguments, environment });
    }
    let arguments = std::iter::once("serve".to_owned()).chain(own_and_extra).collect();
    Ok(Launch::Program { command: executable()?, arguments, environment })
}

/// The first arguments of cargo in the entry of `--dev`.
pub(super) const DEV: [&str; 2] = ["toolkit", "dev"];

/// Returns cargo and its arguments, which build this program and serve it. `cargo run` names the package in the environment.
fn development() -> Result<(String, Vec<String>), CommandError> {
    let usage = |message: &str| CommandError::usage(format!("--dev: {message}"));
    let directory = std::env::var("CARGO_MANIFEST_DIR")
        .map_err(|_| usage("the package is unknown; run `cargo run -- install CLIENT --dev` in its directory"))?;
    let find = |name: &str| {
        let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).map(|directory| directory.join(&file)).find(|path| path.is_file())
    };
    find("cargo-toolkit").ok_or_else(|| usage("`cargo toolkit` is not installed; see docs/dev.md of toolkit"))?;
    let cargo = find("cargo").and_then(|path| path.into_os_string().into_string().ok());
    let cargo = cargo.ok_or_else(|| usage("there is no `cargo` in PATH"))?;
    let manifest = Path::new(&directory).join("Cargo.toml");
    let options = ["--manifest-path".to_owned(), manifest.to_string_lossy().into_owned(), "--bin".to_owned(), stem()?];
    Ok((cargo, DEV.map(str::to_owned).into_iter().chain(options).collect()))
}

/// Returns the name of this program.
pub(super) fn stem() -> Result<String, CommandError> {
    let path = executable()?;
    Ok(Path::new(&path).file_stem().unwrap_or_default().to_string_lossy().into_owned())
}

/// Returns the absolute path of this program.
pub(super) fn executable() -> Result<String, CommandError> {
    let path = std::env::current_exe()?;
    path.into_os_string().into_string().map_err(|path| {
        CommandError::usage(format!(
            "{}: the path of this program must be UTF-8 to be part of a configuration",
            path.display()
        ))
    })
}

/// Returns the variables of `--env`, those of secret options, and those of the credentials that the tools require.
fn environment(
    catalog: &Catalog,
    matches: &ArgMatches,
    secrets: impl Iterator<Item = String>,
) -> Result<Vec<Variable>, CommandError> {
    let credentials = catalog.iter().flat_map(|tool| credentials::variables(tool.requirements()));
    let mut values: BTreeMap<String, Option<String>> = credentials.chain(secrets).map(|name| (name, None)).collect();
    for given in matches.get_many::<String>("env").unwrap_or_default() {
        let (name, value) = match given.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (&**given, None),
        };
        let name = variable_name(name).map_err(|reason| CommandError::usage(format!("`--env {name}`: {reason}")))?;
        if value.is_some() && values.get(&name).is_some_and(Option::is_none) {
            let message = format!("`--env {name}`: the value of a credential is not stored in a configuration");
            return Err(CommandError::usage(format!("{message}; `--env {name}` passes the variable on")));
        }
        values.insert(name, value);
    }
    Ok(values.into_iter().map(|(name, value)| Variable { name, value }).collect())
}

/// Parses the name of an environment variable.
pub(super) fn variable_name(text: &str) -> Result<String, String> {
    let is_name =
        text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !text.starts_with(|c: char| c.is_ascii_digit());
    match is_name && !text.is_empty() {
        true => Ok(text.to_owned()),
        false => Err("expected the name of an environment variable: letters, digits and `_`".to_owned()),
    }
}

/// Parses the URL of a server.
pub(super) fn url(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default()).filter(|host| !host.is_empty());
    let Some(host) = host else {
        return Err("expected an http or https URL, such as https://example.com/mcp".to_owned());
    };
    if host.contains('@') {
        return Err(
            "a URL in a configuration must not contain a user name or a password; --token-env names a token".to_owned()
        );
    }
    if text.contains(|c: char| c.is_control() || c.is_whitespace() || "\"\\<>{}$`".contains(c)) {
        return Err("a URL must not contain spaces, quotes or braces".to_owned());
    }
    Ok(text.to_owned())
}
