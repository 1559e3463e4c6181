//! The negotiation of tasks.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use toolkit::mcp::Revision;
use toolkit::tool::TaskSupport;

use crate::server::ask::Modes;
use crate::server::call::TaskOffer;
use crate::server::meta::Meta;
use crate::server::peer::Peer;
use crate::server::reply::{Code, RpcError};
use crate::server::state::Server;
use crate::server::tasks::EXTENSION;

/// The least time to live of a task that its client requests, so that the call can run.
const MIN_TTL: Duration = Duration::from_secs(60);

impl Server {
    /// Returns the terms on which a call may become a task.
    ///
    /// # Errors
    ///
    /// Returns an error if the client and the tool have no common way of calling.
    pub(in crate::server) fn task_offer(
        &self,
        support: TaskSupport,
        meta: &Meta<'_>,
        revision: Revision,
        peer: Peer<'_>,
    ) -> Result<Option<TaskOffer>, RpcError> {
        let ttl = self.shared.tasks.limits().ttl;
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
}

/// Returns true if the client declares the extension for tasks.
pub(in crate::server) fn declares_tasks(meta: &Meta<'_>) -> bool {
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
pub(in crate::server) fn missing_extension() -> RpcError {
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
