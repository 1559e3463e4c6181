//! A login of a user, with a browser.

use std::time::{Duration, SystemTime};

use data_encoding::BASE64URL_NOPAD;
use reqwest::{StatusCode, Url};
use sha2::{Digest, Sha256};
use tokio::time::timeout;

use super::authorization::{Authorization, initial_scopes, store_error};
use super::discovery;
use super::discovery::{Discovered, discover};
use super::loopback::Loopback;
use super::oauth_error::{OAuthError, shown, untrusted};
use super::scopes::{self, Challenge, OFFLINE_ACCESS};
use super::token::{self, ErrorResponse, Grant, GrantKind, Rejected, TokenError};

/// The maximum length of a redirect URL that is pasted.
const MAX_REDIRECT_LEN: usize = 16 << 10;

/// A login that waits for the user.
///
/// The user opens [`Login::url`] in a browser. The authorization server then redirects the browser to a port of this
/// machine, where [`Login::wait`] receives the redirect. Where the browser runs on another machine, the user copies the
/// address of the page that cannot be opened, for [`Login::wait_or_paste`] or [`Login::finish`].
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
/// use toolkit_mcp_client::Endpoint;
///
/// # async fn run(endpoint: Endpoint) -> Result<(), toolkit_mcp_client::OAuthError> {
/// let login = endpoint.login().await?;
/// println!("Open {}", login.url());
/// let state = login.wait(Duration::from_secs(300)).await?;
/// println!("logged in, with the scopes {}", state.scopes.join(" "));
/// # Ok(())
/// # }
/// ```
#[must_use = "the login ends when this is dropped"]
pub struct Login {
    authorization: Authorization,
    loopback: Loopback,
    url: Url,
    attempt: Attempt,
}

/// The secrets and the expected issuer of one authorization request.
struct Attempt {
    grant: Grant,
    requested: Vec<String>,
    redirect_uri: Url,
    state: String,
    verifier: String,
    requires_issuer: bool,
}

/// The state of a login.
///
/// # Examples
///
/// ```
/// use toolkit_mcp_client::{Endpoint, OAuth};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let endpoint = Endpoint::new("https://example.com/mcp")?.oauth(OAuth::new());
/// assert!(endpoint.login_state().await?.is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoginState {
    /// The authorization server.
    pub issuer: String,
    /// The scopes of the access token.
    pub scopes: Vec<String>,
    /// The scopes that the server has asked for since, so that another login is necessary.
    pub missing_scopes: Vec<String>,
    /// The time at which the access token expires.
    pub expires_at: Option<SystemTime>,
    /// True if the access token is valid, or can be renewed without the user.
    pub is_valid: bool,
}

impl Authorization {
    /// Starts a login: finds the authorization server, gets a client, and listens for the redirect.
    pub(crate) async fn login(self) -> Result<Login, OAuthError> {
        self.settings.check()?;
        if self.settings.is_client {
            return Err(OAuthError::new("a client with client credentials has no login"));
        }
        self.fetcher.check(&self.server)?;
        let challenge = match self.last_challenge() {
            Some(challenge) => challenge,
            None => self.probe().await?,
        };
        let known = self.load().await.unwrap_or_default();
        let found = discover(&self.fetcher, &self.server, &challenge, self.settings.issuer.as_deref()).await?;
        let Some(endpoint) = check(&found)? else {
            let issuer = untrusted(&found.server.issuer);
            return Err(OAuthError::new(format!("the authorization server `{issuer}` has no page for logins")));
        };
        // The client of another authorization server must not be used, and neither its scopes.
        let known = known.filter(|known| known.issuer == found.server.issuer);
        let loopback = self.listen(known.as_ref()).await?;
        let redirect_uri = loopback.redirect_uri.clone();
        let requested = self.scopes(&challenge, &found, known.as_ref());
        let client = known.as_ref().map(|known| &known.client);
        let uri = Some(redirect_uri.as_str());
        let client = discovery::client(&self.fetcher, &found.server, &self.settings, client, uri, &requested).await?;
        let endpoint_of_tokens = found.server.token_endpoint.as_str();
        let grant =
            Grant::new(GrantKind::User, self.key(), &found.resource, &found.server.issuer, endpoint_of_tokens, client);
        let attempt = Attempt {
            grant,
            requested,
            redirect_uri,
            state: random()?,
            verifier: random()?,
            requires_issuer: found.server.sends_issuer,
        };
        let url = attempt.url(endpoint);
        Ok(Login { authorization: self, loopback, url, attempt })
    }

    /// Sends a request without a token, for the challenge.
    async fn probe(&self) -> Result<Challenge, OAuthError> {
        let ping = r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#;
        let (status, challenge) = self.fetcher.challenge(&self.server, ping).await?;
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Ok(Challenge::parse(&challenge)),
            _ => Ok(Challenge::default()),
        }
    }

    /// Listens for the redirect, on the port of the earlier login if it is free, so that its client can be used again.
    async fn listen(&self, known: Option<&Grant>) -> Result<Loopback, OAuthError> {
        let port = self.settings.redirect_port;
        if port == 0
            && let Some(uri) = known.and_then(|known| known.client.redirect_uri.as_deref())
            && let Some(port) = Url::parse(uri).ok().and_then(|uri| uri.port())
            && let Ok(loopback) = Loopback::bind(port).await
        {
            return Ok(loopback);
        }
        let error =
            |error| OAuthError::new(format!("cannot listen on port {port} of 127.0.0.1 for the redirect: {error}"));
        Loopback::bind(port).await.map_err(error)
    }

    /// Returns the scopes to request, and those of the last login. If the server has asked for more scopes since, these
    /// are added.
    fn scopes(&self, challenge: &Challenge, found: &Discovered, known: Option<&Grant>) -> Vec<String> {
        let mut wanted = initial_scopes(&self.settings, challenge, &found.scopes);
        if let Some(known) = known {
            // A login without explicit scopes has those that the authorization server chose.
            let granted = if known.required.is_empty() { &[][..] } else { &*known.granted };
            let earlier = known.requested.iter().chain(granted).chain(&known.required);
            wanted = scopes::union(earlier.map(String::as_str), wanted.iter().map(String::as_str));
        }
        let offers_refresh = found.server.scopes.iter().any(|scope| scope == OFFLINE_ACCESS);
        match !wanted.is_empty() && offers_refresh {
            true => scopes::union(wanted.iter().map(String::as_str), [OFFLINE_ACCESS]),
            false => wanted,
        }
    }

    /// Removes the login.
    pub(crate) async fn logout(self) -> Result<bool, OAuthError> {
        let mut cached = self.cached().await;
        let store = &self.settings.store;
        let _lock = store.lock(self.key()).await.map_err(store_error)?;
        let was_there = store.load(self.key()).await;
        store.remove(self.key()).await.map_err(store_error)?;
        cached.logged_out();
        Ok(!matches!(was_there, Ok(None)))
    }

    /// Returns the state of the stored login.
    pub(crate) async fn login_state(&self) -> Result<Option<LoginState>, OAuthError> {
        let grant = self.load().await?;
        Ok(grant.filter(|grant| grant.access_token.is_some()).map(|grant| state_of(&grant)))
    }

    /// Requests the tokens with the code of a redirect. If there is none, returns the reason.
    async fn complete(self, attempt: Attempt, code: Code) -> Result<LoginState, OAuthError> {
        let Attempt { mut grant, requested, redirect_uri, verifier, .. } = attempt;
        // A running renewal must not overwrite the new tokens.
        let mut cached = self.cached().await;
        let tokens = match code {
            Ok(code) => token::exchange(&self.fetcher, &grant, &code, &verifier, redirect_uri.as_str()).await,
            Err(error) => Err(error),
        };
        let tokens = match tokens {
            Ok(tokens) => tokens,
            Err(error) => {
                drop(cached);
                self.reject(&grant.client.id, error.rejected).await;
                return Err(error.into());
            }
        };
        grant.set_tokens(tokens, requested);
        let state = state_of(&grant);
        self.logged_in(&mut cached, grant).await?;
        Ok(state)
    }
}

/// Checks what the authorization server must support. Returns the page for logins.
fn check(found: &Discovered) -> Result<Option<&Url>, OAuthError> {
    let server = &found.server;
    let issuer = untrusted(&server.issuer);
    if !server.has_codes {
        return Err(OAuthError::new(format!("the authorization server `{issuer}` does not issue authorization codes")));
    }
    if !server.has_pkce {
        let message = format!("the authorization server `{issuer}` does not declare support of PKCE with `S256`");
        return Err(OAuthError::new(message));
    }
    Ok(server.authorization_endpoint.as_ref())
}

fn state_of(grant: &Grant) -> LoginState {
    // A record may contain any number.
    let expires_at = grant.expires_at().and_then(|at| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(at)));
    let missing = grant.required.iter().filter(|scope| !grant.granted.contains(scope));
    LoginState {
        issuer: grant.issuer.clone(),
        scopes: grant.granted.clone(),
        missing_scopes: missing.cloned().collect(),
        expires_at,
        is_valid: grant.valid_token().is_some() || grant.refresh_token.is_some(),
    }
}

impl Login {
    /// Returns the URL that the user opens in a browser. It begins with `https://`, or with `http://` for a server on
    /// this machine, and contains no secret.
    #[must_use]
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// Waits for the redirect of the browser, and requests the tokens.
    ///
    /// # Errors
    ///
    /// Returns an error if the user or the authorization server denies the request, the response is not valid, or the
    /// user takes longer than `limit`.
    pub async fn wait(self, limit: Duration) -> Result<LoginState, OAuthError> {
        self.wait_or_paste(limit, async |_| None).await
    }

    /// Waits for the redirect of the browser, or for the URL of the redirect from the user, where the browser may run on
    /// another machine. `paste` returns what the user enters, or `None` if there is no more. It is called again, with the
    /// error, if that is not the redirect of this login.
    ///
    /// # Errors
    ///
    /// Returns an error as [`Login::wait`] does, or the last one of `paste` if there is no more.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// use toolkit_mcp_client::Endpoint;
    ///
    /// # async fn read_line() -> Option<String> { None }
    /// # async fn run(endpoint: Endpoint) -> Result<(), toolkit_mcp_client::OAuthError> {
    /// let login = endpoint.login().await?;
    /// println!("Open {}, and paste the address to which it redirects:", login.url());
    /// let paste = async |error| {
    ///     if let Some(error) = error {
    ///         println!("{error}");
    ///     }
    ///     read_line().await
    /// };
    /// login.wait_or_paste(Duration::from_secs(300), paste).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn wait_or_paste(
        self,
        limit: Duration,
        paste: impl AsyncFnMut(Option<OAuthError>) -> Option<String>,
    ) -> Result<LoginState, OAuthError> {
        let Self { authorization, loopback, attempt, .. } = self;
        let received = timeout(limit, async {
            tokio::select! {
                received = loopback.wait(|url| attempt.outcome(url).ok()) => {
                    let (code, browser) = received
                        .map_err(|error| OAuthError::new(format!("the redirect cannot be received: {error}")))?;
                    Ok::<_, OAuthError>((code, Some(browser)))
                }
                code = attempt.pasted(paste) => Ok((code?, None)),
            }
        });
        let Ok(received) = received.await else {
            // The page may have shown that the client is unknown, since it has no valid redirect URI then.
            authorization.reject(&attempt.grant.client.id, Rejected::Client).await;
            return Err(OAuthError::new(format!("there was no login within {limit:?}")));
        };
        let (code, browser) = received?;
        let outcome = authorization.complete(attempt, code).await;
        if let Some(browser) = browser {
            browser.show(outcome.is_ok()).await;
        }
        outcome
    }

    /// Requests the tokens with the URL to which the browser was redirected, where the browser runs on another machine.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL is not the redirect of this login, the user or the authorization server denies the
    /// request, or the response is not valid.
    pub async fn finish(self, redirect_url: &str) -> Result<LoginState, OAuthError> {
        let code = self.attempt.parse(redirect_url)?;
        self.authorization.complete(self.attempt, code).await
    }
}

// Omits the state and the challenge in the URL.
toolkit::debug_fields!(it, Login { server: shown(&it.authorization.server) });

/// The code in a redirect of a login, or the reason why the login has failed.
type Code = Result<String, TokenError>;

/// The parameters of a request for a code.
const OWN_PARAMETERS: [&str; 9] = [
    "response_type",
    "client_id",
    "redirect_uri",
    "code_challenge",
    "code_challenge_method",
    "state",
    "resource",
    "scope",
    "prompt",
];

impl Attempt {
    fn url(&self, endpoint: &Url) -> Url {
        let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(&self.verifier));
        let mut url = endpoint.clone();
        url.set_fragment(None);
        url.set_query(None);
        // No parameter may be sent twice (RFC 6749, 3.1).
        let kept = endpoint.query_pairs().filter(|(name, _)| !OWN_PARAMETERS.contains(&&**name));
        url.query_pairs_mut()
            .extend_pairs(kept)
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.grant.client.id)
            .append_pair("redirect_uri", self.redirect_uri.as_str())
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256")
            .append_pair("state", &self.state)
            .append_pair("resource", &self.grant.resource);
        if !self.requested.is_empty() {
            url.query_pairs_mut().append_pair("scope", &self.requested.join(" "));
        }
        // OpenID Connect issues refresh tokens only with consent.
        if self.requested.iter().any(|scope| scope == OFFLINE_ACCESS) {
            url.query_pairs_mut().append_pair("prompt", "consent");
        }
        url
    }

    /// Waits until the user pastes the redirect.
    async fn pasted(
        &self,
        mut paste: impl AsyncFnMut(Option<OAuthError>) -> Option<String>,
    ) -> Result<Code, OAuthError> {
        let mut last = None;
        while let Some(text) = paste(last.clone()).await {
            match self.parse(&text) {
                Ok(code) => return Ok(code),
                Err(error) => last = Some(error),
            }
        }
        match last {
            Some(error) => Err(error),
            None => std::future::pending().await,
        }
    }

    /// Reads a redirect that the user has pasted.
    fn parse(&self, text: &str) -> Result<Code, OAuthError> {
        let (text, expected) = (text.trim(), &self.redirect_uri);
        let is_redirect = |url: &Url| url.origin() == expected.origin() && url.path() == expected.path();
        let url = Url::parse(text).ok().filter(|url| text.len() <= MAX_REDIRECT_LEN && is_redirect(url));
        let stray = || OAuthError::new(format!("this is not the redirect of this login; it begins with `{expected}?`"));
        self.outcome(&url.ok_or_else(stray)?)
    }

    /// Returns the outcome in a redirect, or an error if it does not belong to this login.
    fn outcome(&self, redirect: &Url) -> Result<Code, OAuthError> {
        let mut fields = [const { None::<String> }; 5];
        for (name, value) in redirect.query_pairs() {
            let names = ["state", "iss", "code", "error", "error_description"];
            let Some(idx) = names.iter().position(|known| *known == name) else { continue };
            if fields[idx].replace(value.into_owned()).is_some() {
                return Err(OAuthError::new(format!("the redirect contains `{}` twice", names[idx])));
            }
        }
        let [state, issuer, code, error, error_description] = fields;
        if state.as_deref() != Some(&*self.state) {
            return Err(OAuthError::new("the redirect has another `state`, so it belongs to another login"));
        }
        let response = error.map(|error| ErrorResponse { error, error_description });
        Ok(self.check_issuer(issuer).map_err(TokenError::from).and_then(|()| match response {
            Some(response) => {
                let message = format!("the authorization server denied the login: {response}");
                Err(TokenError::new(response.rejected(), OAuthError::new(message)))
            }
            None => code
                .filter(|code| !code.is_empty())
                .ok_or_else(|| OAuthError::new("the redirect contains no authorization code").into()),
        }))
    }

    /// Checks the issuer of a redirect, before anything else of it is used (RFC 9207).
    fn check_issuer(&self, issuer: Option<String>) -> Result<(), OAuthError> {
        let expected = &self.grant.issuer;
        match issuer {
            Some(issuer) if issuer == *expected => Ok(()),
            Some(issuer) => Err(OAuthError::new(format!(
                "the redirect is from another issuer: `{}` instead of `{}`",
                untrusted(&issuer),
                untrusted(expected)
            ))),
            None if self.requires_issuer => {
                let expected = untrusted(expected);
                Err(OAuthError::new(format!("the redirect does not contain the issuer `{expected}`")))
            }
            None => Ok(()),
        }
    }
}

/// Returns 256 random bits as text.
fn random() -> Result<String, OAuthError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| OAuthError::new(format!("there are no random numbers: {error}")))?;
    Ok(BASE64URL_NOPAD.encode(&bytes))
}
