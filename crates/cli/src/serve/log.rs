//! The log of the server, on stderr.

use std::io::{self, IsTerminal, Write};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::SubscriberInitExt;

use crate::stderr;
use crate::style::{self, printable};

/// The default filter: failures of tools, the stderr of backends, and warnings of everything else.
const DEFAULT: &str = "warn,toolkit=info";

/// Starts logging to stderr, filtered by `RUST_LOG`, unless the host has installed a subscriber.
pub(super) fn start() {
    let filter = match std::env::var(EnvFilter::DEFAULT_ENV) {
        Ok(directives) if !directives.is_empty() => EnvFilter::try_new(&directives).unwrap_or_else(|error| {
            let message = format!("RUST_LOG is ignored: {error}");
            let _ = writeln!(anstream::stderr(), "{} {}", style::WARNING, printable(&message));
            EnvFilter::new(DEFAULT)
        }),
        _ => EnvFilter::new(DEFAULT),
    };
    let has_colors = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let subscriber =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| stderr::Log).with_ansi(has_colors);
    let _ = subscriber.finish().try_init();
}
