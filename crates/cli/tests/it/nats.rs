//! The command line, and all processes between a client and a tool, over a real NATS server. `tests/nats/run` installs the
//! server and runs these tests.

mod cli;
mod trace;

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use serde_json::Value;
use test_support::free_port;
use test_support::nats::{PATIENCE, Server};
use toolkit::{Catalog, Dispatcher, ToolError};
use toolkit_backends::Backends;
use toolkit_nats::{Connect, NatsBackend};

use super::TOOLS;

/// The command line of a program with the tools of the worker that [`worker`] starts.
static FLEET: LazyLock<String> = LazyLock::new(|| super::path("fixture_fleet"));

/// A process that is killed on drop.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a worker.
fn worker(server: &Server) -> Killed {
    started(server, &[&server.url()])
}

/// Starts the program with the tools of the worker.
fn started(server: &Server, words: &[&str]) -> Killed {
    let mut command = Command::new(&*FLEET);
    let command = command.args(words).env("FIXTURE_DIARY", diary(server));
    Killed(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

fn diary(server: &Server) -> PathBuf {
    server.folder().join("diary")
}

fn connect(server: &Server) -> Connect {
    Connect::new(&server.url()).unwrap()
}

async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("nothing hangs")
}

/// Returns a dispatcher for the tools of a backend, once there is a worker.
async fn dispatcher(backend: &NatsBackend) -> Dispatcher {
    until(async || backend.members().await.is_ok_and(|members| members.len() == 1)).await;
    let backends = Backends::new();
    backends.register(backend.clone()).unwrap();
    let collected = soon(backends.collect(Catalog::new([]).unwrap())).await;
    assert!(collected.failures.is_empty(), "{:?}", collected.failures);
    Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap()
}

async fn call(dispatcher: &Dispatcher, name: &str, arguments: Value) -> Result<Value, ToolError> {
    soon(dispatcher.call(name, arguments)).await.map(|result| result.value())
}

/// Waits until a condition holds.
async fn until(mut holds: impl AsyncFnMut() -> bool) {
    soon(async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}
