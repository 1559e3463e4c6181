//! A program that serves tools, for another process to call; `tests/it/otc` runs it.

use std::fs::OpenOptions;
use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use toolkit::stream::Chunks;
use toolkit::{Context, ToolError, tool};

fn main() -> ExitCode {
    toolkit_cli::main_with(|dispatcher| Ok(dispatcher.state(Runs(AtomicU32::new(0)))))
}

struct Runs(AtomicU32);

/// Adds a line to the diary, where another process can read it.
fn note(line: &str) {
    if let Some(path) = std::env::var_os("FIXTURE_DIARY") {
        let diary = OpenOptions::new().create(true).append(true).open(path);
        // One short line per write, so that a reader never sees a partial line.
        let _ = diary.and_then(|mut diary| diary.write_all(format!("{line}\n").as_bytes()));
    }
}

/// Adds two integers.
#[tool(namespace = "Math", version = "1.0.0")]
fn add(
    /// The first addend.
    a: i64,
    /// The second addend.
    b: i64,
) -> i64 {
    a + b
}

/// Counts how often it has run in this process.
#[tool(namespace = "Math", version = "1.0.0")]
fn count(runs: &Runs) -> u32 {
    runs.0.fetch_add(1, Ordering::Relaxed) + 1
}

/// Fails with a message.
#[tool(namespace = "Moon", version = "1.0.0")]
fn refuse() -> Result<i64, ToolError> {
    let error = ToolError::failed("the moon is not full").retryable(Duration::from_millis(1500));
    Err(error.with_content([toolkit::Content::text("nights: 14, 15")]))
}

/// Fails with an internal error.
#[tool(namespace = "Moon", version = "1.0.0")]
fn broken() -> Result<i64, std::io::Error> {
    Err(std::io::Error::other("disk 7 on fire"))
}

/// Requires credentials of every kind.
#[tool(
    namespace = "Mail",
    version = "2.1.0",
    requires(oauth2(id = "postman", scopes = ["send"]), secret = "MAIL_KEY", user_id)
)]
fn send(ctx: &Context) -> String {
    use toolkit::call::SecretString;

    let length = |secret: Option<&SecretString>| secret.map(|secret| format!("{secret:?}").len()).is_some();
    let is_held = length(ctx.secret("MAIL_KEY")) && length(ctx.token("postman"));
    format!("{} {is_held} {}", ctx.user_id().unwrap_or("nobody"), ctx.secret("OTHER").is_none())
}

/// Reports its progress.
#[tool(namespace = "Slow", version = "1.0.0")]
async fn walk(steps: u8, ctx: &Context) -> String {
    for step in 0..steps {
        ctx.progress(f64::from(step), f64::from(steps), "walking");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    "arrived".to_owned()
}

/// Counts down, number by number.
#[tool(namespace = "Slow", version = "1.0.0")]
fn countdown(from: u32) -> Chunks<u32> {
    Chunks::emit(async move |numbers| {
        for number in (1..=from).rev() {
            numbers.send(number).await?;
        }
        Ok(())
    })
}

/// Waits until the call is cancelled, and records the end.
#[tool(namespace = "Slow", version = "1.0.0")]
fn wait(ctx: &Context) -> bool {
    note("waiting");
    while !ctx.is_cancelled() {
        std::thread::sleep(Duration::from_millis(5));
    }
    note("cancelled");
    true
}

/// Waits, and does not check for cancellation.
#[tool(namespace = "Slow", version = "1.0.0")]
async fn hang() -> bool {
    struct Dropped;
    impl Drop for Dropped {
        fn drop(&mut self) {
            note("dropped");
        }
    }
    let _dropped = Dropped;
    note("hanging");
    std::future::pending().await
}

/// Sleeps for a while, and then writes to the diary.
#[tool(namespace = "Slow", version = "1.0.0")]
async fn nap(ms: u64) -> bool {
    note("napping");
    tokio::time::sleep(Duration::from_millis(ms)).await;
    note("awake");
    true
}

/// Ends its process in the middle of the call.
#[tool(namespace = "Slow", version = "1.0.0")]
async fn die(after_progress: bool, ctx: &Context) -> bool {
    if after_progress {
        ctx.progress(1.0, None, "dying");
        // The output must leave this process first.
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    std::process::exit(7)
}

#[derive(Serialize, JsonSchema)]
struct Tree {
    branches: Vec<Tree>,
}

/// A tool whose output schema needs references.
#[tool(namespace = "Wood", version = "1.0.0")]
fn grow() -> Tree {
    Tree { branches: Vec::new() }
}

/// A tool without a namespace.
#[tool]
fn shout(text: String) -> String {
    text.to_uppercase()
}
