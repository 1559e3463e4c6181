//! Tools whose calls become tasks, as the conformance suite expects.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;
use toolkit::{Context, ToolError, tool};
use toolkit_mcp_server::MissingCapability;

/// The time after which calls become tasks.
pub(crate) const TASK_AFTER: Duration = Duration::from_millis(100);

/// The time after which calls become tasks that are stored.
pub(crate) const SOON: Duration = Duration::from_millis(10);

/// A time after which a call has become a task.
const LATER: Duration = Duration::from_millis(400);

/// Greets.
#[tool]
fn greet(name: String) -> String {
    format!("Hello, {name}!")
}

/// Computes for some time.
#[tool(task)]
async fn slow_compute(seconds: f64, label: Option<String>, ctx: &Context) -> Result<String, ToolError> {
    let time = Duration::try_from_secs_f64(seconds).map_err(|_| ToolError::failed("`seconds` must be a duration"))?;
    ctx.progress(0.0, 1.0, "computing");
    sleep(time).await;
    Ok(format!("{} after {seconds} s", label.as_deref().unwrap_or("computed")))
}

/// Computes for some time, for clients with tasks only.
#[tool(task = "required")]
async fn only_as_a_task(ms: u64) -> u64 {
    sleep(Duration::from_millis(ms)).await;
    ms
}

/// Fails after some time.
#[tool(task = "required")]
async fn failing_job() -> Result<String, ToolError> {
    sleep(LATER).await;
    Err(ToolError::failed("the job has failed"))
}

/// Ends with an error of the protocol after some time.
#[tool(task)]
async fn protocol_error_job() -> Result<String, ToolError> {
    sleep(LATER).await;
    Err(ToolError::failed("the client cannot do this").caused_by(MissingCapability::new(["sampling"])))
}

#[derive(Deserialize, JsonSchema)]
#[serde(default)]
struct Confirmation {
    confirm: bool,
}

impl Default for Confirmation {
    fn default() -> Self {
        Self { confirm: true }
    }
}

/// Asks before it pretends to delete a file.
#[tool(task)]
async fn confirm_delete(filename: String, ctx: &Context) -> Result<String, ToolError> {
    sleep(LATER).await;
    let answer: Confirmation = ctx.ask(format!("Delete {filename}?")).await?;
    Ok(format!("{filename} {}", if answer.confirm { "deleted" } else { "kept" }))
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Name {
    name: String,
    confirm: Option<bool>,
}

/// Asks for two names at once.
#[tool(task)]
async fn multi_input(ctx: &Context) -> Result<String, ToolError> {
    sleep(LATER).await;
    let (first, second) = tokio::join!(ctx.ask::<Name>("The first name?"), ctx.ask::<Name>("The second name?"));
    Ok(format!("{} and {}", first?.name, second?.name))
}

/// Asks for a name, and works with it for some time.
#[tool(task = "required")]
async fn test_tool_with_task(ctx: &Context) -> Result<String, ToolError> {
    let user: Name = ctx.ask("Please provide your name").await?;
    sleep(LATER).await;
    Ok(format!("Task completed for {}", user.name))
}
