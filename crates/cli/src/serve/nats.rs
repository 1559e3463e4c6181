//! `serve --nats`: serves the tools as a worker.

use std::io::Write;

use clap::ArgMatches;
use toolkit::dispatch::DispatcherBuilder;
use toolkit::{Catalog, Dispatcher};
use toolkit_nats::{Buckets, Worker};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::program::Configure;
use crate::report::counted;
use crate::{nats, runtime, style};

pub(super) fn run(
    catalog: Catalog,
    matches: &ArgMatches,
    configure: Configure<DispatcherBuilder>,
) -> Result<Exit, CommandError> {
    let connect = nats::connect(matches, "nats")?.expect("`--nats` is present");
    let runtime = runtime::create()?;
    let dispatcher = {
        let _on_runtime = runtime.enter();
        configure(Dispatcher::builder(catalog)).map_err(CommandError::Setup)?.build()?
    };
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
    ended.map_err(|error| CommandError::Other { exit: Exit::Failed, kind: "nats", message: error.to_string() })?;
    Ok(Exit::Success)
}
