//! Programs on another machine.

mod client;
mod session;

use std::fmt;
use std::time::Duration;

use toolkit::call::{BoxFuture, SecretString};
/// The error of `Remote::trust`.
pub use toolkit_runtime::PemError;

use self::client::Client;
pub use self::client::UrlError;
use self::session::RemoteSession;
use super::super::limits::Limits;
use super::super::profile::Profile;
use super::{Readiness, Sandbox, SandboxError, SandboxInfo, Session, review};

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
    client: Client,
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
    pub fn new(url: &str, token: impl Into<SecretString>) -> Result<Self, UrlError> {
        Self::create(url, token.into(), false)
    }

    /// Creates a sandbox like [`Remote::new`], also with the scheme `http` for other machines. Everyone on the way can read
    /// the token, the programs and the results, so it is for networks without others.
    ///
    /// # Errors
    ///
    /// Returns the other errors of [`Remote::new`].
    pub fn unencrypted(url: &str, token: impl Into<SecretString>) -> Result<Self, UrlError> {
        Self::create(url, token.into(), true)
    }

    fn create(url: &str, token: SecretString, is_unencrypted: bool) -> Result<Self, UrlError> {
        let client = Client::new(url, token, is_unencrypted)?;
        Ok(Self { client, profile: Profile::default(), start_timeout: START_TIMEOUT })
    }

    /// Trusts the certificate authorities in a PEM file, given as text, in addition to those of the platform.
    ///
    /// # Errors
    ///
    /// Returns an error if the text has no certificate, or a malformed one.
    pub fn trust(mut self, pem: &str) -> Result<Self, PemError> {
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
            let timed_out = || SandboxError::Unavailable(format!("no session in {:?}", self.start_timeout));
            let (mut session, missing) = opened.map_err(|_| timed_out())??;
            session.enforced = review(self.profile, std::mem::take(&mut session.enforced), missing)?;
            Ok(Box::new(session) as Box<dyn Session>)
        })
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("host", &self.client.host())
            .field("profile", &self.profile)
            .finish_non_exhaustive()
    }
}
