//! The object `toolkit` of a server in a configuration file.

use std::time::Duration;

use serde_json::Value;

#[cfg(feature = "oauth")]
use super::oauth;
use crate::backend::McpBackend;

/// The key of the object, which other hosts ignore.
pub(super) const KEY: &str = "toolkit";

const KEYS: [&str; 9] = [
    "trusted",
    "mayAsk",
    "timeout",
    "startTimeout",
    "maxConcurrentCalls",
    "maxMessageBytes",
    "maxResultBytes",
    "maxTools",
    "oauth",
];

type Setting = Box<dyn FnOnce(McpBackend) -> McpBackend>;

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
        match setting(key, value) {
            Ok(apply) => backend = apply(backend),
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

/// Reads one setting. The error is a phrase without subject.
fn setting(key: &str, value: &Value) -> Result<Setting, String> {
    Ok(match key {
        "trusted" => match value {
            Value::Bool(true) => Box::new(McpBackend::trusted),
            Value::Bool(false) => Box::new(|backend| backend),
            _ => return Err("must be true or false".to_owned()),
        },
        "mayAsk" => match value {
            Value::Bool(may_ask) => {
                let may_ask = *may_ask;
                Box::new(move |backend| backend.with_may_ask(may_ask))
            }
            _ => return Err("must be true or false".to_owned()),
        },
        "timeout" => {
            let limit = duration(value)?;
            Box::new(move |backend| backend.timeout(limit))
        }
        "startTimeout" => {
            let limit = duration(value)?;
            Box::new(move |backend| backend.start_timeout(limit))
        }
        "maxConcurrentCalls" => {
            let n_calls = count(value)?;
            Box::new(move |backend| backend.max_concurrent_calls(n_calls))
        }
        "maxMessageBytes" => {
            let n_bytes = count(value)?;
            Box::new(move |backend| backend.max_message_bytes(n_bytes))
        }
        "maxResultBytes" => {
            let n_bytes = count(value)?;
            Box::new(move |backend| backend.max_result_bytes(n_bytes))
        }
        "maxTools" => {
            let n_tools = count(value)?;
            Box::new(move |backend| backend.max_tools(n_tools))
        }
        "oauth" => return Err("requires the feature `oauth` of `toolkit-mcp-client`".to_owned()),
        _ => return Err(format!("is unknown; the keys are {}", KEYS.map(|key| format!("`{key}`")).join(", "))),
    })
}

fn count(value: &Value) -> Result<usize, String> {
    let count = value.as_u64().and_then(|count| usize::try_from(count).ok());
    count.filter(|count| *count > 0).ok_or_else(|| "must be a positive integer".to_owned())
}

/// Reads a duration: a string with a unit, or a number of seconds.
fn duration(value: &Value) -> Result<Duration, String> {
    let seconds = match value {
        Value::Number(seconds) => seconds.as_f64(),
        Value::String(text) => seconds_in(text.trim()),
        _ => None,
    };
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| "must be a positive duration, such as `\"30s\"`, `\"500ms\"` or `\"2m\"`".to_owned())
}

fn seconds_in(text: &str) -> Option<f64> {
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(unit_at);
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    Some(number.trim().parse::<f64>().ok()? * seconds)
}

// Expansion of variables in a configuration file.

/// A source of variables.
pub(super) struct Variables<'c> {
    look_up: &'c dyn Fn(&str) -> Option<String>,
}

impl<'c> Variables<'c> {
    pub(super) fn new(look_up: &'c dyn Fn(&str) -> Option<String>) -> Self {
        Self { look_up }
    }

    /// Replaces `${NAME}`, `${NAME:-text}` and `${env:NAME}`. The values of variables are not expanded again.
    ///
    /// # Errors
    ///
    /// Returns an error for a variable that is not set, or one that only editors support. The error is a phrase without
    /// subject.
    pub(super) fn expand(&self, text: &str) -> Result<String, String> {
        let (mut expanded, mut rest) = (String::with_capacity(text.len()), text);
        while let Some((before, after)) = rest.split_once("${") {
            let Some((inside, after)) = after.split_once('}') else {
                break;
            };
            expanded.push_str(before);
            expanded.push_str(&self.value(inside)?);
            rest = after;
        }
        expanded.push_str(rest);
        Ok(expanded)
    }

    fn value(&self, inside: &str) -> Result<String, String> {
        let (name, instead) = match inside.split_once(":-") {
            Some((name, instead)) => (name, Some(instead)),
            None => (inside, None),
        };
        let name = name.strip_prefix("env:").unwrap_or(name);
        if name.contains(':') {
            return Err(format!("uses `${{{}}}`, which only editors support", inside.escape_debug()));
        }
        let set = (self.look_up)(name).filter(|value| instead.is_none() || !value.is_empty());
        set.or_else(|| instead.map(str::to_owned)).ok_or_else(|| {
            let name = name.escape_debug();
            format!(
                "refers to the environment variable `{name}`, which is not set; write `${{{name}:-…}}` for a default"
            )
        })
    }
}
