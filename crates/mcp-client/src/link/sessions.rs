//! The connections of single sessions of clients, to a server that has one for each.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::{Instant, sleep};
use toolkit::call::ErrorKind;
use toolkit::{Context, ToolError};
use toolkit_runtime::Mutex;

use super::Link;

/// The connections, by the id of the session.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<OpenSessions>);

type OpenSessions = HashMap<Box<str>, Session>;

struct Session {
    link: Arc<Link>,
    /// The name of the caller with whose call it has begun.
    caller: Box<str>,
    used_at: Instant,
}

/// The time after which a connection that no call uses is closed, unless the configuration states another one. Many clients do
/// not end their sessions.
const MAX_IDLE: Duration = Duration::from_secs(600);

/// The maximum number of connections, unless the configuration states another one.
pub(crate) const MAX_SESSIONS: usize = 64;

/// The maximum ratio of the connections of a caller to those that are left, as for the calls of a tool.
const SHARE: usize = 3;

impl Session {
    /// Returns true if no call and no subscription uses the connection, each of which has a reference of its own.
    fn is_idle(&self) -> bool {
        Arc::strong_count(&self.link) == 1
    }
}

impl Sessions {
    /// Returns the connection for the caller: that of its session, if the server has one for each. Clients over stdio, and
    /// programs that call tools themselves, use the connection of the backend.
    ///
    /// A caller gets another connection as long as it has fewer than three times the number that is left. Beyond that, the
    /// connection that was not used for the longest time makes room: one of this caller, or if none is left, also one of a
    /// caller with more.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller has no session, or all connections that could make room are in use.
    pub(crate) fn link_for(shared: &Arc<Link>, context: &Context) -> Result<Arc<Link>, ToolError> {
        let (remote, request) = (&shared.remote, context.request());
        let Some(max_sessions) = remote.choices.max_sessions.filter(|_| request.path().is_some()) else {
            return Ok(Arc::clone(shared));
        };
        shared.check_stopped()?;
        let session = request.session().ok_or_else(|| {
            let message = format!(
                "{remote} has a connection for each session, and the client has no session: sessions need a revision \
                 up to 2025-11-25"
            );
            ToolError::new(ErrorKind::MissingRequirements, message)
        })?;
        let caller = request.caller().unwrap_or_default();
        let mut open = shared.sessions.0.lock();
        if let Some(session) = open.get_mut(session) {
            session.used_at = Instant::now();
            return Ok(Arc::clone(&session.link));
        }
        let (n_open, n_own) = (open.len(), n_of(&open, caller));
        let n_left = max_sessions.saturating_sub(n_open);
        let ended = match n_own < n_left.saturating_mul(SHARE) {
            true => None,
            false => Some(remove_idlest(&mut open, caller, n_left).ok_or_else(|| {
                let limit = match n_left {
                    0 => format!("its limit of {max_sessions} sessions"),
                    _ => format!("the limit of one caller, who has {n_own} of its {max_sessions} sessions"),
                };
                ToolError::new(ErrorKind::Overloaded, format!("{remote} is at {limit}; try again later"))
            })?),
        };
        let link = Arc::new(shared.of_session());
        let used_at = Instant::now();
        open.insert(session.into(), Session { link: Arc::clone(&link), caller: caller.into(), used_at });
        drop(open);
        drop(ended);
        if n_open == 0 {
            tokio::spawn(close_idle(Arc::downgrade(shared), remote.limits.idle.unwrap_or(MAX_IDLE)));
        }
        Ok(link)
    }

    /// Closes the connection of a session.
    pub(crate) fn end(&self, session: &str) {
        let ended = self.0.lock().remove(session);
        drop(ended);
    }

    /// Removes all connections.
    pub(crate) fn take(&self) -> Vec<Arc<Link>> {
        self.0.lock().drain().map(|(_, session)| session.link).collect()
    }

    /// Returns the number of calls that run as tasks.
    pub(crate) fn n_tasks(&self) -> u64 {
        self.0.lock().values().map(|session| session.link.n_tasks()).sum()
    }

    /// Removes the connections that were not used for `max_idle`. Returns false if none is left.
    fn remove_idle(&self, max_idle: Duration) -> bool {
        let mut open = self.0.lock();
        let now = Instant::now();
        open.values_mut().filter(|session| !session.is_idle()).for_each(|session| session.used_at = now);
        let is_over = |session: &Session| now - session.used_at > max_idle;
        let idle: Vec<Session> = open.extract_if(|_, session| is_over(session)).map(|(_, session)| session).collect();
        let is_left = !open.is_empty();
        drop(open);
        drop(idle);
        is_left
    }
}

/// Returns the number of sessions of a caller.
fn n_of(open: &OpenSessions, caller: &str) -> usize {
    open.values().filter(|session| *session.caller == *caller).count()
}

/// Removes the session that was not used for the longest time: of this caller, or if none is left, also of one with more.
fn remove_idlest(open: &mut OpenSessions, caller: &str, n_left: usize) -> Option<Session> {
    let n_own = n_of(open, caller);
    let makes_room = |session: &Session| {
        let is_own = *session.caller == *caller;
        session.is_idle() && (is_own || (n_left == 0 && n_of(open, &session.caller) > n_own))
    };
    let idle = open.iter().filter(|(_, session)| makes_room(session));
    let name = idle.min_by_key(|(_, session)| session.used_at)?.0.clone();
    open.remove(&name)
}

/// Closes idle connections until none is left.
async fn close_idle(shared: Weak<Link>, max_idle: Duration) {
    loop {
        sleep(max_idle / 10).await;
        match shared.upgrade() {
            Some(shared) if shared.sessions.remove_idle(max_idle) => {}
            _ => return,
        }
    }
}
