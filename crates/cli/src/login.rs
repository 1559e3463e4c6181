//! `login` and `logout`: logins at other MCP servers, which `serve --proxy` uses.

use std::fmt;
use std::io::{BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::{Value, json};
use tokio::time::timeout;
use toolkit::backend::Backend as _;
use toolkit_mcp_client::{
    CredentialSource, Endpoint, FileTokens, LoginState, McpBackend, McpServers, OAuth, OAuthError,
};

use crate::error::{CommandError, Exit};
use crate::options::{duration, json_switch, option, program_name, read_text, state_directory, switch};
use crate::program::Program;
use crate::runtime;
use crate::stderr::say;
use crate::style::{self, HIGHLIGHT, NOTE, PLAIN, padded, printable, width};

pub(crate) fn login_command() -> Command {
    Command::new("login")
        .about("Log in at another MCP server, for `serve --proxy`")
        .long_about(format!(
            "Log in at an MCP server with OAuth, in the browser. `serve --proxy` of the same user then sends its access \
             tokens, and renews them; a running server notices the login.\n\n\
             Without SERVER, list the servers of FILE with a URL and their logins. The exit code is then 1 if one of the \
             logins is not valid.\n\n\
             The tokens are in a directory that only the user can read, or in that of the environment variable \
             {DIRECTORY}."
        ))
        .args([
            server_argument().required_unless_present("proxy"),
            file_option(),
            switch("no-browser")
                .requires("server")
                .help("Print the URL and read the address to which the browser was redirected, from another machine"),
            option("timeout", "TIME")
                .value_parser(duration)
                .help("Time to wait for the browser [default: 5m]"),
            json_switch("Print the logins as JSON").conflicts_with("server"),
        ])
}

pub(crate) fn logout_command() -> Command {
    Command::new("logout")
        .about("Remove the login at another MCP server")
        .long_about("Remove the tokens of a server. The authorization server is not notified.")
        .args([server_argument().required(true), file_option()])
}

fn server_argument() -> Arg {
    Arg::new("server").value_name("SERVER").help("Name of a server in FILE, or the URL of a server")
}

fn file_option() -> Arg {
    let file = option("proxy", "FILE").value_parser(value_parser!(PathBuf));
    file.help("Configuration file of `serve --proxy`")
}

pub(crate) fn login(matches: &ArgMatches, program: &Program) -> Result<Exit, CommandError> {
    let logins = logins_of(program)?;
    let runtime = runtime::create()?;
    let outcome = runtime.block_on(async {
        match matches.get_one::<String>("server") {
            Some(name) => {
                if !logins.can_store() {
                    return Err(failed(name, "there is no directory for the tokens; set LOGIN_DIRECTORY"));
                }
                let endpoint = endpoint(name, matches, &logins)?;
                check_login(name, &endpoint)?;
                let limit = matches.get_one::<Duration>("timeout").copied().unwrap_or(Duration::from_secs(300));
                log_in(name, &endpoint, matches.get_flag("no-browser"), limit).await
            }
            None => list_logins(matches, &logins).await,
        }
    });
    // Reading from stdin cannot be canceled.
    runtime.shutdown_background();
    outcome
}

pub(crate) fn logout(matches: &ArgMatches, program: &Program) -> Result<Exit, CommandError> {
    let name = matches.get_one::<String>("server").expect("`SERVER` is required");
    let endpoint = endpoint(name, matches, &logins_of(program)?)?;
    let removed = runtime::create()?.block_on(endpoint.logout());
    let message = match removed.map_err(|error| failed(name, error))? {
        true => "the login is removed",
        false => "there was no login",
    };
    say(NOTE, message);
    Ok(Exit::Success)
}

/// The maximum length of a pasted address in bytes.
const MAX_LINE_BYTES: u64 = 16 << 10;

/// Logs in, with a browser on this machine or with an address that the user pastes.
async fn log_in(server: &str, endpoint: &Endpoint, is_elsewhere: bool, limit: Duration) -> Result<Exit, CommandError> {
    let error = |error: OAuthError| failed(server, error);
    let login = endpoint.login().await.map_err(error)?;
    let url = login.url().to_owned();
    let state = if is_elsewhere {
        say(NOTE, &format!("open this URL in a browser, and log in:\n\n{url}\n"));
        say(NOTE, "then paste the address of the page that cannot be opened (http://127.0.0.1:...):");
        login.wait_or_paste(limit, paste).await
    } else {
        match open(login.url().to_owned()).await {
            true => say(NOTE, &format!("waiting for the login in the browser; if it has not opened, open\n\n{url}\n")),
            false => {
                say(NOTE, &format!("open this URL in a browser on this machine (or see --no-browser):\n\n{url}\n"))
            }
        }
        login.wait(limit).await
    };
    let state = state.map_err(error)?;
    let scopes = if state.scopes.is_empty() { String::new() } else { format!(" ({})", state.scopes.join(" ")) };
    say(NOTE, &format!("logged in at {}{scopes}", state.issuer));
    Ok(Exit::Success)
}

/// Opens the default browser. The URL begins with `https://` or `http://`. Returns false if there is no browser.
async fn open(url: String) -> bool {
    // Some launchers wait until the browser has started.
    let opened = tokio::task::spawn_blocking(move || webbrowser::open(&url).is_ok());
    matches!(timeout(Duration::from_secs(5), opened).await, Ok(Ok(true)))
}

/// Reads an address from stdin. Returns `None` at its end.
async fn paste(rejected: Option<OAuthError>) -> Option<String> {
    if let Some(error) = rejected {
        say(NOTE, &format!("{error}; paste the address again:"));
    }
    let line = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        let n_bytes = std::io::stdin().lock().take(MAX_LINE_BYTES).read_line(&mut line);
        n_bytes.is_ok_and(|n_bytes| n_bytes > 0).then_some(line)
    });
    line.await.ok().flatten()
}

/// The credentials for a server.
enum Access {
    Fixed,
    Client,
    Login(Result<Option<LoginState>, OAuthError>),
}

/// Lists the servers with a URL and the states of their logins.
async fn list_logins(matches: &ArgMatches, logins: &Logins) -> Result<Exit, CommandError> {
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

/// Returns the settings of logins in this program.
fn logins_of(program: &Program) -> Result<Logins, CommandError> {
    Logins::new(&program.name).map_err(CommandError::usage)
}

/// Returns the endpoint of a server, with the settings of its logins.
fn endpoint(server: &str, matches: &ArgMatches, logins: &Logins) -> Result<Endpoint, CommandError> {
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
fn check_login(server: &str, endpoint: &Endpoint) -> Result<(), CommandError> {
    match endpoint.credential_source() {
        CredentialSource::Fixed => {
            Err(usage(server, &"the configuration contains the credentials, so there is no login"))
        }
        CredentialSource::Client => Err(usage(server, &"a server with client credentials has no login")),
        _ => Ok(()),
    }
}

/// Reads the servers of the configuration file.
fn configured(matches: &ArgMatches, logins: &Logins) -> Result<McpServers, CommandError> {
    let file = matches.get_one::<PathBuf>("proxy").expect("clap requires `SERVER` or `--proxy`");
    read_servers(file, logins)
}

/// Reads the servers of a configuration file, which may be a pipe.
pub(crate) fn read_servers(file: &Path, logins: &Logins) -> Result<McpServers, CommandError> {
    let invalid = |reason| CommandError::failed("invalid_servers", reason);
    let text = read_text(file, MAX_CONFIGURATION_BYTES).map_err(invalid)?;
    logins.servers(&text, file).map_err(|reason| invalid(format!("{}: {reason}", file.display())))
}

/// Returns the error of a login.
fn failed(server: &str, reason: impl fmt::Display) -> CommandError {
    CommandError::failed("login", format!("{server}: {reason}"))
}

fn usage(server: &str, reason: &dyn fmt::Display) -> CommandError {
    CommandError::usage(format!("{server}: {reason}"))
}

/// The maximum size of a configuration file.
const MAX_CONFIGURATION_BYTES: u64 = 4 << 20;

/// The environment variable with the directory of the tokens.
pub(crate) const DIRECTORY: &str = "LOGIN_DIRECTORY";

/// The settings of logins in this program.
#[derive(Clone)]
pub(crate) struct Logins {
    /// The name of the program, which authorization servers show to the user.
    name: String,
    directory: Option<PathBuf>,
}

impl Logins {
    /// # Errors
    ///
    /// Returns an error if the directory in the environment is a relative path: it would be another one in each working
    /// directory, also in that of an untrusted project.
    pub(crate) fn new(name: &str) -> Result<Self, String> {
        let directory = directory(name);
        match &directory {
            Some(relative) if !relative.is_absolute() => {
                Err(format!("{DIRECTORY} must be an absolute path, got `{}`", relative.display()))
            }
            _ => Ok(Self { name: name.to_owned(), directory }),
        }
    }

    /// Returns true if there is a directory for tokens. Otherwise, they are lost when the program ends.
    pub(crate) fn can_store(&self) -> bool {
        self.directory.is_some()
    }

    /// Returns the settings for a server, in a configuration file or with a URL.
    pub(crate) fn settings(&self, server: &str, file: Option<&Path>) -> OAuth {
        let mut command = format!("{} login {}", program_name(), quoted(server));
        if let Some(file) = file {
            command.push_str(&format!(" --proxy {}", quoted(&file.to_string_lossy())));
        }
        let settings = OAuth::new().client_name(&*self.name).login_command(command);
        match &self.directory {
            Some(directory) => settings.store(FileTokens::new(directory)),
            None => settings,
        }
    }

    /// Reads the servers of a configuration file.
    pub(crate) fn servers(&self, text: &str, file: &Path) -> Result<McpServers, String> {
        let servers = McpServers::from_json(text).map_err(|error| error.to_string())?;
        Ok(servers.with_oauth(|name| self.settings(name, Some(file))))
    }
}

/// Quotes an argument for the shell of the platform unless it has no special characters.
fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.,:/@\\".contains(c);
    match cfg!(windows) {
        false => style::shell_word(argument),
        true if !argument.is_empty() && argument.chars().all(is_plain) => argument.to_owned(),
        true => format!("\"{argument}\""),
    }
}

/// Returns the directory of the tokens: that of the environment, or one for state of this program.
fn directory(program: &str) -> Option<PathBuf> {
    match std::env::var_os(DIRECTORY).filter(|value| !value.is_empty()) {
        Some(directory) => Some(directory.into()),
        None => state_directory(program).map(|state| state.join("logins")),
    }
}
