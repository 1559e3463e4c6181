//! `resources/read`.

use serde::Serialize;
use toolkit::call::ErrorKind;
use toolkit::mcp::Revision;
use toolkit::resource::ResourceContents;
use toolkit::{Context, ToolError};

use super::answer::{Failed, Scope};
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

/// Reads a resource from the first provider that has it.
pub(super) async fn read(
    shared: &Shared,
    context: &Context,
    revision: Revision,
    uri: String,
    scope: Scope,
) -> Result<Vec<u8>, Failed> {
    for provider in shared.resources.all() {
        let contents = provider.read(&uri, context).await?;
        // A result has at least one block of contents.
        let Some(contents) = contents.filter(|contents| !contents.is_empty()) else {
            continue;
        };
        let n_bytes: usize = contents.iter().map(|contents| contents.body.encoded_len()).sum();
        if n_bytes > shared.max_result_bytes {
            let max = shared.max_result_bytes;
            let message =
                format!("the resource has {n_bytes} bytes, more than the limit of {max} (`max_result_bytes`)");
            return Err(ToolError::new(ErrorKind::ResultTooLarge, message).into());
        }
        let is_modern = revision != Revision::V2025_11_25;
        return Ok(json_bytes(&ReadResult {
            result_type: is_modern.then_some("complete"),
            ttl_ms: is_modern.then_some(0),
            cache_scope: is_modern.then(|| scope.as_str()),
            contents,
        }));
    }
    Err(Failed::Unknown(uri))
}
