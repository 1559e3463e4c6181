//! Durable runs in a file, and on a real Postgres server: `tests/durable/run` installs the server and runs its tests.

/// Declares tests that hold in each place that records runs.
macro_rules! on_each_place {
    ($($test:ident),+ $(,)?) => {
        mod file {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $test() {
                    super::$test(&super::Place::file()).await;
                }
            )+
        }

        mod postgres {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                #[ignore = "needs a Postgres server"]
                async fn $test() {
                    super::$test(&super::Place::postgres()).await;
                }
            )+
        }
    };
}

mod children;
mod crashes;
mod damaged;
mod decisions;
mod equal;
mod failures;
mod listed;
mod place;
mod processes;
mod queue;
mod refused;
mod schedules;
mod timers;
mod vanished;
mod versions;

use std::future::Future;
use std::time::Duration;

use serde_json::json;
use test_support::postgres::PATIENCE;
use toolkit::call::ErrorKind;
use toolkit::{Catalog, Context, Dispatcher, Tool, ToolError};
use toolkit_backends::Backends;
use toolkit_backends::chain::{Chain, Step};
use toolkit_durable::{
    Client, Connect, Decision, DurableBackend, DurableError, Pause, Run, RunFilter, RunId, RunState, StepState,
};

use self::place::Place;
use self::processes::{Process, lines, starts};

async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("nothing hangs")
}

/// Waits until a condition holds.
async fn until(mut holds: impl AsyncFnMut() -> bool) {
    soon(async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

/// Connects, once a worker has created the tables.
async fn client(place: &Place) -> Client {
    let connect = Connect::new(&place.url()).unwrap().application("fixture");
    soon(async {
        loop {
            match Client::connect(&connect).await {
                Ok(client) => return client,
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    })
    .await
}

/// Waits until the tool of a step has started.
async fn started(place: &Place, key: &str) {
    until(async || lines(place).iter().any(|line| line.event == "start" && line.key == key)).await;
}

/// Waits until a step waits for a decision, and returns it.
async fn waiting(run: &Run) -> (usize, Pause) {
    let mut found = None;
    until(async || {
        let steps = run.status().await.map(|status| status.steps).unwrap_or_default();
        found = steps.into_iter().find_map(|step| match step.state {
            StepState::Waiting { pause, .. } => Some((step.index, pause)),
            _ => None,
        });
        found.is_some()
    })
    .await;
    found.unwrap()
}

fn id(text: &str) -> RunId {
    RunId::new(text).unwrap()
}

/// Returns a chain of `n_steps` calls of a tool, each of which adds one to the result of the one before.
fn adding(tool: &str, n_steps: usize, ms: u64) -> Chain {
    let first = Step::new(tool).named("s0").arg("n", 0).arg("ms", json!(ms));
    (1..n_steps).fold(Chain::new().then(first), |chain, idx| {
        let step = Step::new(tool).named(format!("s{idx}")).arg("ms", json!(ms));
        chain.then(step.take("n", format!("s{}", idx - 1), ""))
    })
}

/// A generator of reproducible numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}
