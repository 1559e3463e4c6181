//! The terms on which a call may become a task.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::SetOnce;

use crate::server::ask::Modes;
use crate::server::peer::Peer;
use crate::server::tasks::LiveTask;

/// The task of a call, once it has become one.
pub(super) type TaskSlot = Arc<SetOnce<Arc<LiveTask>>>;

/// The terms on which a call may become a task.
pub(in crate::server) struct TaskOffer {
    /// The identity of the caller.
    pub(super) owner: Option<String>,
    /// The name of the caller for limits.
    pub(super) caller: String,
    pub(super) ttl: Duration,
    /// True if the client has requested the task, which it does before revision 2026-07-28. Later, the server decides.
    pub(super) is_requested: bool,
    /// The ways in which the client can ask its user.
    pub(super) modes: Modes,
    slot: TaskSlot,
}

impl TaskOffer {
    pub(in crate::server) fn new(peer: Peer<'_>, ttl: Duration, is_requested: bool, modes: Modes) -> Self {
        let owner = peer.caller.and_then(|caller| caller.identity());
        let caller = peer.name(peer.session.unwrap_or_default());
        Self { owner, caller, ttl, is_requested, modes, slot: TaskSlot::default() }
    }

    pub(super) fn slot(&self) -> &TaskSlot {
        &self.slot
    }
}
