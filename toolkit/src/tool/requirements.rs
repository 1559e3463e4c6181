//! What a tool needs beside its arguments.

use serde::Serialize;

/// What a tool needs from its host beside its arguments (Open Tool Calling `requirements`).
///
/// They are declared and published; names of secrets are public, their values never leave the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Requirements {
    /// Authorisations, each by one provider.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub authorization: &'static [Authorization],
    /// Secrets, by name.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub secrets: &'static [Secret],
    /// Whether the tool must know who the user is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub user_id: bool,
}

impl Requirements {
    /// Nothing needed.
    pub const NONE: Self = Self { authorization: &[], secrets: &[], user_id: false };

    /// Whether nothing is needed.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.authorization.is_empty() && self.secrets.is_empty() && !self.user_id
    }
}

/// An authorisation that the host must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Authorization {
    /// The provider, such as `google`.
    pub id: &'static str,
    /// What the provider must have granted.
    pub oauth2: OAuth2,
}

/// The OAuth 2.0 part of an [`Authorization`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct OAuth2 {
    /// The scopes that must have been granted.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub scopes: &'static [&'static str],
}

/// A secret that the host must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Secret {
    /// Its name, such as `TWILIO_API_KEY`.
    pub id: &'static str,
}
