//! The terms on which a call may become a task, as the client and the tool declare them.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::SetOnce;
use toolkit::mcp::Revision;
use toolkit::tool::TaskSupport;
use toolkit_mcp::{Code, Meta, RpcError};
use toolkit_runtime::Mutex;

use crate::ask::Modes;
use crate::peer::{Peer, Received};
use crate::state::ServerState;
use crate::tasks::{EXTENSION, LiveTask};

/// The least time to live of a task that its client requests, so that the call can run.
const MIN_TTL: Duration = Duration::from_secs(60);

/// The task of a call, once it has become one.
pub(super) type TaskSlot = Arc<SetOnce<Arc<LiveTask>>>;

/// The terms on which a call may become a task.
pub(crate) struct TaskOffer {
    /// The identity of the caller.
    pub(super) owner: Option<String>,
    /// The name of the caller for limits.
    pub(super) caller: String,
    pub(super) ttl: Duration,
    /// True if the client has requested the task, which it does before revision 2026-07-28. Later, the server decides.
    pub(super) is_requested: bool,
    /// The ways in which the client can ask its user.
    pub(super) modes: Modes,
    pub(super) slot: TaskSlot,
    /// The message of the last progress before the call became a task.
    last_message: Mutex<String>,
}

impl TaskOffer {
    fn new(peer: Peer<'_>, ttl: Duration, is_requested: bool, modes: Modes) -> Self {
        let owner = peer.identity();
        let caller = peer.name(peer.session.unwrap_or_default());
        Self { owner, caller, ttl, is_requested, modes, slot: TaskSlot::default(), last_message: Mutex::default() }
    }

    /// Returns true once the call has become a task.
    pub(super) fn is_accepted(&self) -> bool {
        self.slot.get().is_some()
    }

    /// Records that the call has become a task.
    pub(super) fn accept(&self, task: &Arc<LiveTask>) {
        let last_message = self.last_message.lock();
        if !last_message.is_empty() {
            task.report(&last_message);
        }
        let _ = self.slot.set(Arc::clone(task));
    }

    /// Reports progress to the task. Returns false if the call is not one, so that its client receives the progress.
    pub(super) fn report(&self, message: &str) -> bool {
        let mut last_message = self.last_message.lock();
        match self.slot.get() {
            Some(task) => task.report(message),
            None => message.clone_into(&mut last_message),
        }
        self.is_accepted()
    }
}

/// Returns the terms on which a call may become a task.
///
/// # Errors
///
/// Returns an error if the client and the tool have no common way of calling.
pub(super) fn task_offer(
    shared: &Arc<ServerState>,
    support: TaskSupport,
    received: Received<'_>,
) -> Result<Option<TaskOffer>, RpcError> {
    let Received { meta, revision, peer, .. } = received;
    let ttl = shared.tasks.limits.ttl;
    if revision == Revision::V2025_11_25 {
        return match (support, meta.task) {
            (TaskSupport::Required, None) => Err(RpcError::new(
                Code::MethodNotFound,
                "the tool can only be called as a task; add `task` to `params`",
            )),
            (TaskSupport::Forbidden, Some(_)) => {
                Err(RpcError::new(Code::MethodNotFound, "the tool cannot be called as a task"))
            }
            (_, None) => Ok(None),
            (_, Some(task)) => {
                let ttl = requested_ttl(task)?.map_or(ttl, |requested| requested.max(MIN_TTL).min(ttl));
                Ok(Some(TaskOffer::new(peer, ttl, true, peer.modes)))
            }
        };
    }
    if support == TaskSupport::Forbidden {
        return Ok(None);
    }
    if !declares_tasks(meta) {
        return if support == TaskSupport::Required { Err(missing_extension()) } else { Ok(None) };
    }
    let modes = meta.client_capabilities.map_or_else(Modes::default, |declared| Modes::declared(declared.get()));
    Ok(Some(TaskOffer::new(peer, ttl, false, modes)))
}

/// Returns true if the client declares the extension for tasks.
pub(crate) fn declares_tasks(meta: &Meta<'_>) -> bool {
    #[derive(Deserialize)]
    struct Capabilities<'m> {
        #[serde(borrow)]
        extensions: Option<Extensions<'m>>,
    }
    #[derive(Deserialize)]
    struct Extensions<'m> {
        #[serde(borrow, rename = "io.modelcontextprotocol/tasks")]
        tasks: Option<&'m RawValue>,
    }
    let declared = meta.client_capabilities.and_then(|declared| serde_json::from_str(declared.get()).ok());
    let extensions = declared.and_then(|declared: Capabilities<'_>| declared.extensions);
    extensions.and_then(|extensions| extensions.tasks).is_some_and(|tasks| tasks.get().starts_with('{'))
}

/// Creates the error for a client that does not declare the extension.
pub(crate) fn missing_extension() -> RpcError {
    let message = format!("the client has not declared the extension `{EXTENSION}`");
    let required = json!({ "extensions": { EXTENSION: {} } });
    RpcError::bad_request(Code::MissingClientCapability, message).with_data(json!({ "requiredCapabilities": required }))
}

/// Reads the time to live that the client requests, in milliseconds.
fn requested_ttl(task: &RawValue) -> Result<Option<Duration>, RpcError> {
    #[derive(Deserialize)]
    struct Task {
        ttl: Option<u64>,
    }
    let invalid = || RpcError::new(Code::InvalidParams, "`task` must be an object, and its `ttl` an integer");
    let is_object = task.get().starts_with('{');
    let task: Task = serde_json::from_str(task.get()).map_err(|_| invalid())?;
    if is_object { Ok(task.ttl.map(Duration::from_millis)) } else { Err(invalid()) }
}
