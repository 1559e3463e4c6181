//! Requests for tokens of the client itself, without a user.

use super::{Authorization, Cached, initial_scopes};
use crate::oauth::discovery;
use crate::oauth::discovery::discover;
use crate::oauth::oauth_error::OAuthError;
use crate::oauth::scopes::{self};
use crate::oauth::token::{self, Grant, GrantKind};

/// A request for a token of the client itself.
pub(in crate::oauth) struct ClientRequest {
    /// The record without tokens.
    pub(super) grant: Grant,
    pub(super) scopes: Vec<String>,
}

impl Authorization {
    /// Finds the authorization server that issues tokens for the client itself.
    pub(in crate::oauth) async fn client_request(&self) -> Result<ClientRequest, OAuthError> {
        self.settings.check()?;
        let challenge = self.last_challenge().unwrap_or_default();
        let found = discover(&self.fetcher, &self.server, &challenge, self.settings.issuer.as_deref()).await?;
        let scopes = initial_scopes(&self.settings, &challenge, &found.scopes);
        let client = discovery::client(&self.fetcher, &found.server, &self.settings, None, None, &scopes).await?;
        let endpoint = found.server.token_endpoint.as_str();
        let grant = Grant::new(GrantKind::Client, self.key(), &found.resource, &found.server.issuer, endpoint, client);
        Ok(ClientRequest { grant, scopes })
    }

    /// Requests a token for the client itself.
    pub(in crate::oauth) async fn request(
        &self,
        cached: &mut Cached,
        request: ClientRequest,
        additional: Vec<String>,
    ) -> Result<(), OAuthError> {
        let ClientRequest { mut grant, scopes } = request;
        let wanted = scopes::union(scopes.iter().map(String::as_str), additional.iter().map(String::as_str));
        let tokens = token::client_credentials(&self.fetcher, &grant, &wanted).await;
        let mut tokens = tokens?;
        // The credentials of the client renew the token.
        tokens.refresh_token = None;
        grant.set_tokens(tokens, wanted);
        cached.grant = Some(grant);
        self.store(cached).await;
        Ok(())
    }
}
