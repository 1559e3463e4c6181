//! The keys of a server in the configuration files of MCP hosts, and the effect of each; `settings` has our own.

use std::collections::HashMap;

use serde_json::{Map, Value};
use toolkit::schema::suggest::suggest;

use super::settings;

/// The effect of a key.
enum Effect {
    /// It is read, under this name.
    Is(&'static str),
    /// It describes the server for people.
    Describes,
    /// It has no effect. The text completes "`key` has no effect: ".
    No(&'static str),
}

use Effect::{Describes, Is, No};

const APPROVAL: &str = "clients approve calls; `toolkit.trusted` trusts the hints of the tools";
const HEADERS: &str = "write `headers` with values such as `\"Bearer ${NAME}\"`";
const LOGIN: &str = "write `toolkit.oauth`";
const SANDBOX: &str = "the server is started without a sandbox";

/// The keys of Claude, Cursor, VS Code, Windsurf, Zed, Gemini CLI, Codex, Cline, Copilot and opencode.
const KEYS: &[(&str, Effect)] = &[
    ("command", Is("command")),
    ("args", Is("args")),
    ("env", Is("env")),
    ("environment", Is("env")),
    ("envFile", Is("envFile")),
    ("cwd", Is("cwd")),
    ("url", Is("url")),
    ("httpUrl", Is("url")),
    ("serverUrl", Is("url")),
    ("headers", Is("headers")),
    ("http_headers", Is("headers")),
    ("type", Is("type")),
    ("transport", Is("type")),
    ("enabled", Is("enabled")),
    ("disabled", Is("disabled")),
    ("tools", Is("tools")),
    ("includeTools", Is("tools")),
    ("enabledTools", Is("tools")),
    ("enabled_tools", Is("tools")),
    ("disabledTools", Is("disabledTools")),
    ("disabled_tools", Is("disabledTools")),
    ("excludeTools", Is("disabledTools")),
    ("trusted", Is("trusted")),
    (settings::KEY, Is(settings::KEY)),
    ("name", Describes),
    ("displayName", Describes),
    ("title", Describes),
    ("description", Describes),
    ("icon", Describes),
    ("version", Describes),
    ("gallery", Describes),
    ("source", Describes),
    ("extension", Describes),
    ("timeout", No("its unit depends on the host; write `toolkit.timeout` with a unit, such as `\"30s\"`")),
    ("tool_timeout_sec", No("write `toolkit.timeout`, such as `\"30s\"`")),
    ("startup_timeout_sec", No("write `toolkit.startTimeout`, such as `\"30s\"`")),
    ("startup_timeout_ms", No("write `toolkit.startTimeout`, such as `\"30s\"`")),
    ("trust", No(APPROVAL)),
    ("alwaysAllow", No(APPROVAL)),
    ("autoApprove", No(APPROVAL)),
    ("auth", No(LOGIN)),
    ("oauth", No(LOGIN)),
    ("authProviderType", No(LOGIN)),
    ("scopes", No(LOGIN)),
    ("bearer_token_env_var", No(HEADERS)),
    ("env_http_headers", No(HEADERS)),
    ("headersHelper", No(HEADERS)),
    ("env_vars", No("write `env` with values such as `\"${NAME}\"`")),
    ("sandbox", No(SANDBOX)),
    ("sandboxEnabled", No(SANDBOX)),
    ("dev", No("the server is started again when its entry changes")),
    ("watchPaths", No("the server is started again when its entry changes")),
    ("settings", No("it belongs to an extension of the host")),
    ("required", No("a server that cannot be reached does not affect the others")),
];

/// Returns the value of a key in any of its spellings, with the spelling.
pub(super) fn get<'f>(fields: &'f Map<String, Value>, key: &str) -> Option<(&'static str, &'f Value)> {
    let spellings = KEYS.iter().filter(|(_, effect)| matches!(effect, Is(name) if *name == key));
    spellings.map(|(spelling, _)| *spelling).find_map(|spelling| {
        let value = fields.get(spelling).filter(|value| !value.is_null())?;
        Some((spelling, value))
    })
}

fn effect(key: &str) -> Option<&'static Effect> {
    KEYS.iter().find(|(name, _)| *name == key).map(|(_, effect)| effect)
}

/// Returns the key that is nearest to an unknown one.
fn near(key: &str) -> Option<&'static str> {
    if effect(key).is_some() { None } else { suggest(key, KEYS.iter().map(|(name, _)| *name)) }
}

/// Returns the end of the error of an entry with neither a program nor a URL, with the misspelt key that names one.
pub(super) fn meant(fields: &Map<String, Value>) -> String {
    let misspelt = fields.iter().find_map(|(key, _)| {
        let near = near(key).filter(|near| matches!(effect(near), Some(Is("command" | "url"))))?;
        Some(format!("; did you mean `{near}` by `{}`?", key.escape_debug()))
    });
    misspelt.unwrap_or_default()
}

/// Returns a warning for each key without effect. Reports keys of which only one could have an effect.
pub(super) fn check(fields: &Map<String, Value>, wrong: &mut Vec<String>) -> Vec<String> {
    let (mut warnings, mut spelled) = (Vec::new(), HashMap::new());
    for (key, _) in fields.iter().filter(|(_, value)| !value.is_null()) {
        let shown = || key.chars().take(64).collect::<String>().escape_debug().to_string();
        match effect(key) {
            Some(Describes) => {}
            Some(Is(name)) => {
                if let Some(other) = spelled.insert(*name, key) {
                    wrong.push(format!("`{other}` and `{key}` exclude each other"));
                }
            }
            Some(No(instead)) => warnings.push(format!("`{key}` has no effect: {instead}")),
            None if settings::is_key(key) => {
                warnings.push(format!("`{key}` has no effect: write it in the object `{}`", settings::KEY));
            }
            // A comment.
            None if key.starts_with(['_', '$', '/', '#']) => {}
            None => {
                let near = near(key).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                warnings.push(format!("`{}` is unknown and has no effect{near}", shown()));
            }
        }
    }
    let (unused, what) = match spelled.contains_key("url") {
        true => (&["args", "cwd", "env", "envFile"][..], "a server with a URL"),
        false => (&["headers"][..], "a program"),
    };
    for key in unused.iter().filter_map(|key| spelled.get(key)) {
        let value = &fields[*key];
        if !value.as_array().is_some_and(Vec::is_empty) && !value.as_object().is_some_and(Map::is_empty) {
            warnings.push(format!("`{key}` has no effect on {what}"));
        }
    }
    warnings
}
