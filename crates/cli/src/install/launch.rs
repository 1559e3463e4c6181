//! The server that an entry starts or connects to, from the command line.

use std::collections::BTreeMap;

use clap::ArgMatches;
use toolkit::Catalog;

use super::client::Client;
use super::entry::{Launch, Variable};
use super::options::usage;
use crate::credentials;
use crate::error::CommandError;

/// Reads the options for the server.
pub(super) fn launch(catalog: &Catalog, matches: &ArgMatches, client: Client) -> Result<Launch, CommandError> {
    if let Some(url) = matches.get_one::<String>("http") {
        if !client.has_remote_servers() {
            let message = format!(
                "the configuration of {} has only programs; add {url} in its settings, under connectors",
                client.title()
            );
            return Err(usage(message));
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
        usage(format!("{}: the path of this program must be UTF-8 to be part of a configuration", path.display()))
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
        let name = variable_name(name).map_err(|reason| usage(format!("`--env {name}`: {reason}")))?;
        if value.is_some() && values.get(&name).is_some_and(Option::is_none) {
            let message = format!("`--env {name}`: the value of a credential is not stored in a configuration");
            return Err(usage(format!("{message}; `--env {name}` passes the variable on")));
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
