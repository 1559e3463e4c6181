//! The access tokens for the requests to a server.

mod caller_tokens;
mod client_credentials;
mod stored_login;

use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;
use toolkit::call::{ErrorKind, SecretString};
use toolkit::dispatch::BoxFuture;
use toolkit::internals::CallerToken;
use toolkit_runtime::Mutex;

use self::caller_tokens::CallerTokens;
pub(super) use self::stored_login::store_error;
use super::fetch::Fetcher;
use super::oauth_error::OAuthError;
use super::rejections::Rejections;
use super::scopes::{self, Challenge, Named};
use super::settings::OAuth;
use super::token::{self, Grant, Rejected};
use crate::authorizer::{AuthorizationError, Authorizer};

/// The time after an attempt to get a token during which no other is made, so that a server that rejects every token
/// causes no load.
const MIN_INTERVAL: Duration = Duration::from_secs(5);

/// The time after which the store is read again, in case another process has logged in or out.
const RELOAD_INTERVAL: Duration = Duration::from_secs(1);

/// The maximum number of times that a client without a user requests more scopes.
const MAX_STEP_UPS: u32 = 20;

/// The login at one server. Clones share it.
#[derive(Clone)]
pub(crate) struct Authorization {
    pub(super) server: Url,
    pub(super) settings: Arc<OAuth>,
    pub(super) fetcher: Fetcher,
    pub(super) state: Arc<AuthorizationState>,
}

/// The state of a login in this process.
#[derive(Default)]
pub(super) struct AuthorizationState {
    /// Held while tokens are requested, so that concurrent requests share them.
    cached: Arc<tokio::sync::Mutex<Cached>>,
    /// The challenge of the last rejected request.
    challenge: Mutex<Option<Challenge>>,
    issued: Mutex<Option<Issued>>,
    callers: CallerTokens,
}

/// The last token that the authorization server issued to this process.
struct Issued {
    token: SecretString,
    /// True if the MCP server has accepted it.
    is_accepted: bool,
}

#[derive(Default)]
pub(super) struct Cached {
    pub(super) grant: Option<Grant>,
    /// True if the tokens of the record are newer than the stored ones, since they could not be stored.
    pub(super) is_unsaved: bool,
    pub(super) loaded_at: Option<Instant>,
    /// The last attempt to get a token, and its error.
    attempt: Option<(Instant, Option<OAuthError>)>,
    rejections: Rejections,
    n_step_ups: u32,
}

/// The reason for a renewal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Renewal {
    Expired,
    Rejected,
}

type Locked = OwnedMutexGuard<Cached>;

impl Authorization {
    /// Returns the key of the record of the server.
    pub(super) fn key(&self) -> &str {
        self.server.as_str()
    }

    pub(super) async fn cached(&self) -> Locked {
        Arc::clone(&self.state.cached).lock_owned().await
    }

    pub(super) fn last_challenge(&self) -> Option<Challenge> {
        self.state.challenge.lock().clone()
    }

    /// Remembers a token that the server has not accepted yet.
    pub(super) fn set_issued(&self, token: Option<SecretString>) {
        *self.state.issued.lock() = token.map(|token| Issued { token, is_accepted: false });
    }

    async fn valid_token(self) -> Result<Option<SecretString>, AuthorizationError> {
        let mut cached = self.cached().await;
        if !cached.is_unsaved && cached.loaded_at.is_none_or(|at| at.elapsed() >= RELOAD_INTERVAL) {
            let reloaded = self.reload(&mut cached).await;
            let has_token = cached.grant.as_ref().is_some_and(|grant| grant.access_token.is_some());
            // A store that fails for a while does not end the login.
            if let (Err(error), false) = (reloaded, has_token) {
                return Err(self.failed(&error));
            }
        }
        if cached.is_unsaved && cached.loaded_at.is_none_or(|at| at.elapsed() >= MIN_INTERVAL) {
            self.store_again(&mut cached).await;
        }
        let Some(grant) = &cached.grant else { return Ok(None) };
        if let Some(token) = grant.fresh_token() {
            return Ok(Some(token));
        }
        let used = grant.access_token.clone();
        let valid = grant.valid_token();
        match self.renew(&mut cached, used.as_deref(), Renewal::Expired).await {
            Ok(token) => Ok(Some(token)),
            // The server may accept it until it expires.
            Err(_) if valid.is_some() => Ok(valid),
            Err(error) if error.is_temporary() => Err(self.failed(&error)),
            // The response of the server contains the current challenge.
            Err(_) => Ok(None),
        }
    }

    async fn other_token(
        self,
        used: Option<SecretString>,
        challenge: String,
    ) -> Result<SecretString, AuthorizationError> {
        let challenge = Challenge::parse(&challenge);
        *self.state.challenge.lock() = Some(challenge.clone());
        let used = used.as_ref().map(SecretString::expose);
        let mut cached = self.cached().await;
        if let Some(token) = cached.other_than(used) {
            return Ok(token);
        }
        if challenge.is_insufficient_scope() {
            return self.step_up(&mut cached, used, &challenge).await;
        }
        // Another login would not help.
        let is_new = matches!(&cached.attempt, Some((at, None)) if at.elapsed() < MIN_INTERVAL);
        if is_new && cached.is_valid(used) && !self.is_accepted(used) {
            return Err(AuthorizationError::denied("rejects an access token that was just issued"));
        }
        let reason = if cached.is_valid(used) { Renewal::Rejected } else { Renewal::Expired };
        self.renew(&mut cached, used, reason).await.map_err(|error| self.failed(&error))
    }

    /// Gets a token other than the one that was used: from another process, or from the authorization server.
    async fn renew(
        &self,
        cached: &mut Cached,
        used: Option<&str>,
        reason: Renewal,
    ) -> Result<SecretString, OAuthError> {
        if let Some((at, Some(error))) = &cached.attempt
            && at.elapsed() < MIN_INTERVAL
        {
            return Err(error.clone());
        }
        let renewed = self.renewed(cached, used, reason).await;
        // A token of another process was not an attempt.
        if !matches!(renewed, Ok((_, false))) {
            cached.attempt = Some((Instant::now(), renewed.as_ref().err().cloned()));
        }
        if let Ok((token, true)) = &renewed {
            self.set_issued(Some(token.clone()));
            if reason == Renewal::Rejected {
                cached.rejections.record();
            }
        }
        renewed.map(|(token, _)| token)
    }

    /// Returns a token, and true if it is new.
    async fn renewed(
        &self,
        cached: &mut Cached,
        used: Option<&str>,
        reason: Renewal,
    ) -> Result<(SecretString, bool), OAuthError> {
        // Discovery may take longer than other processes wait for the lock.
        let request = match self.settings.is_client {
            true => Some(self.client_request().await?),
            false => None,
        };
        let _lock = self.settings.store.lock(self.key()).await.map_err(store_error)?;
        self.reload(cached).await?;
        if cached.is_unsaved {
            self.store(cached).await;
        }
        if let Some(token) = cached.other_than(used) {
            return Ok((token, false));
        }
        if let (Renewal::Rejected, Some(left)) = (reason, cached.rejections.left()) {
            let left = left.as_secs() + 1;
            let message = format!("the server rejects tokens before they expire; the next renewal is in {left} s");
            return Err(OAuthError::temporary(message));
        }
        match (request, &cached.grant) {
            (Some(request), _) => self.request(cached, request, Vec::new()).await?,
            (None, Some(grant)) if grant.refresh_token.is_some() => self.refresh(cached, grant.clone()).await?,
            _ => return Err(OAuthError::new("there is no refresh token")),
        }
        let token = cached.grant.as_ref().and_then(Grant::valid_token);
        token.map(|token| (token, true)).ok_or_else(|| OAuthError::new("the new token has expired already"))
    }

    /// Renews the tokens with the refresh token, which is removed if it is not valid any longer.
    async fn refresh(&self, cached: &mut Cached, mut grant: Grant) -> Result<(), OAuthError> {
        let refresh_token = grant.refresh_token.clone().unwrap_or_default();
        let outcome = match token::refresh(&self.fetcher, &grant, &refresh_token).await {
            Ok(tokens) => {
                // The scopes of a response without any are those of the old token.
                let (requested, granted) = (grant.requested.clone(), grant.granted.clone());
                grant.set_tokens(tokens, granted);
                grant.requested = requested;
                Ok(())
            }
            Err(error) => {
                grant.reject(error.rejected);
                match error.rejected {
                    Rejected::Grant => grant.clear_tokens(),
                    // Its tokens cannot be renewed any longer.
                    Rejected::Client if grant.client.is_rejected => grant.clear_tokens(),
                    _ => return Err(error.into()),
                }
                Err(error.into())
            }
        };
        cached.grant = Some(grant);
        self.store(cached).await;
        outcome
    }

    /// Gets a token with more scopes. Where that requires the user, the next login will request them.
    async fn step_up(
        &self,
        cached: &mut Cached,
        used: Option<&str>,
        challenge: &Challenge,
    ) -> Result<SecretString, AuthorizationError> {
        let failed = |error: OAuthError| self.failed(&error);
        let mut request = None;
        if self.settings.is_client {
            self.reload(cached).await.map_err(failed)?;
            if let Some(token) = cached.other_than(used) {
                return Ok(token);
            }
            self.check_step_up(cached, challenge)?;
            if cached.n_step_ups == MAX_STEP_UPS {
                let Named { list, others } = scopes::named(&challenge.scopes);
                let message = format!("requires other scopes with each request, at last {list}");
                return Err(AuthorizationError { cause: others, ..AuthorizationError::denied(message) });
            }
            cached.n_step_ups += 1;
            request = Some(self.client_request().await.map_err(failed)?);
        }
        let _lock = self.settings.store.lock(self.key()).await.map_err(|error| failed(store_error(error)))?;
        self.reload(cached).await.map_err(failed)?;
        if let Some(token) = cached.other_than(used) {
            return Ok(token);
        }
        let mut grant = self.check_step_up(cached, challenge)?;
        if let Some(request) = request {
            let scopes = [&*grant.requested, &*grant.granted, &*challenge.scopes].concat();
            self.request(cached, request, scopes).await.map_err(failed)?;
            let token = cached.grant.as_ref().and_then(Grant::valid_token);
            return token.ok_or_else(|| AuthorizationError::denied("issues tokens that have expired already"));
        }
        let required = grant.required.iter().chain(&challenge.scopes).map(String::as_str);
        grant.required = scopes::union([], required);
        self.save(&grant).await.map_err(failed)?;
        cached.grant = Some(grant);
        cached.is_unsaved = false;
        let Named { list, others } = scopes::named(&challenge.scopes);
        Err(self.login_required(&format!("requires a login with the scopes {list}"), others))
    }

    /// Checks that a token with the scopes of the challenge could help. Returns the current record.
    fn check_step_up(&self, cached: &Cached, challenge: &Challenge) -> Result<Grant, AuthorizationError> {
        let Some(grant) = cached.grant.clone() else {
            return Err(self.login_required("requires a login", None));
        };
        // Another login would not help, unless it is that of another user.
        if challenge.scopes.is_empty() {
            let message = "does not allow this request, and does not name the scopes that it requires";
            return Err(AuthorizationError::denied(message));
        }
        let Named { list, others } = scopes::named(&challenge.scopes);
        let denied = |message: String| Err(AuthorizationError { cause: others, ..AuthorizationError::denied(message) });
        if scopes::covers(&grant.granted, &challenge.scopes) {
            return denied(format!("rejects a token with the scopes that it requires: {list}"));
        }
        if scopes::covers(&grant.requested, &challenge.scopes) {
            return denied(format!("requires the scopes {list}, which the authorization server has not granted"));
        }
        Ok(grant)
    }

    /// Returns true unless the token was issued to this process and the server has not accepted it yet.
    fn is_accepted(&self, token: Option<&str>) -> bool {
        let issued = self.state.issued.lock();
        issued.as_ref().is_none_or(|issued| issued.is_accepted || Some(issued.token.expose()) != token)
    }

    fn login_required(&self, reason: &str, cause: Option<String>) -> AuthorizationError {
        let message = match &self.settings.login_command {
            Some(command) if !self.settings.is_client => format!("{reason}; run `{command}`"),
            _ => reason.to_owned(),
        };
        AuthorizationError { kind: ErrorKind::Unauthorized, message, cause, retry_after: None }
    }

    fn failed(&self, error: &OAuthError) -> AuthorizationError {
        if !error.is_temporary() {
            let reason = match self.settings.is_client {
                true => "cannot be used, since this client gets no access token",
                false => "requires a login",
            };
            return self.login_required(reason, Some(error.to_string()));
        }
        AuthorizationError {
            kind: ErrorKind::Unavailable,
            message: "cannot be used, since its access token cannot be renewed".to_owned(),
            cause: Some(error.to_string()),
            retry_after: Some(MIN_INTERVAL),
        }
    }
}

impl Cached {
    /// Replaces the record after a login.
    pub(super) fn logged_in(&mut self, grant: Grant) {
        let now = Instant::now();
        *self = Self { grant: Some(grant), loaded_at: Some(now), attempt: Some((now, None)), ..Self::default() };
    }

    /// Replaces the record by the stored one. The error of an attempt with other tokens does not apply to its tokens.
    pub(super) fn replace(&mut self, stored: Option<Grant>) {
        let refresh_token = |grant: &Option<Grant>| grant.as_ref().and_then(|grant| grant.refresh_token.clone());
        if refresh_token(&stored) != refresh_token(&self.grant) {
            self.attempt.take_if(|(_, error)| error.is_some());
        }
        self.grant = stored;
    }

    /// Removes the record after a logout.
    pub(super) fn logged_out(&mut self) {
        *self = Self { loaded_at: Some(Instant::now()), ..Self::default() };
    }

    /// Returns true if the token is the current one and has not expired.
    fn is_valid(&self, used: Option<&str>) -> bool {
        let token = self.grant.as_ref().and_then(Grant::valid_token);
        token.is_some_and(|token| Some(token.expose()) == used)
    }

    /// Returns the access token if it is valid and not the one that was used.
    fn other_than(&self, used: Option<&str>) -> Option<SecretString> {
        let token = self.grant.as_ref()?.fresh_token()?;
        (Some(token.expose()) != used).then_some(token)
    }
}

/// Returns the scopes of a first login: the configured ones, or those of the challenge, or those of the metadata.
pub(super) fn initial_scopes(settings: &OAuth, challenge: &Challenge, published: &[String]) -> Vec<String> {
    let choices = [&settings.scopes, &challenge.scopes];
    let chosen = choices.into_iter().map(Vec::as_slice).find(|scopes| !scopes.is_empty()).unwrap_or(published);
    scopes::union([], chosen.iter().map(String::as_str))
}

/// Creates the error of a request that the server does not allow, whatever the login.
/// Both run on tasks of their own: a call that is canceled while tokens are renewed would lose a refresh token that the
/// authorization server has replaced already.
impl Authorizer for Authorization {
    fn accepted(&self, token: &SecretString) {
        let mut issued = self.state.issued.lock();
        // A slow response may belong to an earlier token.
        if let Some(issued) = issued.as_mut().filter(|issued| issued.token.expose() == token.expose()) {
            issued.is_accepted = true;
        }
    }

    fn exchanged<'a>(
        &'a self,
        caller: &'a CallerToken,
        rejected: Option<&'a SecretString>,
    ) -> BoxFuture<'a, Result<SecretString, AuthorizationError>> {
        Box::pin(self.caller_token(&caller.0, rejected))
    }

    fn token(&self) -> BoxFuture<'_, Result<Option<SecretString>, AuthorizationError>> {
        let this = self.clone();
        Box::pin(async move {
            let task = tokio::spawn(this.clone().valid_token());
            task.await.unwrap_or_else(|error| Err(this.failed(&OAuthError::temporary(error.to_string()))))
        })
    }

    fn replace<'a>(
        &'a self,
        used: Option<&'a SecretString>,
        challenge: &'a str,
    ) -> BoxFuture<'a, Result<SecretString, AuthorizationError>> {
        let (this, used, challenge) = (self.clone(), used.cloned(), challenge.to_owned());
        Box::pin(async move {
            let task = tokio::spawn(this.clone().other_token(used, challenge));
            task.await.unwrap_or_else(|error| Err(this.failed(&OAuthError::temporary(error.to_string()))))
        })
    }
}
