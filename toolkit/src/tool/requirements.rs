//! Requirements of tools beyond their arguments.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Text;

/// The requirements of a tool on the credentials of its caller (`requirements` of Open Tool Calling).
///
/// Requirements are published: the names of secrets are public, and their values never leave the host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Requirements {
    /// The required authorizations, one for each provider.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authorization: Vec<Authorization>,
    /// The required secrets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<Secret>,
    /// True if the tool requires the id of the user.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub user_id: bool,
}

impl Requirements {
    /// No requirements.
    pub const NONE: Self = Self { authorization: Vec::new(), secrets: Vec::new(), user_id: false };

    /// Adds a secret.
    #[must_use]
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
    /// assert_eq!(required.authorization[0].oauth2.scopes, ["calendar.read"]);
    /// ```
    #[must_use]
    pub fn with_authorization<I>(mut self, id: impl Into<Text>, scopes: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<Text>,
    {
        self.authorization.push(Authorization::new(id, scopes));
        self
    }

    /// Adds the id of the user.
    #[must_use]
    pub fn with_user_id(mut self) -> Self {
        self.user_id = true;
        self
    }

    /// Returns true if nothing is required.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.authorization.is_empty() && self.secrets.is_empty() && !self.user_id
    }
}

/// Formats the requirements: ``the secret `KEY`; an authorization by `google` (`calendar`); the user's id``.
impl fmt::Display for Requirements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut needs: Vec<String> = self.secrets.iter().map(|secret| format!("the secret `{}`", secret.id)).collect();
        needs.extend(self.authorization.iter().map(|authorization| {
            let scopes: Vec<String> = authorization.oauth2.scopes.iter().map(|scope| format!("`{scope}`")).collect();
            let scopes = if scopes.is_empty() { String::new() } else { format!(" ({})", scopes.join(", ")) };
            format!("an authorization by `{}`{scopes}", authorization.id)
        }));
        needs.extend(self.user_id.then(|| "the user's id".to_owned()));
        f.write_str(&needs.join("; "))
    }
}

/// A required authorization by a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Authorization {
    /// The provider, such as `google`.
    pub id: Text,
    /// The scopes that the provider must have granted.
    pub oauth2: OAuth2,
}

impl Authorization {
    /// Creates the requirement of an authorization by a provider with the given scopes.
    pub fn new<I>(id: impl Into<Text>, scopes: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<Text>,
    {
        Self { id: id.into(), oauth2: OAuth2 { scopes: scopes.into_iter().map(Into::into).collect() } }
    }
}

/// The OAuth 2.0 part of an [`Authorization`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct OAuth2 {
    /// The required scopes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<Text>,
}

/// A required secret.
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
