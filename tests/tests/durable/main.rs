//! Durable runs on a real Postgres server. `tests/durable/run` installs the server and runs these tests.

mod crashes;
mod processes;
mod server;

use std::future::Future;
use std::time::Duration;

use serde_json::json;
use toolkit::chain::{Chain, Step};
use toolkit_durable::{Client, Connect, RunId};

use self::processes::{Process, lines, starts};
use self::server::{PATIENCE, Server};

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
async fn client(server: &Server) -> Client {
    let connect = Connect::new(&server.url()).unwrap().application("fixture");
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

fn id(text: &str) -> RunId {
    RunId::new(text).unwrap()
}

/// Returns a chain of `n_steps` calls of a tool, each of which adds one to the result of the one before.
fn adding(tool: &str, n_steps: usize, ms: u64) -> Chain {
    let first = Step::new(tool).named("s0").arg("n", 0).arg("ms", json!(ms));
    (1..n_steps).fold(Chain::new().then(first), |chain, idx| {
        let step = Step::new(tool).named(&format!("s{idx}")).arg("ms", json!(ms));
        chain.then(step.take("n", format!("s{}", idx - 1), ""))
    })
}
