//! The runtime that tools run on, and their panics: each is one line of this program's own, not a report of the runtime's.

use std::{io, thread};

use tokio::runtime::Runtime;

/// The name of the threads that tools run on, by which a panic in a tool is known.
const THREAD_NAME: &str = "toolkit-call";

/// Creates the runtime of a single call.
pub(crate) fn create() -> io::Result<Runtime> {
    with_threads(2)
}

/// Creates a runtime with a number of threads.
pub(crate) fn with_threads(n_threads: usize) -> io::Result<Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(n_threads).thread_name(THREAD_NAME).enable_all().build()
}

/// Suppresses the reports of panics on the threads of tools, unless `RUST_BACKTRACE` asks for them: the dispatcher turns
/// each into that call's error. Panics elsewhere are reported as before.
pub(crate) fn silence_panics() {
    if std::env::var_os("RUST_BACKTRACE").is_some_and(|wish| wish != "0") {
        return;
    }
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if thread::current().name() != Some(THREAD_NAME) {
            report(panic);
        }
    }));
}
