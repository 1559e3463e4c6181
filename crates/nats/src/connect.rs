//! The connection to a server of NATS, and its errors.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::{Client, ConnectOptions, Event, ServerAddr};
use tokio::sync::broadcast::Sender;
use toolkit::call::BoxError;
use toolkit_runtime::is_loopback;

/// The address of a NATS server, and the credentials for it.
///
/// # Examples
///
/// ```no_run
/// use toolkit_nats::Connect;
///
/// # fn main() -> Result<(), toolkit_nats::NatsError> {
/// let connect = Connect::new("tls://nats-1.example.org,tls://nats-2.example.org")?
///     .credentials_file("/etc/orders/worker.creds")
///     .trust("/etc/ssl/nats-ca.pem");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct Connect {
    servers: Vec<ServerAddr>,
    options: ConnectOptions,
    credentials_file: Option<PathBuf>,
    inbox_prefix: String,
    requires_tls: bool,
}

/// The interval of pings. A server that does not answer two of them is considered lost.
const PING_INTERVAL: Duration = Duration::from_secs(10);

/// The lower and upper bound of the delay between attempts to reconnect.
const RECONNECT: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];

impl Connect {
    /// Creates the address from one or more URLs, separated by commas: `nats://HOST[:PORT]`, or `tls://HOST[:PORT]` to
    /// require TLS for all servers.
    ///
    /// # Errors
    ///
    /// Returns an error if the syntax of a URL is invalid.
    pub fn new(urls: &str) -> Result<Self, NatsError> {
        let servers: Result<Vec<ServerAddr>, _> = urls.split(',').map(|url| url.trim().parse()).collect();
        let servers = servers.map_err(NatsError::Url)?;
        // The client also connects to servers that a server announces, whose addresses have no scheme.
        let requires_tls = servers.iter().any(ServerAddr::tls_required);
        let options = ConnectOptions::new().require_tls(requires_tls);
        Ok(Self { servers, options, credentials_file: None, inbox_prefix: "_INBOX".to_owned(), requires_tls })
    }

    /// Authenticates with a file of credentials (a JWT and its key), as `nsc` writes it.
    pub fn credentials_file(mut self, path: impl AsRef<Path>) -> Self {
        self.credentials_file = Some(path.as_ref().to_owned());
        self
    }

    /// Authenticates with the seed of an `NKey`.
    pub fn nkey(mut self, seed: impl Into<String>) -> Self {
        self.options = self.options.nkey(seed.into());
        self
    }

    /// Authenticates with a user name and a password.
    pub fn user_and_password(mut self, user: impl Into<String>, password: impl Into<String>) -> Self {
        self.options = self.options.user_and_password(user.into(), password.into());
        self
    }

    /// Authenticates with a token.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.options = self.options.token(token.into());
        self
    }

    /// Trusts the certificate authorities in a PEM file, instead of those of the platform.
    pub fn trust(mut self, path: impl AsRef<Path>) -> Self {
        self.options = self.options.add_root_certificates(path.as_ref().to_owned());
        self
    }

    /// Requires TLS for `nats://` URLs too.
    pub fn require_tls(mut self) -> Self {
        self.options = self.options.require_tls(true);
        self.requires_tls = true;
        self
    }

    /// Sets the prefix of the subjects on which a caller receives results. Default: `_INBOX`. With a prefix for each user,
    /// permissions can prevent that one user reads the results of another.
    pub fn inbox_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.inbox_prefix = prefix.into();
        self
    }

    /// Returns true if others cannot read what is sent: with TLS, or on this machine.
    pub(crate) fn is_confidential(&self) -> bool {
        self.requires_tls || self.is_local()
    }

    /// Returns true if all servers run on this machine.
    fn is_local(&self) -> bool {
        self.servers.iter().all(|server| is_loopback(server.host()))
    }

    /// Returns a new subject for the answers of this caller, without a wildcard.
    pub(crate) fn inbox(&self, caller: &str) -> String {
        format!("{}.tk.{caller}", self.inbox_prefix)
    }

    /// Connects. `denied` receives the subjects to which this user may not publish.
    pub(crate) async fn client(&self, name: &str, denied: Sender<String>) -> Result<Client, NatsError> {
        let mut options = self.options.clone();
        if let Some(path) = &self.credentials_file {
            let file = options.credentials_file(path).await;
            options = file.map_err(|source| NatsError::Credentials { path: path.clone(), source })?;
        }
        if !self.requires_tls && self.is_local() {
            // A server may announce others, which are elsewhere.
            options = options.ignore_discovered_servers();
        }
        let options = options
            .name(name)
            .custom_inbox_prefix(&self.inbox_prefix)
            .ping_interval(PING_INTERVAL)
            .event_callback(move |event| {
                let denied = denied.clone();
                async move { report(&event, &denied) }
            })
            .reconnect_delay_callback(|n_attempts| {
                let [first, longest] = RECONNECT;
                let factor = 2_u32.saturating_pow(u32::try_from(n_attempts).unwrap_or(u32::MAX).saturating_sub(1));
                first.saturating_mul(factor).min(longest).mul_f64(0.5 + fastrand::f64() / 2.0)
            });
        options.connect(&self.servers[..]).await.map_err(|error| NatsError::Connect(error.into()))
    }
}

/// Reports an error of the server to the log, and to the calls that it rejects.
fn report(event: &Event, denied: &Sender<String>) {
    match event {
        Event::ServerError(error) => {
            tracing::warn!(%error, "the NATS server reported an error");
            let text = error.to_string();
            let subject =
                text.to_ascii_lowercase().find(PUBLISH_DENIED).map(|start| &text[start + PUBLISH_DENIED.len()..]);
            if let Some(subject) = subject.and_then(|rest| rest.split('"').next()) {
                // Fails if no call runs.
                let _ = denied.send(subject.to_owned());
            }
        }
        Event::SlowConsumer(_) => {
            tracing::warn!("messages of the NATS server were dropped, since they were not read in time")
        }
        event => tracing::debug!(%event, "the connection to NATS has changed"),
    }
}

/// The part of an error of the server before the subject, in lower case.
const PUBLISH_DENIED: &str = "permissions violation for publish to \"";

/// Contains no credentials.
impl fmt::Debug for Connect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers: Vec<String> =
            self.servers.iter().map(|server| format!("{}:{}", server.host(), server.port())).collect();
        f.debug_struct("Connect").field("servers", &servers).finish_non_exhaustive()
    }
}

/// The error of a connection, and of a [`Worker`](crate::Worker) that cannot serve its tools.
///
/// # Examples
///
/// ```
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_nats::{Connect, NatsError, Worker};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let connect = Connect::new("nats://127.0.0.1:1")?;
/// let error = Worker::new(connect, Dispatcher::new(Catalog::new([])?)?).run(async {}).await.unwrap_err();
/// assert!(matches!(error, NatsError::Connect(_)));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum NatsError {
    /// The text is not the URL of a NATS server.
    ///
    /// ```
    /// use toolkit_nats::Connect;
    ///
    /// let error = Connect::new("https://example.org").unwrap_err();
    /// assert!(error.to_string().starts_with("not the URL of a NATS server: "));
    /// ```
    Url(io::Error),
    /// The file of the credentials cannot be read.
    #[non_exhaustive]
    Credentials {
        /// The file.
        path: PathBuf,
        /// The error of the file.
        source: io::Error,
    },
    /// No connection to a server, or it rejects the credentials.
    Connect(BoxError),
    /// The connection was closed.
    Closed(BoxError),
    /// The definition of a tool exceeds the size of a message on the server.
    DefinitionTooLarge {
        /// The size of the definition in bytes.
        n_bytes: usize,
        /// The size limit in bytes.
        limit: usize,
    },
    /// The server did not create a bucket.
    #[non_exhaustive]
    Bucket {
        /// The name of the bucket.
        bucket: String,
        /// The error of the server.
        source: BoxError,
    },
}

impl NatsError {
    pub(crate) fn closed(error: impl Into<BoxError>) -> Self {
        Self::Closed(error.into())
    }

    pub(crate) fn bucket(bucket: String, error: impl Into<BoxError>) -> Self {
        Self::Bucket { bucket, source: error.into() }
    }
}

impl fmt::Display for NatsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(reason) => write!(f, "not the URL of a NATS server: {reason}"),
            Self::Credentials { path, source } => {
                write!(f, "cannot connect to NATS: {}: {source}", path.display())
            }
            Self::Connect(reason) => write!(f, "cannot connect to NATS: {reason}"),
            Self::Closed(reason) => write!(f, "the connection to NATS is closed: {reason}"),
            Self::Bucket { bucket, source } => write!(f, "the bucket `{bucket}` was not created: {source}"),
            Self::DefinitionTooLarge { n_bytes, limit } => {
                write!(f, "the definition of a tool has {n_bytes} bytes, and the NATS server accepts at most {limit}")
            }
        }
    }
}

impl Error for NatsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Url(source) | Self::Credentials { source, .. } => Some(source),
            Self::Connect(source) | Self::Closed(source) | Self::Bucket { source, .. } => Some(&**source),
            Self::DefinitionTooLarge { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tls_and_loopback_are_confidential() {
        for (urls, is_confidential) in [
            ("nats://localhost", true),
            ("nats://127.0.0.1:4222,nats://[::1]", true),
            ("nats://127.0.0.1,nats://10.0.0.1", false),
            ("nats://example.org", false),
            ("nats://localhost.example.org", false),
            ("tls://example.org,nats://10.0.0.1", true),
        ] {
            assert_eq!(Connect::new(urls).unwrap().is_confidential(), is_confidential, "{urls}");
        }
        assert!(Connect::new("nats://example.org").unwrap().require_tls().is_confidential());
    }

    #[tokio::test]
    async fn an_absent_file_of_credentials_differs_from_a_server_that_cannot_be_reached() {
        // Nothing listens at this port.
        let connect = Connect::new("nats://127.0.0.1:1").unwrap();
        let client = async |connect: &Connect| connect.client("test", Sender::new(1)).await.unwrap_err();
        let error = client(&connect.clone().credentials_file("/absent/worker.creds")).await;
        let NatsError::Credentials { path, source } = &error else { panic!("{error}") };
        assert!(path.ends_with("absent/worker.creds") && source.to_string().contains("No such file"), "{error}");
        assert!(error.source().is_some_and(|source| source.is::<io::Error>()), "{error:?}");
        let error = client(&connect).await;
        let source = error.source().and_then(|source| source.downcast_ref::<async_nats::ConnectError>());
        assert!(matches!(error, NatsError::Connect(_)) && source.is_some(), "{error:?}");
    }
}
