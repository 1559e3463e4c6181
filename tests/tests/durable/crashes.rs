//! Processes that are killed.

use super::*;

#[tokio::test]
#[ignore = "needs a Postgres server"]
async fn a_run_ends_although_its_worker_is_killed_and_never_comes_back() {
    let server = Server::start();
    let mut first = Process::start(&server, "");
    let client = client(&server).await;
    let run = client.start(&adding("diary:repeatable", 4, 300), id("order-1")).await.unwrap();
    until(async || lines(&server).iter().any(|line| line.event == "start" && line.key == "order-1/1")).await;
    first.kill();
    let _second = Process::start(&server, "");

    let outcome = soon(run.wait()).await.unwrap();

    assert_eq!(outcome.result().unwrap().value(), 4);
    assert_eq!(outcome.steps().len(), 4);
    let starts = starts(&server, "repeatable");
    let expected = [("order-1/0", 1), ("order-1/1", 2), ("order-1/2", 1), ("order-1/3", 1)];
    assert_eq!(starts, expected.map(|(key, n)| (key.to_owned(), n)).into());
}
