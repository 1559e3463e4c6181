//! The threads for tools, without a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;
use tokio::task::yield_now;
use tokio::time::timeout;
use toolkit_runtime::{CallLimiter, Panicked, Task, parse_message, run_tool, spawn_tool};

/// A timeout for operations that must not hang, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// Releases blocked tools on drop, so also when the test fails.
#[derive(Default)]
struct Release(Arc<AtomicBool>);

impl Release {
    /// Returns a function that blocks its thread until the release.
    fn block(&self) -> impl FnOnce() + Send + 'static {
        let is_released = Arc::clone(&self.0);
        move || {
            while !is_released.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

impl Drop for Release {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

async fn ended<T>(task: Task<T>) -> Result<T, Panicked> {
    timeout(PATIENCE, task).await.expect("it has ended")
}

#[tokio::test]
async fn a_blocking_tool_does_not_delay_results_of_others() {
    let release = Release::default();
    let mut held = Vec::new();
    for _ in 0..20 {
        let mut quick = Vec::new();
        for n in 0..200 {
            quick.push(spawn_tool("tool", async move { n }));
            if n % 50 == 0 {
                let block = release.block();
                held.push(spawn_tool("tool", async move { block() }));
            }
        }
        for (n, task) in quick.into_iter().enumerate() {
            assert_eq!(ended(task).await, Ok(n));
        }
    }
    drop(release);
    for task in held {
        assert_eq!(ended(task).await, Ok(()));
    }
}

#[tokio::test]
async fn a_computing_tool_does_not_delay_results_of_others() {
    let release = Release::default();
    let busy: Vec<_> = (0..8)
        .map(|_| {
            let is_released = Arc::clone(&release.0);
            spawn_tool("computing", async move {
                while !is_released.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        })
        .collect();
    for n in 0..20 {
        assert_eq!(ended(spawn_tool("quick", async move { n })).await, Ok(n));
    }
    drop((release, busy));
}

#[tokio::test]
async fn calls_that_block_do_not_wait_for_other_threads_that_compute() {
    let release = Release::default();
    let spinning: Vec<_> = (0..2 * std::thread::available_parallelism().unwrap().get())
        .map(|_| {
            let is_released = Arc::clone(&release.0);
            std::thread::spawn(move || {
                while !is_released.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        })
        .collect();
    let (started, mut is_started) = tokio::sync::mpsc::unbounded_channel();
    let held: Vec<_> = (0..512)
        .map(|_| {
            let (block, started) = (release.block(), started.clone());
            spawn_tool("blocking", async move {
                started.send(()).unwrap();
                block();
            })
        })
        .collect();
    let all = async {
        for _ in 0..512 {
            is_started.recv().await.unwrap();
        }
    };
    timeout(PATIENCE, all).await.expect("all calls have started");
    drop((release, held));
    spinning.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn a_stalled_runtime_does_not_delay_tools_of_others() {
    let (idle, busy) = (runtime(), runtime());
    let task = {
        let _on_idle = idle.enter();
        spawn_tool("tool", async { 1 })
    };
    busy.block_on(async {
        let other = spawn_tool("tool", async { 2 });
        assert_eq!(ended(other).await, Ok(2));
        assert_eq!(ended(task).await, Ok(1));
    });
}

#[tokio::test]
async fn a_tool_that_blocks_after_it_has_woken_another_does_not_delay_it() {
    let release = Release::default();
    let mut held = Vec::new();
    for n in 0..50 {
        let (sender, receiver) = oneshot::channel();
        let (started, is_started) = oneshot::channel();
        let woken = spawn_tool("tool", async move {
            let _ = started.send(());
            receiver.await
        });
        is_started.await.unwrap();
        let block = release.block();
        held.push(spawn_tool("tool", async move {
            sender.send(n).unwrap();
            block();
        }));
        assert_eq!(ended(woken).await, Ok(Ok(n)));
    }
    drop((release, held));
}

#[tokio::test]
async fn tools_that_block_do_not_delay_one_that_yields() {
    let release = Release::default();
    let mut held = Vec::new();
    for _ in 0..20 {
        let yielding = spawn_tool("tool", async {
            for _ in 0..100 {
                yield_now().await;
            }
        });
        let block = release.block();
        held.push(spawn_tool("tool", async move { block() }));
        assert_eq!(ended(yielding).await, Ok(()));
    }
    drop((release, held));
}

#[tokio::test]
async fn a_tool_may_wait_for_a_future_on_its_thread() {
    let waiting = spawn_tool("tool", async {
        let (sender, receiver) = oneshot::channel();
        tokio::spawn(async move { sender.send(1) });
        Handle::current().block_on(receiver).unwrap() + runtime().block_on(async { 1 })
    });
    assert_eq!(ended(waiting).await, Ok(2));
}

#[test]
fn timers_and_tasks_of_a_tool_are_those_of_its_server() {
    runtime().block_on(async {
        let server = Handle::current().id();
        let sleeping = spawn_tool("tool", async move {
            tokio::time::sleep(Duration::from_millis(5)).await;
            (Handle::current().id(), tokio::spawn(async { Handle::current().id() }).await.unwrap())
        });
        assert_eq!(ended(sleeping).await, Ok((server, server)));
    });
}

#[tokio::test]
async fn a_dropped_task_keeps_its_permit_until_its_poll_has_ended() {
    let (limiter, release) = (CallLimiter::new(8), Release::default());
    let (started, is_started) = oneshot::channel();
    let (permit, block) = (limiter.try_acquire("slow", None).unwrap(), release.block());
    let task = spawn_tool("tool", async move {
        let _permit = permit;
        let _ = started.send(());
        block();
        std::future::pending::<()>().await;
    });
    is_started.await.unwrap();
    drop(task);
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(limiter.n_running(), 1);
    drop(release);
    let start = Instant::now();
    while limiter.n_running() > 0 {
        assert!(start.elapsed() < PATIENCE, "the future was not dropped");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn a_panic_ends_only_its_own_task() {
    let (sender, receiver) = oneshot::channel::<()>();
    run_tool("tool", move || {
        let _sender = sender;
        panic!("a panic of a test");
    });
    assert!(timeout(PATIENCE, receiver).await.expect("it is dropped").is_err());
    assert_eq!(ended(spawn_tool("tool", async { panic!("a panic of a test") })).await, Err::<(), _>(Panicked));
    assert_eq!(Panicked.to_string(), "the task panicked");
    assert_eq!(ended(spawn_tool("tool", async { 1 })).await, Ok(1));
}

#[tokio::test]
async fn only_a_large_message_is_parsed_on_the_threads_for_tools() {
    let here = std::thread::current().id();
    for (n_bytes, is_here) in [(0, true), (64 << 10, true), ((64 << 10) + 1, false), (1 << 20, false)] {
        let parsed_on = parse_message(n_bytes, || std::thread::current().id()).await;
        assert_eq!(parsed_on.map(|thread| thread == here), Ok(is_here), "{n_bytes}");
    }
    assert_eq!(parse_message(1 << 20, || panic!("a panic of a test")).await, Err::<(), _>(Panicked));
}
