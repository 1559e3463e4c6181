//! Lists of runs, and the removal of those that have ended.

use super::*;

/// Returns the ids and states of the listed runs, in the order of their ids.
async fn listed(client: &Client, filter: RunFilter) -> Vec<(String, RunState)> {
    let runs = client.list(&filter).await.unwrap();
    let mut listed: Vec<_> = runs.into_iter().map(|run| (run.id.to_string(), run.state)).collect();
    listed.sort_by(|a, b| a.0.cmp(&b.0));
    listed
}

fn expected(runs: &[(&str, RunState)]) -> Vec<(String, RunState)> {
    runs.iter().map(|(id, state)| ((*id).to_owned(), *state)).collect()
}

async fn runs_are_listed_by_their_state_also_those_of_an_application_without_a_worker(place: &Place) {
    let mut worker = Process::start(place, "approve");
    let client = client(place).await;
    let done = client.start(&adding("diary:repeatable", 1, 1), id("a-done")).await.unwrap();
    soon(done.wait()).await.unwrap();
    let asking = Chain::new().then(Step::new("diary:approved").arg("n", 0).arg("ms", 1));
    let asks = client.start(&asking, id("b-asks")).await.unwrap();
    waiting(&asks).await;
    let sleeping = Chain::new().then(Step::new("diary:once").arg("n", 0).arg("ms", 1).sleep(Duration::from_secs(600)));
    let sleeps = client.start(&sleeping, id("c-sleeps")).await.unwrap();
    waiting(&sleeps).await;
    let cancelled = client.start(&adding("diary:repeatable", 1, 60_000), id("d-cancelled")).await.unwrap();
    started(place, "d-cancelled/0").await;
    cancelled.cancel().await.unwrap();
    let rejected = client.start(&Chain::new().then(Step::new("diary:unknown")), id("e-rejected")).await.unwrap();
    assert!(matches!(soon(rejected.wait()).await, Err(DurableError::Rejected(_))));
    // Another application in the same database, whose tools are the same and which has no worker.
    let dead = Connect::new(&place.url()).unwrap().application("dead");
    let dead = Client::connect(&dead).await.unwrap();
    dead.start(&adding("diary:repeatable", 1, 1), id("f-dead")).await.unwrap();

    let mut runs = vec![
        ("a-done", RunState::Finished),
        ("b-asks", RunState::Waiting),
        ("c-sleeps", RunState::Running),
        ("d-cancelled", RunState::Cancelled),
        ("e-rejected", RunState::Rejected),
    ];
    assert_eq!(listed(&client, RunFilter::new()).await, expected(&runs));
    assert_eq!(listed(&client, RunFilter::new().limit(2)).await, expected(&runs[3..]), "the last started ones");
    for (id, state) in &runs {
        assert_eq!(listed(&client, RunFilter::new().state(*state)).await, expected(&[(*id, *state)]));
    }
    let waits = client.list(&RunFilter::new().state(RunState::Waiting)).await.unwrap().remove(0);
    assert!(matches!(waits.waiting[&0], Pause::Question { .. }), "{waits:?}");
    runs.push(("f-dead", RunState::NoWorker));
    assert_eq!(listed(&client, RunFilter::new().any_application()).await, expected(&runs));
    let status = dead.run(id("f-dead")).status().await.unwrap();
    assert_eq!((status.state, status.version), (RunState::NoWorker, None));

    worker.kill();
    until(async || listed(&client, RunFilter::new().state(RunState::NoWorker)).await.len() == 2).await;
    let without = RunFilter::new().state(RunState::NoWorker).any_application();
    let expected = expected(&["b-asks", "c-sleeps", "f-dead"].map(|id| (id, RunState::NoWorker)));
    assert_eq!(listed(&client, without).await, expected);
}

async fn only_runs_that_have_ended_are_deleted_and_their_ids_are_free(place: &Place) {
    let _worker = Process::start(place, "");
    let client = client(place).await;
    let chain = adding("diary:repeatable", 2, 1);
    for nth in 0..3 {
        let run = client.start(&chain, id(&format!("run-{nth}"))).await.unwrap();
        soon(run.wait()).await.unwrap();
    }
    let long = client.start(&adding("diary:repeatable", 1, 60_000), id("run-3")).await.unwrap();
    started(place, "run-3/0").await;

    let ended = async |age| listed(&client, RunFilter::new().ended_for(Duration::from_secs(age))).await.len();
    assert_eq!((ended(0).await, ended(3600).await), (3, 0));
    let all: Vec<RunId> = client.list(&RunFilter::new()).await.unwrap().into_iter().map(|run| run.id).collect();
    assert_eq!(all.len(), 4);
    assert_eq!(client.delete(&all).await.unwrap(), 3);
    assert_eq!(client.delete(&all).await.unwrap(), 0);

    assert_eq!(long.status().await.unwrap().state, RunState::Running);
    assert!(matches!(client.run(id("run-0")).status().await, Err(DurableError::UnknownRun(_))));
    let n_entries = place.query("SELECT cast(count(*) AS TEXT) FROM toolkit_entries WHERE run <> 'run-3'");
    assert_eq!(n_entries, "0");
    let again = client.start(&adding("diary:repeatable", 1, 1), id("run-0")).await.unwrap();
    assert_eq!(soon(again.wait()).await.unwrap().result().unwrap().value(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Postgres server"]
async fn the_query_of_the_deployed_autoscaler_counts_runs_that_need_a_worker() {
    let place = Place::postgres();
    let _worker = Process::start(&place, "approve");
    let client = client(&place).await;
    let ended = client.start(&adding("diary:repeatable", 1, 1), id("ended")).await.unwrap();
    soon(ended.wait()).await.unwrap();
    let asks = client.start(&adding("diary:approved", 1, 1), id("asks")).await.unwrap();
    waiting(&asks).await;
    client.start(&adding("diary:repeatable", 1, 60_000), id("runs")).await.unwrap();
    started(&place, "runs/0").await;

    let file = include_str!("../../../../../deploy/keda/durable.yaml");
    let (_, query) = file.split_once("query: \"").unwrap();
    let query = query.split_once('"').unwrap().0.replace("'my-tools'", "'fixture'");

    assert_eq!(place.query(&query), "1");
    client.start(&adding("diary:repeatable", 1, 60_000), id("other")).await.unwrap();
    asks.decide(0, &Decision::Deny).await.unwrap();
    soon(asks.wait()).await.unwrap();
    assert_eq!(place.query(&query), "2");
}

on_each_place! {
    runs_are_listed_by_their_state_also_those_of_an_application_without_a_worker,
    only_runs_that_have_ended_are_deleted_and_their_ids_are_free,
}
