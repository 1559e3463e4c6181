//! Workers: `serve --nats` runs calls, and `serve --durable` the steps of durable chains.

use clap::ArgMatches;
use toolkit::Catalog;
use toolkit::dispatch::DispatcherBuilder;

use crate::error::{CommandError, Configure, Exit};
use crate::report::counted;
use crate::style::NOTE;
use crate::{runtime, stderr};

/// Serves the tools over NATS (`serve --nats`).
#[cfg(feature = "nats")]
pub(super) fn run_calls(
    catalog: Catalog,
    matches: &ArgMatches,
    configure: Configure<DispatcherBuilder>,
) -> Result<Exit, CommandError> {
    use toolkit_nats::{Buckets, Worker};

    use crate::nats;

    let connect = nats::connect(matches, "nats")?.expect("`--nats` is present");
    let runtime = runtime::create()?;
    let dispatcher = runtime::dispatcher(&runtime, catalog, configure)?;
    let tools = counted(dispatcher.catalog().len(), "tool");
    stderr::say(NOTE, &format!("serving {tools} over NATS"));
    let mut buckets = matches.get_flag("nats-create-buckets").then(|| Buckets::new(connect.clone()));
    let mut worker = Worker::new(connect, dispatcher);
    if let Some(prefix) = nats::prefix(matches) {
        worker = worker.prefix(prefix);
        buckets = buckets.map(|buckets| buckets.prefix(prefix));
    }
    runtime::silence_panics();
    let ended = runtime.block_on(async {
        if let Some(buckets) = buckets {
            buckets.create().await?;
        }
        worker.run_until_signal().await
    });
    // A tool that is still running must not keep the process alive.
    runtime.shutdown_background();
    ended.map_err(|error| CommandError::failed("nats", error.to_string()))?;
    Ok(Exit::Success)
}

/// Creates the worker of `--durable`, if the command line has one.
#[cfg(feature = "durable")]
pub(super) fn steps(
    matches: &ArgMatches,
    program: &str,
    dispatcher: toolkit::Dispatcher,
) -> Result<Option<toolkit_durable::Worker>, CommandError> {
    let Some(connect) = crate::durable::connect(matches, program)? else { return Ok(None) };
    if matches.get_one::<String>("durable").is_none() {
        let file = crate::durable::default_file(program)?;
        stderr::say(NOTE, &format!("runs are recorded in {}", file.display()));
    }
    let mut worker = toolkit_durable::Worker::new(connect, dispatcher)
        .context(|_| crate::credentials::of_each_tool(toolkit::Context::new()));
    if let Some(&n) = matches.get_one::<u32>("max-runs") {
        worker = worker.max_runs(usize::try_from(n).unwrap_or(usize::MAX));
    }
    let tools = counted(worker.n_tools(), "tool");
    stderr::say(NOTE, &format!("running durable steps of {tools}, version {}", worker.version()));
    Ok(Some(worker))
}

/// Runs a worker until the server beside it ends. If the worker fails, so does the server.
#[cfg(all(feature = "durable", feature = "mcp"))]
pub(super) async fn along_with(
    worker: Option<toolkit_durable::Worker>,
    serving: impl Future<Output = Result<Exit, CommandError>>,
) -> Result<Exit, CommandError> {
    let Some(worker) = worker else { return serving.await };
    let mut signals = toolkit_runtime::ShutdownSignals::listen();
    let (serves, ended) = tokio::sync::oneshot::channel::<()>();
    let ending = async {
        tokio::select! {
            () = signals.next() => {}
            _ = ended => {}
        }
    };
    let serving = async {
        let exit = serving.await;
        drop(serves);
        exit
    };
    let working = async { worker.run(ending).await.map_err(crate::durable::failed) };
    tokio::try_join!(serving, working).map(|(exit, ())| exit)
}

/// Runs the steps of durable chains (`serve --durable`).
#[cfg(feature = "durable")]
pub(super) fn run_steps(
    catalog: Catalog,
    matches: &ArgMatches,
    configure: Configure<DispatcherBuilder>,
    program: &str,
    queue: &super::queue::Queue,
) -> Result<Exit, CommandError> {
    let runtime = runtime::create()?;
    let dispatcher = runtime::dispatcher(&runtime, catalog, configure)?;
    let worker = steps(matches, program, dispatcher)?.expect("`--durable` is present");
    queue.watch(runtime.handle(), worker.monitor());
    runtime::silence_panics();
    let ended = runtime.block_on(worker.run_until_signal());
    // A tool that is still running must not keep the process alive.
    runtime.shutdown_background();
    ended.map_err(crate::durable::failed)?;
    Ok(Exit::Success)
}
