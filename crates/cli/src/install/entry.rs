//! The entry of a server in the configuration of a client, and the server that it starts or connects to.

use std::collections::BTreeMap;

use clap::ArgMatches;
use serde_json::{Map, Value, json};
use toolkit::Catalog;

use super::client::{Client, input_id};
use crate::credentials;
use crate::error::CommandError;

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

/// Reads the options for the server.
pub(super) fn launch(catalog: &Catalog, matches: &ArgMatches, client: Client) -> Result<Launch, CommandError> {
    if let Some(url) = matches.get_one::<String>("http") {
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
    let extra = matches.get_many::<String>("arguments").unwrap_or_default();
    let arguments = std::iter::once("serve".to_owned()).chain(extra.cloned()).collect();
    Ok(Launch::Program { command: executable()?, arguments, environment: environment(catalog, matches)? })
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

/// Returns the variables of `--env`, and those of the credentials that the tools require.
fn environment(catalog: &Catalog, matches: &ArgMatches) -> Result<Vec<Variable>, CommandError> {
    let credentials = catalog.iter().flat_map(|tool| credentials::variables(tool.requirements()));
    let mut values: BTreeMap<String, Option<String>> = credentials.map(|name| (name, None)).collect();
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
