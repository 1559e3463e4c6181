//! Logins with OAuth 2.1: the client of an authorization server.
//!
//! `authorization` provides the tokens of requests, and `login` gets them from a user. Both use `discovery` to
//! find the authorization server and a client id, and `token` for the requests to it.
//!
//! | module | contains |
//! | --- | --- |
//! | `settings` | the settings of logins |
//! | `authorization`, `login` | tokens for requests, and the login of a user |
//! | `rejections` | the pauses between renewals of rejected tokens |
//! | `discovery`, `metadata`, `token` | requests to the servers of a login, and its record |
//! | `scopes` | what a server requires |
//! | `store`, `private_files` | where the record is kept |
//! | `fetch`, `loopback` | the limits of connections, and the listener for the redirect |
//! | `oauth_error` | the error of all of them |

mod authorization;
mod discovery;
mod fetch;
mod login;
mod loopback;
mod metadata;
mod oauth_error;
mod private_files;
mod rejections;
mod scopes;
mod settings;
mod store;
mod token;

use std::sync::Arc;

use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use toolkit_runtime::Authorities;

pub(super) use self::authorization::Authorization;
use self::authorization::AuthorizationState;
use self::fetch::Fetcher;
pub use self::login::{Login, LoginState};
pub use self::oauth_error::OAuthError;
pub use self::settings::OAuth;
pub use self::store::{FileTokens, MemoryTokens, TokenLock, TokenStore, TokenStoreError};
use super::address_policy::AddressPolicy;
use super::authorizer::connect_locally;

/// The logins at one server. Clones share them.
#[derive(Clone)]
pub(super) struct Logins {
    pub(super) settings: Arc<OAuth>,
    state: Arc<AuthorizationState>,
}

impl Logins {
    pub(super) fn new(settings: OAuth) -> Self {
        Self { settings: Arc::new(settings), state: Arc::default() }
    }

    pub(super) fn authorization(&self, server: &Url, authorities: &Authorities) -> Result<Authorization, OAuthError> {
        let tls = match server.scheme() {
            "https" => authorities.tls(),
            // The authorization server of a server on this machine may be elsewhere.
            _ => authorities.tls().or_else(|_| Authorities::no_tls()),
        };
        let tls = tls.map_err(|error| OAuthError::new(format!("TLS is not available: {error}")))?;
        let client = || Client::builder().tls_backend_preconfigured(tls.clone()).redirect(Policy::none());
        let failed = |error| OAuthError::new(format!("TLS is not available: {error}"));
        let local = connect_locally(client()).build().map_err(failed)?;
        let client = client().build().map_err(failed)?;
        let mut server = server.clone();
        server.set_fragment(None);
        let policy = AddressPolicy::new(server.clone(), self.settings.allow_private);
        let (settings, state) = (Arc::clone(&self.settings), Arc::clone(&self.state));
        Ok(Authorization { server, settings, fetcher: Fetcher::new(client, local, policy), state })
    }
}
