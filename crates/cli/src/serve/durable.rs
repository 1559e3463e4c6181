//! `serve --durable`: runs the steps of durable chains.

use std::io::Write;

use clap::ArgMatches;
use toolkit::dispatch::DispatcherBuilder;
use toolkit::{Catalog, Context, Dispatcher};
use toolkit_durable::Worker;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::program::Configure;
use crate::report::counted;
use crate::{credentials, durable, runtime, style};

pub(super) fn run(
    catalog: Catalog,
    matches: &ArgMatches,
    configure: Configure<DispatcherBuilder>,
) -> Result<Exit, CommandError> {
    let connect = durable::connect(matches)?.expect("`--durable` is present");
    let runtime = runtime::create()?;
    let dispatcher = {
        let _on_runtime = runtime.enter();
        configure(Dispatcher::builder(catalog)).map_err(CommandError::Setup)?.build()?
    };
    let worker = Worker::new(connect, dispatcher).context(|_| credentials::of_each_tool(Context::new()));
    let tools = counted(worker.n_tools(), "tool");
    writeln!(anstream::stderr(), "{} running durable steps of {tools}, version {}", style::NOTE, worker.version())?;
    runtime::silence_panics();
    let ended = runtime.block_on(worker.run_until_signal());
    // A tool that is still running must not keep the process alive.
    runtime.shutdown_background();
    ended.map_err(durable::failed)?;
    Ok(Exit::Success)
}
