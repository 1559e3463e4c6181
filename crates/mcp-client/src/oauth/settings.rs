//! The settings of logins at a server.

use std::sync::Arc;

use reqwest::Url;
use toolkit::call::SecretString;

use super::oauth_error::{OAuthError, untrusted};
use super::store::{MemoryTokens, TokenStore};

/// The settings of logins at a server that requires OAuth.
///
/// A login finds the authorization server in the metadata of the MCP server, and gets a client id in this order: the
/// [configured](OAuth::client_id) one, the URL of a [metadata document](OAuth::client_metadata_url), or by registration.
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
/// use toolkit_mcp_client::{Endpoint, FileTokens, McpBackend, OAuth};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let tokens = FileTokens::new("/home/ada/.local/state/my-tools/tokens");
/// let endpoint = Endpoint::new("https://example.com/mcp")?.oauth(OAuth::new().client_name("my-tools").store(tokens));
///
/// // Once, with the user:
/// let login = endpoint.login().await?;
/// println!("Open {}", login.url());
/// login.wait(Duration::from_secs(300)).await?;
///
/// // From then on, also in other processes:
/// let backend = McpBackend::http("search", endpoint);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct OAuth {
    pub(super) client_name: Option<String>,
    pub(super) client_id: Option<String>,
    pub(super) client_secret: Option<SecretString>,
    pub(super) client_metadata_url: Option<String>,
    pub(super) issuer: Option<String>,
    pub(super) scopes: Vec<String>,
    pub(super) redirect_port: u16,
    /// True if the tokens are those of the client itself.
    pub(crate) is_client: bool,
    /// True if the tokens of callers are exchanged.
    pub(crate) exchanges: bool,
    pub(super) audience: Option<String>,
    pub(super) allow_private: bool,
    pub(super) login_command: Option<String>,
    pub(super) store: Arc<dyn TokenStore>,
}

impl OAuth {
    /// Creates the default settings: registration as `toolkit`, and tokens in memory.
    pub fn new() -> Self {
        Self {
            client_name: None,
            client_id: None,
            client_secret: None,
            client_metadata_url: None,
            issuer: None,
            scopes: Vec::new(),
            redirect_port: 0,
            is_client: false,
            exchanges: false,
            audience: None,
            allow_private: false,
            login_command: None,
            store: Arc::new(MemoryTokens::new()),
        }
    }

    /// Sets the name that the authorization server shows to the user, for a client that is registered.
    pub fn client_name(self, name: impl Into<String>) -> Self {
        Self { client_name: Some(name.into()), ..self }
    }

    /// Sets the id of a client that is registered at the authorization server. Requires [`OAuth::issuer`], so that the
    /// client is used at no other authorization server.
    pub fn client_id(self, id: impl Into<String>) -> Self {
        Self { client_id: Some(id.into()), ..self }
    }

    /// Sets the secret of the client with the configured id.
    pub fn client_secret(self, secret: impl Into<SecretString>) -> Self {
        Self { client_secret: Some(secret.into()), ..self }
    }

    /// Sets the URL of a client metadata document, which is the client id at authorization servers that support them.
    /// The document must contain `http://127.0.0.1:PORT/callback` as a redirect URI; see [`OAuth::redirect_port`].
    pub fn client_metadata_url(self, url: impl Into<String>) -> Self {
        Self { client_metadata_url: Some(url.into()), ..self }
    }

    /// Sets the issuer of the tokens. A login at a server with another authorization server is an error.
    pub fn issuer(self, issuer: impl Into<String>) -> Self {
        Self { issuer: Some(issuer.into()), ..self }
    }

    /// Sets the scopes to request, instead of those for which the server asks. Scopes that calls turn out to require are
    /// added.
    pub fn scopes<S: Into<String>>(self, scopes: impl IntoIterator<Item = S>) -> Self {
        Self { scopes: scopes.into_iter().map(Into::into).collect(), ..self }
    }

    /// Sets the port of the redirect URI, `http://127.0.0.1:PORT/callback`. By default, a free one.
    pub fn redirect_port(self, port: u16) -> Self {
        Self { redirect_port: port, ..self }
    }

    /// Requests tokens for the client itself, without a user (the client credentials grant). Requires a client id and a
    /// secret. No login is necessary.
    pub fn client_credentials(self) -> Self {
        Self { is_client: true, ..self }
    }

    /// Exchanges the access token of each caller at the authorization server for one of this server (RFC 8693), so that the
    /// server acts for the caller. `audience` is the name of the server there, if it requires one beside its URL. The
    /// client itself connects and lists, with [`OAuth::client_credentials`], which this sets.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit_mcp_client::{Endpoint, McpBackend, OAuth};
    ///
    /// # fn main() -> Result<(), toolkit_mcp_client::ConfigError> {
    /// let client = OAuth::new().issuer("https://login.example").client_id("gateway").client_secret("s3cr3t");
    /// let endpoint = Endpoint::new("https://ledger.example/mcp")?.oauth(client.token_exchange(None));
    /// let backend = McpBackend::http("ledger", endpoint);
    /// # Ok(())
    /// # }
    /// ```
    pub fn token_exchange(self, audience: Option<String>) -> Self {
        Self { exchanges: true, audience, ..self.client_credentials() }
    }

    /// Allows metadata of the server to contain names with private addresses, as in the network of a company. By
    /// default, only a server at a private address may refer to others.
    pub fn allow_private_addresses(self) -> Self {
        Self { allow_private: true, ..self }
    }

    /// Sets the command that logs in, for error messages.
    pub fn login_command(self, command: impl Into<String>) -> Self {
        Self { login_command: Some(command.into()), ..self }
    }

    /// Sets the store of tokens. By default, they are in memory until the program ends.
    pub fn store(self, store: impl TokenStore + 'static) -> Self {
        Self { store: Arc::new(store), ..self }
    }

    /// Completes the settings with those of a host, whose store and command are used.
    pub(crate) fn with_defaults(self, defaults: Self) -> Self {
        Self {
            client_name: self.client_name.or(defaults.client_name),
            client_metadata_url: self.client_metadata_url.or(defaults.client_metadata_url),
            login_command: defaults.login_command,
            store: defaults.store,
            ..self
        }
    }

    /// Checks what a login requires.
    pub(crate) fn check(&self) -> Result<(), OAuthError> {
        if self.client_secret.is_some() && self.client_id.is_none() {
            return Err(OAuthError::new("a client secret requires a client id"));
        }
        if self.is_client && self.client_secret.is_none() {
            return Err(OAuthError::new("client credentials require a client id and a client secret"));
        }
        // A server that chooses where the client logs in could have the codes of one issuer sent to another.
        if self.client_id.is_some() && self.issuer.is_none() {
            let reason = "a client id requires the issuer, so that it is sent to no other authorization server";
            return Err(OAuthError::new(reason));
        }
        let Some(text) = &self.client_metadata_url else {
            return Ok(());
        };
        let url = Url::parse(text).ok().filter(|url| {
            let has_user = !url.username().is_empty() || url.password().is_some();
            url.scheme() == "https" && url.path() != "/" && url.fragment().is_none() && !has_user
        });
        match url {
            Some(_) => Ok(()),
            None => Err(OAuthError::new(format!(
                "the URL of the client metadata must begin with `https://` and have a path, got `{}`",
                untrusted(text)
            ))),
        }
    }

    /// Returns true if both log in in the same way. Stores are not compared.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let fields = |settings: &Self| {
            (
                settings.client_name.clone(),
                settings.client_id.clone(),
                settings.client_secret.as_ref().map(|secret| secret.expose().to_owned()),
                settings.client_metadata_url.clone(),
                settings.issuer.clone(),
                settings.scopes.clone(),
                settings.redirect_port,
                settings.is_client,
                settings.allow_private,
                (settings.exchanges, settings.audience.clone()),
            )
        };
        fields(self) == fields(other)
    }
}

impl Default for OAuth {
    fn default() -> Self {
        Self::new()
    }
}

toolkit::debug_fields!(OAuth { client_name, client_id, client_metadata_url, issuer, scopes });
