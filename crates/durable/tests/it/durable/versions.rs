//! Workers of several releases: a run is bound to the contracts of the tools of its chain.

use toolkit::tool;
use toolkit_durable::Worker;

use super::*;

/// The shop of the first release.
mod first {
    use super::*;

    /// Returns the price of an article.
    #[tool(namespace = "shop", read_only)]
    pub(super) fn price(article: u64) -> u64 {
        article * 10
    }

    /// Asks for a delivery.
    #[tool(namespace = "shop", destructive)]
    pub(super) fn deliver(price: u64) -> u64 {
        price + 1
    }
}

/// The same with other texts and a further tool.
mod reworded {
    use super::*;

    /// Gets what an article costs, in cents.
    #[tool(namespace = "shop", title = "Price", read_only)]
    pub(super) fn price(
        /// The number of the article.
        article: u64,
    ) -> u64 {
        article * 10
    }

    /// Sends the article.
    #[tool(namespace = "shop", destructive)]
    pub(super) fn deliver(price: u64) -> u64 {
        price + 1
    }

    /// Counts the articles.
    #[tool(namespace = "shop", read_only)]
    pub(super) fn count() -> u64 {
        7
    }
}

/// The same with another argument.
mod changed {
    use super::*;

    /// Returns the price of an article.
    #[tool(namespace = "shop", read_only)]
    pub(super) fn price(article: u64) -> u64 {
        article * 10
    }

    /// Asks for a delivery.
    #[tool(namespace = "shop", destructive)]
    pub(super) fn deliver(price: u64, country: Option<String>) -> u64 {
        price + country.map_or(1, |_| 100)
    }
}

fn release(catalog: Result<Catalog, toolkit::catalog::Diagnostics>) -> Dispatcher {
    use toolkit_tower::Approval;

    let asks = Approval::ask_caller().when(|tool| tool.annotations().destructive == Some(true));
    Dispatcher::builder(catalog.unwrap()).layer(asks).build().unwrap()
}

fn first() -> Dispatcher {
    release(toolkit::catalog![first::price, first::deliver])
}

fn reworded() -> Dispatcher {
    release(toolkit::catalog![reworded::price, reworded::deliver, reworded::count])
}

fn changed() -> Dispatcher {
    release(toolkit::catalog![changed::price, changed::deliver])
}

/// A worker in a task, which is ended properly.
struct Running {
    task: tokio::task::JoinHandle<Result<(), DurableError>>,
    end: tokio::sync::oneshot::Sender<()>,
    version: String,
}

impl Running {
    async fn start(place: &Place, dispatcher: Dispatcher) -> Self {
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let worker = Worker::new(connect(place), dispatcher).takeover_after(Duration::from_secs(1));
        let (version, monitor) = (worker.version(), worker.monitor());
        let task = tokio::spawn(worker.run(async { _ = ended.await }));
        until(async || monitor.status().is_some()).await;
        Self { task, end, version }
    }

    async fn end(self) {
        drop(self.end);
        soon(self.task).await.unwrap().unwrap();
    }
}

fn connect(place: &Place) -> Connect {
    Connect::new(&place.url()).unwrap().application("fixture")
}

fn delivery() -> Chain {
    let price = Step::new("shop:price").named("price").arg("article", 4);
    Chain::new().then(price).then(Step::new("shop:deliver").take("price", "price", ""))
}

async fn an_open_approval_survives_a_release_with_other_texts(place: &Place) {
    let worker = Running::start(place, first()).await;
    let client = client(place).await;
    let run = client.start(&delivery(), id("order")).await.unwrap();
    waiting(&run).await;
    worker.end().await;
    assert_eq!(run.status().await.unwrap().state, RunState::NoWorker);

    let worker = Running::start(place, reworded()).await;

    assert_eq!(run.status().await.unwrap().state, RunState::Waiting);
    run.decide(1, &Decision::Approve).await.unwrap();
    assert_eq!(soon(run.wait()).await.unwrap().result().unwrap().value(), 41);
    assert_eq!(run.status().await.unwrap().version.unwrap(), worker.version);
    worker.end().await;
}

async fn a_run_whose_tools_have_changed_waits_until_it_is_bound_to_others(place: &Place) {
    let worker = Running::start(place, first()).await;
    let client = client(place).await;
    let run = client.start(&delivery(), id("order")).await.unwrap();
    waiting(&run).await;
    let bound = run.bind(&changed()).await.unwrap_err().to_string();
    assert!(bound.starts_with("the run `order` is waiting and cannot be bound to other tools"), "{bound}");
    let old = worker.version.clone();
    worker.end().await;

    let worker = Running::start(place, changed()).await;
    tokio::time::sleep(Duration::from_secs(1)).await;

    let status = run.status().await.unwrap();
    assert_eq!((status.state, status.version), (RunState::NoWorker, Some(old)));
    let absent = Dispatcher::new(Catalog::new([]).unwrap()).unwrap();
    let refused = run.bind(&absent).await.unwrap_err().to_string();
    assert!(refused.contains("shop:price"), "{refused}");
    run.bind(&changed()).await.unwrap();
    until(async || run.status().await.unwrap().state == RunState::Waiting).await;
    run.decide(1, &Decision::Approve).await.unwrap();
    assert_eq!(soon(run.wait()).await.unwrap().result().unwrap().value(), 41);
    worker.end().await;
}

async fn the_release_that_started_last_takes_new_runs_also_after_a_rollback(place: &Place) {
    let old = Running::start(place, first()).await;
    let client = client(place).await;
    let mut n_runs = 0;
    let mut version = async || {
        n_runs += 1;
        let run = client.start(&delivery(), id(&format!("order-{n_runs}"))).await.unwrap();
        waiting(&run).await;
        run.status().await.unwrap().version.unwrap()
    };
    assert_eq!(version().await, old.version);
    let new = Running::start(place, changed()).await;
    assert_eq!(version().await, new.version);
    let back = Running::start(place, first()).await;
    assert_eq!(version().await, old.version);
    // Without a worker of the last release, another one takes new runs.
    back.end().await;
    old.end().await;
    assert_eq!(version().await, new.version);
    new.end().await;
}

async fn a_missing_worker_is_named(place: &Place) {
    let mut first = Process::start(place, "release=first");
    let client = client(place).await;
    let run = client.start(&adding("diary:repeatable", 4, 500), id("order")).await.unwrap();
    started(place, "order/0").await;
    first.kill();
    until(async || run.status().await.unwrap().state == RunState::NoWorker).await;
    let status = run.status().await.unwrap();
    let version = status.version.unwrap();
    assert!(status.worker.unwrap().starts_with(&version), "{version}");

    // The tool of the chain is the same.
    let _second = Process::start(place, "release=second");

    assert_eq!(soon(run.wait()).await.unwrap().result().unwrap().value(), 4);
}

on_each_place! {
    a_missing_worker_is_named,
    a_run_whose_tools_have_changed_waits_until_it_is_bound_to_others,
    an_open_approval_survives_a_release_with_other_texts,
    the_release_that_started_last_takes_new_runs_also_after_a_rollback,
}
