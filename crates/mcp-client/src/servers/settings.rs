//! The object `toolkit` of a server in a configuration file.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize as _;
use serde_json::Value;
use toolkit::Coercion;
use toolkit::internals::parse_duration;
use toolkit_mcp::supported;

#[cfg(feature = "oauth")]
use super::oauth;
use super::variables::Variables;
use crate::backend::McpBackend;
use crate::endpoint::{ConfigError, Endpoint};
use crate::link::MAX_SESSIONS;
use crate::remote::OutputCheck;
use crate::tool_rules::ToolChange;

/// The key of the object, which other hosts ignore.
pub(super) const KEY: &str = "toolkit";

type Setting = fn(McpBackend, &Value) -> Result<McpBackend, String>;

/// The keys, and what each does. An error is a phrase without subject.
const KEYS: [(&str, Setting); 21] = [
    ("trusted", |backend, value| Ok(if flag(value)? { backend.trusted() } else { backend })),
    ("mayAsk", |backend, value| Ok(backend.with_may_ask(flag(value)?))),
    ("timeout", |backend, value| Ok(backend.timeout(duration(value)?))),
    ("maxTimeout", |backend, value| Ok(backend.max_timeout(duration(value)?))),
    ("startTimeout", |backend, value| Ok(backend.start_timeout(duration(value)?))),
    ("idleTimeout", |backend, value| match backend.endpoint() {
        None => Ok(backend.idle_timeout(duration(value)?)),
        Some(_) => Err("requires `command`: a server at a URL has no process to stop".to_owned()),
    }),
    ("maxConcurrentCalls", |backend, value| Ok(backend.max_concurrent_calls(count(value)?))),
    ("maxMessageBytes", |backend, value| Ok(backend.max_message_bytes(count(value)?))),
    ("maxResultBytes", |backend, value| Ok(backend.max_result_bytes(count(value)?))),
    ("maxTools", |backend, value| Ok(backend.max_tools(count(value)?))),
    ("revision", |backend, value| {
        let known = supported();
        let revision = known.iter().find(|known| value == **known).copied().ok_or_else(|| {
            let known: Vec<String> = known.iter().rev().map(|known| format!("`{known}`")).collect();
            format!("must be one of {}", known.join(", "))
        })?;
        Ok(backend.with_choices(|choices| choices.revision = Some(revision)))
    }),
    ("instructions", |backend, value| Ok(backend.instructions(flag(value)?))),
    ("prefix", |backend, value| Ok(backend.prefix(flag(value)?))),
    ("outputValidation", |backend, value| {
        let check = value.as_str().and_then(OutputCheck::from_name).ok_or("must be `strict`, `warn` or `off`")?;
        Ok(backend.with_choices(|choices| choices.output = check))
    }),
    ("coercion", |backend, value| {
        let coercion = value.as_str().and_then(Coercion::from_name);
        let coercion = coercion.ok_or("must be `off`, `null-as-absent`, `lossless` or `lenient`")?;
        Ok(backend.with_choices(|choices| choices.coercion = Some(coercion)))
    }),
    ("plainInputSchemas", |backend, value| Ok(backend.plain_input_schemas(flag(value)?))),
    ("tools", |backend, value| {
        let changes = tool_changes(value)?;
        Ok(backend.with_tools(|tools| tools.changes = changes))
    }),
    ("perSession", |backend, value| {
        let max_sessions = match value {
            Value::Bool(on) => on.then_some(MAX_SESSIONS),
            value => {
                Some(count(value).map_err(|_| "must be true, false or the maximum number of sessions".to_owned())?)
            }
        };
        Ok(backend.with_choices(|choices| choices.max_sessions = max_sessions))
    }),
    ("forwardHeaders", |backend, value| forward(backend, value, Endpoint::forward_header)),
    ("forwardCredentials", |backend, value| forward(backend, value, Endpoint::forward_credential)),
    ("oauth", |_, _| Err("requires the feature `oauth` of `toolkit-mcp-client`".to_owned())),
];

/// Passes headers of callers on, each with `add`.
fn forward(
    backend: McpBackend,
    value: &Value,
    add: fn(Endpoint, &str, &str) -> Result<Endpoint, ConfigError>,
) -> Result<McpBackend, String> {
    let mut endpoint = backend.endpoint().cloned().ok_or_else(|| "requires `url`".to_owned())?;
    let wrong = || "must be an object of header names: for the server, and of the caller".to_owned();
    for (name, from) in value.as_object().ok_or_else(wrong)? {
        endpoint =
            add(endpoint, name, from.as_str().ok_or_else(wrong)?).map_err(|error| format!("is invalid: {error}"))?;
    }
    Ok(backend.with_endpoint(|_| endpoint))
}

/// Returns true for a key of the object.
pub(super) fn is_key(key: &str) -> bool {
    KEYS.iter().any(|(name, _)| *name == key)
}

/// Applies the settings to a server. Adds a reason to `wrong` for each invalid one.
pub(super) fn apply(
    settings: &Value,
    mut backend: McpBackend,
    variables: &Variables<'_>,
    wrong: &mut Vec<String>,
) -> McpBackend {
    #[cfg(not(feature = "oauth"))]
    let _ = variables;
    let Value::Object(settings) = settings else {
        wrong.push(format!("`{KEY}` must be an object"));
        return backend;
    };
    for (key, value) in settings {
        #[cfg(feature = "oauth")]
        if key == oauth::KEY {
            match oauth::parse(value, variables) {
                Ok(settings) => backend = with_oauth(backend, settings, wrong),
                Err(reasons) => wrong.extend(reasons.into_iter().map(|reason| format!("`{KEY}.{reason}"))),
            }
            continue;
        }
        let set = KEYS.iter().find(|(name, _)| name == key).map(|(_, set)| set(backend.clone(), value));
        match set.unwrap_or_else(|| Err(unknown())) {
            Ok(changed) => backend = changed,
            Err(reason) => {
                let key: String = key.chars().take(64).collect();
                wrong.push(format!("`{KEY}.{}` {reason}", key.escape_debug()));
            }
        }
    }
    backend
}

#[cfg(feature = "oauth")]
fn with_oauth(backend: McpBackend, settings: oauth::OAuth, wrong: &mut Vec<String>) -> McpBackend {
    match backend.endpoint() {
        None => wrong.push(format!("`{KEY}.oauth` requires `url`")),
        Some(endpoint) if endpoint.has_credentials() => {
            wrong.push(format!("`{KEY}.oauth` and the header `Authorization` exclude each other"));
        }
        Some(_) => return backend.with_endpoint(|endpoint| endpoint.oauth(settings)),
    }
    backend
}

fn unknown() -> String {
    format!("is unknown; the keys are {}", KEYS.map(|(key, _)| format!("`{key}`")).join(", "))
}

/// Reads what to change in tools, by their names on the server.
fn tool_changes(value: &Value) -> Result<BTreeMap<String, ToolChange>, String> {
    let tools = value.as_object().ok_or_else(|| "must be an object of tools".to_owned())?;
    let change = |(name, fields): (&String, &Value)| {
        let change = ToolChange::deserialize(fields)
            .map_err(|error| format!("is invalid for `{}`: {error}", name.escape_debug()))?;
        Ok((name.clone(), change))
    };
    tools.iter().map(change).collect()
}

fn flag(value: &Value) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| "must be true or false".to_owned())
}

fn count(value: &Value) -> Result<usize, String> {
    let count = value.as_u64().and_then(|count| usize::try_from(count).ok());
    count.filter(|count| *count > 0).ok_or_else(|| "must be a positive integer".to_owned())
}

/// Reads a duration: a string with a unit, or a number of seconds.
fn duration(value: &Value) -> Result<Duration, String> {
    let duration = match value {
        Value::Number(seconds) => seconds.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        Value::String(text) => parse_duration(text.trim()),
        _ => None,
    };
    duration
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| "must be a positive duration, such as `\"30s\"`, `\"500ms\"` or `\"2m\"`".to_owned())
}
