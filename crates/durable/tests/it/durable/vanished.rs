//! Workers that are silent, although their sessions are open: their packets vanish, or they hang.

use std::process::Command;

use test_support::postgres::Server;
use test_support::relay::Relay;

use super::*;

/// Starts a chain of repeatable steps and one of guarded steps, and waits until their first steps have started.
async fn start(place: &Place, client: &Client) -> [Run; 2] {
    let repeatable = client.start(&adding("diary:repeatable", 2, 4_000), id("repeatable")).await.unwrap();
    let guarded = client.start(&adding("diary:once", 2, 4_000), id("guarded")).await.unwrap();
    started(place, "repeatable/0").await;
    started(place, "guarded/0").await;
    [repeatable, guarded]
}

/// Checks that another worker continues the runs: one repeats its step, and the other waits for a decision.
async fn continued([repeatable, guarded]: &[Run; 2]) {
    assert_eq!(soon(repeatable.wait()).await.unwrap().result().unwrap().value(), 2);
    assert!(matches!(waiting(guarded).await, (0, Pause::OutcomeUnknown { .. })));
}

/// Decides about the guarded step, and checks that no effect was repeated.
async fn decided(place: &Place, [_, guarded]: &[Run; 2]) {
    guarded.decide(0, &Decision::Skip(json!(1))).await.unwrap();
    assert_eq!(soon(guarded.wait()).await.unwrap().result().unwrap().value(), 2);
    assert_eq!(starts(place, "once"), ["guarded/0", "guarded/1"].map(|key| (key.to_owned(), 1)).into());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Postgres server"]
async fn a_worker_whose_packets_vanish_is_replaced_and_works_again_when_it_is_back() {
    let place = Place::postgres();
    let relay = Relay::start(place.server().port()).await;
    let _first = Process::start_at(&Server::url_at(&relay.address().to_string()), &place, &[], "");
    let client = client(&place).await;
    let runs = start(&place, &client).await;
    let mut second = Process::start(&place, "");
    // Both ends still believe that they are connected.
    relay.hold([true, true]);

    continued(&runs).await;
    relay.restore();
    decided(&place, &runs).await;
    second.kill();
    let run = client.start(&adding("diary:once", 1, 0), id("later")).await.unwrap();
    assert_eq!(soon(run.wait()).await.unwrap().result().unwrap().value(), 1);
}

async fn a_worker_that_hangs_is_replaced_and_its_effects_are_not_repeated(place: &Place) {
    let first = Process::start(place, "");
    let client = client(place).await;
    let runs = start(place, &client).await;
    let _second = Process::start(place, "");
    first.signal("STOP");

    continued(&runs).await;
    first.signal("CONT");
    decided(place, &runs).await;
}

async fn a_worker_that_hangs_does_not_end_runs_that_were_cancelled_meanwhile(place: &Place) {
    let worker = Process::start(place, "");
    let client = client(place).await;
    let mut runs = Vec::new();
    for nth in 0..8 {
        runs.push(client.start(&adding("diary:repeatable", 1, 3_000), id(&format!("order-{nth}"))).await.unwrap());
    }
    for run in &runs {
        started(place, &format!("{}/0", run.id())).await;
    }
    worker.signal("STOP");
    for run in &runs {
        run.cancel().await.unwrap();
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    // The tools end at once.
    worker.signal("CONT");
    tokio::time::sleep(Duration::from_secs(1)).await;
    for run in &runs {
        assert_eq!(run.status().await.unwrap().state, RunState::Cancelled);
    }
}

async fn a_worker_that_wakes_up_starts_no_step_that_another_has_started(place: &Place) {
    let first = Process::start(place, "");
    let client = client(place).await;
    let mut runs = Vec::new();
    for nth in 0..8 {
        let step = Step::new("diary:repeatable").arg("n", nth).arg("ms", 3_000).sleep(Duration::from_secs(6));
        runs.push(client.start(&Chain::new().then(step), id(&format!("reminder-{nth}"))).await.unwrap());
    }
    for run in &runs {
        waiting(run).await;
    }
    first.signal("STOP");
    let _second = Process::start(place, "");
    until(async || starts(place, "repeatable").len() == runs.len()).await;
    // The time of its own steps has passed, too.
    first.signal("CONT");
    for (nth, run) in runs.iter().enumerate() {
        assert_eq!(soon(run.wait()).await.unwrap().result().unwrap().value(), nth + 1);
    }
    assert!(starts(place, "repeatable").values().all(|n| *n == 1), "{:?}", starts(place, "repeatable"));
}

async fn a_worker_whose_step_takes_long_keeps_its_run(place: &Place) {
    let _first = Process::start(place, "");
    let client = client(place).await;
    // Several times as long as a silent worker is given.
    let run = client.start(&adding("diary:once", 1, 12_000), id("order")).await.unwrap();
    started(place, "order/0").await;
    let _second = Process::start(place, "");
    assert_eq!(soon(run.wait()).await.unwrap().result().unwrap().value(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_that_know_one_file_by_two_names_see_each_other() {
    let place = Place::file();
    let _first = Process::start(&place, "");
    let client = client(&place).await;
    let run = client.start(&adding("diary:repeatable", 1, 3_000), id("order")).await.unwrap();
    started(&place, "order/0").await;
    let folder = place.path().with_file_name("elsewhere");
    std::fs::create_dir(&folder).unwrap();
    let link = folder.join("link.db");
    std::os::unix::fs::symlink(place.path(), &link).unwrap();
    let _second = Process::start_at(link.to_str().unwrap(), &place, &[], "");
    assert_eq!(soon(run.wait()).await.unwrap().result().unwrap().value(), 1);
    assert_eq!(starts(&place, "repeatable")["order/0"], 1);
}

/// A network namespace with a link to this machine, which is removed on drop.
struct Network {
    name: String,
    /// The address of this machine.
    host: String,
}

impl Network {
    /// Returns `None` if this machine does not allow namespaces.
    fn new() -> Option<Self> {
        let n = std::process::id() % (1 << 14);
        let (third, fourth) = (n >> 6, (n & 63) << 2);
        let address = |host: u32| format!("10.213.{third}.{}", fourth + host);
        let network = Self { name: format!("tk{n}"), host: address(1) };
        let name = &*network.name;
        let (inner, cidr) = (format!("{name}b"), |host| format!("{}/30", address(host)));
        let is_ready = ip(&["netns", "add", name])
            && ip(&["link", "add", name, "type", "veth", "peer", "name", &inner, "netns", name])
            && ip(&["addr", "add", &cidr(1), "dev", name])
            && ip(&["link", "set", name, "up"])
            && ip(&["-n", name, "addr", "add", &cidr(2), "dev", &inner])
            && ip(&["-n", name, "link", "set", &inner, "up"]);
        is_ready.then_some(network)
    }

    /// Drops all packets from now on.
    fn cut(&self) {
        assert!(ip(&["-n", &self.name, "link", "set", &format!("{}b", self.name), "down"]));
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        ip(&["netns", "del", &self.name]);
    }
}

fn ip(words: &[&str]) -> bool {
    Command::new("ip").args(words).output().is_ok_and(|output| output.status.success())
}

#[tokio::test]
#[ignore = "needs a Postgres server"]
async fn a_worker_that_loses_power_is_replaced() {
    let Some(network) = Network::new() else {
        println!("SKIPPED: network namespaces are not allowed");
        return;
    };
    let place = Place::postgres();
    let url = Server::url_at(&format!("{}:{}", network.host, place.server().port()));
    let mut first = Process::start_at(&url, &place, &["ip", "netns", "exec", &network.name], "");
    let client = client(&place).await;
    let runs = start(&place, &client).await;
    let _second = Process::start(&place, "");
    network.cut();
    // Its last packets do not arrive.
    first.kill();

    continued(&runs).await;
    decided(&place, &runs).await;
}

on_each_place! {
    a_worker_that_hangs_does_not_end_runs_that_were_cancelled_meanwhile,
    a_worker_that_hangs_is_replaced_and_its_effects_are_not_repeated,
    a_worker_that_wakes_up_starts_no_step_that_another_has_started,
    a_worker_whose_step_takes_long_keeps_its_run,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Postgres server"]
async fn a_worker_ends_at_sigterm_also_while_it_gives_a_sign_of_life() {
    let place = Place::postgres();
    let mut worker = Process::start(&place, "");
    client(&place).await;
    place.execute(
        "CREATE FUNCTION slow_sign() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(2); RETURN NEW; END $$; \
         CREATE TRIGGER slow_sign BEFORE UPDATE ON toolkit_workers FOR EACH ROW EXECUTE FUNCTION slow_sign()",
    );
    until(async || place.query("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == "1").await;
    worker.signal("TERM");
    until(async || worker.has_ended()).await;
    assert!(worker.has_succeeded());
}
