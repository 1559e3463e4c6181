//! The capabilities that the client declares with a call, in revision 2026-07-28.

use rmcp::model::{ClientCapabilities, ExtensionCapabilities, JsonObject, RequestMetaObject, TASKS_EXTENSION_ID};
use toolkit::Context;

use super::connection::Connection;
use super::remote::Remote;
use super::{listener, questions, trace};

/// Returns `_meta` of a call, and of the requests about the task that runs it.
pub(super) fn meta(remote: &Remote, connection: &Connection, context: &Context) -> Option<RequestMetaObject> {
    let meta = trace::meta(context);
    if connection.is_legacy() {
        return meta;
    }
    let mut capabilities = ClientCapabilities::default();
    let tasks = (TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
    capabilities.extensions = Some(ExtensionCapabilities::from([tasks]));
    if remote.may_ask {
        // The client of this call may be unable to ask its user.
        let modes = questions::modes(context).and_then(|modes| serde_json::from_value(modes).ok());
        capabilities.elicitation = modes;
    }
    let mut meta = meta.unwrap_or_default();
    if let Some(level) = listener::log_level(context).and_then(|level| serde_json::from_value(level.name().into()).ok())
    {
        meta.set_log_level(level);
    }
    meta.set_client_capabilities(capabilities);
    Some(meta)
}
