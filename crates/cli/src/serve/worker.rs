//! Workers: `serve --nats` runs calls, and `serve --durable` the steps of durable chains.

use std::io::Write;

use clap::ArgMatches;
use toolkit::Catalog;
use toolkit::dispatch::DispatcherBuilder;

use crate::error::{CommandError, Configure, Exit};
use crate::report::counted;
use crate::{runtime, style};

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
    writeln!(anstream::stderr(), "{} serving {tools} over NATS", style::NOTE)?;
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

/// Runs the steps of durable chains (`serve --durable`).
#[cfg(feature = "durable")]
pub(super) fn run_steps(
    catalog: Catalog,
    matches: &ArgMatches,
    configure: Configure<DispatcherBuilder>,
    queue: &super::queue::Queue,
) -> Result<Exit, CommandError> {
    use toolkit::Context;
    use toolkit_durable::Worker;

    use crate::{credentials, durable};

    let connect = durable::connect(matches)?.expect("`--durable` is present");
    let runtime = runtime::create()?;
    let dispatcher = runtime::dispatcher(&runtime, catalog, configure)?;
    let worker = Worker::new(connect, dispatcher).context(|_| credentials::of_each_tool(Context::new()));
    let tools = counted(worker.n_tools(), "tool");
    writeln!(anstream::stderr(), "{} running durable steps of {tools}, version {}", style::NOTE, worker.version())?;
    queue.watch(runtime.handle(), worker.monitor());
    runtime::silence_panics();
    let ended = runtime.block_on(worker.run_until_signal());
    // A tool that is still running must not keep the process alive.
    runtime.shutdown_background();
    ended.map_err(durable::failed)?;
    Ok(Exit::Success)
}
