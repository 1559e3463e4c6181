//! Requirements of tools beyond their arguments.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Text;

/// The requirements of a tool on the credentials of its caller (`requirements` of Open Tool Calling).
///
/// Requirements are published: the names of secrets are public, and their values never leave the host.
///
/// # Examples
///
/// ```
/// use toolkit::call::{Credentials, ErrorKind};
/// use toolkit::{Context, Dispatcher, catalog, tool};
///
/// /// Sends a text message.
/// #[tool(requires(secret = "SMS_KEY", user_id))]
/// fn send(text: String, ctx: &Context) -> String {
///     format!("{}: {text}", ctx.user_id().unwrap_or_default())
/// }
///
/// let dispatcher = Dispatcher::new(catalog![send]?)?;
/// let required = dispatcher.catalog().resolve("send")?.requirements();
/// assert_eq!(required.to_string(), "the secret `SMS_KEY`; the user's id");
///
/// let error = dispatcher.call_sync("send", r#"{"text": "hi"}"#).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::MissingRequirements);
///
/// let credentials = Credentials::new().with_user_id("ada").with_secret("SMS_KEY", "s3cr3t");
/// let context = Context::new().with_credentials(credentials);
/// let result = dispatcher.call_sync_with(&context, "send", r#"{"text": "hi"}"#)?;
/// assert_eq!(result.value(), "ada: hi");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
#[must_use]
pub struct Requirements {
    /// The required authorizations, one for each provider.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authorization: Vec<Authorization>,
    /// The required secrets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<Secret>,
    /// The OAuth scopes that the caller's own token must grant. A server that authenticates its callers with tokens
    /// checks them before the call. Other hosts, such as a command line, have no such token and do not check them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<Text>,
    /// True if the tool requires the id of the user.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub user_id: bool,
}

impl Requirements {
    /// No requirements.
    pub const NONE: Self = Self { authorization: Vec::new(), secrets: Vec::new(), scopes: Vec::new(), user_id: false };

    /// Adds a secret.
    pub fn with_secret(mut self, id: impl Into<Text>) -> Self {
        self.secrets.push(Secret::new(id));
        self
    }

    /// Adds an authorization by a provider with the given scopes.
    ///
    /// ```
    /// use toolkit::tool::Requirements;
    ///
    /// let required = Requirements::NONE.with_secret("KEY").with_authorization("google", ["calendar.read"]);
    /// assert_eq!(required.secrets[0].id, "KEY");
    /// assert_eq!(required.authorization[0].scopes, ["calendar.read"]);
    /// ```
    pub fn with_authorization(mut self, id: impl Into<Text>, scopes: impl IntoIterator<Item: Into<Text>>) -> Self {
        self.authorization.push(Authorization::new(id, scopes));
        self
    }

    /// Adds scopes that the caller's own token must grant.
    ///
    /// ```
    /// use toolkit::tool::Requirements;
    ///
    /// let required = Requirements::NONE.with_scopes(["files:write"]);
    /// assert_eq!(required.to_string(), "a token with the scope `files:write`");
    /// ```
    pub fn with_scopes(mut self, scopes: impl IntoIterator<Item: Into<Text>>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Adds the id of the user.
    pub fn with_user_id(mut self) -> Self {
        self.user_id = true;
        self
    }

    /// Returns true if nothing is required.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.authorization.is_empty() && self.secrets.is_empty() && self.scopes.is_empty() && !self.user_id
    }
}

/// Formats the requirements: ``the secret `KEY`; an authorization by `google` (`calendar`); the user's id``.
impl fmt::Display for Requirements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut needs: Vec<String> = self.secrets.iter().map(|secret| format!("the secret `{}`", secret.id)).collect();
        needs.extend(self.authorization.iter().map(|authorization| {
            let scopes: Vec<String> = authorization.scopes.iter().map(|scope| format!("`{scope}`")).collect();
            let scopes = if scopes.is_empty() { String::new() } else { format!(" ({})", scopes.join(", ")) };
            format!("an authorization by `{}`{scopes}", authorization.id)
        }));
        if !self.scopes.is_empty() {
            let scopes: Vec<String> = self.scopes.iter().map(|scope| format!("`{scope}`")).collect();
            let noun = if scopes.len() == 1 { "scope" } else { "scopes" };
            needs.push(format!("a token with the {noun} {}", scopes.join(", ")));
        }
        needs.extend(self.user_id.then(|| "the user's id".to_owned()));
        f.write_str(&needs.join("; "))
    }
}

/// A required authorization by a provider.
///
/// # Examples
///
/// A host sends the user to the provider to grant the missing scopes:
///
/// ```
/// use toolkit::{Dispatcher, catalog, tool};
///
/// /// Lists the events of today.
/// #[tool(requires(oauth2(id = "google", scopes = ["calendar.read"])))]
/// fn today() -> Vec<String> {
///     Vec::new()
/// }
///
/// let dispatcher = Dispatcher::new(catalog![today]?)?;
/// let error = dispatcher.call_sync("today", "{}").unwrap_err();
/// let missing = &error.missing().authorization[0];
/// assert_eq!(missing.id, "google");
/// assert_eq!(missing.scopes, ["calendar.read"]);
/// assert_eq!(serde_json::to_value(missing)?["oauth2"]["scopes"][0], "calendar.read");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Authorization {
    /// The provider, such as `google`.
    pub id: Text,
    /// The scopes that the provider must have granted; `oauth2.scopes` in JSON.
    #[serde(rename = "oauth2", with = "oauth2")]
    #[schemars(with = "OAuth2")]
    pub scopes: Vec<Text>,
}

impl Authorization {
    /// Creates the requirement of an authorization by a provider with the given scopes.
    pub fn new(id: impl Into<Text>, scopes: impl IntoIterator<Item: Into<Text>>) -> Self {
        Self { id: id.into(), scopes: scopes.into_iter().map(Into::into).collect() }
    }
}

/// The OAuth 2.0 part of an [`Authorization`] in JSON.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct OAuth2 {
    /// The required scopes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scopes: Vec<Text>,
}

/// Serialization of the scopes of an authorization.
mod oauth2 {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{OAuth2, Text};

    pub(super) fn serialize<S: Serializer>(scopes: &[Text], serializer: S) -> Result<S::Ok, S::Error> {
        OAuth2 { scopes: scopes.to_vec() }.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Text>, D::Error> {
        OAuth2::deserialize(deserializer).map(|oauth2| oauth2.scopes)
    }
}

/// A required secret.
///
/// # Examples
///
/// ```
/// use toolkit::tool::{Requirements, Secret};
///
/// let required = Requirements::NONE.with_secret("TWILIO_API_KEY");
/// assert_eq!(required.secrets, [Secret::new("TWILIO_API_KEY")]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Secret {
    /// The name, such as `TWILIO_API_KEY`.
    pub id: Text,
}

impl Secret {
    /// Creates the requirement of a secret with this name.
    pub fn new(id: impl Into<Text>) -> Self {
        Self { id: id.into() }
    }
}
