//! The end of an unused process, and what is known about its server meanwhile.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use toolkit::ToolError;
use toolkit::backend::OfferedTools;
use toolkit_runtime::Mutex;

use super::Link;
use crate::server_info::ServerInfo;

/// The memory of a server whose process may end while it is unused.
#[derive(Default)]
pub(super) struct Idle(Mutex<IdleServer>);

#[derive(Default)]
struct IdleServer {
    /// The time of the last request, except for lists of tools.
    used_at: Option<Instant>,
    /// The tools as last listed.
    listed: Option<OfferedTools>,
    /// The declarations of the server, while its process is stopped.
    info: Option<ServerInfo>,
    /// True if a task waits until the process is unused.
    is_watched: bool,
}

impl Idle {
    pub(super) fn is_asleep(&self) -> bool {
        self.0.lock().info.is_some()
    }

    /// Records that the process is started again, or stopped by the host. Returns true if it was stopped because it was
    /// unused.
    pub(super) fn wake(&self) -> bool {
        self.0.lock().info.take().is_some()
    }

    /// Records a request that is not for the list of tools.
    pub(super) fn record_use(&self) {
        self.0.lock().used_at = Some(Instant::now());
    }
}

impl Link {
    /// Lists the tools with `listed`. Those of a process that was stopped because it was unused are the last ones.
    pub(crate) async fn listing_unless_idle(
        self: &Arc<Self>,
        listed: impl Future<Output = Result<OfferedTools, ToolError>>,
    ) -> Result<OfferedTools, ToolError> {
        let Some(limit) = self.remote.limits.idle else { return self.listing(listed).await };
        {
            let idle = self.idle.0.lock();
            if let (Some(listed), true) = (&idle.listed, idle.info.is_some()) {
                return Ok(listed.clone());
            }
        }
        let offers = self.listing(listed).await?;
        let mut idle = self.idle.0.lock();
        idle.listed = Some(offers.clone());
        idle.used_at.get_or_insert_with(Instant::now);
        if !std::mem::replace(&mut idle.is_watched, true) {
            tokio::spawn(stop_when_idle(Arc::downgrade(self), limit));
        }
        Ok(offers)
    }

    /// Returns true if the process is stopped because it was unused.
    pub(crate) fn is_asleep(&self) -> bool {
        self.idle.is_asleep()
    }

    /// Returns true if the process is stopped because it was unused, and the server does not have this: there is no need to
    /// start it.
    pub(crate) fn sleeps_without(&self, has: impl Fn(&ServerInfo) -> bool) -> bool {
        self.idle.0.lock().info.as_ref().is_some_and(|info| !has(info))
    }

    /// Stops the process if it is unused. Returns the time of the next check.
    async fn stop_if_idle(&self, limit: Duration) -> Instant {
        let mut state = self.state.lock().await;
        let now = Instant::now();
        let used_at = *self.idle.0.lock().used_at.get_or_insert(now);
        let is_used = state.connection.as_ref().is_some_and(|connection| Arc::strong_count(connection) > 1)
            || self.calls.available_permits() < self.remote.limits.calls
            || self.n_tasks() > 0
            || !self.watches.is_empty();
        if is_used {
            self.idle.record_use();
            return now + limit;
        }
        if now.saturating_duration_since(used_at) < limit {
            return used_at + limit;
        }
        if let Some(connection) = state.current() {
            self.idle.0.lock().info = Some(connection.info.clone());
            state.connection = None;
            state.backoff.reset();
            // The next call waits as for the first start.
            self.was_connected.store(false, std::sync::atomic::Ordering::Release);
            self.history.sleeping();
            // The next attempt starts another process, whether or not this one has ended.
            drop(state);
            connection.close().await;
        }
        now + limit
    }
}

/// Stops the process whenever it was unused for `limit`, until the server is dropped.
async fn stop_when_idle(link: Weak<Link>, limit: Duration) {
    let mut next = Instant::now() + limit;
    loop {
        sleep_until(next).await;
        let Some(link) = link.upgrade() else { return };
        next = link.stop_if_idle(limit).await;
    }
}
