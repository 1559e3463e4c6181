//! The logins of the user at other servers, which `login` stores and `serve --proxy` uses.

use std::path::{Path, PathBuf};

use toolkit_mcp_client::{FileTokens, McpServers, OAuth};

use crate::options::program_name;

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
    let plain = if cfg!(windows) { "-_.,:/@\\" } else { "-_.,:/@+=%" };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || plain.contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        argument.to_owned()
    } else if cfg!(windows) {
        format!("\"{argument}\"")
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

/// Returns the directory of the tokens: that of the environment, or one for state of this program.
fn directory(program: &str) -> Option<PathBuf> {
    let named = |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(directory) = named(DIRECTORY) {
        return Some(directory);
    }
    let state = if cfg!(windows) {
        named("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        std::env::home_dir().map(|home| home.join("Library/Application Support"))
    } else {
        let default = || std::env::home_dir().map(|home| home.join(".local/state"));
        named("XDG_STATE_HOME").filter(|path| path.is_absolute()).or_else(default)
    };
    let name = program.replace(|c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c), "_");
    state.filter(|path| path.is_absolute()).map(|path| path.join(name).join("logins"))
}
