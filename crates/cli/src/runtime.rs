//! The tokio runtime of tools, the dispatcher on it, and the reports of panics.

use std::{io, thread};

use tokio::runtime::Runtime;
use toolkit::dispatch::DispatcherBuilder;
use toolkit::{Catalog, Dispatcher};

use crate::error::{CommandError, Configure};

/// The name of the threads that run tools, which identifies panics of tools.
const THREAD_NAME: &str = "toolkit-call";

/// Creates the runtime of `call`, `check` and `serve`.
pub(crate) fn create() -> io::Result<Runtime> {
    with_threads(2)
}

/// Creates a runtime with a number of threads.
pub(crate) fn with_threads(n_threads: usize) -> io::Result<Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(n_threads).thread_name(THREAD_NAME).enable_all().build()
}

/// Builds the dispatcher that the host configures, in the context of the runtime.
#[cfg_attr(not(any(feature = "chain", feature = "code", feature = "serve")), allow(dead_code))]
pub(crate) fn dispatcher(
    runtime: &Runtime,
    catalog: Catalog,
    configure: Configure<DispatcherBuilder>,
) -> Result<Dispatcher, CommandError> {
    let _on_runtime = runtime.enter();
    Ok(configure(Dispatcher::builder(catalog)).map_err(CommandError::Setup)?.build()?)
}

/// Suppresses the reports of panics on the threads of tools unless `RUST_BACKTRACE` is set, since the dispatcher converts
/// such a panic to an error of the call. Panics elsewhere are reported.
pub(crate) fn silence_panics() {
    if std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
        return;
    }
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if thread::current().name() != Some(THREAD_NAME) {
            report(panic);
        }
    }));
}
