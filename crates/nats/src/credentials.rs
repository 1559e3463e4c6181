//! The credentials of a caller, as a header of a request.

use std::collections::BTreeMap;

use data_encoding::BASE64URL_NOPAD;
use serde::{Deserialize, Serialize};
use toolkit::Context;
use toolkit::call::Credentials;
use toolkit::tool::Requirements;

/// The maximum length of the header.
const MAX_LEN: usize = 8 << 10;

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Sent {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    tokens: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    secrets: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
}

/// Writes the credentials that a tool requires. Returns `None` if they are too long.
pub(crate) fn write(context: &Context, required: &Requirements) -> Option<String> {
    let tokens = required.authorization.iter().filter_map(|authorization| {
        let token = context.token(&authorization.id)?;
        Some((authorization.id.to_string(), token.expose().to_owned()))
    });
    let secrets = required.secrets.iter().filter_map(|secret| {
        let value = context.secret(&secret.id)?;
        Some((secret.id.to_string(), value.expose().to_owned()))
    });
    let user_id = context.user_id().filter(|_| required.user_id).map(str::to_owned);
    let sent = Sent { tokens: tokens.collect(), secrets: secrets.collect(), user_id };
    let text = BASE64URL_NOPAD.encode(&serde_json::to_vec(&sent).ok()?);
    (text.len() <= MAX_LEN).then_some(text)
}

/// Reads the credentials of a request.
pub(crate) fn read(text: &str) -> Result<Credentials, &'static str> {
    let json = BASE64URL_NOPAD.decode(text.as_bytes()).ok().filter(|_| text.len() <= MAX_LEN);
    let sent = json.and_then(|json| serde_json::from_slice::<Sent>(&json).ok());
    let Sent { tokens, secrets, user_id } = sent.ok_or("must be the credentials as JSON in base64url")?;
    let mut credentials = Credentials::new();
    for (id, token) in tokens {
        credentials = credentials.with_token(id, token);
    }
    for (id, value) in secrets {
        credentials = credentials.with_secret(id, value);
    }
    Ok(match user_id {
        Some(user_id) => credentials.with_user_id(user_id),
        None => credentials,
    })
}
