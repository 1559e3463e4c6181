//! The threads for tools, without a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::timeout;
use toolkit_http::ToolPool;

use super::server::PATIENCE;

/// Lets tools go that keep their threads, also when the test fails.
struct Release(Arc<AtomicBool>);

impl Drop for Release {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn a_tool_that_keeps_its_thread_keeps_no_answer_of_another() {
    let pool = ToolPool::new();
    let release = Release(Arc::default());
    let mut held = Vec::new();
    for _ in 0..20 {
        let mut quick = Vec::new();
        for n in 0..200 {
            quick.push(pool.spawn("quick", async move { n }));
            if n % 50 == 0 {
                let is_released = Arc::clone(&release.0);
                held.push(pool.spawn("slow", async move {
                    while !is_released.load(Ordering::Relaxed) {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                }));
            }
        }
        for (n, task) in quick.into_iter().enumerate() {
            assert_eq!(timeout(PATIENCE, task).await.expect("it has ended"), Ok(n));
        }
    }
    drop(release);
    for task in held {
        assert_eq!(timeout(PATIENCE, task).await.expect("it has ended"), Ok(()));
    }
}

#[test]
fn a_runtime_that_does_nothing_keeps_no_tool_of_another() {
    let pool = ToolPool::new();
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (idle, busy) = (runtime(), runtime());
    let task = {
        let _on_idle = idle.enter();
        pool.spawn("first", async { 1 })
    };
    busy.block_on(async {
        let other = pool.spawn("other", async { 2 });
        assert_eq!(timeout(PATIENCE, other).await.expect("it has ended"), Ok(2));
        assert_eq!(timeout(PATIENCE, task).await.expect("it has ended"), Ok(1));
    });
}
