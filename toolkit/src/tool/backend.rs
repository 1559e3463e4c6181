//! References to the backend of a tool.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::NameError;
use toolkit_schema::quoted;

/// A reference to the backend of a tool: a server, a provider or a function.
///
/// ```
/// # use serde_json::json;
/// # use toolkit::tool::ToolBackend;
/// let backend = ToolBackend::mcp("filesystem")?;
/// let json = json!({ "kind": "mcp", "mcp": { "serverName": "filesystem" } });
/// assert_eq!(serde_json::to_value(&backend).unwrap(), json);
///
/// let error = serde_json::from_value::<ToolBackend>(json!({ "kind": "mcp" })).unwrap_err();
/// assert_eq!(error.to_string(), "invalid backend: `mcp` needs `mcp.serverName`");
/// # Ok::<(), toolkit::tool::NameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "BackendJson", into = "BackendJson")]
#[non_exhaustive]
pub enum ToolBackend {
    /// An MCP server.
    #[non_exhaustive]
    Mcp {
        /// The server's name in the host's configuration.
        server_name: String,
    },
    /// A tool of a provider, behind an interface of the host.
    #[non_exhaustive]
    Provider {
        /// The id of the provider.
        provider_id: String,
        /// The provider's id of the tool.
        tool_id: String,
    },
    /// A function of this process.
    #[non_exhaustive]
    Local {
        /// The name under which the function is registered.
        name: String,
    },
}

impl ToolBackend {
    /// Returns the rank of the kind, and the names of the backend. The preferred kind has the lowest rank.
    #[must_use]
    pub fn ranked_names(&self) -> (u8, Vec<&str>) {
        match self {
            ToolBackend::Local { name } => (0, vec![name]),
            ToolBackend::Provider { provider_id, tool_id } => (1, vec![provider_id, tool_id]),
            ToolBackend::Mcp { server_name } => (2, vec![server_name]),
        }
    }

    /// Creates a reference to a tool of an MCP server.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is empty.
    pub fn mcp(server_name: impl Into<String>) -> Result<Self, NameError> {
        Ok(ToolBackend::Mcp { server_name: given(server_name.into(), "mcp", "serverName")? })
    }

    /// Creates a reference to a tool of a provider.
    ///
    /// # Errors
    ///
    /// Returns an error if one of the ids is empty.
    pub fn provider(provider_id: impl Into<String>, tool_id: impl Into<String>) -> Result<Self, NameError> {
        Ok(ToolBackend::Provider {
            provider_id: given(provider_id.into(), "provider", "providerId")?,
            tool_id: given(tool_id.into(), "provider", "toolId")?,
        })
    }

    /// Creates a reference to a function of this process.
    ///
    /// # Errors
    ///
    /// Returns an error if the name is empty.
    pub fn local(name: impl Into<String>) -> Result<Self, NameError> {
        Ok(ToolBackend::Local { name: given(name.into(), "local", "name")? })
    }

    /// Creates a reference to a function with a non-empty name.
    pub(crate) fn named(name: String) -> Self {
        ToolBackend::Local { name }
    }

    /// Returns the kind of the backend.
    #[must_use]
    pub fn kind(&self) -> BackendKind {
        match self {
            ToolBackend::Mcp { .. } => BackendKind::Mcp,
            ToolBackend::Provider { .. } => BackendKind::Provider,
            ToolBackend::Local { .. } => BackendKind::Local,
        }
    }
}

/// The kinds of backends in the order of preference.
///
/// # Examples
///
/// ```
/// use toolkit::tool::{BackendKind, ToolBackend};
///
/// let mut backends = [ToolBackend::mcp("files")?, ToolBackend::local("read")?];
/// backends.sort_by_key(ToolBackend::kind);
/// assert_eq!(backends[0].kind(), BackendKind::Local);
/// assert_eq!(backends[0].kind().as_str(), "local");
/// # Ok::<(), toolkit::tool::NameError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum BackendKind {
    /// Code of this process.
    Local,
    /// A provider, behind an interface of the host.
    Provider,
    /// An MCP server.
    Mcp,
}

impl BackendKind {
    /// Returns `local`, `provider` or `mcp`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            BackendKind::Local => "local",
            BackendKind::Provider => "provider",
            BackendKind::Mcp => "mcp",
        }
    }
}

impl fmt::Display for BackendKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for ToolBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToolBackend::Mcp { server_name } => write!(f, "mcp `{}`", server_name.escape_debug()),
            ToolBackend::Provider { provider_id, tool_id } => {
                write!(f, "provider `{}` with `{}`", provider_id.escape_debug(), tool_id.escape_debug())
            }
            ToolBackend::Local { name } => write!(f, "local `{}`", name.escape_debug()),
        }
    }
}

fn given(text: String, kind: &'static str, field: &'static str) -> Result<String, NameError> {
    if text.is_empty() {
        return Err(NameError::new(format!("invalid backend: `{kind}` needs `{kind}.{field}`")));
    }
    Ok(text)
}

/// The JSON form: a kind, and details in a field of that name. Details of other kinds are ignored.
#[derive(Serialize, Deserialize)]
struct BackendJson {
    kind: String,
    #[serde(flatten)]
    details: Map<String, Value>,
}

impl TryFrom<BackendJson> for ToolBackend {
    type Error = NameError;

    fn try_from(BackendJson { kind, details }: BackendJson) -> Result<Self, NameError> {
        let details = details.get(&kind);
        let text = |field| details.and_then(|details| details.get(field)?.as_str()).unwrap_or_default();
        match kind.as_str() {
            "mcp" => Self::mcp(text("serverName")),
            "provider" => Self::provider(text("providerId"), text("toolId")),
            "local" => Self::local(text("name")),
            kind => {
                let kind = quoted(kind);
                let message = format!("invalid backend: unknown kind {kind}; expected `mcp`, `provider` or `local`");
                Err(NameError::new(message))
            }
        }
    }
}

impl From<ToolBackend> for BackendJson {
    fn from(backend: ToolBackend) -> Self {
        let kind = backend.kind().to_string();
        let details = match backend {
            ToolBackend::Mcp { server_name } => json!({ "serverName": server_name }),
            ToolBackend::Provider { provider_id, tool_id } => json!({ "providerId": provider_id, "toolId": tool_id }),
            ToolBackend::Local { name } => json!({ "name": name }),
        };
        BackendJson { details: Map::from_iter([(kind.clone(), details)]), kind }
    }
}
