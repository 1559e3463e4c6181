//! The credentials of the caller: tokens, secrets, and the id of the user.

use std::collections::BTreeMap;
use std::fmt;

use secrecy::ExposeSecret;

use crate::tool::{Authorization, Requirements, Secret, Text};

/// The credentials that the host holds for the caller of a tool.
///
/// A tool has access only to what it declares under `requires(…)`. The values are never printed, logged or published,
/// and their memory is overwritten when they are dropped.
///
/// ```
/// # use toolkit::call::Credentials;
/// let credentials = Credentials::new()
///     .with_user_id("ada")
///     .with_secret("TWILIO_API_KEY", "s3cr3t")
///     .with_authorization("google", "t0k3n", ["calendar.read"]);
/// assert!(!format!("{credentials:?}").contains("s3cr3t"));
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Credentials {
    authorizations: BTreeMap<String, ScopedToken>,
    secrets: BTreeMap<String, SecretString>,
    user_id: Option<String>,
}

#[derive(Clone)]
struct ScopedToken {
    value: SecretString,
    /// The granted scopes, if the host knows them.
    scopes: Option<Vec<String>>,
}

impl Credentials {
    /// Creates an empty set of credentials.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the id of the user.
    pub fn with_user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = Some(user_id.into());
        self
    }

    /// Adds a secret under the name by which tools require it.
    pub fn with_secret(mut self, id: impl Into<String>, value: impl Into<SecretString>) -> Self {
        self.secrets.insert(id.into(), value.into());
        self
    }

    /// Adds the token of a provider that has granted these scopes.
    pub fn with_authorization(
        mut self,
        id: impl Into<String>,
        token: impl Into<SecretString>,
        scopes: impl IntoIterator<Item: Into<String>>,
    ) -> Self {
        let scopes = scopes.into_iter().map(Into::into).collect();
        self.authorizations.insert(id.into(), ScopedToken { value: token.into(), scopes: Some(scopes) });
        self
    }

    /// Adds the token of a provider whose granted scopes are unknown. Scopes are not checked before the call; the
    /// provider checks them.
    pub fn with_token(mut self, id: impl Into<String>, token: impl Into<SecretString>) -> Self {
        self.authorizations.insert(id.into(), ScopedToken { value: token.into(), scopes: None });
        self
    }

    /// Returns the id of the user.
    #[must_use]
    pub fn user_id(&self) -> Option<&str> {
        self.user_id.as_deref()
    }

    /// Returns a secret by its name.
    #[must_use]
    pub fn secret(&self, id: &str) -> Option<&SecretString> {
        self.secrets.get(id)
    }

    /// Returns the token of a provider.
    #[must_use]
    pub fn token(&self, id: &str) -> Option<&SecretString> {
        self.authorizations.get(id).map(|token| &token.value)
    }

    /// Returns the requirements that these credentials do not meet, including the scopes of other providers. The scopes
    /// of the caller's own token are checked by the server that verifies it.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::call::Credentials;
    /// use toolkit::tool::Requirements;
    ///
    /// let required = Requirements::NONE.with_authorization("google", ["mail.read", "mail.send"]);
    /// let held = Credentials::new().with_authorization("google", "t0k3n", ["mail.read"]);
    /// assert_eq!(held.missing(&required).to_string(), "an authorization by `google` (`mail.send`)");
    /// ```
    pub fn missing(&self, required: &Requirements) -> Requirements {
        let authorization = required.authorization.iter().filter_map(|required| self.missing_of(required)).collect();
        let is_missing = |secret: &&Secret| !self.secrets.contains_key(&*secret.id);
        Requirements {
            authorization,
            secrets: required.secrets.iter().filter(is_missing).cloned().collect(),
            // The server that has verified the caller's token checks its scopes.
            scopes: Vec::new(),
            user_id: required.user_id && self.user_id.is_none(),
        }
    }

    fn missing_of(&self, required: &Authorization) -> Option<Authorization> {
        let Some(token) = self.authorizations.get(&*required.id) else {
            return Some(required.clone());
        };
        let granted = token.scopes.as_ref()?;
        let is_missing = |scope: &&Text| !granted.iter().any(|granted| granted == *scope);
        let scopes: Vec<_> = required.scopes.iter().filter(is_missing).cloned().collect();
        (!scopes.is_empty()).then(|| Authorization { id: required.id.clone(), scopes })
    }

    /// Returns the credentials that a tool with these requirements may access.
    pub(crate) fn only(&self, required: &Requirements) -> Self {
        let tokens = required.authorization.iter().filter_map(|authorization| {
            let token = self.authorizations.get(&*authorization.id)?;
            Some((authorization.id.to_string(), token.clone()))
        });
        let secrets = required.secrets.iter().filter_map(|secret| {
            let value = self.secrets.get(&*secret.id)?;
            Some((secret.id.to_string(), value.clone()))
        });
        Self {
            authorizations: tokens.collect(),
            secrets: secrets.collect(),
            user_id: self.user_id.clone().filter(|_| required.user_id),
        }
    }
}

// The names are not secret: tools publish their requirements.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("authorizations", &self.authorizations.keys().collect::<Vec<_>>())
            .field("secrets", &self.secrets.keys().collect::<Vec<_>>())
            .field("user_id", &self.user_id.is_some())
            .finish()
    }
}

/// Text that must not leak: a token, a password, a key.
///
/// `Debug` does not print it, it implements neither `Display` nor `Serialize`, and its memory is overwritten when it
/// is dropped. [`SecretString::expose`] is the only access to the text, so that a search for this name finds every
/// use.
///
/// ```
/// use toolkit::call::SecretString;
///
/// let key = SecretString::from("s3cr3t");
/// assert_eq!(key.expose(), "s3cr3t");
/// assert!(!format!("{key:?}").contains("s3cr3t"));
/// ```
#[derive(Clone)]
pub struct SecretString(secrecy::SecretString);

impl SecretString {
    /// Returns the text.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl From<String> for SecretString {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<&str> for SecretString {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for SecretString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretString(…)")
    }
}
