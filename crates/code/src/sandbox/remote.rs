//! Programs on another machine, over HTTP.

use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, LOCATION};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use toolkit::call::{BoxFuture, SecretString};
use toolkit_runtime::{Connections, ServerUrl, is_loopback};

use crate::engine::{Answer, Step};
use crate::limits::{Enforced, Limits, Profile};
use crate::program::Program;
use crate::sandbox::{Exchange, Readiness, Sandbox, SandboxError, SandboxInfo, Session, protocol, review};
use crate::wire::{self, GREETING_BYTES, Hello, SESSIONS, ToHost, ToWorker, WireError};

/// Runs each program on another machine, where a [`Server`](crate::server::Server) runs.
///
/// The tools run on this machine; only the program and the answers to its calls are sent. The messages of the server are
/// checked like those of a worker, so it can fail a program, but make no other call than the program could. Dropping a
/// session ends it there. The time on the network counts as time of the program; see
/// [`Limits::run_time`](crate::Limits::run_time).
///
/// For `https`, certificates are verified with the platform's certificate store; on Linux, the environment variable
/// `SSL_CERT_FILE` selects another file.
///
/// Sessions are opened in a runtime of tokio with I/O and time, and used in that runtime.
///
/// # Examples
///
/// ```
/// use toolkit_code::sandbox::{Remote, Sandbox};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let sandbox = Remote::new("https://sandbox.example.org", "s3cr3t".to_owned())?;
/// assert_eq!(sandbox.info().kind, "remote");
///
/// let error = Remote::new("http://sandbox.example.org", "s3cr3t".to_owned()).unwrap_err();
/// assert!(error.to_string().contains("`https://`"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Remote {
    client: SessionClient,
    profile: Profile,
    start_timeout: Duration,
}

/// The time that the server has to open a session, if the host sets no other.
const START_TIMEOUT: Duration = Duration::from_secs(60);

impl Remote {
    /// Creates a sandbox on the server at `url`, such as `https://sandbox.example.org`, to which the paths of requests are
    /// appended.
    ///
    /// # Errors
    ///
    /// Returns an error if `url` is not a URL with the scheme `https`, or `http` for this machine, or if it has a password
    /// or a query; also if the token has characters that a header cannot have.
    pub fn new(url: &str, token: impl Into<SecretString>) -> Result<Self, SandboxError> {
        Self::create(url, token.into(), false)
    }

    /// Creates a sandbox like [`Remote::new`], also with the scheme `http` for other machines. Everyone on the way can read
    /// the token, the programs and the results, so it is for networks without others.
    ///
    /// # Errors
    ///
    /// Returns the other errors of [`Remote::new`].
    pub fn unencrypted(url: &str, token: impl Into<SecretString>) -> Result<Self, SandboxError> {
        Self::create(url, token.into(), true)
    }

    fn create(url: &str, token: SecretString, is_unencrypted: bool) -> Result<Self, SandboxError> {
        let client = SessionClient::new(url, token, is_unencrypted)?;
        Ok(Self { client, profile: Profile::default(), start_timeout: START_TIMEOUT })
    }

    /// Trusts the certificate authorities in a PEM file, given as text, in addition to those of the platform.
    ///
    /// # Errors
    ///
    /// Returns an error if the text has no certificate, or a malformed one.
    pub fn trust(mut self, pem: &str) -> Result<Self, SandboxError> {
        self.client = self.client.trusting(pem)?;
        Ok(self)
    }

    /// Sets the profile. With [`Profile::Hardened`], no session is opened unless the server confirms that everything is
    /// enforced. Default: [`Profile::Standard`].
    #[must_use]
    pub fn profile(self, profile: Profile) -> Self {
        Self { profile, ..self }
    }

    /// Sets the time that the server has to open a session. Default: 60 seconds.
    #[must_use]
    pub fn start_timeout(self, timeout: Duration) -> Self {
        Self { start_timeout: timeout, ..self }
    }
}

impl Sandbox for Remote {
    fn info(&self) -> SandboxInfo {
        let details = [("host".to_owned(), self.client.host()), ("profile".to_owned(), self.profile.to_string())];
        SandboxInfo { kind: "remote".to_owned(), readiness: Readiness::Beta, details: details.into() }
    }

    fn open<'a>(&'a self, limits: &'a Limits) -> BoxFuture<'a, Result<Box<dyn Session>, SandboxError>> {
        Box::pin(async move {
            let opened = tokio::time::timeout(self.start_timeout, RemoteSession::open(&self.client, limits)).await;
            let timed_out = || SandboxError::unavailable(format!("no session in {:?}", self.start_timeout));
            let (mut session, missing) = opened.map_err(|_| timed_out())??;
            session.enforced = review(self.profile, std::mem::take(&mut session.enforced), missing)?;
            Ok(Box::new(session) as Box<dyn Session>)
        })
    }
}

toolkit::debug_fields!(it, Remote { host: it.client.host(), profile });

/// A server and the connections to it.
#[derive(Clone)]
struct SessionClient {
    url: ServerUrl,
    authorization: HeaderValue,
    connections: Connections,
}

/// A response with its body.
struct Received {
    location: Option<HeaderValue>,
    body: Bytes,
}

/// The maximum number of characters of a reason that the server gives.
const MAX_REASON: usize = 500;

impl SessionClient {
    fn new(url: &str, token: SecretString, is_unencrypted: bool) -> Result<Self, SandboxError> {
        let url = ServerUrl::parse(url).map_err(invalid_url)?;
        if !url.is_https() && !is_unencrypted && !is_loopback(url.authority().host()) {
            return Err(invalid_url("it must begin with `https://`, since the token and the programs are secret"));
        }
        let authorization = HeaderValue::from_str(&format!("Bearer {}", token.expose()));
        let mut authorization =
            authorization.map_err(|_| invalid_url("the token has characters that a header cannot have"))?;
        authorization.set_sensitive(true);
        Ok(Self { connections: Connections::to(&url), url, authorization })
    }

    fn trusting(self, pem: &str) -> Result<Self, SandboxError> {
        let connections = self.connections.clone().trust(pem);
        let connections =
            connections.map_err(|error| SandboxError::configuration(error.to_string()).with_source(error))?;
        Ok(Self { connections, ..self })
    }

    /// Returns the host with its port, for operators.
    fn host(&self) -> String {
        self.url.authority().to_string()
    }

    /// Sends a request and receives its response, of at most `max` bytes.
    async fn send(&self, method: Method, path: &str, body: Vec<u8>, max: usize) -> Result<Received, SandboxError> {
        let request = Request::builder()
            .method(method)
            .uri(self.url.at(path))
            .header(AUTHORIZATION, self.authorization.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(Full::from(body))
            .map_err(|error| SandboxError::unavailable(error.to_string()).with_source(error))?;
        let response = self.connections.request(request).await;
        let response = response.map_err(|error| SandboxError::unavailable(error.to_string()).with_source(error));
        receive(response?, max).await
    }
}

async fn receive(response: Response<Incoming>, max: usize) -> Result<Received, SandboxError> {
    let (parts, body) = response.into_parts();
    let max = if parts.status.is_success() { max } else { GREETING_BYTES };
    let body = Limited::new(body, max).collect().await.map_err(|error| match error.is::<LengthLimitError>() {
        true => protocol(WireError::TooLong(max)),
        false => SandboxError::unavailable("the server disconnected in the middle of its response").with_source(error),
    })?;
    let body = body.to_bytes();
    if parts.status.is_success() {
        return Ok(Received { location: parts.headers.get(LOCATION).cloned(), body });
    }
    let reason = match wire::decode(&body) {
        Ok(ToHost::Error(reason)) => reason.chars().take(MAX_REASON).collect::<String>().escape_debug().to_string(),
        _ => "its response is not one of a sandbox server; check the URL".to_owned(),
    };
    Err(match parts.status {
        StatusCode::BAD_GATEWAY => SandboxError::protocol(reason),
        status => SandboxError::unavailable(format!("the server responded with HTTP {}: {reason}", status.as_u16())),
    })
}

/// A session with a server. Dropping it ends the session there.
struct RemoteSession {
    client: SessionClient,
    path: String,
    exchange: Exchange,
    enforced: Enforced,
}

/// The time that the server has to end a session.
const END_TIMEOUT: Duration = Duration::from_secs(5);
/// The length of an id of a session, at most.
const MAX_ID: usize = 200;

impl RemoteSession {
    /// Opens a session. Also returns the mechanisms that are missing.
    async fn open(client: &SessionClient, limits: &Limits) -> Result<(Self, Vec<String>), SandboxError> {
        let hello = wire::encode(&ToWorker::Hello(Hello::new(*limits)), GREETING_BYTES).map_err(protocol)?;
        let Received { location, body } = client.send(Method::POST, SESSIONS, hello, GREETING_BYTES).await?;
        let read = wire::check_version(&body).and_then(|()| wire::decode(&body));
        let ready = match read {
            Ok(ToHost::Ready(ready)) => ready,
            Ok(_) => return Err(protocol(WireError::Invalid("expected `ready`".to_owned()))),
            Err(error) => return Err(protocol(error)),
        };
        let id = location.as_ref().and_then(|location| location.to_str().ok()?.rsplit('/').next());
        let id =
            id.filter(|id| (1..=MAX_ID).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        let id = id.ok_or_else(|| protocol(WireError::Invalid("the session has no location".to_owned())))?;
        let path = format!("{SESSIONS}/{id}");
        let exchange = Exchange::new(*limits);
        let session = Self { client: client.clone(), path, exchange, enforced: ready.enforced };
        Ok((session, ready.missing))
    }

    /// Sends a line and receives the answer. If it is canceled, the connection closes and the server ends the session.
    async fn send(&mut self, line: Vec<u8>) -> Result<Step, SandboxError> {
        let received = self.client.send(Method::POST, &self.path, line, self.exchange.max_line()).await?;
        self.exchange.read(&received.body)
    }
}

impl Session for RemoteSession {
    fn enforced(&self) -> &Enforced {
        &self.enforced
    }

    fn start<'a>(&'a mut self, program: &'a Program) -> BoxFuture<'a, Result<Step, SandboxError>> {
        Box::pin(async move {
            let line = self.exchange.start(program)?;
            self.send(line).await
        })
    }

    fn resume(&mut self, answers: Vec<Answer>) -> BoxFuture<'_, Result<Step, SandboxError>> {
        Box::pin(async move {
            let line = self.exchange.resume(&answers)?;
            drop(answers);
            self.send(line).await
        })
    }
}

impl Drop for RemoteSession {
    fn drop(&mut self) {
        if self.exchange.is_done() {
            return;
        }
        // Without a runtime the server ends it when its time is over.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (client, path) = (self.client.clone(), std::mem::take(&mut self.path));
        runtime.spawn(async move {
            let end = client.send(Method::DELETE, &path, Vec::new(), GREETING_BYTES);
            let _ = tokio::time::timeout(END_TIMEOUT, end).await;
        });
    }
}

fn invalid_url(reason: &str) -> SandboxError {
    SandboxError::configuration(format!("not the URL of a sandbox: {reason}"))
}
