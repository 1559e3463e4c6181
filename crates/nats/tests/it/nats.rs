//! Workers and callers over a real NATS server. `tests/nats/run` installs the server and runs these tests.

mod bodies;
mod calls;
mod claims;
mod credentials;
mod failures;
mod fleet;
mod foreign;
mod jwt;
mod load;
mod partitions;
mod processes;
mod security;

use std::future::Future;
use std::time::Duration;

use serde_json::Value;
use test_support::nats::{PATIENCE, Server};
use toolkit::{Catalog, Dispatcher, ToolError};
use toolkit_backends::Backends;
use toolkit_nats::{Connect, NatsBackend, Worker};

/// Runs a worker in this process until the returned guard is dropped.
struct Running {
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    ended: tokio::task::JoinHandle<Result<(), toolkit_nats::NatsError>>,
}

impl Running {
    fn start(worker: Worker) -> Self {
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let ended = tokio::spawn(worker.run(async { drop(stopped.await) }));
        Self { stop: Some(stop), ended }
    }

    async fn stop(mut self) {
        drop(self.stop.take());
        soon(&mut self.ended).await.unwrap().unwrap();
    }
}

fn connect(server: &Server) -> Connect {
    Connect::new(&server.url()).unwrap()
}

/// Returns the tools of a catalog as a worker.
fn worker(server: &Server, catalog: Catalog) -> Worker {
    Worker::new(connect(server), Dispatcher::new(catalog).unwrap())
}

/// Subscribes as a program that reads what passes the server. Returns once the server has the subscription: `flush` returns
/// when it is written, and the server may read messages of other connections before.
async fn spy(server: &Server, subject: &'static str) -> async_nats::Subscriber {
    let client = async_nats::connect(server.url()).await.unwrap();
    let messages = client.subscribe(subject).await.unwrap();
    let inbox = client.new_inbox();
    let mut answers = client.subscribe(inbox.clone()).await.unwrap();
    client.publish(inbox, "".into()).await.unwrap();
    soon(futures_util::StreamExt::next(&mut answers)).await.unwrap();
    messages
}

async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("nothing hangs")
}

/// Returns a dispatcher for the tools of a backend, once there are `n_workers`.
async fn dispatcher(backend: &NatsBackend, n_workers: usize) -> Dispatcher {
    until(async || backend.members().await.is_ok_and(|members| members.len() == n_workers)).await;
    collected(backend).await
}

async fn collected(backend: &NatsBackend) -> Dispatcher {
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
