//! `chain run`.

use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use clap::ArgMatches;
use toolkit::dispatch::DispatcherBuilder;
use toolkit::{Catalog, Context, Dispatcher};
use toolkit_backends::chain::{Chain, ChainOutcome};
use toolkit_runtime::read_bounded;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::program::Configure;
use crate::{credentials, foreground, runtime, style};

/// The maximum size of a chain, in bytes.
const MAX_BYTES: u64 = 16 << 20;

pub(super) fn run(
    catalog: impl FnOnce() -> Result<Catalog, CommandError>,
    matches: &ArgMatches,
    configure: Configure<DispatcherBuilder>,
) -> Result<Exit, CommandError> {
    let chain = read(matches.get_one::<PathBuf>("chain").expect("the argument is required"))?;
    let time_limit = matches.get_one::<Duration>("timeout").copied();
    let runtime = runtime::create()?;
    #[cfg(feature = "durable")]
    if let Some(connect) = crate::durable::connect(matches)? {
        let id = matches.get_one::<String>("id").cloned();
        let work = foreground::until_done(Context::new(), time_limit, async move |_| {
            super::runs::start(&connect, &chain, id).await
        });
        let outcome = runtime.block_on(work);
        runtime.shutdown_background();
        return write(&outcome?, matches.get_flag("json"));
    }
    let dispatcher = {
        let _on_runtime = runtime.enter();
        configure(Dispatcher::builder(catalog()?)).map_err(CommandError::Setup)?.build()?
    };
    runtime::silence_panics();
    let context = credentials::of_each_tool(Context::new());
    let work = foreground::until_done(context, time_limit, async move |context| {
        let outcome = chain.run(&dispatcher, &context).await;
        outcome.map_err(|diagnostics| usage(diagnostics.to_string()))
    });
    let outcome = runtime.block_on(work);
    // A tool that is still running must not keep the process alive.
    runtime.shutdown_background();
    write(&outcome?, matches.get_flag("json"))
}

/// Reads a chain, up to the maximum size of one.
fn read(path: &Path) -> Result<Chain, CommandError> {
    let read = match path.to_str() {
        Some("-") => read_bounded(std::io::stdin().lock(), MAX_BYTES),
        _ => std::fs::File::open(path).and_then(|file| read_bounded(file, MAX_BYTES)),
    };
    let invalid = |error: &dyn std::fmt::Display| usage(format!("{}: {error}", path.display()));
    let text = String::from_utf8(read.map_err(|error| invalid(&error))?).map_err(|error| invalid(&error))?;
    Chain::from_json(&*text).map_err(|error| usage(format!("{}: {error}", path.display())))
}

/// Writes the outcome: the result of the last step, or all of it as JSON.
pub(super) fn write(outcome: &ChainOutcome, as_json: bool) -> Result<Exit, CommandError> {
    if as_json {
        style::write_json(outcome)?;
    } else if let Some(error) = outcome.error() {
        let message = match outcome.steps().iter().find(|step| step.result.is_err()) {
            Some(step) => format!("step {} failed: {error}", step.index),
            None => error.to_string(),
        };
        return Err(CommandError::Other { exit: Exit::Failed, kind: error.kind().name(), message });
    } else if let Some(json) = outcome.result().and_then(|result| result.json()) {
        // Not parsed, since parsing could round numbers.
        style::write_line(&String::from_utf8_lossy(json))?;
    }
    Ok(if outcome.error().is_none() { Exit::Success } else { Exit::Failed })
}

fn usage(message: String) -> CommandError {
    CommandError::Other { exit: Exit::Usage, kind: "usage", message }
}
