//! Tokens of callers, exchanged for those of the server (RFC 8693).

use std::collections::HashMap;
use std::sync::Arc;

use toolkit::call::{ErrorKind, SecretString};
use toolkit_runtime::Mutex;

use super::{Authorization, MIN_INTERVAL};
use crate::authorizer::AuthorizationError;
use crate::oauth::oauth_error::{OAuthError, shown};
use crate::oauth::token::{self, Grant};

/// The number of callers whose tokens are kept.
const MAX_CALLERS: usize = 1_000;

/// The lifetime of a token whose response states none, in seconds.
const LIFETIME: u64 = 60;

/// The token of one caller. The lock is held during an exchange, so that concurrent calls share it.
type Exchanged = Arc<tokio::sync::Mutex<Option<Grant>>>;

/// The exchanged tokens, by those of the callers. It has no `Debug`, since it contains secrets.
#[derive(Default)]
pub(super) struct CallerTokens(Mutex<HashMap<Box<str>, Exchanged>>);

impl CallerTokens {
    /// Returns the place of the token of a caller. Of too many, those that have expired are forgotten, or else all.
    fn of(&self, caller: &str) -> Exchanged {
        let mut all = self.0.lock();
        if let Some(exchanged) = all.get(caller) {
            return Arc::clone(exchanged);
        }
        if all.len() >= MAX_CALLERS {
            // One that is locked is being exchanged.
            let is_fresh = |grant: &Option<Grant>| grant.as_ref().is_some_and(|grant| grant.fresh_token().is_some());
            all.retain(|_, exchanged| exchanged.try_lock().map_or(true, |grant| is_fresh(&grant)));
            if all.len() >= MAX_CALLERS {
                all.clear();
            }
        }
        Arc::clone(all.entry(caller.into()).or_default())
    }
}

impl Authorization {
    /// Returns the token that was exchanged for that of a caller, other than one that the server has rejected.
    pub(super) async fn caller_token(
        &self,
        caller: &SecretString,
        rejected: Option<&SecretString>,
    ) -> Result<SecretString, AuthorizationError> {
        let exchanged = self.state.callers.of(caller.expose());
        let mut exchanged = exchanged.lock().await;
        let known = exchanged.as_ref().and_then(Grant::fresh_token);
        if let Some(known) = known.filter(|known| rejected.is_none_or(|rejected| rejected.expose() != known.expose())) {
            return Ok(known);
        }
        *exchanged = None;
        let grant = self.exchange(caller).await.map_err(|error| {
            let (server, reason) = (shown(&self.server), error.to_string());
            tracing::warn!(server, %reason, "the token of a caller was not exchanged");
            not_exchanged(&error)
        })?;
        let token = grant.valid_token();
        *exchanged = Some(grant);
        token.ok_or_else(|| not_exchanged(&OAuthError::new("the new token has expired already")))
    }

    async fn exchange(&self, caller: &SecretString) -> Result<Grant, OAuthError> {
        let request = self.client_request().await?;
        let audience = self.settings.audience.as_deref();
        let tokens =
            token::exchange_caller(&self.fetcher, &request.grant, caller.expose(), audience, &request.scopes).await;
        let mut tokens = tokens?;
        // The next token is that of the caller at that time.
        tokens.refresh_token = None;
        tokens.expires_in = tokens.expires_in.or(Some(LIFETIME));
        let mut grant = request.grant;
        grant.set_tokens(tokens, request.scopes);
        Ok(grant)
    }
}

fn not_exchanged(error: &OAuthError) -> AuthorizationError {
    let denied = AuthorizationError::denied(
        "cannot be used for this caller: its authorization server does not exchange the caller's token",
    );
    let cause = Some(error.to_string());
    if !error.is_temporary() {
        return AuthorizationError { cause, ..denied };
    }
    let message = "cannot be used for this caller at the moment, since the caller's token cannot be exchanged";
    let (kind, message) = (ErrorKind::Unavailable, message.to_owned());
    AuthorizationError { kind, message, cause, retry_after: Some(MIN_INTERVAL) }
}
