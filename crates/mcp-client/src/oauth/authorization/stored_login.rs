//! The record of the login in the store, and its copy in memory.

use tokio::time::Instant;

use super::{Authorization, Cached};
use crate::oauth::metadata::without_root_slash;
use crate::oauth::oauth_error::OAuthError;
use crate::oauth::store::TokenStoreError;
use crate::oauth::token::{AuthMethod, ClientOrigin, Grant, GrantKind, Rejected};

impl Authorization {
    /// Reads the record of the server from the store.
    pub(in crate::oauth) async fn load(&self) -> Result<Option<Grant>, OAuthError> {
        let record = self.settings.store.load(self.key()).await.map_err(store_error)?;
        let Some(record) = record else { return Ok(None) };
        let mut grant = Grant::from_record(&record, self.key())?;
        if !self.is_usable(&grant) {
            return Ok(None);
        }
        if grant.client.origin == ClientOrigin::Configured {
            grant.client.secret = self.settings.client_secret.as_ref().map(|secret| secret.expose().to_owned());
        }
        Ok(Some(grant))
    }

    /// Reads the record of the server into the cache. Tokens that could not be stored precede an older record, whose
    /// refresh token has been used: a second use looks like theft, and many servers then revoke the login.
    pub(in crate::oauth) async fn reload(&self, cached: &mut Cached) -> Result<(), OAuthError> {
        let stored = self.load().await;
        cached.loaded_at = Some(Instant::now());
        if cached.is_unsaved
            && let Some(ours) = &cached.grant
            && !matches!(&stored, Ok(None))
            && !matches!(&stored, Ok(Some(stored)) if stored.is_newer_than(ours))
        {
            return Ok(());
        }
        cached.is_unsaved = false;
        cached.replace(stored?);
        Ok(())
    }

    /// Stores the record of the cache. The caller holds the lock. The tokens are used even if they cannot be stored,
    /// since the earlier ones may be useless now.
    pub(in crate::oauth) async fn store(&self, cached: &mut Cached) {
        let Some(grant) = &cached.grant else { return };
        let saved = self.save(grant).await;
        cached.is_unsaved = saved.is_err();
        if let Err(error) = saved {
            tracing::warn!(target: "toolkit_mcp_client", "the renewed tokens are not stored: {error}");
        }
    }

    /// Stores tokens that could not be stored before.
    pub(in crate::oauth) async fn store_again(&self, cached: &mut Cached) {
        if let Ok(_lock) = self.settings.store.lock(self.key()).await
            && self.reload(cached).await.is_ok()
            && cached.is_unsaved
        {
            self.store(cached).await;
        }
    }

    /// Returns true if the record is that of the configured grant, client and issuer.
    fn is_usable(&self, grant: &Grant) -> bool {
        let (settings, client) = (&self.settings, &grant.client);
        let is_client = match client.origin {
            ClientOrigin::Configured => {
                let has_secret = client.auth != AuthMethod::None;
                settings.client_id.as_ref() == Some(&client.id) && settings.client_secret.is_some() == has_secret
            }
            ClientOrigin::Document | ClientOrigin::Registered => settings.client_id.is_none(),
        };
        let kind = if settings.is_client { GrantKind::Client } else { GrantKind::User };
        let is_issuer = |issuer: &String| without_root_slash(issuer) == without_root_slash(&grant.issuer);
        grant.kind == kind && is_client && settings.issuer.as_ref().is_none_or(is_issuer)
    }

    pub(in crate::oauth) async fn save(&self, grant: &Grant) -> Result<(), OAuthError> {
        self.settings.store.save(self.key(), &grant.to_record()?).await.map_err(store_error)
    }

    /// Stores the record of a new login.
    pub(in crate::oauth) async fn logged_in(&self, cached: &mut Cached, grant: Grant) -> Result<(), OAuthError> {
        let _lock = self.settings.store.lock(self.key()).await.map_err(store_error)?;
        self.save(&grant).await?;
        self.set_issued(grant.valid_token());
        cached.logged_in(grant);
        Ok(())
    }

    /// Removes from the record what the authorization server has rejected in a login of this client.
    pub(in crate::oauth) async fn reject(&self, client: &str, rejected: Rejected) {
        if let Err(error) = self.rejected(client, rejected).await {
            tracing::warn!(target: "toolkit_mcp_client", "the record of the login is not updated: {error}");
        }
    }

    pub(super) async fn rejected(&self, client: &str, rejected: Rejected) -> Result<(), OAuthError> {
        if !matches!(rejected, Rejected::Client | Rejected::Scope) {
            return Ok(());
        }
        let mut cached = self.cached().await;
        let _lock = self.settings.store.lock(self.key()).await.map_err(store_error)?;
        self.reload(&mut cached).await?;
        let known = cached.grant.clone();
        if let Some(mut known) = known.filter(|known| rejected == Rejected::Scope || known.client.id == client) {
            known.reject(rejected);
            self.save(&known).await?;
            cached.grant = Some(known);
            cached.is_unsaved = false;
        }
        Ok(())
    }
}

pub(in crate::oauth) fn store_error(error: TokenStoreError) -> OAuthError {
    match error.is_temporary() {
        true => OAuthError::temporary(error.to_string()),
        false => OAuthError::new(error.to_string()),
    }
}
