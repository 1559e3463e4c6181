//! The thread pool for tools, without a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::timeout;
use toolkit_runtime::ToolPool;

/// A timeout for operations that must not hang, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// Releases blocked tools on drop, so also when the test fails.
struct Release(Arc<AtomicBool>);

impl Drop for Release {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn a_blocking_tool_does_not_delay_results_of_others() {
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
fn a_stalled_runtime_does_not_delay_tools_of_others() {
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
