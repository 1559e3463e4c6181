//! The clients, and the differences of their configurations.

use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use super::location::{Os, Places};

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
