//! Configuration files of MCP hosts.
//!
//! | module | contains |
//! | --- | --- |
//! | `settings`, `oauth` | the objects `toolkit` and `oauth` of a server, and variables |
//! | `configured` | applying a changed configuration |

mod configured;
#[cfg(feature = "oauth")]
mod oauth;
mod settings;

use std::fmt;

use jsonc_parser::{ParseOptions, parse_to_serde_value};
use serde_json::{Map, Value};
use toolkit::backend::Backend;
use toolkit::tool::Namespace;

pub use self::configured::{ConfiguredServers, ServerChanges};
use self::settings::Variables;
use super::backend::McpBackend;
use super::endpoint::Endpoint;
#[cfg(feature = "oauth")]
use super::oauth::OAuth;
use super::program::Program;

/// The servers of a configuration file of Claude, Cursor, VS Code and other MCP hosts.
///
/// The file has an object `mcpServers` (or `servers`, or `mcp.servers`). Each server has `command`, `args`, `env` and
/// `cwd`, or `url` and `headers`. Comments and trailing commas are allowed. Unknown fields and servers with
/// `"disabled": true` are ignored. With `"trusted": true`, the annotations of the server's tools are trusted; see
/// [`McpBackend::trusted`].
///
/// The object `toolkit` of a server, which other hosts ignore, contains settings of this client. Unknown keys in it are
/// errors:
///
/// | key | value | default | method |
/// |---|---|---|---|
/// | `trusted` | true or false | false | [`McpBackend::trusted`] |
/// | `mayAsk` | true or false | true | [`McpBackend::may_ask`] |
/// | `timeout` | duration, such as `"30s"` or `"500ms"` | `"5m"` | [`McpBackend::timeout`] |
/// | `startTimeout` | duration | `"30s"` | [`McpBackend::start_timeout`] |
/// | `maxConcurrentCalls` | positive integer | no limit | [`McpBackend::max_concurrent_calls`] |
/// | `maxMessageBytes` | positive integer | 16 MiB | [`McpBackend::max_message_bytes`] |
/// | `maxResultBytes` | positive integer | `maxMessageBytes` | [`McpBackend::max_result_bytes`] |
/// | `maxTools` | positive integer | 10,000 | [`McpBackend::max_tools`] |
/// | `oauth` | object | | `Endpoint::oauth`, with the feature `oauth` |
///
/// The keys of the object `oauth` are `clientName`, `clientId`, `clientSecret`, `clientMetadataUrl`, `issuer`, `scopes`,
/// `redirectPort`, `clientCredentials` and `allowPrivateAddresses`, like the methods of `OAuth`.
///
/// In values, `${NAME}` and `${env:NAME}` expand to an environment variable, and `${NAME:-text}` has a default.
///
/// An invalid server is [rejected](McpServers::rejected) and does not affect the others. A name that is not a valid
/// namespace is changed: `@acme/files` becomes `acme_files`.
///
/// # Examples
///
/// ```
/// use toolkit_mcp_client::McpServers;
///
/// # fn main() -> Result<(), toolkit_mcp_client::ServersError> {
/// let servers = McpServers::from_json(
///     r#"{"mcpServers": {
///         "time": {"command": "uvx", "args": ["mcp-server-time"]},
///         "search": {"url": "https://example.com/mcp", "headers": {"x-region": "${REGION:-eu}"}},
///         "wrong": {"command": ["uvx"]},
///         "old": {"command": "npx", "disabled": true}, // no longer needed
///     }}"#,
/// )?;
/// assert_eq!(servers.len(), 2);
/// let rejected: Vec<String> = servers.rejected().map(ToString::to_string).collect();
/// assert_eq!(rejected, ["the server `wrong`: `command` must be a string"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct McpServers {
    backends: Vec<McpBackend>,
    rejected: Vec<RejectedServer>,
    renamed: Vec<(String, String)>,
}

/// An invalid server of a configuration file.
///
/// # Examples
///
/// ```
/// use toolkit_mcp_client::McpServers;
///
/// let servers = McpServers::from_json(
///     r#"{"mcpServers": {"files": {"command": "npx", "args": "-y @acme/files", "trusted": "yes"}}}"#,
/// )?;
/// let rejected = servers.rejected().next().unwrap();
/// assert_eq!(rejected.name, "files");
/// assert_eq!(rejected.reasons, ["`trusted` must be true or false", "`args` must be an array of strings"]);
/// # Ok::<(), toolkit_mcp_client::ServersError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RejectedServer {
    /// The name in the configuration file.
    pub name: String,
    /// The reasons, as phrases that follow the name of the server.
    pub reasons: Vec<String>,
}

/// The syntax of configuration files: JSON with comments and trailing commas.
const SYNTAX: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

impl McpServers {
    /// Parses a configuration file, and expands variables from the environment.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not JSON or has no object of servers.
    pub fn from_json(json: &str) -> Result<Self, ServersError> {
        Self::from_json_with(json, |name| std::env::var(name).ok())
    }

    /// Parses a configuration file, and expands variables with a function.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`McpServers::from_json`].
    pub fn from_json_with(json: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Self, ServersError> {
        let json = json.strip_prefix('\u{feff}').unwrap_or(json);
        let json: Value = parse_to_serde_value(json, &SYNTAX)
            .map_err(|error| ServersError(format!("the text is not JSON: {error}")))?;
        let servers = ["/mcpServers", "/servers", "/mcp/servers"].iter().find_map(|at| json.pointer(at));
        let servers = servers
            .and_then(Value::as_object)
            .ok_or_else(|| ServersError("the object `mcpServers` is missing".to_owned()))?;

        let mut read = Self { backends: Vec::new(), rejected: Vec::new(), renamed: Vec::new() };
        for (name, fields) in servers {
            let mut entry = Entry { fields: None, variables: Variables::new(&variable), wrong: Vec::new() };
            match fields.as_object() {
                Some(fields) if fields.get("disabled").and_then(Value::as_bool) == Some(true) => continue,
                Some(fields) => entry.fields = Some(fields),
                None => entry.wrong.push("must be an object".to_owned()),
            }
            let backend = read.namespace(name, servers).map_err(|wrong| entry.wrong.insert(0, wrong)).ok();
            let backend = backend.and_then(|namespace| Some((entry.backend(&namespace)?, namespace)));
            match backend {
                Some((backend, namespace)) if entry.wrong.is_empty() => {
                    if namespace != *name {
                        read.renamed.push((name.clone(), namespace));
                    }
                    read.backends.push(backend);
                }
                _ => read.rejected.push(RejectedServer { name: name.clone(), reasons: entry.wrong }),
            }
        }
        Ok(read)
    }

    /// Returns the namespace of a server: its name, with invalid characters replaced.
    fn namespace(&self, name: &str, servers: &Map<String, Value>) -> Result<String, String> {
        let error = match Namespace::new(name.to_owned()) {
            Ok(_) => return Ok(name.to_owned()),
            Err(error) => error,
        };
        let namespace = namespace_of(name);
        if Namespace::new(namespace.clone()).is_err() {
            return Err(format!("its name cannot be the namespace of its tools: {error}"));
        }
        let is_taken = self.backends.iter().any(|backend| backend.name() == &*namespace);
        match is_taken || servers.contains_key(&namespace) {
            true => Err(format!("its name would become `{namespace}`, which is the name of another server")),
            false => Ok(namespace),
        }
    }

    /// Sets the settings of logins, by the name of the server, for all servers with a URL and without credentials in
    /// their headers. The object `oauth` of a server takes precedence.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit_mcp_client::{McpServers, MemoryTokens, OAuth};
    ///
    /// # fn main() -> Result<(), toolkit_mcp_client::ServersError> {
    /// let tokens = MemoryTokens::new();
    /// let servers = McpServers::from_json(
    ///     r#"{"mcpServers": {
    ///         "notes": {"url": "https://example.com/mcp", "toolkit": {"oauth": {"scopes": ["notes:read"]}}},
    ///     }}"#,
    /// )?;
    /// let servers = servers.with_oauth(|name| {
    ///     OAuth::new().client_name("my-tools").login_command(format!("my-tools login {name}")).store(tokens.clone())
    /// });
    /// # drop(servers);
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "oauth")]
    #[must_use]
    pub fn with_oauth(mut self, settings: impl Fn(&str) -> OAuth) -> Self {
        for backend in &mut self.backends {
            if backend.endpoint().is_some_and(|endpoint| !endpoint.has_credentials()) {
                let settings = settings(backend.name());
                *backend = backend.clone().with_endpoint(|endpoint| endpoint.with_defaults(settings));
            }
        }
        self
    }

    /// Returns the number of valid servers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.backends.len()
    }

    /// Returns true if there are no valid servers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.backends.is_empty()
    }

    /// Returns the invalid servers and the reasons.
    pub fn rejected(&self) -> impl Iterator<Item = &RejectedServer> {
        self.rejected.iter()
    }

    /// Returns the servers whose names are not valid namespaces, as pairs of the name and the namespace.
    pub fn renamed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.renamed.iter().map(|(name, namespace)| (name.as_str(), namespace.as_str()))
    }
}

/// Replaces the characters of a name that are invalid in a namespace.
fn namespace_of(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-' | '.'));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("_")
}

impl fmt::Display for RejectedServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (idx, reason) in self.reasons.iter().enumerate() {
            let line = if idx > 0 { "\n" } else { "" };
            write!(f, "{line}the server `{}`: {reason}", self.name.escape_debug())?;
        }
        Ok(())
    }
}

impl IntoIterator for McpServers {
    type Item = McpBackend;
    type IntoIter = std::vec::IntoIter<McpBackend>;

    fn into_iter(self) -> Self::IntoIter {
        self.backends.into_iter()
    }
}

/// A server that is being parsed.
struct Entry<'c> {
    fields: Option<&'c Map<String, Value>>,
    variables: Variables<'c>,
    wrong: Vec<String>,
}

impl Entry<'_> {
    fn backend(&mut self, name: &str) -> Option<McpBackend> {
        let fields = self.fields?;
        let is_trusted = match fields.get("trusted") {
            None | Some(Value::Null | Value::Bool(false)) => false,
            Some(Value::Bool(true)) => true,
            Some(_) => {
                self.wrong.push("`trusted` must be true or false".to_owned());
                false
            }
        };
        let backend = match (self.text("type"), fields.contains_key("command"), fields.contains_key("url")) {
            (_, true, true) => Err("`command` and `url` exclude each other".to_owned()),
            (Some(kind), ..) if kind == "sse" => {
                Err("`type` `sse` is not supported; use the URL of the server's `http` endpoint".to_owned())
            }
            (Some(kind), true, _) if kind != "stdio" => {
                Err(format!("`command` requires `type` `stdio`, got `{}`", kind.escape_debug()))
            }
            (Some(kind), _, true) if !matches!(&*kind, "http" | "streamable-http" | "streamableHttp") => {
                Err(format!("`url` requires `type` `http`, got `{}`", kind.escape_debug()))
            }
            (_, true, _) => Ok(self.program().map(|program| McpBackend::stdio(name, program))),
            (_, _, true) => Ok(self.endpoint().map(|endpoint| McpBackend::http(name, endpoint))),
            _ => Err("`command` or `url` is required".to_owned()),
        };
        let backend = backend.unwrap_or_else(|wrong| {
            self.wrong.push(wrong);
            None
        });
        let backend = backend.map(McpBackend::may_ask);
        let backend = backend.map(|backend| if is_trusted { backend.trusted() } else { backend });
        match (fields.get(settings::KEY), backend) {
            (Some(settings), Some(backend)) => {
                Some(settings::apply(settings, backend, &self.variables, &mut self.wrong))
            }
            (_, backend) => backend,
        }
    }

    fn program(&mut self) -> Option<Program> {
        let mut program = Program::new(self.text("command")?).args(self.texts("args"));
        for (name, value) in self.named_texts("env") {
            program = program.env(name, value);
        }
        if let Some(folder) = self.text("cwd") {
            program = program.current_dir(folder);
        }
        Some(program)
    }

    fn endpoint(&mut self) -> Option<Endpoint> {
        let mut endpoint = match Endpoint::new(&self.text("url")?) {
            Ok(endpoint) => endpoint,
            Err(error) => {
                self.wrong.push(error.to_string());
                return None;
            }
        };
        for (name, value) in self.named_texts("headers") {
            match endpoint.clone().header(&name, &value) {
                Ok(with_header) => endpoint = with_header,
                Err(error) => self.wrong.push(format!("`headers`: {error}")),
            }
        }
        Some(endpoint)
    }

    /// Reads a string field and expands its variables. Reports any other type.
    fn text(&mut self, field: &str) -> Option<String> {
        let value = self.fields?.get(field).filter(|value| !value.is_null())?;
        self.expanded(&format!("`{field}`"), value)
    }

    fn texts(&mut self, field: &str) -> Vec<String> {
        match self.fields.and_then(|fields| fields.get(field)) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(items)) => {
                let items = items.iter().enumerate();
                items.filter_map(|(idx, item)| self.expanded(&format!("`{field}[{idx}]`"), item)).collect()
            }
            Some(_) => {
                self.wrong.push(format!("`{field}` must be an array of strings"));
                Vec::new()
            }
        }
    }

    fn named_texts(&mut self, field: &str) -> Vec<(String, String)> {
        match self.fields.and_then(|fields| fields.get(field)) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Object(fields)) => {
                let named = fields.iter().filter(|(_, value)| !value.is_null());
                named
                    .filter_map(|(name, value)| {
                        let at = format!("`{field}.{}`", name.escape_debug());
                        Some((name.clone(), self.expanded(&at, value)?))
                    })
                    .collect()
            }
            Some(_) => {
                self.wrong.push(format!("`{field}` must be an object of strings"));
                Vec::new()
            }
        }
    }

    /// Expands the variables of a value. Errors do not contain the value, which may be a secret.
    fn expanded(&mut self, at: &str, value: &Value) -> Option<String> {
        let text = match value {
            Value::String(text) => text,
            // Other hosts accept numbers and booleans here, and their meaning is clear.
            Value::Number(_) | Value::Bool(_) if at.starts_with("`env.") => return Some(value.to_string()),
            _ => {
                self.wrong.push(format!("{at} must be a string"));
                return None;
            }
        };
        let expanded = self.variables.expand(text);
        expanded.map_err(|wrong| self.wrong.push(format!("{at} {wrong}"))).ok()
    }
}

/// The error for an invalid configuration file.
///
/// # Examples
///
/// ```
/// use toolkit_mcp_client::McpServers;
///
/// let error = McpServers::from_json(r#"{"theme": "dark"}"#).unwrap_err();
/// assert_eq!(error.to_string(), "the object `mcpServers` is missing");
/// let error = McpServers::from_json("{").unwrap_err();
/// assert!(error.to_string().starts_with("the text is not JSON: "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServersError(String);

impl fmt::Display for ServersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ServersError {}
