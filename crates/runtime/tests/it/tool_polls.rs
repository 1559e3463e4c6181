//! Polls of tools on the thread that has spawned them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, ThreadId};
use std::time::Duration;

use tokio::task::yield_now;
use tokio::time::timeout;
use toolkit_runtime::{Task, ToolPolls, collected, record_stall, spawn_tool};

/// A timeout for operations that must not hang, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

fn collect<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> (Task<T>, ToolPolls) {
    let mut task = None;
    let polls = ToolPolls::collect(|| task = Some(spawn_tool("tool", work)));
    (task.unwrap(), polls)
}

async fn ended<T>(task: Task<T>) -> T {
    timeout(PATIENCE, task).await.expect("it ends").unwrap()
}

async fn this_thread() -> ThreadId {
    thread::current().id()
}

#[tokio::test]
async fn only_the_first_poll_of_a_collected_tool_runs_on_its_thread() {
    let (task, mut polls) = collect(async {
        let first = this_thread().await;
        yield_now().await;
        (first, this_thread().await)
    });
    polls.next().unwrap().run();
    assert!(polls.next().is_none());
    let (first, second) = ended(task).await;
    assert_eq!(first, thread::current().id());
    assert_ne!(second, first);
}

#[tokio::test]
async fn collected_polls_that_are_dropped_or_handed_over_run_on_the_threads_for_tools() {
    let (dropped, polls) = collect(this_thread());
    drop(polls);
    assert_ne!(ended(dropped).await, thread::current().id());
    let (handed_over, mut polls) = collect(this_thread());
    polls.next().unwrap().hand_over();
    assert_ne!(ended(handed_over).await, thread::current().id());
}

#[tokio::test]
async fn a_collected_tool_may_block_until_one_that_it_spawns_has_ended() {
    let (task, mut polls) = collect(async {
        let (sender, receiver) = mpsc::channel();
        let inner = spawn_tool("inner", async move { sender.send(thread::current().id()) });
        let seen = receiver.recv_timeout(PATIENCE);
        drop(inner);
        seen
    });
    polls.next().unwrap().run();
    assert_ne!(ended(task).await, Ok(thread::current().id()));
}

#[tokio::test]
async fn the_call_after_one_that_has_stalled_runs_on_the_threads_for_tools() {
    let number = Arc::new(AtomicU64::new(0));
    let here = [true, false, false, false].map(|stalls| {
        let tool = Arc::clone(&number);
        let work = async move {
            if stalls {
                record_stall(tool.load(Ordering::Relaxed));
            }
        };
        let mut task = None;
        let mut polls = ToolPolls::collect(|| task = Some(spawn_tool("stalls", work)));
        let poll = polls.next()?;
        number.store(poll.tool(), Ordering::Relaxed);
        poll.run();
        Some(())
    });
    assert_eq!(here, [Some(()), None, Some(()), Some(())]);
}

#[tokio::test]
async fn a_collection_that_panics_ends() {
    let panicked = std::panic::catch_unwind(|| ToolPolls::collect(|| panic!("a panic of a test")));
    assert!(panicked.is_err());
    assert_ne!(ended(spawn_tool("tool", this_thread())).await, thread::current().id());
}

#[tokio::test]
async fn a_future_waits_once_while_its_thread_collects() {
    use std::task::{Context, Waker};

    let mut context = Context::from_waker(Waker::noop());
    let mut waiting = Box::pin(collected());
    let mut is_pending = false;
    drop(ToolPolls::collect(|| is_pending = waiting.as_mut().poll(&mut context).is_pending()));
    assert!(is_pending);
    assert!(waiting.as_mut().poll(&mut context).is_ready());
    assert!(Box::pin(collected()).as_mut().poll(&mut context).is_ready());
}
