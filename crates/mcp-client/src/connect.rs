//! Connecting to a server, with negotiation of the protocol revision.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit_mcp::{Code, MODERN};

use super::connection::Connection;
use super::endpoint::Endpoint;
use super::failure::Failure;
use super::http::HttpTransport;
use super::observe::negotiation;
use super::outgoing::Request;
use super::peer::{Peer, PeerAnswer};
use super::process::{ExitState, Process, Program};
use super::questions::Users;
use super::remote::{Limits, Remote, RemoteTarget};
use super::server_info::{ServerInfo, has_initialize};
use super::stdio::Stdio;
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

/// The reason why client and server do not agree on a revision.
#[derive(Debug)]
pub(super) enum Disagreement {
    Failure(Failure),
    /// The server has only these revisions.
    Revisions(Vec<String>),
    /// The answer is not that of an MCP server.
    Invalid,
}

/// How a connection begins.
#[derive(Clone, Copy)]
enum Beginning {
    /// With `initialize`, in this revision.
    Initialize(Option<&'static str>),
    /// With `server/discover`.
    Discover,
    /// With `server/discover`, or else `initialize`.
    Either,
}

/// The time after which a server that does not respond to `server/discover` receives `initialize`.
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
            RemoteTarget::Stdio(program) => over_stdio(remote, program, earlier, changes, watches).await,
            RemoteTarget::Http(endpoint) => over_http(remote, endpoint, earlier.era, changes, watches).await,
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
    let mut exit_state = Arc::new(ExitState::default());
    let mut peer = start(remote, program, changes, watches, &exit_state)?;
    let beginning = beginning(remote, earlier.era_of_process());
    let mut agreed = negotiation(remote, beginning.method(), begin(&peer, beginning)).await;
    if agreed.is_err() && earlier.may_start_twice() && remote.choices.revision.is_none() {
        exit_state = Arc::new(ExitState::default());
        peer = start(remote, program, changes, watches, &exit_state)?;
        let beginning = Beginning::Initialize(None);
        agreed = negotiation(remote, beginning.method(), begin(&peer, beginning)).await;
    }
    match agreed {
        Ok(()) => Ok(Connection::new(peer, exit_state, watches, remote)),
        Err(error) => Err(remote.not_connected(&error, &exit_state)),
    }
}

/// Starts the process of a server.
fn start(
    remote: &Remote,
    program: &Program,
    changes: &watch::Sender<u64>,
    watches: &Arc<Watches>,
    exit_state: &Arc<ExitState>,
) -> Result<Arc<Peer>, ToolError> {
    let started = Process::start(program, &remote.name, exit_state).map_err(|error| {
        // The command may contain expanded variables, and the status contains the message.
        let (what, cause) = match program.current_dir.as_deref().filter(|folder| !folder.is_dir()) {
            Some(folder) => ("its `cwd` is not a directory".to_owned(), folder.display().to_string()),
            None => (error.kind().to_string(), program.command.display().to_string()),
        };
        ToolError::new(ErrorKind::Unavailable, format!("{remote} cannot be started: {what}"))
            .caused_by(format!("`{cause}`: {error}"))
    })?;
    let (stdio, reader) = Stdio::new(started, exit_state, remote.message_limit());
    let peer = Peer::new(stdio, Users::of(remote), changes.clone(), remote.resources.clone(), watches);
    reader.start(&peer);
    Ok(peer)
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
    let exit_state = Arc::new(ExitState::default());
    let begun = Instant::now();
    let attempt = async |beginning| {
        // What an earlier attempt has waited is not waited again.
        let limits = Limits { start: remote.limits.start.saturating_sub(begun.elapsed()), ..remote.limits };
        let http = HttpTransport::new(client.clone(), endpoint, authorizer.clone(), &limits, remote.message_limit());
        let peer = Peer::new(http, Users::of(remote), changes.clone(), remote.resources.clone(), watches);
        begin(&peer, beginning).await.map(|()| peer)
    };
    let beginning = if endpoint.is_sse { Beginning::Initialize(None) } else { beginning(remote, era) };
    let negotiating = async {
        let Beginning::Either = beginning else { return attempt(beginning).await };
        match timeout(PROBE_TIMEOUT, attempt(Beginning::Discover)).await {
            Ok(Err(error)) if error.may_initialize() => {}
            Ok(discovered) => return discovered,
            Err(_) => {}
        }
        attempt(Beginning::Initialize(None)).await
    };
    let peer = negotiation(remote, beginning.method(), negotiating).await;
    let peer = peer.map_err(|error| remote.not_connected(&error, &exit_state))?;
    Ok(Connection::new(peer, exit_state, watches, remote))
}

impl Disagreement {
    /// Returns true if a server that has refused `server/discover` may accept `initialize`. Servers of earlier revisions
    /// refuse the unknown request in any way: with each status, with texts, pages, and errors about a missing session, or by
    /// closing the connection. Only a list of other revisions shows that the server has understood it.
    fn may_initialize(&self) -> bool {
        match self {
            Self::Revisions(theirs) => theirs.is_empty() || theirs.iter().any(|version| has_initialize(version)),
            // The request was not sent.
            Self::Failure(failure) => !matches!(failure, Failure::Authorization(_)),
            Self::Invalid => true,
        }
    }
}

impl Beginning {
    fn method(self) -> &'static str {
        match self {
            Self::Initialize(_) => "initialize",
            Self::Discover | Self::Either => "server/discover",
        }
    }
}

fn beginning(remote: &Remote, era: Option<Era>) -> Beginning {
    match (remote.choices.revision, era) {
        (Some(revision), _) if !has_initialize(revision) => Beginning::Discover,
        (Some(revision), _) => Beginning::Initialize(Some(revision)),
        (None, Some(Era::Initialize)) => Beginning::Initialize(None),
        _ => Beginning::Either,
    }
}

/// Agrees on a revision with the server.
async fn begin(peer: &Arc<Peer>, beginning: Beginning) -> Result<(), Disagreement> {
    match beginning {
        Beginning::Initialize(revision) => initialized(peer, revision).await,
        Beginning::Discover => discovered(peer).await,
        Beginning::Either => match timeout(PROBE_TIMEOUT, discovered(peer)).await {
            Ok(Err(error)) if error.may_initialize() && !peer.is_closed() => initialized(peer, None).await,
            Ok(agreed) => agreed,
            Err(_) => initialized(peer, None).await,
        },
    }
}

async fn initialized(peer: &Arc<Peer>, revision: Option<&str>) -> Result<(), Disagreement> {
    let request = Request::initialize(revision, peer.users.capabilities());
    let result = peer.ask(&request).await.map_err(Disagreement::Failure)?;
    let info = ServerInfo::initialized(&result).ok_or(Disagreement::Invalid)?;
    agree(peer, info);
    peer.transport().begin(peer).await.map_err(Disagreement::Failure)
}

async fn discovered(peer: &Arc<Peer>) -> Result<(), Disagreement> {
    let request = Request::new("server/discover");
    let mut answer = peer.ask(&request).await;
    if supported_by(&answer).is_some_and(|theirs| theirs.iter().any(|version| version == MODERN)) {
        // A server that has refused the revision it supports may accept it the next time.
        answer = peer.ask(&request).await;
    }
    let result = match (supported_by(&answer), answer) {
        (Some(theirs), _) => return Err(Disagreement::Revisions(theirs)),
        (None, answer) => answer.map_err(Disagreement::Failure)?,
    };
    let info = ServerInfo::discovered(&result);
    agree(peer, info.map_err(|theirs| theirs.map_or(Disagreement::Invalid, Disagreement::Revisions))?);
    Ok(())
}

fn agree(peer: &Peer, info: ServerInfo) {
    peer.transport().agreed(&info.version);
    peer.set_info(info);
}

/// Returns the revisions in an error about an unsupported one.
fn supported_by(answer: &PeerAnswer) -> Option<Vec<String>> {
    match answer {
        Err(Failure::Rpc(error)) if error.has_code(Code::UnsupportedVersion) => {
            let supported = error.data.as_ref().and_then(|data| data.get("supported")?.as_array());
            let supported = supported.into_iter().flatten().filter_map(|version| version.as_str());
            Some(supported.map(str::to_owned).collect())
        }
        _ => None,
    }
}
