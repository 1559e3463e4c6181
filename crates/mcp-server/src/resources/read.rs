//! `resources/read`, and subscriptions to resources that the caller can read.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use serde::Serialize;
use tokio::time::{Instant, timeout_at};
use toolkit::call::ErrorKind;
use toolkit::mcp::Revision;
use toolkit::resource::{ResourceContents, ResourceWatch, Resources};
use toolkit::{Context, ToolError};
use toolkit_mcp::json_bytes;
use toolkit_runtime::CallPermit;

use super::answer::{Failed, Scope, acquire};
use crate::proxy_uri::decode;
use crate::state::ServerState;

/// The timeout of checking all resources that a client subscribes to with one request.
const CHECK_TIMEOUT: Duration = Duration::from_secs(30);

/// The number of resources that are checked at the same time for one request.
const MAX_CONCURRENT: usize = 8;

/// A result (`ReadResourceResult`). Caches must not store it, since the server does not know when the contents change.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReadResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_scope: Option<&'static str>,
    contents: Vec<ResourceContents>,
}

/// Reads a resource.
pub(super) async fn read(
    shared: &ServerState,
    context: &Context,
    revision: Revision,
    uri: String,
    scope: Scope,
) -> Result<Vec<u8>, Failed> {
    let FoundResource { contents, _permit, .. } = find(shared, context, uri).await?;
    let is_modern = revision != Revision::V2025_11_25;
    let result = json_bytes(&ReadResult {
        result_type: is_modern.then_some("complete"),
        ttl_ms: is_modern.then_some(0),
        cache_scope: is_modern.then(|| scope.as_str()),
        contents,
    });
    let (n_bytes, max) = (result.len(), shared.max_result_bytes);
    if n_bytes > max {
        let message =
            format!("the resource has {n_bytes} bytes as JSON, more than the limit of {max} (`max_result_bytes`)");
        return Err(ToolError::new(ErrorKind::ResultTooLarge, message).into());
    }
    Ok(result)
}

/// Subscribes a session to a resource that its caller can read and a provider watches.
pub(super) async fn subscribe(
    shared: &ServerState,
    context: &Context,
    session: &str,
    uri: String,
) -> Result<Vec<u8>, Failed> {
    let subscriptions = &shared.resources.subscriptions;
    if !subscriptions.is_subscribed(session, &uri).map_err(Failed::Rejected)? {
        let watch = watch(shared, context, &uri, session).await?;
        let caller = context.request().caller().unwrap_or_default();
        subscriptions.subscribe(session, caller, &uri, watch).map_err(Failed::Rejected)?;
    }
    Ok(b"{}".to_vec())
}

/// Watches those resources that the caller can read.
pub(super) async fn watch_readable(
    shared: &ServerState,
    context: &Context,
    uris: Vec<String>,
) -> Vec<(String, ResourceWatch)> {
    let deadline = Instant::now() + CHECK_TIMEOUT;
    let mut watching: Vec<_> = Vec::new();
    for uris in uris.chunks(MAX_CONCURRENT) {
        let each = uris.iter().map(|uri| timeout_at(deadline, watch(shared, context, uri, "")));
        let watched = join_all(each).await;
        let is_late = watched.iter().any(Result::is_err);
        let watched = std::iter::zip(uris, watched).filter_map(|(uri, watch)| Some((uri.clone(), watch.ok()?.ok()?)));
        watching.extend(watched);
        if is_late {
            break;
        }
    }
    watching
}

/// Watches a resource that the caller can read. Otherwise, it would learn when a resource of another caller changes.
async fn watch(shared: &ServerState, context: &Context, uri: &str, session: &str) -> Result<ResourceWatch, Failed> {
    let FoundResource { provider, _permit, .. } = find(shared, context, uri.to_owned()).await?;
    let mut watched = provider.watch(uri, context).await;
    let caller = context.request().caller().unwrap_or_default();
    // Clients may leave sessions without notice, which must not keep others from subscribing.
    while watched.as_ref().is_err_and(|error| error.kind() == ErrorKind::Overloaded)
        && let Some((backend, _)) = decode(uri)
        && shared.resources.subscriptions.forget_idle_subscriber(backend, session, caller)
    {
        watched = provider.watch(uri, context).await;
    }
    watched.map_err(Failed::Unwatched)
}

/// A resource that the caller can read.
struct FoundResource {
    contents: Vec<ResourceContents>,
    provider: Arc<dyn Resources>,
    /// The permit under which the contents exist.
    _permit: CallPermit,
}

/// Reads a resource from the first provider that has it. The error of a provider does not hide those after it.
async fn find(shared: &ServerState, context: &Context, uri: String) -> Result<FoundResource, Failed> {
    let mut first_error = None;
    for (idx, provider) in shared.resources.all().into_iter().enumerate() {
        let permit = acquire(shared, context, idx, Some(&uri)).await?;
        match provider.read(&uri, context).await {
            // A result has at least one block of contents.
            Ok(Some(contents)) if !contents.is_empty() => {
                return Ok(FoundResource { contents, provider, _permit: permit });
            }
            Ok(_) => {}
            Err(error) => {
                first_error.get_or_insert(error);
            }
        }
    }
    Err(first_error.map_or(Failed::Unknown(uri), Failed::Provider))
}
