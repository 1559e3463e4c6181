//! Connecting to a server, with negotiation of the protocol revision.

use std::sync::Arc;
use std::time::Duration;

use http::header::AUTHORIZATION;
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientInitializeError, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientLifecycleMode, serve_client_with_lifecycle};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use toolkit::ToolError;
use toolkit::call::ErrorKind;

use super::connection::Connection;
use super::endpoint::Endpoint;
use super::exchange::authorization_error;
use super::http::Http;
use super::legacy_sse::LegacySse;
use super::lines::Lines;
use super::observe::negotiation;
use super::process::{ExitState, Process, Program};
use super::questions::Handler;
use super::remote::{Limits, Remote, Target};
use super::screen::Screen;
use super::watches::Watches;

/// The way a server starts a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// With `initialize`, in revisions up to 2025-11-25.
    Initialize,
    /// With `server/discover`, since revision 2026-07-28.
    Discover,
}

/// The outcome of earlier attempts to connect.
#[derive(Clone, Copy, Debug)]
pub(super) struct Earlier {
    /// The era of the last connection.
    pub(super) era: Option<Era>,
    /// The number of attempts since then that have failed.
    pub(super) n_failed: u32,
}

impl Earlier {
    /// Returns the era in which a process is started. After a failure, attempts alternate, since some servers of earlier
    /// revisions exit on any request before `initialize`.
    fn era_of_process(self) -> Option<Era> {
        if self.n_failed > 0 && self.n_failed.is_multiple_of(2) { Some(Era::Initialize) } else { self.era }
    }

    /// Returns true if the attempt may start a process for each era. Only the first one may, so that a server which exits at
    /// once is started once for each of the others.
    fn may_start_twice(self) -> bool {
        self.n_failed == 0 && self.era != Some(Era::Initialize)
    }
}

type Running = RunningService<RoleClient, Handler>;

/// The maximum number of times that an interrupted HTTP stream is resumed.
const MAX_RESUMED: usize = 3;

/// The time after which an HTTP server that does not respond to `server/discover` receives `initialize`.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// Connects to a server. Starts with the era of the last connection if there was one.
pub(super) async fn connect(
    remote: &Remote,
    earlier: Earlier,
    changes: &watch::Sender<u64>,
    watches: &Arc<Watches>,
) -> Result<(Connection, Era), ToolError> {
    let attempt = async {
        match &*remote.target {
            Target::Stdio(program) => over_stdio(remote, program, earlier, changes, watches).await,
            Target::Http(endpoint) => over_http(remote, endpoint, earlier.era, changes, watches).await,
        }
    };
    let connection = timeout(remote.limits.start, attempt).await.unwrap_or_else(|_| {
        let message = format!("{remote} did not respond within {:?} while connecting", remote.limits.start);
        Err(ToolError::new(ErrorKind::Unavailable, message))
    })?;
    let era = if connection.is_legacy() { Era::Initialize } else { Era::Discover };
    Ok((connection, era))
}

async fn over_stdio(
    remote: &Remote,
    program: &Program,
    earlier: Earlier,
    changes: &watch::Sender<u64>,
    watches: &Arc<Watches>,
) -> Result<Connection, ToolError> {
    let exit_state = Arc::new(ExitState::default());
    match start(remote, program, mode(remote, earlier.era_of_process()), changes, &exit_state).await? {
        Ok(running) => Ok(Connection::new(running, exit_state, changes.clone(), watches, remote)),
        Err(error) if !earlier.may_start_twice() || remote.choices.revision.is_some() => {
            Err(remote.not_connected(&error, &exit_state))
        }
        Err(_) => {
            let exit_state = Arc::new(ExitState::default());
            let running = start(remote, program, mode(remote, Some(Era::Initialize)), changes, &exit_state).await?;
            let running = running.map_err(|error| remote.not_connected(&error, &exit_state))?;
            Ok(Connection::new(running, exit_state, changes.clone(), watches, remote))
        }
    }
}

async fn start(
    remote: &Remote,
    program: &Program,
    mode: ClientLifecycleMode,
    changes: &watch::Sender<u64>,
    exit_state: &Arc<ExitState>,
) -> Result<Result<Running, ClientInitializeError>, ToolError> {
    let started = Process::start(program, &remote.name, exit_state).map_err(|error| {
        // The command may contain expanded variables, and the status contains the message.
        let (what, cause) = match program.current_dir.as_deref().filter(|folder| !folder.is_dir()) {
            Some(folder) => ("its `cwd` is not a directory".to_owned(), folder.display().to_string()),
            None => (error.kind().to_string(), program.command.display().to_string()),
        };
        ToolError::new(ErrorKind::Unavailable, format!("{remote} cannot be started: {what}"))
            .caused_by(format!("`{cause}`: {error}"))
    })?;
    let screen = Screen::new(changes.clone(), remote.resources.clone(), max_parsed(remote));
    let lines = Lines::new(started, Arc::clone(exit_state), screen, changes.clone(), remote.limits.message_bytes);
    Ok(negotiation(remote, &mode.clone(), serve_client_with_lifecycle(remote.handler(), lines, mode)).await)
}

async fn over_http(
    remote: &Remote,
    endpoint: &Endpoint,
    era: Option<Era>,
    changes: &watch::Sender<u64>,
    watches: &Arc<Watches>,
) -> Result<Connection, ToolError> {
    let no_tls =
        |error| ToolError::new(ErrorKind::Unavailable, format!("TLS for {remote} is not available")).caused_by(error);
    let client = endpoint.client().map_err(no_tls)?;
    let authorizer = endpoint.authorizer().map_err(no_tls)?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(endpoint.url.as_str());
    let mut resuming = ExponentialBackoff::default();
    resuming.max_times = Some(MAX_RESUMED);
    config.retry_config = Arc::new(resuming);
    // Requests beyond it would wait for others, also those that check whether the server still answers.
    config.max_concurrent_requests = usize::MAX;
    for (name, value) in &endpoint.headers {
        if !(name == AUTHORIZATION && (endpoint.token.is_some() || authorizer.is_some())) {
            config.custom_headers.insert(name.clone(), value.clone());
        }
    }
    config.auth_header = endpoint.token.as_ref().map(|token| token.expose().to_owned());
    let exit_state = Arc::new(ExitState::default());
    let begun = Instant::now();
    let attempt = async |mode: ClientLifecycleMode| {
        let screen = Screen::new(changes.clone(), remote.resources.clone(), max_parsed(remote));
        // What an earlier attempt has waited is not waited again.
        let limits = Limits { start: remote.limits.start.saturating_sub(begun.elapsed()), ..remote.limits };
        let http = Http::new(client.clone(), &limits, screen, authorizer.clone(), Arc::clone(watches));
        let (handler, config) = (remote.handler(), config.clone());
        match endpoint.is_sse {
            true => {
                let transport = StreamableHttpClientTransport::with_client(LegacySse::new(http), config);
                serve_client_with_lifecycle(handler, transport, mode).await
            }
            false => {
                let transport = StreamableHttpClientTransport::with_client(http, config);
                serve_client_with_lifecycle(handler, transport, mode).await
            }
        }
    };
    let mode = if endpoint.is_sse { ClientLifecycleMode::Initialize } else { mode(remote, era) };
    let negotiating = async {
        let ClientLifecycleMode::Auto { preferred_versions, .. } = mode.clone() else {
            return attempt(mode.clone()).await;
        };
        let discovered = attempt(ClientLifecycleMode::Discover { preferred_versions });
        match timeout(PROBE_TIMEOUT, discovered).await {
            Ok(Err(error)) if may_initialize(&error) => {}
            Ok(discovered) => return discovered,
            Err(_) => {}
        }
        // On a transport of its own, since `rmcp` ends the first one with most errors.
        attempt(ClientLifecycleMode::Initialize).await
    };
    let running = negotiation(remote, &mode, negotiating).await;
    let running = running.map_err(|error| remote.not_connected(&error, &exit_state))?;
    Ok(Connection::new(running, exit_state, changes.clone(), watches, remote))
}

/// Returns true if a server that has refused `server/discover` may accept `initialize`. Servers of earlier revisions refuse
/// the unknown request in any way: with each status, with texts, pages, and errors about a missing session, or by closing
/// the connection. Only a list of other revisions shows that the server has understood it.
fn may_initialize(error: &ClientInitializeError) -> bool {
    match error {
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            server_supported.is_empty() || server_supported.iter().any(ProtocolVersion::has_initialize)
        }
        // The request was not sent.
        ClientInitializeError::TransportError { error, .. } => authorization_error(error).is_none(),
        _ => true,
    }
}

/// Returns the number of tools of a list that are parsed: one more than the limit, which shows that the list is longer.
fn max_parsed(remote: &Remote) -> usize {
    remote.limits.tools.saturating_add(1)
}

fn mode(remote: &Remote, era: Option<Era>) -> ClientLifecycleMode {
    match (&remote.choices.revision, era) {
        (Some(revision), _) if !revision.has_initialize() => {
            ClientLifecycleMode::Discover { preferred_versions: vec![revision.clone()] }
        }
        (Some(_), _) | (None, Some(Era::Initialize)) => ClientLifecycleMode::Initialize,
        _ => ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::LATEST],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        },
    }
}
