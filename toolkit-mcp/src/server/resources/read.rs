//! `resources/read`, and the resources that a caller can read and may therefore subscribe to.

use std::time::Duration;

use serde::Serialize;
use tokio::time::{Instant, timeout_at};
use toolkit::call::ErrorKind;
use toolkit::mcp::Revision;
use toolkit::resource::ResourceContents;
use toolkit::{Context, ToolError};
use toolkit_http::CallPermit;

use super::answer::{Failed, Scope, acquire};
use crate::server::reply::json_bytes;
use crate::server::state::Shared;

/// The timeout of checking all resources that a client subscribes to with one request.
const CHECK_TIMEOUT: Duration = Duration::from_secs(30);

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
    shared: &Shared,
    context: &Context,
    revision: Revision,
    uri: String,
    scope: Scope,
) -> Result<Vec<u8>, Failed> {
    let (contents, _permit) = find(shared, context, uri).await?;
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

/// Subscribes a session to a resource that its caller can read. Otherwise, it would learn when a resource of another
/// caller changes.
pub(super) async fn subscribe(
    shared: &Shared,
    context: &Context,
    session: &str,
    uri: String,
) -> Result<Vec<u8>, Failed> {
    find(shared, context, uri.clone()).await?;
    shared.resources.subscriptions.subscribe(session, &uri).map_err(Failed::Rejected)?;
    Ok(b"{}".to_vec())
}

/// Returns those resources that the caller can read.
pub(super) async fn readable(shared: &Shared, context: &Context, uris: Vec<String>) -> Vec<String> {
    let deadline = Instant::now() + CHECK_TIMEOUT;
    let mut readable = Vec::new();
    for uri in uris {
        match timeout_at(deadline, find(shared, context, uri.clone())).await {
            Ok(Ok(_)) => readable.push(uri),
            Ok(Err(_)) => {}
            Err(_) => break,
        }
    }
    readable
}

/// Returns the contents from the first provider that has the resource, with the permit under which they exist. The error
/// of a provider does not hide those after it.
async fn find(shared: &Shared, context: &Context, uri: String) -> Result<(Vec<ResourceContents>, CallPermit), Failed> {
    let mut first_error = None;
    for (idx, provider) in shared.resources.all().iter().enumerate() {
        let permit = acquire(shared, idx, Some(&uri)).await?;
        match provider.read(&uri, context).await {
            // A result has at least one block of contents.
            Ok(Some(contents)) if !contents.is_empty() => return Ok((contents, permit)),
            Ok(_) => {}
            Err(error) => {
                first_error.get_or_insert(error);
            }
        }
    }
    Err(first_error.map_or(Failed::Unknown(uri), Failed::Provider))
}
