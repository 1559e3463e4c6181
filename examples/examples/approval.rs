//! Layers around every call: traces, a rate limit, approval of destructive calls, and retries.

use std::time::Duration;

use toolkit::{Catalog, Dispatcher, tool};
use toolkit_tower::{Approval, Decision, Rate, RateLimit, Retry, Traced};

/// Deletes a branch.
#[tool(destructive, idempotent)]
fn delete_branch(name: String) -> String {
    format!("deleted {name}")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dispatcher = Dispatcher::builder(Catalog::linked()?)
        .layer(Traced::new()) // spans with OpenTelemetry's names for tools
        .layer(RateLimit::overall(Rate::new(600, Duration::from_secs(60))))
        .layer(Approval::new(async |request| match request.arguments()["name"].as_str() {
            Some("main") => Decision::Deny("main is protected".into()),
            _ => Decision::Approve,
        }))
        .layer(Retry::new()) // only tools that are idempotent or read-only
        .build()?;

    let error = dispatcher.call("delete_branch", r#"{"name": "main"}"#).await.unwrap_err();
    assert_eq!(error.message(), "the call was not approved: main is protected");
    Ok(())
}
