//! The connections of single sessions of clients, to a server that has one for each.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::time::{Instant, sleep};
use toolkit::call::ErrorKind;
use toolkit::{Context, ToolError};

use super::Link;

/// The connections, by the id of the session.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<HashMap<Box<str>, Session>>);

struct Session {
    link: Arc<Link>,
    used_at: Instant,
}

/// The time after which a connection that no call uses is closed. Many clients do not end their sessions.
const MAX_IDLE: Duration = Duration::from_secs(600);

/// The maximum number of connections, unless the configuration states another one.
pub(crate) const MAX_SESSIONS: usize = 64;

impl Sessions {
    fn lock(&self) -> MutexGuard<'_, HashMap<Box<str>, Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the connection for the caller: that of its session, if the server has one for each. Clients over stdio, and
    /// programs that call tools themselves, use the connection of the backend.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller has no session, or there are too many.
    pub(crate) fn link_for(shared: &Arc<Link>, context: &Context) -> Result<Arc<Link>, ToolError> {
        let (remote, request) = (shared.remote(), context.request());
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
        let mut open = shared.sessions().lock();
        let n_open = open.len();
        if let Some(session) = open.get_mut(session) {
            session.used_at = Instant::now();
            return Ok(Arc::clone(&session.link));
        }
        if n_open >= max_sessions {
            let message = format!("{remote} is at its limit of {max_sessions} sessions; try again later");
            return Err(ToolError::new(ErrorKind::Overloaded, message));
        }
        let link = Arc::new(shared.of_session());
        open.insert(session.into(), Session { link: Arc::clone(&link), used_at: Instant::now() });
        if n_open == 0 {
            tokio::spawn(close_idle(Arc::downgrade(shared)));
        }
        Ok(link)
    }

    /// Closes the connection of a session.
    pub(crate) fn end(&self, session: &str) {
        let ended = self.lock().remove(session);
        drop(ended);
    }

    /// Removes all connections.
    pub(crate) fn take(&self) -> Vec<Arc<Link>> {
        self.lock().drain().map(|(_, session)| session.link).collect()
    }

    /// Returns the number of calls that run as tasks.
    pub(crate) fn n_tasks(&self) -> u64 {
        self.lock().values().map(|session| session.link.n_tasks()).sum()
    }

    /// Removes the connections that were not used for [`MAX_IDLE`]. Returns false if none is left.
    fn remove_idle(&self) -> bool {
        let mut open = self.lock();
        let is_idle = |session: &Session| {
            // A call or a subscription has a reference of its own.
            Arc::strong_count(&session.link) == 1 && session.used_at.elapsed() > MAX_IDLE
        };
        let idle: Vec<Session> = open.extract_if(|_, session| is_idle(session)).map(|(_, session)| session).collect();
        let is_left = !open.is_empty();
        drop(open);
        drop(idle);
        is_left
    }
}

/// Closes idle connections until none is left.
async fn close_idle(shared: Weak<Link>) {
    loop {
        sleep(MAX_IDLE / 10).await;
        match shared.upgrade() {
            Some(shared) if shared.sessions().remove_idle() => {}
            _ => return,
        }
    }
}
