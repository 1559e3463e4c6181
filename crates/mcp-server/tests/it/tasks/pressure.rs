//! Many tasks and their limits, large tasks, and servers that end.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use super::owners::Names;
use super::tools::{Stage, server, server_with};
use super::*;
use toolkit_mcp_server::TaskStore;

#[tokio::test(flavor = "multi_thread")]
async fn beyond_the_maximum_calls_are_not_tasks() {
    let (server, stage) = server_with(|builder| builder.max_tasks(1));
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), tasks()).await;
    let task = start(&mut client, Era::Modern, "build", json!({ "name": "a shed" })).await;
    let mut other = Client::connect(&server, (Era::Legacy, Way::Http), tasks()).await;
    let response = send(&mut other, "tools/call", &as_task(Era::Legacy, "build", json!({ "name": "a hut" }))).await;
    assert_eq!(response["error"]["code"], -32603);
    assert_eq!(response["error"]["message"], "the server has too many tasks; try again later");
    assert_eq!(stage.effects().iter().filter(|effect| *effect == "started").count(), 1, "the call has not started");

    let params = as_task(Era::Modern, "build", json!({ "name": "a barn" }));
    stage.open_later();
    stage.open_later();
    let response = send(&mut client, "tools/call", &params).await;
    assert_eq!(text(&response["result"]), "a barn is built", "its client waits");
    assert_eq!(text(&result(&mut client, Era::Modern, &task, |_| unreachable!()).await), "a shed is built");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_caller_leaves_room_for_others() {
    let (server, stage) = server_with(|builder| builder.max_tasks_per_caller(2));
    let service = server.http().verify(Names).into_service();
    let mut ada = Client::with_token(service.clone(), "ada", tasks()).await;
    let mut bob = Client::with_token(service, "bob", tasks()).await;
    for _ in 0..2 {
        start(&mut ada, Era::Modern, "build", json!({ "name": "a shed" })).await;
    }
    let params = as_task(Era::Modern, "build", json!({ "name": "a shed" }));
    let third = send(&mut ada, "tools/call", &params);
    let limit = Duration::from_millis(200);
    assert!(tokio::time::timeout(limit, third).await.is_err(), "the third call does not become a task");
    start(&mut bob, Era::Modern, "build", json!({ "name": "a barn" })).await;
    drop(stage);
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_whose_results_were_read_make_room_for_new_ones() {
    let (server, stage) = server_with(|builder| builder.max_tasks_per_caller(2));
    let mut client = Client::connect(&server, (Era::Legacy, Way::Http), tasks()).await;
    for nth in 0..6 {
        let task = start(&mut client, Era::Legacy, "build", json!({ "name": format!("house {nth}") })).await;
        stage.open();
        let result = result(&mut client, Era::Legacy, &task, |_| unreachable!()).await;
        assert_eq!(text(&result), format!("house {nth} is built"));
        // It can be read again for now.
        assert_eq!(get(&mut client, &task).await["result"]["status"], "completed");
    }
    assert_eq!(server.status().n_tasks, 2);
}

/// Starts a task, which expires after this time if one is given, and reads its result.
async fn read(client: &mut Client, era: Era, stage: &Stage, ttl: Option<u64>) -> Value {
    let mut params = as_task(era, "build", json!({ "name": "a shed" }));
    if let Some(ttl) = ttl {
        params["task"]["ttl"] = ttl.into();
    }
    let response = send(client, "tools/call", &params).await;
    let task = response["result"].get("task").unwrap_or(&response["result"]).clone();
    assert!(ttl.is_none_or(|ttl| task["ttl"] == ttl), "{response}");
    stage.open();
    assert_eq!(text(&result(client, era, &task, |_| unreachable!()).await), "a shed is built");
    task
}

async fn is_known(client: &mut Client, task: &Value) -> bool {
    get(client, task).await.get("result").is_some()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_task_that_expires_first_makes_room() {
    let (server, stage) = server_with(|builder| builder.max_tasks_per_caller(3));
    let mut client = Client::connect(&server, (Era::Legacy, Way::Http), tasks()).await;
    let mut read_tasks = Vec::new();
    for ttl in [800_000, 600_000, 700_000] {
        read_tasks.push(read(&mut client, Era::Legacy, &stage, Some(ttl)).await);
    }
    start(&mut client, Era::Legacy, "build", json!({ "name": "a barn" })).await;
    let [first, second, third] = &read_tasks[..] else { panic!("three tasks") };
    let known = [is_known(&mut client, first).await, is_known(&mut client, second).await];
    assert_eq!((known, is_known(&mut client, third).await), ([true, false], true));
    drop(stage);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_whose_result_was_not_read_makes_no_room() {
    let (server, stage) = server_with(|builder| builder.max_tasks_per_caller(1));
    let mut client = Client::connect(&server, (Era::Legacy, Way::Http), tasks()).await;
    let task = start(&mut client, Era::Legacy, "build", json!({ "name": "a shed" })).await;
    stage.open();
    poll(&mut client, &task, ENDED).await;
    let params = as_task(Era::Legacy, "build", json!({ "name": "a barn" }));
    let response = send(&mut client, "tools/call", &params).await;
    assert_eq!(response["error"]["message"], "the server has too many tasks; try again later");
    assert!(is_known(&mut client, &task).await);
    assert_eq!(text(&result(&mut client, Era::Legacy, &task, |_| unreachable!()).await), "a shed is built");
    start(&mut client, Era::Legacy, "build", json!({ "name": "a barn" })).await;
    assert!(!is_known(&mut client, &task).await);
    drop(stage);
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_of_others_make_room_only_where_the_server_is_full() {
    for (max, is_kept) in [(2, true), (1, false)] {
        let (server, stage) = server_with(|builder| builder.max_tasks(max).max_tasks_per_caller(1));
        let service = server.http().verify(Names).into_service();
        let mut ada = Client::with_token(service.clone(), "ada", tasks()).await;
        let mut bob = Client::with_token(service, "bob", tasks()).await;
        let of_ada = read(&mut ada, Era::Modern, &stage, None).await;
        let of_bob = read(&mut bob, Era::Modern, &stage, None).await;
        assert_eq!(is_known(&mut ada, &of_ada).await, is_kept, "{max}");
        read(&mut bob, Era::Modern, &stage, None).await;
        assert_eq!((is_known(&mut ada, &of_ada).await, is_known(&mut bob, &of_bob).await), (is_kept, false), "{max}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn large_arguments_of_tasks_leave_room_for_requests() {
    let (server, stage) = server();
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), tasks()).await;
    let mut n_tasks = 0;
    let name = "x".repeat(3 << 20);
    for _ in 0..30 {
        let params = as_task(Era::Modern, "build", json!({ "name": name }));
        let call = send(&mut client, "tools/call", &params);
        // Beyond the limit of its caller, a call stays a call, which ends here since its client hangs up.
        let Ok(response) = tokio::time::timeout(Duration::from_secs(2), call).await else { break };
        assert_eq!(response["result"]["resultType"], "task", "{response}");
        n_tasks += 1;
    }
    assert!((10..30).contains(&n_tasks), "{n_tasks} tasks");
    let added = send(&mut client, "tools/call", &json!({ "name": "add", "arguments": { "a": 1, "b": 2 } })).await;
    assert_eq!(text(&added["result"]), "3");
    drop(stage);
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_hold_at_most_half_of_the_permits() {
    let (server, stage) = server_with(|builder| builder.concurrency(4));
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), tasks()).await;
    start(&mut client, Era::Modern, "build", json!({ "name": "a shed" })).await;
    // Half of those are for one caller.
    let params = as_task(Era::Modern, "build", json!({ "name": "a barn" }));
    let call = send(&mut client, "tools/call", &params);
    assert!(tokio::time::timeout(Duration::from_millis(300), call).await.is_err());
    drop(stage);
}

#[tokio::test(flavor = "multi_thread")]
async fn times_that_never_come_are_no_error() {
    let (server, stage) = server_with(|builder| builder.task_ttl(Duration::MAX));
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), tasks()).await;
    let task = start(&mut client, Era::Modern, "build", json!({ "name": "a shed" })).await;
    stage.open();
    assert_eq!(text(&result(&mut client, Era::Modern, &task, |_| unreachable!()).await), "a shed is built");

    let (server, stage) = server_with(|builder| builder.task_after(Duration::MAX));
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), tasks()).await;
    stage.open_later();
    let response = send(&mut client, "tools/call", &as_task(Era::Modern, "build", json!({ "name": "a shed" }))).await;
    assert_eq!(text(&response["result"]), "a shed is built");
}

/// A store whose method `save` waits until the test continues it, and may fail.
#[derive(Clone, Default)]
struct Slow(std::sync::Arc<SlowState>);

#[derive(Default)]
struct SlowState {
    n_saves: AtomicUsize,
    is_open: AtomicBool,
    fails_after: AtomicUsize,
    records: std::sync::Mutex<std::collections::HashMap<String, Vec<u8>>>,
}

impl TaskStore for Slow {
    fn save(&self, id: &str, record: &[u8]) -> std::io::Result<()> {
        let nth = self.0.n_saves.fetch_add(1, Ordering::SeqCst) + 1;
        while !self.0.is_open.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(2));
        }
        let fails_after = self.0.fails_after.load(Ordering::SeqCst);
        if fails_after > 0 && nth > fails_after {
            return Err(std::io::Error::other("the disk is full"));
        }
        self.0.records.lock().unwrap().insert(id.to_owned(), record.to_vec());
        Ok(())
    }

    fn load(&self, id: &str) -> std::io::Result<Option<Vec<u8>>> {
        Ok(self.0.records.lock().unwrap().get(id).cloned())
    }

    fn remove(&self, id: &str) -> std::io::Result<()> {
        self.0.records.lock().unwrap().remove(id);
        Ok(())
    }

    fn ids(&self) -> std::io::Result<Vec<String>> {
        Ok(Vec::new())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_hangs_up_while_its_task_is_stored_leaves_no_record() {
    let store = Slow::default();
    let (server, stage) = server_with(|builder| builder.task_store(store.clone()));
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), tasks()).await;
    let params = as_task(Era::Modern, "build", json!({ "name": "a shed" }));
    let call = send(&mut client, "tools/call", &params);
    assert!(tokio::time::timeout(Duration::from_millis(200), call).await.is_err());
    assert_eq!(store.0.n_saves.load(Ordering::SeqCst), 1, "the record is being stored");
    stage.has_seen("dropped").await;
    store.0.is_open.store(true, Ordering::SeqCst);
    while server.status().n_tasks > 0 || !store.0.records.lock().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_ends_while_its_task_is_stored_has_its_result() {
    let store = Slow::default();
    let (server, stage) = server_with(|builder| builder.task_store(store.clone()));
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), tasks()).await;
    stage.open_later();
    let response = send(&mut client, "tools/call", &as_task(Era::Modern, "build", json!({ "name": "a shed" }))).await;
    assert_eq!(text(&response["result"]), "a shed is built");
    store.0.is_open.store(true, Ordering::SeqCst);
    while server.status().n_tasks > 0 || !store.0.records.lock().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_cannot_be_stored_is_a_failed_task() {
    let store = Slow::default();
    store.0.is_open.store(true, Ordering::SeqCst);
    store.0.fails_after.store(1, Ordering::SeqCst);
    let (server, stage) = server_with(|builder| builder.task_store(store.clone()));
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), tasks()).await;
    let task = start(&mut client, Era::Modern, "build", json!({ "name": "a shed" })).await;
    stage.open();
    let ended = poll(&mut client, &task, ENDED).await;
    assert_eq!(ended["error"]["message"], "the call has ended, but its result could not be stored");
    assert_eq!(ended["statusMessage"], ended["error"]["message"]);
    assert_eq!(store.0.n_saves.load(Ordering::SeqCst), 4, "storing was tried three times");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_graceful_shutdown_waits_for_the_results_of_stored_tasks() {
    let store = Slow::default();
    store.0.is_open.store(true, Ordering::SeqCst);
    let (server, stage) = server_with(|builder| builder.task_store(store.clone()));
    let (input, mut to) = std::io::pipe().unwrap();
    let (from, output) = std::io::pipe().unwrap();
    let serving = tokio::spawn({
        let server = server.clone();
        async move { server.pipes(input, output).await }
    });
    let mut params = as_task(Era::Modern, "build", json!({ "name": "a shed" }));
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": tasks(),
    });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    std::io::Write::write_all(&mut to, format!("{call}\n").as_bytes()).unwrap();
    drop(to);
    let mut line = String::new();
    tokio::task::block_in_place(|| {
        std::io::BufRead::read_line(&mut std::io::BufReader::new(from), &mut line).unwrap();
    });
    assert!(line.contains("\"resultType\":\"task\""), "{line}");
    stage.open_later();
    serving.await.unwrap().unwrap();
    let records = store.0.records.lock().unwrap();
    let [record] = records.values().collect::<Vec<_>>().try_into().unwrap();
    assert!(String::from_utf8_lossy(record).contains("a shed is built"));
}
