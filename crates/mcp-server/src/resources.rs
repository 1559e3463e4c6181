//! The methods `resources/…` and `skills/…`, and requests for prompts, which run in the same way.
//!
//! | module | contains |
//! | --- | --- |
//! | `answer` | one request, on a thread for tools |
//! | `skills` | `skills/list` and `skills/get` |
//! | `list`, `read` | lists, `resources/read` and subscriptions, over all providers |

mod answer;
mod list;
mod read;
mod skills;

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolkit::mcp::Revision;
use toolkit::{CancelToken, Context};
use toolkit_mcp::{Code, RpcError, text};

use self::answer::{Action, Scope};
pub(super) use self::answer::{ResourceRequest, watch_readable};
use super::access::Rejected;
use super::call::credentials;
use super::peer::{Received, register};
use super::prompts::PromptRequest;
use super::served;
use super::state::ServerState;
use super::subscriptions::MAX_URI_LEN;

/// The outcome of reading a request.
pub(super) enum ResourceMethod {
    /// The result.
    Result(Value),
    /// A request that providers answer.
    Request(Box<ResourceRequest>),
}

/// Reads a request of a method `resources/…` or `skills/…`.
pub(super) fn resource_method(
    shared: &Arc<ServerState>,
    received: Received<'_>,
    method: &str,
    params: Option<&RawValue>,
) -> Result<ResourceMethod, Rejected> {
    let is_legacy = received.revision == Revision::V2025_11_25;
    let action = match method {
        "resources/list" => Action::List { after: served::cursor_text(params)? },
        "resources/templates/list" => Action::Templates { after: served::cursor_text(params)? },
        "resources/read" => Action::Read { uri: uri_of(params)? },
        "skills/list" => Action::Skills { after: served::cursor_text(params)? },
        "skills/get" => Action::Skill { uri: uri_of(params)? },
        "resources/subscribe" | "resources/unsubscribe" if is_legacy => {
            let uri = uri_of(params)?;
            let no_session = || RpcError::new(Code::InvalidRequest, "a subscription requires a session");
            let session = received.peer.session.ok_or_else(no_session)?;
            if method == "resources/unsubscribe" {
                shared.resources.subscriptions.unsubscribe(session, &uri);
                return Ok(ResourceMethod::Result(json!({})));
            }
            Action::Subscribe { session: session.to_owned(), uri }
        }
        _ => return Err(RpcError::unknown_method(method).into()),
    };
    if let Action::Read { uri } | Action::Skill { uri } | Action::Subscribe { uri, .. } = &action {
        received.peer.check_resource(uri)?;
    }
    Ok(ResourceMethod::Request(request(shared, received, action, context(received))?))
}

/// Creates the request for a prompt, or for the values of an argument.
pub(super) fn prompt_request(
    shared: &Arc<ServerState>,
    received: Received<'_>,
    prompt: PromptRequest,
) -> Result<Box<ResourceRequest>, Rejected> {
    prompt.tool().map_or(Ok(()), |tool| received.peer.check_prompt(tool))?;
    let context = match prompt.tool() {
        Some(tool) => received.context().with_credentials(credentials(shared, received.peer.caller, tool)),
        None => received.context(),
    };
    Ok(request(shared, received, Action::Prompt(Box::new(prompt)), context)?)
}

fn request(
    shared: &Arc<ServerState>,
    received: Received<'_>,
    action: Action,
    context: Context,
) -> Result<Box<ResourceRequest>, RpcError> {
    let Received { id, revision, peer, .. } = received;
    let registered = register(&shared.running, peer, id)?;
    let cancel = registered.as_ref().map_or_else(CancelToken::new, |registered| registered.token.clone());
    Ok(Box::new(ResourceRequest {
        shared: Arc::clone(shared),
        id: id.to_owned(),
        revision,
        action,
        context: context.with_cancel(cancel.clone()),
        cancel,
        registered,
        observed: None,
        access: peer.access.cloned(),
        // The servers behind a proxy answer for the proxy, and their answers may not be for everyone.
        scope: match peer.caller.is_some() || shared.is_proxy() {
            true => Scope::Private,
            false => Scope::Public,
        },
    }))
}

/// Returns the context of a request to providers.
pub(super) fn context(received: Received<'_>) -> Context {
    let context = received.context();
    match received.peer.caller {
        Some(caller) => context.with_credentials(caller.credentials.clone()),
        None => context,
    }
}

/// Reads `params.uri`.
fn uri_of(params: Option<&RawValue>) -> Result<String, RpcError> {
    #[derive(Deserialize)]
    struct UriOfParams<'m> {
        #[serde(borrow)]
        uri: &'m RawValue,
    }
    let invalid = || RpcError::new(Code::InvalidParams, "`params` must be an object with the `uri` of a resource");
    let params: UriOfParams<'_> = serde_json::from_str(params.ok_or_else(invalid)?.get()).map_err(|_| invalid())?;
    let uri = text(params.uri.get()).ok_or_else(invalid)?;
    if uri.len() > MAX_URI_LEN {
        return Err(RpcError::new(Code::InvalidParams, format!("`uri` is longer than {MAX_URI_LEN} bytes")));
    }
    Ok(uri.into_owned())
}
