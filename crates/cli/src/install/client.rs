//! The clients, the differences of their configurations, and the directories of these.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::PossibleValue;

/// A client whose configuration `install` changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Client {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    VsCode,
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
        &[Self::ClaudeDesktop, Self::ClaudeCode, Self::Cursor, Self::VsCode]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self {
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude-code",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
        }))
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

/// An operating system, by the layout of its directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Os {
    Linux,
    Mac,
    Windows,
}

impl Os {
    /// The system of this process.
    pub(super) const CURRENT: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_os = "macos") {
        Self::Mac
    } else {
        Self::Linux
    };
}

/// The environment variables that determine the directories.
pub(super) struct Places<'a> {
    pub(super) variable: &'a dyn Fn(&str) -> Option<PathBuf>,
}

impl Places<'_> {
    /// Returns the home directory of the user.
    pub(super) fn home(&self, os: Os) -> Result<PathBuf, String> {
        self.required(if os == Os::Windows { "USERPROFILE" } else { "HOME" })
    }

    /// Returns the directory of the configurations of all programs.
    pub(super) fn configuration(&self, os: Os) -> Result<PathBuf, String> {
        match os {
            Os::Windows => self.required("APPDATA"),
            Os::Mac => Ok(self.home(os)?.join("Library/Application Support")),
            // The specification requires that a relative path is ignored.
            Os::Linux => match (self.variable)("XDG_CONFIG_HOME").filter(|path| path.is_absolute()) {
                Some(path) => Ok(path),
                None => Ok(self.home(os)?.join(".config")),
            },
        }
    }

    /// Returns the configuration files of Claude Desktop. On Windows, the edition of the store reads one of its own.
    pub(super) fn claude_desktop(&self, os: Os) -> Result<Vec<PathBuf>, String> {
        const FILE: &str = "Claude/claude_desktop_config.json";
        let mut files = vec![self.configuration(os)?.join(FILE)];
        if os == Os::Windows
            && let Some(local) = (self.variable)("LOCALAPPDATA")
        {
            files.extend(
                store_editions(&local).into_iter().map(|edition| edition.join("LocalCache/Roaming").join(FILE)),
            );
        }
        Ok(files)
    }

    fn required(&self, name: &str) -> Result<PathBuf, String> {
        let path = (self.variable)(name).filter(|path| path.is_absolute());
        path.ok_or_else(|| format!("the environment variable `{name}` must be the absolute path of a directory"))
    }
}

/// Returns the directories of the editions of Claude Desktop that are installed from the store.
fn store_editions(local: &Path) -> Vec<PathBuf> {
    let packages = std::fs::read_dir(local.join("Packages")).into_iter().flatten();
    let paths = packages.filter_map(|entry| Some(entry.ok()?.path()));
    let is_claude = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("Claude_"));
    let mut editions: Vec<PathBuf> = paths.filter(is_claude).collect();
    editions.sort();
    editions
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Client, Os, Places, Scope};

    fn files(client: Client, os: Os, variables: &[(&str, &str)]) -> Vec<String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| PathBuf::from(value))
        };
        let files = client.files(Scope::User, os, &Places { variable: &variable }).expect("the variables are set");
        files.iter().map(|file| file.display().to_string()).collect()
    }

    #[test]
    fn files_of_the_user_follow_the_layout_of_the_system() {
        let linux = [("HOME", "/home/ada")];
        let mac = [("HOME", "/Users/ada")];
        assert_eq!(
            files(Client::ClaudeDesktop, Os::Linux, &linux),
            ["/home/ada/.config/Claude/claude_desktop_config.json"]
        );
        assert_eq!(
            files(Client::ClaudeDesktop, Os::Linux, &[("HOME", "/home/ada"), ("XDG_CONFIG_HOME", "/etc/ada")]),
            ["/etc/ada/Claude/claude_desktop_config.json"]
        );
        assert_eq!(
            files(Client::VsCode, Os::Linux, &[("HOME", "/home/ada"), ("XDG_CONFIG_HOME", "relative")]),
            ["/home/ada/.config/Code/User/mcp.json"]
        );
        assert_eq!(
            files(Client::ClaudeDesktop, Os::Mac, &mac),
            ["/Users/ada/Library/Application Support/Claude/claude_desktop_config.json"]
        );
        assert_eq!(files(Client::VsCode, Os::Mac, &mac), ["/Users/ada/Library/Application Support/Code/User/mcp.json"]);
        assert_eq!(files(Client::Cursor, Os::Mac, &mac), ["/Users/ada/.cursor/mcp.json"]);
    }

    #[test]
    fn both_editions_of_claude_desktop_on_windows_are_found() {
        let local = tempfile::tempdir().expect("a directory");
        std::fs::create_dir_all(local.path().join("Packages/Claude_pzs8sxrjxfjjc")).expect("a directory");
        std::fs::create_dir_all(local.path().join("Packages/Other_1")).expect("a directory");
        let local_path = local.path().to_str().expect("UTF-8");
        // Absolute paths of the system of this test, which the layout only joins.
        let variables = [("USERPROFILE", "/ada"), ("APPDATA", "/ada/Roaming"), ("LOCALAPPDATA", local_path)];
        assert_eq!(
            files(Client::ClaudeDesktop, Os::Windows, &variables),
            [
                "/ada/Roaming/Claude/claude_desktop_config.json".to_owned(),
                format!(
                    "{local_path}/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/claude_desktop_config.json"
                ),
            ]
        );
        assert_eq!(files(Client::VsCode, Os::Windows, &variables), ["/ada/Roaming/Code/User/mcp.json"]);
    }
}
