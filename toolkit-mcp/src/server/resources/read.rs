//! `resources/read`.

use serde::Serialize;
use toolkit::call::ErrorKind;
use toolkit::mcp::Revision;
use toolkit::resource::ResourceContents;
use toolkit::{Context, ToolError};

use super::answer::{Failed, Scope, acquire};
use crate::server::reply::json_bytes;
use crate::server::state::Shared;

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

/// Reads a resource from the first provider that has it. The error of a provider does not hide those after it.
pub(super) async fn read(
    shared: &Shared,
    context: &Context,
    revision: Revision,
    uri: String,
    scope: Scope,
) -> Result<Vec<u8>, Failed> {
    let mut first_error = None;
    for (idx, provider) in shared.resources.all().iter().enumerate() {
        let _permit = acquire(shared, idx, Some(&uri)).await?;
        let contents = match provider.read(&uri, context).await {
            Ok(contents) => contents,
            Err(error) => {
                first_error.get_or_insert(error);
                continue;
            }
        };
        // A result has at least one block of contents.
        let Some(contents) = contents.filter(|contents| !contents.is_empty()) else {
            continue;
        };
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
        return Ok(result);
    }
    Err(first_error.map_or(Failed::Unknown(uri), Failed::Provider))
}
