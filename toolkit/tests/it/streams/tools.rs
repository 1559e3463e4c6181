//! The tools of these tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use toolkit::{Catalog, Chunks, Context, ToolError, catalog, tool};

/// The channels between the tools and the tests.
#[derive(Clone, Default)]
pub struct Seen {
    pub made: Arc<AtomicUsize>,
    pub dropped: Arc<AtomicUsize>,
    pub cancelled: Arc<AtomicBool>,
}

/// Counts down.
#[tool(namespace = "stream", version = "1.0.0")]
pub fn countdown(from: u8) -> Chunks<u8> {
    Chunks::from_items((1..=from).rev())
}

/// Adds one.
#[tool(namespace = "stream")]
fn plain(n: u8) -> u8 {
    n + 1
}

/// Reports and returns.
#[tool(namespace = "stream")]
async fn steps(ctx: &Context) -> String {
    for step in [1.0, 2.0] {
        ctx.progress(step, 2.0, "");
        tokio::task::yield_now().await;
    }
    "ready".to_owned()
}

/// Gives one item and fails.
#[tool(namespace = "stream")]
fn fails_midway() -> Chunks<u8> {
    Chunks::emit(async |items| {
        items.send(1).await?;
        Err(ToolError::failed("the disk is gone"))
    })
}

/// Gives one item and panics.
#[tool(namespace = "stream")]
fn panics_midway() -> Chunks<u8> {
    Chunks::from_items((0..2).map(|n| if n == 0 { 1 } else { panic!("s3cret") }))
}

/// A number that is serialized as a string if it is greater than one.
#[derive(JsonSchema)]
#[schemars(with = "u8")]
struct Fickle(u8);

impl Serialize for Fickle {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 > 1 { serializer.serialize_str("s3cret") } else { serializer.serialize_u8(self.0) }
    }
}

/// Gives one item that is a number and one that is not.
#[tool(namespace = "stream")]
fn breaks_its_promise() -> Chunks<Fickle> {
    Chunks::from_items([Fickle(1), Fickle(2)])
}

/// Gives one item and no other for a long time.
#[tool(namespace = "stream", timeout = "20ms")]
async fn too_slow() -> Result<Chunks<u8>, ToolError> {
    Ok(Chunks::emit(async |items| {
        items.send(1).await?;
        tokio::time::sleep(Duration::from_secs(60)).await;
        Ok(())
    }))
}

/// Never ends.
#[tool(namespace = "stream")]
fn endless() -> Chunks<u8> {
    Chunks::from_items(std::iter::repeat(1))
}

struct OnDrop(Arc<AtomicUsize>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Counts the items that it makes.
#[tool(namespace = "stream")]
fn counted(seen: &Seen) -> Chunks<u8> {
    let (made, guard) = (Arc::clone(&seen.made), OnDrop(Arc::clone(&seen.dropped)));
    Chunks::from_items((0..100).inspect(move |_| {
        let _ = &guard;
        made.fetch_add(1, Ordering::SeqCst);
    }))
}

/// Works on a thread of its own until the call is cancelled.
#[tool(namespace = "stream", blocking)]
fn works(ctx: &Context, seen: &Seen) {
    let start = Instant::now();
    while !ctx.is_cancelled() && start.elapsed() < Duration::from_secs(30) {
        ctx.progress(1.0, None, "");
        std::thread::sleep(Duration::from_millis(2));
    }
    seen.cancelled.store(ctx.is_cancelled(), Ordering::SeqCst);
}

/// Reports far more progress than a reader takes.
#[tool(namespace = "stream")]
async fn floods(ctx: &Context) -> Chunks<u8> {
    let ctx = ctx.clone();
    Chunks::from_items([1, 2].into_iter().inspect(move |n| {
        for done in (n - 1) as u32 * 100_000..*n as u32 * 100_000 {
            ctx.progress(done.into(), None, "");
        }
    }))
}

pub fn catalog() -> Catalog {
    catalog![
        countdown,
        plain,
        steps,
        fails_midway,
        panics_midway,
        breaks_its_promise,
        too_slow,
        endless,
        counted,
        works,
        floods,
        super::emitters::numbers,
        super::emitters::fails,
        super::laws::scripted
    ]
    .unwrap()
}
