//! What a tool needs beside its arguments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Text;

/// What a tool needs from its host beside its arguments (Open Tool Calling `requirements`).
///
/// They are declared and published; names of secrets are public, their values never leave the host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Requirements {
    /// Authorisations, each by one provider.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authorization: Vec<Authorization>,
    /// Secrets, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<Secret>,
    /// Whether the tool must know who the user is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub user_id: bool,
}

impl Requirements {
    /// Nothing needed.
    pub const NONE: Self = Self { authorization: Vec::new(), secrets: Vec::new(), user_id: false };

    /// Whether nothing is needed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }
}

/// An authorisation that the host must hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Authorization {
    /// The provider, such as `google`.
    pub id: Text,
    /// What the provider must have granted.
    pub oauth2: OAuth2,
}

/// The OAuth 2.0 part of an [`Authorization`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OAuth2 {
    /// The scopes that must have been granted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<Text>,
}

/// A secret that the host must hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Secret {
    /// Its name, such as `TWILIO_API_KEY`.
    pub id: Text,
}
