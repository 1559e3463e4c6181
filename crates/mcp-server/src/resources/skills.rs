//! `skills/get`, over all providers.

use serde_json::json;
use toolkit::mcp::Revision;
use toolkit::resource::Resources;
use toolkit::{Context, ToolError};
use toolkit_mcp::{Code, RpcError, json_bytes};

use super::answer::{Failed, Scope, acquire};
use super::list::ttl_ms;
use crate::state::ServerState;

/// Writes the skill of the first provider that has it.
pub(super) async fn get(
    shared: &ServerState,
    context: &Context,
    revision: Revision,
    uri: String,
    scope: Scope,
) -> Result<Vec<u8>, Failed> {
    let mut failed: Option<ToolError> = None;
    for (idx, provider) in shared.resources.all().iter().enumerate() {
        let _permit = acquire(shared, context, idx, Some(&uri)).await?;
        match provider.skill(&uri, context).await {
            Ok(Some(skill)) => {
                let mut result = json!({ "skill": skill });
                if revision != Revision::V2025_11_25 {
                    result["resultType"] = "complete".into();
                    result["ttlMs"] = ttl_ms(shared).into();
                    result["cacheScope"] = scope.as_str().into();
                }
                return Ok(json_bytes(&result));
            }
            Ok(None) => {}
            Err(error) => failed = Some(error),
        }
    }
    Err(match failed {
        Some(error) => error.into(),
        None => {
            let shown: String = uri.chars().take(120).collect();
            let message = format!("no skill has the URI `{}`", shown.escape_debug());
            Failed::Rejected(RpcError::new(Code::InvalidParams, message).with_data(json!({ "uri": uri })))
        }
    })
}
