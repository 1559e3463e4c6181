//! The servers that other hosts are configured with.

mod variables;

use std::fmt;

use serde_json::{Map, Value};
use toolkit::tool::Namespace;

use self::variables::Variables;
use super::{Endpoint, McpBackend, Program};

/// The servers of a configuration as Claude, Cursor, VS Code and others keep it: an object `mcpServers` (or `servers`),
/// each with `command`, `args`, `env` and `cwd`, or with `url` and `headers`.
///
/// `${NAME}` in a value is a variable of the environment, and `${NAME:-text}` has a text for where there is none;
/// `${env:NAME}` is the same. A server with `disabled` is passed over, and so are fields that are not known here.
///
/// ```
/// use toolkit_mcp::client::McpServers;
///
/// let servers = McpServers::from_json(
///     r#"{"mcpServers": {
///         "time": {"command": "uvx", "args": ["mcp-server-time"]},
///         "search": {"url": "https://example.com/mcp", "headers": {"x-region": "${REGION:-eu}"}},
///         "old": {"command": "npx", "disabled": true}
///     }}"#,
/// )?;
/// assert_eq!(servers.len(), 2);
///
/// let error = McpServers::from_json(r#"{"mcpServers": {"time": {"command": ["uvx"]}}}"#).unwrap_err();
/// assert_eq!(error.to_string(), "the server `time`: `command` must be a string");
/// # Ok::<(), toolkit_mcp::client::InvalidServers>(())
/// ```
#[derive(Clone, Debug)]
pub struct McpServers(Vec<McpBackend>);

impl McpServers {
    /// Reads a configuration.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it: each message names the server and the field.
    pub fn from_json(json: &str) -> Result<Self, InvalidServers> {
        Self::from_json_with(json, |name| std::env::var(name).ok())
    }

    /// Reads a configuration whose variables are looked up elsewhere than in the environment.
    ///
    /// # Errors
    ///
    /// As for [`McpServers::from_json`].
    pub fn from_json_with(json: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Self, InvalidServers> {
        let one = |message: String| InvalidServers(vec![message]);
        let json: Value = serde_json::from_str(json).map_err(|error| one(format!("it is not JSON: {error}")))?;
        let servers = json.get("mcpServers").or_else(|| json.get("servers"));
        let servers = servers.and_then(Value::as_object).ok_or_else(|| one("it has no object `mcpServers`".into()))?;

        let (mut backends, mut wrong) = (Vec::new(), Vec::new());
        for (name, fields) in servers {
            let mut entry = Entry { fields: None, variables: Variables::new(&variable), wrong: Vec::new() };
            match fields.as_object() {
                Some(fields) if fields.get("disabled").and_then(Value::as_bool) == Some(true) => continue,
                Some(fields) => entry.fields = Some(fields),
                None => entry.wrong.push("must be an object".to_owned()),
            }
            backends.extend(entry.backend(name));
            wrong.extend(entry.wrong.iter().map(|wrong| format!("the server `{}`: {wrong}", name.escape_debug())));
        }
        if wrong.is_empty() { Ok(Self(backends)) } else { Err(InvalidServers(wrong)) }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl IntoIterator for McpServers {
    type Item = McpBackend;
    type IntoIter = std::vec::IntoIter<McpBackend>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// One server, while it is read.
struct Entry<'c> {
    fields: Option<&'c Map<String, Value>>,
    variables: Variables<'c>,
    wrong: Vec<String>,
}

impl Entry<'_> {
    fn backend(&mut self, name: &str) -> Option<McpBackend> {
        let fields = self.fields?;
        if let Err(error) = Namespace::new(name.to_owned()) {
            self.wrong.push(format!("its name cannot be the namespace of its tools: {error}"));
        }
        let backend = match (self.text("type"), fields.contains_key("command"), fields.contains_key("url")) {
            (_, true, true) => Err("has `command` and `url`, and can be only one of the two".to_owned()),
            (Some(kind), ..) if kind == "sse" => Err("`type` is `sse`, which is not spoken any more; use the \
                 server's address for `http`"
                .to_owned()),
            (Some(kind), true, _) if kind != "stdio" => {
                Err(format!("`type` is `{}`, and `command` is for `stdio`", kind.escape_debug()))
            }
            (Some(kind), _, true) if !matches!(&*kind, "http" | "streamable-http" | "streamableHttp") => {
                Err(format!("`type` is `{}`, and `url` is for `http`", kind.escape_debug()))
            }
            (_, true, _) => Ok(self.program().map(|program| McpBackend::stdio(name, program))),
            (_, _, true) => Ok(self.endpoint().map(|endpoint| McpBackend::http(name, endpoint))),
            _ => Err("needs `command` or `url`".to_owned()),
        };
        backend.unwrap_or_else(|wrong| {
            self.wrong.push(wrong);
            None
        })
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

    /// A text; `None` where there is none, or where it is something else, which is wrong.
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

    /// A text with its variables in it. Values are not shown in errors: they may be secrets.
    fn expanded(&mut self, at: &str, value: &Value) -> Option<String> {
        let text = match value {
            Value::String(text) => text,
            // What is meant is clear, and other hosts take it.
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

/// A configuration that cannot be used; everything that is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidServers(Vec<String>);

impl InvalidServers {
    /// What is wrong, one sentence for each thing.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl fmt::Display for InvalidServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for InvalidServers {}
