//! The `views` of a configuration file: which callers see which servers and tools.

use clap::ArgMatches;
use serde_json::{Map, Value};
use toolkit_mcp_server::{Filter, Rule, View};
use toolkit_runtime::matches_wildcard;

/// The keys of a view.
const KEYS: [&str; 5] = ["path", "claims", "servers", "allow", "deny"];

/// The options of the command line that concern views.
#[derive(Clone, Copy)]
pub(super) struct Needs {
    is_http: bool,
    has_issuer: bool,
}

impl Needs {
    pub(super) fn new(matches: &ArgMatches) -> Self {
        let is_given = |name: &str| matches.try_contains_id(name).unwrap_or(false);
        Self { is_http: is_given("http"), has_issuer: is_given("issuer") }
    }

    /// Reads the views of a file with these servers.
    ///
    /// # Errors
    ///
    /// Returns the first mistake, which begins with its key.
    pub(super) fn read(self, views: &Value, servers: &[String]) -> Result<Vec<View>, String> {
        let views = object(views, "views", "views by their names")?;
        if views.is_empty() {
            return Err("`views` is empty, so that no caller would see anything; leave it out".to_owned());
        }
        if !self.is_http {
            return Err("`views` requires --http: a client over stdio has neither a path nor a token".to_owned());
        }
        let mut paths: Vec<(&str, &str)> = Vec::new();
        let read = views.iter().map(|(name, view)| {
            let at = format!("views.{}", name.escape_debug());
            let fields = object(view, &at, "keys")?;
            if let Some(path) = fields.get("path").and_then(Value::as_str) {
                if let Some((other, _)) = paths.iter().find(|(_, known)| *known == path) {
                    return Err(format!("`{at}.path` is that of the view `{}` too", other.escape_debug()));
                }
                paths.push((name, path));
            }
            self.view(name, fields, &at, servers)
        });
        read.collect()
    }

    fn view(self, name: &str, fields: &Map<String, Value>, at: &str, servers: &[String]) -> Result<View, String> {
        let mut view = View::new(name);
        let mut filter = Filter::all();
        for (key, value) in fields {
            let shown: String = key.chars().take(64).collect();
            let at = format!("{at}.{}", shown.escape_debug());
            match &**key {
                "path" => view = view.path(path(value, &at)?),
                "claims" => view = self.with_claims(view, value, &at)?,
                "servers" => view = view.servers(server_names(value, &at, servers)?),
                "allow" => filter = rules(value, &at)?.into_iter().fold(filter, Filter::allow),
                "deny" => filter = rules(value, &at)?.into_iter().fold(filter, Filter::deny),
                _ => {
                    let keys = KEYS.map(|key| format!("`{key}`")).join(", ");
                    return Err(format!("`{at}` is unknown; the keys are {keys}"));
                }
            }
        }
        Ok(view.filter(filter))
    }

    fn with_claims(self, mut view: View, value: &Value, at: &str) -> Result<View, String> {
        let claims = object(value, at, "claims of a token")?;
        if claims.is_empty() {
            return Err(format!("`{at}` is empty; leave it out for all callers"));
        }
        if !self.has_issuer {
            return Err(format!("`{at}` requires --issuer, whose tokens have claims"));
        }
        for (name, value) in claims {
            let at = format!("{at}.{}", name.escape_debug());
            let values = match value {
                Value::String(text) => vec![text.clone()],
                other => texts(other, &at)?,
            };
            view = view.claim(name, values);
        }
        Ok(view)
    }
}

fn object<'v>(value: &'v Value, at: &str, of: &str) -> Result<&'v Map<String, Value>, String> {
    value.as_object().ok_or_else(|| format!("`{at}` must be an object of {of}"))
}

/// Reads a list of texts that is not empty.
fn texts(value: &Value, at: &str) -> Result<Vec<String>, String> {
    let items = value.as_array().map(Vec::as_slice);
    let texts = items.and_then(|items| items.iter().map(|item| item.as_str().map(str::to_owned)).collect());
    match texts {
        Some(_) if items == Some(&[]) => Err(format!("`{at}` is empty, so that the view would have no effect")),
        Some(texts) => Ok(texts),
        None => Err(format!("`{at}` must be an array of strings")),
    }
}

/// Reads the path of an endpoint.
fn path(value: &Value, at: &str) -> Result<String, String> {
    /// The tools, prompts and resources of the server without a view.
    const TAKEN: [&str; 5] = ["/mcp", "/healthz", "/metrics", "/status", "/explorer"];
    let path = value.as_str().unwrap_or_default();
    let is_segment = |segment: &str| {
        !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte))
    };
    let is_path = path.strip_prefix('/').is_some_and(|path| path.split('/').all(is_segment));
    if !is_path || path.contains("/.") {
        return Err(format!("`{at}` must be a path of letters, digits and `-_.~`, such as `/finance/mcp`"));
    }
    match TAKEN
        .iter()
        .any(|taken| path.strip_prefix(taken).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    {
        true if path == "/mcp" => Err(format!("`{at}` is the path of views without one; leave it out")),
        true => Err(format!("`{at}` is a path of the server itself")),
        false => Ok(path.to_owned()),
    }
}

/// Reads patterns of servers, each of which must match a server of the file.
fn server_names(value: &Value, at: &str, servers: &[String]) -> Result<Vec<String>, String> {
    let patterns = texts(value, at)?;
    let unknown = patterns.iter().find(|pattern| !servers.iter().any(|name| matches_wildcard(pattern, name)));
    match unknown {
        Some(unknown) => {
            let known: Vec<String> = servers.iter().map(|name| format!("`{name}`")).collect();
            let (unknown, known) = (unknown.escape_debug(), known.join(", "));
            Err(format!("`{at}`: there is no server `{unknown}`; the servers are {known}"))
        }
        None => Ok(patterns),
    }
}

fn rules(value: &Value, at: &str) -> Result<Vec<Rule>, String> {
    let rules = texts(value, at)?;
    let parsed = rules.iter().map(|rule| {
        rule.parse::<Rule>().map_err(|error| format!("`{at}`: the rule `{}`: {error}", rule.escape_debug()))
    });
    parsed.collect()
}
