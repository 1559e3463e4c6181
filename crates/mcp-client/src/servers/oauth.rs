//! The object `oauth` in the settings of a server.

use serde_json::Value;

use super::variables::Variables;
pub(super) use crate::oauth::OAuth;

/// The key of the object.
pub(super) const KEY: &str = "oauth";

const KEYS: [&str; 10] = [
    "clientName",
    "clientId",
    "clientSecret",
    "clientMetadataUrl",
    "issuer",
    "scopes",
    "redirectPort",
    "clientCredentials",
    "tokenExchange",
    "allowPrivateAddresses",
];

/// Reads the settings of logins.
///
/// # Errors
///
/// Returns the reasons, as phrases that follow `toolkit.`. They contain no values, which may be secrets.
pub(super) fn parse(settings: &Value, variables: &Variables<'_>) -> Result<OAuth, Vec<String>> {
    let Value::Object(fields) = settings else {
        return Err(vec![format!("{KEY}` must be an object")]);
    };
    let mut wrong = Vec::new();
    let mut settings = OAuth::new();
    for (key, value) in fields {
        match set(settings.clone(), key, value, variables) {
            Ok(changed) => settings = changed,
            Err(reason) => {
                let key: String = key.chars().take(64).collect();
                wrong.push(format!("{KEY}.{}` {reason}", key.escape_debug()));
            }
        }
    }
    if wrong.is_empty()
        && let Err(error) = settings.check()
    {
        wrong.push(format!("{KEY}`: {error}"));
    }
    if wrong.is_empty() { Ok(settings) } else { Err(wrong) }
}

/// Applies one setting. The error is a phrase without subject.
fn set(settings: OAuth, key: &str, value: &Value, variables: &Variables<'_>) -> Result<OAuth, String> {
    let text = |value: &Value| match value {
        Value::String(text) => variables.expand(text),
        _ => Err("must be a string".to_owned()),
    };
    let is_on = |value: &Value| value.as_bool().ok_or_else(|| "must be true or false".to_owned());
    Ok(match key {
        "clientName" => settings.client_name(text(value)?),
        "clientId" => settings.client_id(text(value)?),
        "clientSecret" => settings.client_secret(text(value)?),
        "clientMetadataUrl" => settings.client_metadata_url(text(value)?),
        "issuer" => settings.issuer(text(value)?),
        "scopes" => {
            let scopes = value.as_array().ok_or_else(|| "must be an array of strings".to_owned())?;
            settings.scopes(scopes.iter().map(text).collect::<Result<Vec<_>, _>>()?)
        }
        "redirectPort" => {
            let port = value.as_u64().and_then(|port| u16::try_from(port).ok()).filter(|port| *port > 0);
            settings.redirect_port(port.ok_or_else(|| "must be the number of a port".to_owned())?)
        }
        "clientCredentials" if is_on(value)? => settings.client_credentials(),
        "allowPrivateAddresses" if is_on(value)? => settings.allow_private_addresses(),
        "tokenExchange" => match value {
            Value::Bool(true) => settings.token_exchange(None),
            Value::Bool(false) => settings,
            Value::String(_) => settings.token_exchange(Some(text(value)?)),
            _ => return Err("must be true, false or the audience of the server".to_owned()),
        },
        "clientCredentials" | "allowPrivateAddresses" => settings,
        _ => return Err(format!("is unknown; the keys are {}", KEYS.map(|key| format!("`{key}`")).join(", "))),
    })
}
