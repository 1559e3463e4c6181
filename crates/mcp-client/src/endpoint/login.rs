//! Logins at the server of an endpoint.

use http::header::AUTHORIZATION;

use super::Endpoint;
use crate::oauth::{Authorization, Login, LoginState, Logins, OAuth, OAuthError};

/// The source of the credentials of an [`Endpoint`].
///
/// # Examples
///
/// ```
/// use toolkit_mcp_client::{CredentialSource, Endpoint, OAuth};
///
/// # fn main() -> Result<(), toolkit_mcp_client::ConfigError> {
/// let endpoint = Endpoint::new("https://example.com/mcp")?;
/// assert_eq!(endpoint.credential_source(), CredentialSource::None);
/// assert_eq!(endpoint.clone().bearer("s3cr3t".into()).credential_source(), CredentialSource::Fixed);
/// assert_eq!(endpoint.oauth(OAuth::new()).credential_source(), CredentialSource::Login);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CredentialSource {
    /// No credentials.
    None,
    /// A token or a header `Authorization` in the endpoint, or the header of each caller.
    Fixed,
    /// The login of a user.
    Login,
    /// The client itself, with the client credentials grant.
    Client,
}

/// Logins with OAuth, with the feature `oauth`.
impl Endpoint {
    /// Sends access tokens of a login with each request, instead of a fixed token. Clones share the login.
    ///
    /// Nothing here opens a browser. Without a login, requests are sent without a token, and a server that rejects them
    /// causes an error of kind [`ErrorKind::Unauthorized`](toolkit::call::ErrorKind::Unauthorized). A token is renewed
    /// before it expires, and when the server rejects it. If a call requires more scopes, the error contains them, and
    /// the next login requests them in addition to those of the last one.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit_mcp_client::{Endpoint, McpBackend, OAuth};
    ///
    /// # fn main() -> Result<(), toolkit_mcp_client::ConfigError> {
    /// let endpoint = Endpoint::new("https://example.com/mcp")?.oauth(OAuth::new().client_name("my-tools"));
    /// let backend = McpBackend::http("search", endpoint.clone()); // and `endpoint.login()`
    /// # Ok(())
    /// # }
    /// ```
    pub fn oauth(self, settings: OAuth) -> Self {
        Self { logins: Some(Logins::new(settings)), token: None, ..self }
    }

    /// Starts a login: finds the authorization server, gets a client id, and listens for the redirect of the browser.
    ///
    /// # Errors
    ///
    /// Returns an error if [`Endpoint::oauth`] was not called, the settings contain client credentials, a server cannot be
    /// reached, or its metadata is missing or not valid.
    pub async fn login(&self) -> Result<Login, OAuthError> {
        self.authorization()?.login().await
    }

    /// Removes the login from the store. Returns true if there was one.
    ///
    /// # Errors
    ///
    /// Returns an error if [`Endpoint::oauth`] was not called, or the store cannot be changed.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit_mcp_client::{Endpoint, OAuth};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let endpoint = Endpoint::new("https://example.com/mcp")?.oauth(OAuth::new());
    /// assert!(!endpoint.logout().await?);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn logout(&self) -> Result<bool, OAuthError> {
        self.authorization()?.logout().await
    }

    /// Returns the state of the stored login, or `None` without a login. No request is sent.
    ///
    /// # Errors
    ///
    /// Returns an error if [`Endpoint::oauth`] was not called, or the store cannot be read.
    pub async fn login_state(&self) -> Result<Option<LoginState>, OAuthError> {
        self.authorization()?.login_state().await
    }

    /// Returns the source of the credentials in requests, for `login` of a command line.
    #[must_use]
    pub fn credential_source(&self) -> CredentialSource {
        match &self.logins {
            Some(logins) if logins.settings.is_client => CredentialSource::Client,
            Some(_) => CredentialSource::Login,
            None if self.has_credentials() => CredentialSource::Fixed,
            None => CredentialSource::None,
        }
    }

    /// Completes the settings of logins with defaults.
    pub(crate) fn with_defaults(self, defaults: OAuth) -> Self {
        let settings = match &self.logins {
            Some(logins) => OAuth::clone(&logins.settings).with_defaults(defaults),
            None => defaults,
        };
        self.oauth(settings)
    }

    /// Returns true if the requests have credentials already.
    pub(crate) fn has_credentials(&self) -> bool {
        let is_forwarded = self.forwarded.iter().any(|forwarded| forwarded.name == AUTHORIZATION);
        self.token.is_some() || self.headers.contains_key(AUTHORIZATION) || is_forwarded
    }

    /// Returns true if both log in in the same way.
    pub(crate) fn logs_in_like(&self, other: &Self) -> bool {
        match (&self.logins, &other.logins) {
            (Some(ours), Some(theirs)) => ours.settings.is_same(&theirs.settings),
            (None, None) => true,
            _ => false,
        }
    }

    fn authorization(&self) -> Result<Authorization, OAuthError> {
        let no_logins = || OAuthError::new("the endpoint has no settings for logins");
        self.logins.as_ref().ok_or_else(no_logins)?.authorization(&self.url, &self.authorities)
    }
}
