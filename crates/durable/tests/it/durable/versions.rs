//! Workers of several releases.

use super::*;

fn releases(place: &Place, prefix: &str) -> std::collections::BTreeSet<String> {
    lines(place).into_iter().filter(|line| line.key.starts_with(prefix)).map(|line| line.release).collect()
}

async fn old_runs_end_on_old_workers_and_a_missing_one_is_named(place: &Place) {
    let mut first = Process::start(place, "release=first");
    let client = client(place).await;
    let chain = adding("diary:repeatable", 4, 500);
    let mut old = Vec::new();
    for nth in 0..10 {
        old.push(client.start(&chain, id(&format!("old-{nth}"))).await.unwrap());
    }
    started(place, "old-9/0").await;
    let _second = Process::start(place, "release=second");
    // The second release is the one of new runs once it has been registered.
    let is_new = async || {
        let probe = client.start(&adding("diary:repeatable", 1, 1), id(&format!("new-{}", lines(place).len()))).await;
        let run = probe.unwrap();
        soon(run.wait()).await.unwrap();
        releases(place, run.id().as_str()).contains("second")
    };
    until(is_new).await;
    first.kill();
    until(async || old[9].status().await.unwrap().state == RunState::NoWorker).await;
    let status = old[9].status().await.unwrap();
    let version = status.version.unwrap();
    assert!(status.worker.unwrap().starts_with(&version), "{version}");

    let _first = Process::start(place, "release=first");

    for run in &old {
        assert_eq!(soon(run.wait()).await.unwrap().result().unwrap().value(), 4);
    }
    assert_eq!(releases(place, "old-"), ["first".to_owned()].into());
}

on_each_place! {
    old_runs_end_on_old_workers_and_a_missing_one_is_named,
}
