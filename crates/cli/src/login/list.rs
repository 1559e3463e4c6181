//! The logins at the servers of a configuration file.

use std::io::Write;
use std::time::UNIX_EPOCH;

use clap::ArgMatches;
use serde_json::{Value, json};
use toolkit::backend::Backend as _;
use toolkit_mcp_client::{CredentialSource, Endpoint, LoginState, OAuthError};

use super::server::configured;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::logins::Logins;
use crate::style::{self, HIGHLIGHT, PLAIN, padded, printable, width};

/// The credentials for a server.
enum Access {
    Fixed,
    Client,
    Login(Result<Option<LoginState>, OAuthError>),
}

/// Lists the servers with a URL and the states of their logins.
pub(super) async fn run(matches: &ArgMatches, logins: &Logins) -> Result<Exit, CommandError> {
    let mut servers = Vec::new();
    for backend in configured(matches, logins)? {
        if let Some(endpoint) = backend.endpoint() {
            servers.push((backend.name().to_owned(), Access::new(endpoint).await));
        }
    }
    if matches.get_flag("json") {
        let json: Vec<Value> = servers.iter().map(|(name, access)| access.as_json(name)).collect();
        style::write_json(&json)?;
    } else {
        let columns = servers.iter().map(|(name, _)| width(name)).max().unwrap_or_default();
        let mut out = anstream::stdout().lock();
        for (name, access) in &servers {
            let paint = if access.is_there() { PLAIN } else { HIGHLIGHT };
            writeln!(
                out,
                "{paint}{}  {}{}",
                padded(&printable(name), columns),
                printable(&access.text()),
                paint.clear()
            )?;
        }
    }
    // A server without a login may not require one.
    let is_invalid = |access: &Access| !matches!(access, Access::Login(Ok(None))) && !access.is_there();
    Ok(if servers.iter().any(|(_, access)| is_invalid(access)) { Exit::Failed } else { Exit::Success })
}

impl Access {
    async fn new(endpoint: &Endpoint) -> Self {
        match endpoint.credential_source() {
            CredentialSource::Fixed => Self::Fixed,
            CredentialSource::Client => Self::Client,
            _ => Self::Login(endpoint.login_state().await),
        }
    }

    /// Returns true if there are credentials that do not require the user.
    fn is_there(&self) -> bool {
        match self {
            Self::Fixed | Self::Client => true,
            Self::Login(Ok(Some(state))) => state.is_valid && state.missing_scopes.is_empty(),
            Self::Login(_) => false,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Fixed => "credentials in the configuration".to_owned(),
            Self::Client => "client credentials".to_owned(),
            Self::Login(Ok(None)) => "no login".to_owned(),
            Self::Login(Ok(Some(state))) if !state.missing_scopes.is_empty() => {
                format!("another login is required, with the scopes {}", state.missing_scopes.join(" "))
            }
            Self::Login(Ok(Some(state))) if !state.is_valid => "the login has expired".to_owned(),
            Self::Login(Ok(Some(state))) => format!("logged in at {}", state.issuer),
            Self::Login(Err(error)) => error.to_string(),
        }
    }

    fn as_json(&self, name: &str) -> Value {
        match self {
            Self::Fixed => json!({ "name": name, "login": null, "credentials": "configuration" }),
            Self::Client => json!({ "name": name, "login": null, "credentials": "client" }),
            Self::Login(Ok(None)) => json!({ "name": name, "login": null }),
            Self::Login(Ok(Some(state))) => {
                let expires_at = state.expires_at.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
                json!({ "name": name, "login": {
                    "issuer": state.issuer,
                    "scopes": state.scopes,
                    "missing_scopes": state.missing_scopes,
                    "expires_at": expires_at.map(|at| at.as_secs()),
                    "valid": state.is_valid,
                } })
            }
            Self::Login(Err(error)) => json!({ "name": name, "error": error.to_string() }),
        }
    }
}
