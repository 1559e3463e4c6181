//! Workers that join and leave, with the same and with other tools.

use serde_json::json;
use toolkit::backend::Backend;
use toolkit::call::ErrorKind;
use toolkit::{Tool, catalog, tool};
use toolkit_nats::NatsBackend;

use super::*;

mod first {
    use super::*;

    /// Adds two integers.
    #[tool(namespace = "math")]
    pub(super) fn add(a: i64, b: i64) -> i64 {
        a + b
    }

    /// Says which version this is.
    #[tool(namespace = "math")]
    pub(super) fn which() -> String {
        "first".to_owned()
    }
}

mod second {
    use super::*;

    /// Adds two integers, and a third.
    #[tool(namespace = "math")]
    pub(super) fn add(a: i64, b: i64, c: i64) -> i64 {
        a + b + c
    }

    /// Says which version this is.
    #[tool(namespace = "math")]
    pub(super) fn which() -> String {
        "second".to_owned()
    }
}

fn old() -> Catalog {
    catalog![first::add, first::which].unwrap()
}

fn new() -> Catalog {
    catalog![second::add, second::which].unwrap()
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn workers_join_and_leave() {
    let server = Server::start();
    let backend = NatsBackend::new("fleet", connect(&server));
    assert!(soon(backend.tools()).await.unwrap().tools.is_empty());

    let changed = backend.changed();
    let one = Running::start(worker(&server, old()));
    soon(changed).await;
    assert_eq!(soon(backend.tools()).await.unwrap().tools.len(), 2);
    let dispatcher = dispatcher(&backend, 1).await;
    assert_eq!(call(&dispatcher, "math:add", json!({ "a": 1, "b": 2 })).await.unwrap(), 3);

    let two = Running::start(worker(&server, old()));
    until(async || backend.members().await.unwrap().len() == 2).await;
    let members = backend.members().await.unwrap();
    assert!(members[0].digest == members[1].digest && members.iter().all(|member| member.n_tools == 2));
    one.stop().await;
    until(async || backend.members().await.unwrap().len() == 1).await;
    assert_eq!(call(&dispatcher, "math:add", json!({ "a": 1, "b": 2 })).await.unwrap(), 3);
    soon(backend.tools()).await.unwrap();
    let changed = backend.changed();
    two.stop().await;
    soon(changed).await;
    assert!(soon(backend.tools()).await.unwrap().tools.is_empty());
    let error = call(&dispatcher, "math:add", json!({ "a": 1, "b": 2 })).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Unavailable, "no worker of `fleet` has this version of the tool")
    );
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_call_reaches_a_worker_with_the_contract_that_the_caller_knows() {
    let server = Server::start();
    let one = Running::start(worker(&server, old()));
    let backend = NatsBackend::new("fleet", connect(&server));
    let before = dispatcher(&backend, 1).await;
    let _two = Running::start(worker(&server, new()));
    let after = dispatcher(&backend, 2).await;
    // Both versions are called with their own contracts, as long as both are there.
    for _ in 0..20 {
        assert_eq!(call(&before, "math:add", json!({ "a": 1, "b": 2 })).await.unwrap(), 3);
        assert_eq!(call(&after, "math:add", json!({ "a": 1, "b": 2, "c": 3 })).await.unwrap(), 6);
    }
    // A tool whose contract has not changed is called on either.
    let mut seen = std::collections::BTreeSet::new();
    until(async || {
        seen.insert(call(&before, "math:which", json!({})).await.unwrap().to_string());
        seen.len() == 2
    })
    .await;
    one.stop().await;
    until(async || backend.members().await.unwrap().len() == 1).await;
    let error = call(&before, "math:add", json!({ "a": 1, "b": 2 })).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!(call(&before, "math:which", json!({})).await.unwrap(), "second");
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_worker_with_thousands_of_tools_is_listed_completely() {
    let server = Server::configured("max_payload: 65536");
    let tools = (0..3_000).map(|n| Tool::builder(format!("tool_{n}")).description("Does nothing. ".repeat(10)));
    let tools: Vec<Tool> = tools.map(|tool| tool.build().unwrap()).collect();
    let dispatcher = Dispatcher::new(Catalog::new(tools).unwrap()).unwrap();
    let _worker = Running::start(Worker::new(connect(&server), dispatcher));
    let backend = NatsBackend::new("fleet", connect(&server));
    until(async || backend.members().await.is_ok_and(|members| members.len() == 1)).await;
    let listed = soon(backend.tools()).await.unwrap();
    assert_eq!((listed.tools.len(), listed.diagnostics.len()), (3_000, 0));
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn definitions_of_other_namespaces_are_not_fetched() {
    let server = Server::start();
    let namespace = |n: usize| if n == 7 { "small" } else { ["large", "other"][n % 2] };
    let tools = (0..300).map(|n| Tool::builder(format!("tool_{n}")).namespace(namespace(n)));
    let tools = tools.chain([Tool::builder("bare")]).map(|tool| tool.build().unwrap()).collect::<Vec<Tool>>();
    let tools = Dispatcher::new(Catalog::new(tools).unwrap()).unwrap();
    let _worker = Running::start(Worker::new(connect(&server), tools));
    let mut requests = spy(&server, "tk.tools.*").await;
    for (only, n_tools, requested) in [
        (&["small", ""][..], 2, &["0", "0 _", "0 small"][..]),
        (&["absent"], 0, &["0"]),
        (&["other"], 149, &["0", "0 other"]),
    ] {
        let backend = NatsBackend::new("fleet", connect(&server)).only(only);
        until(async || backend.members().await.is_ok_and(|members| members.len() == 1)).await;
        assert_eq!(backend.members().await.unwrap()[0].n_tools, 301);
        assert_eq!(soon(backend.tools()).await.unwrap().tools.len(), n_tools, "{only:?}");
        for request in requested {
            let message = soon(futures_util::StreamExt::next(&mut requests)).await.unwrap();
            assert_eq!(message.payload, *request);
        }
    }
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn prefixes_separate_environments() {
    let server = Server::start();
    let _worker = Running::start(worker(&server, old()).prefix("staging"));
    let staging = NatsBackend::new("staging", connect(&server)).prefix("staging");
    let production = NatsBackend::new("production", connect(&server)).prefix("production");
    let dispatcher = dispatcher(&staging, 1).await;
    assert_eq!(call(&dispatcher, "math:add", json!({ "a": 1, "b": 2 })).await.unwrap(), 3);
    assert!(soon(production.tools()).await.unwrap().tools.is_empty());
}
