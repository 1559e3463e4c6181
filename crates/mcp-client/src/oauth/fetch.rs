//! Requests to the servers of a login, with limits.

use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use serde::de::DeserializeOwned;
use tokio::time::timeout;
use toolkit_runtime::certificate_failure;

use super::oauth_error::{OAuthError, shown};
use crate::address_policy::AddressPolicy;
use crate::authorizer::is_local;

/// The maximum size of a response in bytes.
const MAX_BYTES: usize = 64 << 10;

/// The timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A client for metadata, registrations and tokens. It does not follow redirects.
#[derive(Clone)]
pub(super) struct Fetcher {
    client: Client,
    /// The client for servers on this machine.
    local: Client,
    policy: AddressPolicy,
}

/// A response within the limits.
pub(super) struct Fetched {
    pub(super) status: StatusCode,
    body: Vec<u8>,
    shown: String,
}

/// The document at a URL that it may be at.
pub(super) enum FoundDocument<T> {
    Document(T),
    /// The URL has no such document. The error describes a response other than "not found".
    Nothing(Option<OAuthError>),
}

/// The reason why there is no response within the limits.
enum FetchFailure {
    /// The server cannot be reached, or must not be.
    NoResponse(OAuthError),
    /// A redirect, an error of the server, or a large body.
    Unusable(OAuthError),
}

impl From<FetchFailure> for OAuthError {
    fn from(failure: FetchFailure) -> Self {
        match failure {
            FetchFailure::NoResponse(error) | FetchFailure::Unusable(error) => error,
        }
    }
}

impl Fetcher {
    pub(super) fn new(client: Client, local: Client, policy: AddressPolicy) -> Self {
        Self { client, local, policy }
    }

    fn client(&self, url: &Url) -> &Client {
        if is_local(url) { &self.local } else { &self.client }
    }

    pub(super) fn check(&self, url: &Url) -> Result<(), OAuthError> {
        self.policy.check(url).map_err(OAuthError::new)
    }

    /// Requests a document. A web server may respond to an unknown path with a page or a redirect.
    pub(super) async fn find<T: DeserializeOwned>(
        &self,
        url: &Url,
        what: &str,
    ) -> Result<FoundDocument<T>, OAuthError> {
        let fetched = match self.send(url, self.client(url).get(url.clone())).await {
            Ok(fetched) if fetched.status.is_success() => fetched,
            Ok(_) => return Ok(FoundDocument::Nothing(None)),
            Err(FetchFailure::Unusable(error)) => return Ok(FoundDocument::Nothing(Some(error))),
            Err(FetchFailure::NoResponse(error)) => return Err(error),
        };
        Ok(fetched.json(what).map_or_else(|error| FoundDocument::Nothing(Some(error)), FoundDocument::Document))
    }

    /// Posts JSON.
    pub(super) async fn post_json(&self, url: &Url, json: String) -> Result<Fetched, OAuthError> {
        let request = self.client(url).post(url.clone()).header(CONTENT_TYPE, "application/json").body(json);
        Ok(self.send(url, request).await?)
    }

    /// Posts a form, with the user and the password of HTTP Basic authentication.
    pub(super) async fn post_form(
        &self,
        url: &Url,
        form: String,
        basic: Option<(String, String)>,
    ) -> Result<Fetched, OAuthError> {
        let mut request = self.client(url).post(url.clone()).header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        if let Some((user, password)) = basic {
            request = request.basic_auth(user, Some(password));
        }
        Ok(self.send(url, request.body(form)).await?)
    }

    /// Posts a message to the MCP server. Returns the status and the challenge.
    pub(super) async fn challenge(&self, url: &Url, message: &'static str) -> Result<(StatusCode, String), OAuthError> {
        let shown = shown(url);
        let request = self.client(url).post(url.clone()).header(CONTENT_TYPE, "application/json");
        let request = request.header(ACCEPT, "application/json, text/event-stream").body(message);
        let response = timeout(TIMEOUT, request.send()).await;
        let response = response.map_err(|_| slow(&shown))?.map_err(|error| unreachable(&shown, &error))?;
        let challenges = response.headers().get_all(WWW_AUTHENTICATE).iter();
        let challenges: Vec<_> = challenges.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
        Ok((response.status(), challenges.join(", ")))
    }

    async fn send(&self, url: &Url, request: RequestBuilder) -> Result<Fetched, FetchFailure> {
        let shown = shown(url);
        timeout(TIMEOUT, async {
            let checked = self.policy.check_resolved(url).await;
            checked.map_err(|error| FetchFailure::NoResponse(OAuthError::new(error)))?;
            received(request, &shown).await
        })
        .await
        .unwrap_or_else(|_| Err(FetchFailure::NoResponse(slow(&shown))))
    }
}

fn slow(shown: &str) -> OAuthError {
    OAuthError::temporary(format!("`{shown}` did not respond within {TIMEOUT:?}"))
}

fn unreachable(shown: &str, error: &reqwest::Error) -> OAuthError {
    match certificate_failure(error) {
        Some(fault) => OAuthError::new(format!("`{shown}` is not trusted: {fault}")),
        None => OAuthError::temporary(format!("`{shown}` cannot be reached")),
    }
}

async fn received(request: RequestBuilder, shown: &str) -> Result<Fetched, FetchFailure> {
    let lost =
        |_| FetchFailure::NoResponse(OAuthError::temporary(format!("`{shown}` disconnected before it responded")));
    let unusable = |message| Err(FetchFailure::Unusable(OAuthError::new(message)));
    let response = request.header(ACCEPT, "application/json").send().await;
    let mut response = response.map_err(|error| FetchFailure::NoResponse(unreachable(shown, &error)))?;
    let status = response.status();
    if status.is_redirection() {
        return unusable(format!("`{shown}` responded with a redirect, which is not followed"));
    }
    if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
        let error = OAuthError::temporary(format!("`{shown}` responded with status {status}"));
        return Err(FetchFailure::Unusable(error));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(lost)? {
        if chunk.len() > MAX_BYTES - body.len() {
            return unusable(format!("`{shown}` responded with more than {MAX_BYTES} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Fetched { status, body, shown: shown.to_owned() })
}

impl Fetched {
    /// Deserializes the body. The error does not quote it, since it may contain tokens.
    pub(super) fn json<T: DeserializeOwned>(&self, what: &str) -> Result<T, OAuthError> {
        serde_json::from_slice(&self.body)
            .map_err(|error| OAuthError::new(format!("`{}` is not {what}: {}", self.shown, place(&error))))
    }
}

/// Describes a JSON error without the values in its message.
fn place(error: &serde_json::Error) -> String {
    use serde_json::error::Category;

    let what = match error.classify() {
        Category::Data => "a field is missing or has the wrong type",
        _ => "invalid JSON",
    };
    format!("{what} at line {} column {}", error.line(), error.column())
}
