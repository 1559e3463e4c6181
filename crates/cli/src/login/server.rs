//! The server of a login, by name or by URL.

use std::fmt;
use std::path::PathBuf;

use clap::ArgMatches;
use toolkit::backend::Backend as _;
use toolkit_mcp_client::{CredentialSource, Endpoint, McpBackend, McpServers};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::logins::Logins;
use crate::program::Program;

/// Returns the settings of logins in this program.
pub(super) fn logins(program: &Program) -> Result<Logins, CommandError> {
    Logins::new(&program.name).map_err(|message| CommandError::Other { exit: Exit::Usage, kind: "usage", message })
}

/// Returns the endpoint of a server, with the settings of its logins.
pub(super) fn endpoint(server: &str, matches: &ArgMatches, logins: &Logins) -> Result<Endpoint, CommandError> {
    let is_url = server.contains("://");
    let servers = match matches.get_one::<PathBuf>("proxy") {
        Some(_) => configured(matches, logins)?,
        None if is_url => {
            let endpoint = Endpoint::new(server).map_err(|error| usage(server, &error))?;
            return Ok(endpoint.oauth(logins.settings(server, None)));
        }
        None => return Err(usage(server, &"a server without a URL requires `--proxy FILE`")),
    };
    let rejected = servers.rejected().find(|rejected| rejected.name == server).map(ToString::to_string);
    let renamed = servers.renamed().find(|(name, _)| *name == server).map(|(_, namespace)| namespace.to_owned());
    let name = renamed.unwrap_or_else(|| server.to_owned());
    let backend = servers.into_iter().find(|backend| backend.name() == name);
    match (backend.as_ref().map(McpBackend::endpoint), rejected) {
        (Some(Some(endpoint)), _) => Ok(endpoint.clone()),
        (Some(None), _) => Err(usage(server, &"a program has no login")),
        (None, Some(rejected)) => Err(usage(server, &rejected)),
        (None, None) => Err(usage(server, &"the file has no such server")),
    }
}

/// Checks that a user can log in at a server.
pub(super) fn check_login(server: &str, endpoint: &Endpoint) -> Result<(), CommandError> {
    match endpoint.credential_source() {
        CredentialSource::Fixed => {
            Err(usage(server, &"the configuration contains the credentials, so there is no login"))
        }
        CredentialSource::Client => Err(usage(server, &"a server with client credentials has no login")),
        _ => Ok(()),
    }
}

/// Reads the servers of the configuration file.
pub(super) fn configured(matches: &ArgMatches, logins: &Logins) -> Result<McpServers, CommandError> {
    let file = matches.get_one::<PathBuf>("proxy").expect("clap requires `SERVER` or `--proxy`");
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string());
    let servers = text.and_then(|text| logins.servers(&text, file));
    servers.map_err(|reason| CommandError::Other {
        exit: Exit::Failed,
        kind: "invalid_servers",
        message: format!("{}: {reason}", file.display()),
    })
}

/// Returns the error of a login.
pub(super) fn failed(server: &str, reason: impl fmt::Display) -> CommandError {
    CommandError::Other { exit: Exit::Failed, kind: "login", message: format!("{server}: {reason}") }
}

fn usage(server: &str, reason: &dyn fmt::Display) -> CommandError {
    CommandError::Other { exit: Exit::Usage, kind: "usage", message: format!("{server}: {reason}") }
}
