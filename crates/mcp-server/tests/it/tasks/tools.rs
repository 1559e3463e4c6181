//! The tools, which record what they do and wait until the test continues them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Semaphore;
use toolkit::{Context, Dispatcher, ToolError, catalog, tool};
use toolkit_mcp_server::{Server, ServerBuilder};

/// The state of the tools of a server.
#[derive(Clone)]
pub struct Stage {
    effects: Arc<Mutex<Vec<String>>>,
    gate: Arc<Semaphore>,
}

impl Stage {
    fn new() -> Self {
        Self { effects: Arc::default(), gate: Arc::new(Semaphore::new(0)) }
    }

    fn add(&self, effect: &str) {
        self.effects.lock().unwrap().push(effect.to_owned());
    }

    pub fn effects(&self) -> Vec<String> {
        self.effects.lock().unwrap().clone()
    }

    /// Lets one waiting tool continue.
    pub fn open(&self) {
        self.gate.add_permits(1);
    }

    /// Lets one waiting tool continue after a time in which its call may become a task.
    pub fn open_later(&self) {
        let stage = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(200)).await;
            stage.open();
        });
    }

    /// Waits until the tools have had an effect.
    pub async fn has_seen(&self, effect: &str) {
        while !self.effects().iter().any(|seen| seen == effect) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    async fn wait(&self) {
        self.gate.acquire().await.unwrap().forget();
    }
}

/// Records the end of a call that was dropped.
struct Dropped<'s>(&'s Stage);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.add("dropped");
    }
}

/// Builds a house.
#[tool(task)]
async fn build(name: String, ctx: &Context, stage: &Stage) -> Result<String, ToolError> {
    stage.add("started");
    let dropped = Dropped(stage);
    ctx.progress(1.0, 2.0, "the walls are up");
    stage.wait().await;
    std::mem::forget(dropped);
    stage.add("built");
    match &*name {
        "ruin" => Err(ToolError::failed("it has fallen down")),
        name => Ok(format!("{name} is built")),
    }
}

/// Builds a house on a thread that may block.
#[tool(task, blocking)]
fn build_slowly(ctx: &Context, stage: &Stage) -> String {
    stage.add("started");
    while !ctx.is_cancelled() && stage.gate.try_acquire().map(|permit| permit.forget()).is_err() {
        std::thread::sleep(Duration::from_millis(2));
    }
    stage.add(if ctx.is_cancelled() { "stopped" } else { "built" });
    "built".to_owned()
}

/// Builds a house, for clients with tasks only.
#[tool(task = "required")]
async fn build_in_time(stage: &Stage) -> String {
    stage.wait().await;
    "built".to_owned()
}

/// Builds a house that only some callers may build.
#[tool(task, requires(scopes = ["houses"]))]
async fn build_a_vault(stage: &Stage) -> String {
    stage.wait().await;
    "built".to_owned()
}

/// Asks for a color after a while, and for a name at the end.
#[tool(task)]
async fn paint(ctx: &Context, stage: &Stage) -> Result<String, ToolError> {
    stage.add("started");
    stage.wait().await;
    let color: String = ctx.ask("Which color?").await?;
    stage.add("painted");
    let (first, second) = tokio::join!(ctx.ask::<String>("Who painted?"), ctx.ask::<u8>("How many hours?"));
    Ok(format!("{color}, by {} in {} hours", first?, second?))
}

/// Asks at once.
#[tool(task)]
async fn paint_after_asking(ctx: &Context, stage: &Stage) -> Result<String, ToolError> {
    let color: String = ctx.ask("Which color?").await?;
    stage.add("started");
    stage.wait().await;
    Ok(color)
}

/// Adds two integers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

pub fn server() -> (Server, Stage) {
    server_with(|builder| builder)
}

pub fn server_with(configure: impl FnOnce(ServerBuilder) -> ServerBuilder) -> (Server, Stage) {
    let stage = Stage::new();
    let catalog = catalog![build, build_slowly, build_in_time, build_a_vault, paint, paint_after_asking, add].unwrap();
    let dispatcher = Dispatcher::builder(catalog).state(stage.clone()).build().unwrap();
    let builder = Server::builder(dispatcher).task_after(Duration::from_millis(50));
    (configure(builder).build().unwrap(), stage)
}
