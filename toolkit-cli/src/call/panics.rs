//! A panic in a tool is one line of this program's own, not a report of the runtime's.

use std::thread;

/// The threads that tools run on.
pub(super) const THREAD_NAME: &str = "toolkit-call";

/// Says nothing of panics on the threads of tools, unless `RUST_BACKTRACE` asks for them: the dispatcher turns each
/// into that call's error. Panics elsewhere are reported as ever.
pub(crate) fn silence() {
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
