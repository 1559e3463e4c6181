//! Configuration files of MCP hosts.
//!
//! | module | contains |
//! | --- | --- |
//! | `keys`, `command` | the keys of a server, and what each does; the forms of `command` |
//! | `env_file` | files of environment variables |
//! | `settings`, `oauth` | the objects `toolkit` and `oauth` of a server |
//! | `variables` | variables in values |
//! | `configured` | applying a changed configuration |

mod command;
mod configured;
mod env_file;
mod keys;
#[cfg(feature = "oauth")]
mod oauth;
mod settings;
mod variables;

use std::fmt;
use std::path::Path;

use jsonc_parser::{ParseOptions, parse_to_serde_value};
use serde_json::{Map, Value};
use toolkit::backend::Backend;
use toolkit::tool::Namespace;
use toolkit_runtime::read_regular_file;

pub use self::configured::{ConfiguredServers, ServerChanges};
use self::variables::Variables;
use super::backend::McpBackend;
use super::endpoint::{ConfigError, Endpoint};
#[cfg(feature = "oauth")]
use super::oauth::OAuth;
use super::process::Program;

/// The servers of a configuration file of Claude, Cursor, VS Code, Windsurf, Zed, Gemini CLI and other MCP hosts.
///
/// The file has an object `mcpServers` (or `servers`, `mcp.servers`, `context_servers`, `mcp_servers` or `mcp`). Comments
/// and trailing commas are allowed. The keys of a server, with the names that hosts give them, are:
///
/// | key | value | other names |
/// |---|---|---|
/// | `command`, `args`, `cwd` | the program, its arguments and its working directory; `command` may also be a list of the program and its arguments, or an object with `path`, `args` and `env` | |
/// | `env` | environment variables | `environment` |
/// | `envFile` | a file of further variables, with lines `NAME=value` | |
/// | `url` | the URL, instead of a program | `httpUrl`, `serverUrl` |
/// | `headers` | headers of each request | `http_headers` |
/// | `type` | `stdio` or `local`; `http`, `streamable-http` or `remote`; `sse` for HTTP+SSE of revision 2024-11-05 | `transport` |
/// | `enabled`, `disabled` | false or true: the server is not started | |
/// | `tools` | the only tools to serve, by their names on the server; `*` matches any characters | `includeTools`, `enabledTools`, `enabled_tools` |
/// | `disabledTools` | tools not to serve | `excludeTools`, `disabled_tools` |
/// | `trusted` | as in `toolkit` | |
///
/// A key that has no effect is a [warning](McpServers::warnings).
///
/// The object `toolkit` of a server, which other hosts ignore, contains settings of this client. Unknown keys in it are
/// errors:
///
/// | key | value | default | method |
/// |---|---|---|---|
/// | `trusted` | true or false | false | [`McpBackend::trusted`] |
/// | `mayAsk` | true or false | true | [`McpBackend::may_ask`] |
/// | `timeout` | duration, such as `"30s"` or `"500ms"` | `"5m"` | [`McpBackend::timeout`] |
/// | `maxTimeout` | duration | `timeout` | [`McpBackend::max_timeout`] |
/// | `startTimeout` | duration | `"30s"` | [`McpBackend::start_timeout`] |
/// | `idleTimeout` | duration, after which an unused program is stopped; the next request starts it | never | [`McpBackend::idle_timeout`] |
/// | `maxConcurrentCalls` | positive integer | no limit | [`McpBackend::max_concurrent_calls`] |
/// | `maxMessageBytes` | positive integer | 16 MiB | [`McpBackend::max_message_bytes`] |
/// | `maxResultBytes` | positive integer | `maxMessageBytes` | [`McpBackend::max_result_bytes`] |
/// | `maxTools` | positive integer | 10,000 | [`McpBackend::max_tools`] |
/// | `revision` | the only protocol revision to use, such as `"2025-06-18"` | the newest one | |
/// | `instructions` | false: the clients of a proxy do not receive the instructions of the server | true | [`McpBackend::instructions`] |
/// | `prefix` | false: the tools are listed without the name of the server | true | [`McpBackend::prefix`] |
/// | `outputValidation` | `"strict"`: a result that does not match its output schema is an error; `"warn"`: it is logged; `"off"`. With the latter two, tools are listed without output schemas, since clients compare them too | `"strict"` | |
/// | `coercion` | [conversions](toolkit::Coercion) of arguments: `"off"`, `"null-as-absent"`, `"lossless"` or `"lenient"` | that of the dispatcher's builder, or else `"null-as-absent"` | |
/// | `plainInputSchemas` | true: the root of each input schema becomes a plain object, for models whose APIs refuse a choice there | false | [`McpBackend::plain_input_schemas`] |
/// | `tools` | changes of tools, by their names on the server: `name`, `title`, `description`, `fixedArguments`, and the hints `readOnly`, `destructive`, `idempotent` and `openWorld`, which are trusted | | |
/// | `forwardHeaders` | headers of callers to pass on: an object with the names for the server and those of the caller, such as `{"x-tenant": "x-tenant"}` | | [`Endpoint::forward_header`] |
/// | `forwardCredentials` | the same for headers with credentials | | [`Endpoint::forward_credential`] |
/// | `perSession` | true, or the maximum number of sessions (64): each session of a client has a connection of its own, that is, a process or a session of the server | false | |
/// | `oauth` | object | | `Endpoint::oauth`, with the feature `oauth` |
///
/// The keys of the object `oauth` are `clientName`, `clientId`, `clientSecret`, `clientMetadataUrl`, `issuer`, `scopes`,
/// `redirectPort`, `clientCredentials`, `tokenExchange` and `allowPrivateAddresses`, like the methods of `OAuth`.
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
/// # fn main() -> Result<(), toolkit_mcp_client::ConfigError> {
/// let servers = McpServers::from_json(
///     r#"{"mcpServers": {
///         "time": {"command": "uvx", "args": ["mcp-server-time"]},
///         "search": {"url": "https://example.com/mcp", "headers": {"x-region": "${REGION:-eu}"}},
///         "wrong": {"command": 7},
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
    warnings: Vec<String>,
    declared: Vec<String>,
    views: Option<Value>,
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
/// # Ok::<(), toolkit_mcp_client::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RejectedServer {
    /// The name in the configuration file.
    pub name: String,
    /// The reasons, as phrases that follow the name of the server.
    pub reasons: Vec<String>,
}

/// The objects of servers in the files of hosts, as JSON Pointers.
const PLACES: [&str; 6] = ["/mcpServers", "/servers", "/mcp/servers", "/context_servers", "/mcp_servers", "/mcp"];

/// The key of the views of a proxy.
const VIEWS: &str = "views";

/// The maximum size of a file of environment variables.
const MAX_ENV_FILE_BYTES: u64 = 1 << 20;

/// The values of `type` for a program and for a URL.
const PROGRAM_TYPES: [&str; 2] = ["stdio", "local"];
const URL_TYPES: [&str; 6] = ["sse", "http", "streamable-http", "streamableHttp", "streamable_http", "remote"];

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
    pub fn from_json(json: &str) -> Result<Self, ConfigError> {
        Self::from_json_with(json, |name| std::env::var(name).ok())
    }

    /// Parses a configuration file, and expands variables with a function.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`McpServers::from_json`].
    pub fn from_json_with(json: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let json = json.strip_prefix('\u{feff}').unwrap_or(json);
        let json: Value = parse_to_serde_value(json, &SYNTAX)
            .map_err(|error| ConfigError::caused_by(format!("the text is not JSON: {error}"), error))?;
        // `/mcp` of opencode has the servers, or the object `servers`.
        let places = PLACES.iter().filter(|at| **at != "/mcp" || json.pointer("/mcp/servers").is_none());
        let mut places = places.filter_map(|at| Some((at, json.pointer(at)?.as_object()?)));
        let missing = || ConfigError::new("the object `mcpServers` is missing");
        let (place, servers) = places.next().ok_or_else(missing)?;

        let name = |place: &str| place[1..].replace('/', ".");
        let ignored =
            |(other, _): (&&str, _)| format!("`{}` has no effect, since the file has `{}`", name(other), name(place));
        let warnings = places.map(ignored).collect();
        let declared = servers.keys().map(|name| namespace_of(name)).collect();
        let mut read = Self {
            backends: Vec::new(),
            rejected: Vec::new(),
            renamed: Vec::new(),
            warnings,
            declared,
            views: json.get(VIEWS).cloned(),
        };
        for (name, fields) in servers {
            let mut entry = ServerEntry { fields: None, variables: Variables::new(&variable), wrong: Vec::new() };
            let fields = fields.as_object().map(|fields| command::flattened(fields, &mut entry.wrong));
            match &fields {
                Some(fields) => entry.fields = Some(fields),
                None => entry.wrong.push("must be an object".to_owned()),
            }
            if entry.is_disabled() {
                continue;
            }
            let shown = name.escape_debug();
            let warnings = entry.fields.map(|fields| keys::check(fields, &mut entry.wrong)).unwrap_or_default();
            read.warnings.extend(warnings.into_iter().map(|warning| format!("the server `{shown}`: {warning}")));
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
    /// # fn main() -> Result<(), toolkit_mcp_client::ConfigError> {
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

    /// Returns the keys of the file that have no effect, as phrases that name the server and the key.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit_mcp_client::McpServers;
    ///
    /// let servers = McpServers::from_json(r#"{"mcpServers": {"time": {"command": "uvx", "alwaysAllow": ["now"]}}}"#)?;
    /// let warnings: Vec<&str> = servers.warnings().collect();
    /// assert!(warnings[0].starts_with("the server `time`: `alwaysAllow` has no effect: clients approve calls; "));
    /// # Ok::<(), toolkit_mcp_client::ConfigError>(())
    /// ```
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        self.warnings.iter().map(String::as_str)
    }

    /// Returns the namespaces of all servers of the file, also of those that are disabled or invalid.
    #[must_use]
    pub fn declared(&self) -> &[String] {
        &self.declared
    }

    /// Returns the value of `views` beside the servers, which a proxy reads.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit_mcp_client::McpServers;
    ///
    /// let servers = McpServers::from_json(r#"{"mcpServers": {}, "views": {"finance": {"servers": ["ledger"]}}}"#)?;
    /// assert_eq!(servers.views().unwrap()["finance"]["servers"][0], "ledger");
    /// # Ok::<(), toolkit_mcp_client::ConfigError>(())
    /// ```
    #[must_use]
    pub fn views(&self) -> Option<&Value> {
        self.views.as_ref()
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
struct ServerEntry<'f> {
    fields: Option<&'f Map<String, Value>>,
    variables: Variables<'f>,
    wrong: Vec<String>,
}

impl<'f> ServerEntry<'f> {
    /// Returns true if the file switches the server off.
    fn is_disabled(&mut self) -> bool {
        self.flag("disabled") == Some(true) || self.flag("enabled") == Some(false)
    }

    fn backend(&mut self, name: &str) -> Option<McpBackend> {
        self.fields?;
        let is_trusted = self.flag("trusted") == Some(true);
        let kind = self.text("type");
        let backend = match (self.get("command"), self.get("url"), kind.as_deref()) {
            (Some((command, _)), Some((url, _)), _) => Err(format!("`{command}` and `{url}` exclude each other")),
            (Some(_), _, Some(kind)) if !PROGRAM_TYPES.contains(&kind) => {
                Err(format!("`command` requires `type` `stdio`, got `{}`", kind.escape_debug()))
            }
            (_, Some((url, _)), Some(kind)) if !URL_TYPES.contains(&kind) => {
                Err(format!("`{url}` requires `type` `http`, got `{}`", kind.escape_debug()))
            }
            (Some(_), ..) => Ok(self.program().map(|program| McpBackend::stdio(name, program))),
            (_, Some(_), _) => Ok(self.endpoint().map(|endpoint| McpBackend::http(name, endpoint))),
            _ => Err(format!("`command` or `url` is required{}", self.fields.map(keys::meant).unwrap_or_default())),
        };
        let backend = backend.unwrap_or_else(|wrong| {
            self.wrong.push(wrong);
            None
        });
        let (allowed, denied) = (self.get("tools").map(|_| self.texts("tools")), self.texts("disabledTools"));
        let backend = backend?.may_ask();
        let backend = if is_trusted { backend.trusted() } else { backend };
        let backend = backend.with_tools(|tools| (tools.allowed, tools.denied) = (allowed, denied));
        match self.get(settings::KEY) {
            Some((_, settings)) => Some(settings::apply(settings, backend, &self.variables, &mut self.wrong)),
            None => Some(backend),
        }
    }

    fn program(&mut self) -> Option<Program> {
        let mut program = Program::new(self.text("command")?).args(self.texts("args"));
        let env_file = self.text("envFile").map(|path| self.env_file(&path)).unwrap_or_default();
        for (name, value) in env_file.into_iter().chain(self.named_texts("env")) {
            program = program.env(name, value);
        }
        if let Some(folder) = self.text("cwd") {
            program = program.current_dir(folder);
        }
        Some(program)
    }

    fn env_file(&mut self, path: &str) -> Vec<(String, String)> {
        let read = read_regular_file(Path::new(path), MAX_ENV_FILE_BYTES).map_err(|error| error.to_string());
        let text = read.and_then(|bytes| String::from_utf8(bytes).map_err(|error| error.to_string()));
        let variables =
            text.and_then(|text| env_file::parse(&text).map_err(|line| format!("line {line} is not `NAME=value`")));
        variables.unwrap_or_else(|wrong| {
            self.wrong.push(format!("`envFile`: {}: {wrong}", path.escape_debug()));
            Vec::new()
        })
    }

    fn endpoint(&mut self) -> Option<Endpoint> {
        let mut endpoint = match Endpoint::new(&self.text("url")?) {
            Ok(endpoint) => endpoint,
            Err(error) => {
                self.wrong.push(error.to_string());
                return None;
            }
        };
        if self.text("type").as_deref() == Some("sse") {
            endpoint = endpoint.sse();
        }
        for (name, value) in self.named_texts("headers") {
            match endpoint.clone().header(&name, &value) {
                Ok(with_header) => endpoint = with_header,
                Err(error) => self.wrong.push(format!("`headers`: {error}")),
            }
        }
        Some(endpoint)
    }

    /// Returns the value of a key, with the name that the file gives it.
    fn get(&self, key: &str) -> Option<(&'static str, &'f Value)> {
        keys::get(self.fields?, key)
    }

    fn flag(&mut self, key: &str) -> Option<bool> {
        let (key, value) = self.get(key)?;
        if !value.is_boolean() {
            self.wrong.push(format!("`{key}` must be true or false"));
        }
        value.as_bool()
    }

    /// Reads a string and expands its variables. Reports any other type.
    fn text(&mut self, key: &str) -> Option<String> {
        let (key, value) = self.get(key)?;
        self.expanded(&format!("`{key}`"), value)
    }

    fn texts(&mut self, key: &str) -> Vec<String> {
        match self.get(key) {
            None => Vec::new(),
            Some((key, Value::Array(items))) => {
                let items = items.iter().enumerate();
                items.filter_map(|(idx, item)| self.expanded(&format!("`{key}[{idx}]`"), item)).collect()
            }
            Some((key, _)) => {
                self.wrong.push(format!("`{key}` must be an array of strings"));
                Vec::new()
            }
        }
    }

    fn named_texts(&mut self, key: &str) -> Vec<(String, String)> {
        match self.get(key) {
            None => Vec::new(),
            Some((key, Value::Object(fields))) => {
                let named = fields.iter().filter(|(_, value)| !value.is_null());
                named
                    .filter_map(|(name, value)| {
                        let at = format!("`{key}.{}`", name.escape_debug());
                        Some((name.clone(), self.expanded(&at, value)?))
                    })
                    .collect()
            }
            Some((key, _)) => {
                self.wrong.push(format!("`{key}` must be an object of strings"));
                Vec::new()
            }
        }
    }

    /// Expands the variables of a value. Errors do not contain the value, which may be a secret.
    fn expanded(&mut self, at: &str, value: &Value) -> Option<String> {
        let text = match value {
            Value::String(text) => text,
            // Other hosts accept numbers and booleans here, and their meaning is clear.
            Value::Number(_) | Value::Bool(_) if at.starts_with("`env") => return Some(value.to_string()),
            _ => {
                self.wrong.push(format!("{at} must be a string"));
                return None;
            }
        };
        let expanded = self.variables.expand(text);
        expanded.map_err(|wrong| self.wrong.push(format!("{at} {wrong}"))).ok()
    }
}
