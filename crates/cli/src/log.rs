//! The log of `serve`, and the export of its spans and measurements.

#[cfg(feature = "otlp")]
mod otlp;

use std::io::{self, IsTerminal};

use clap::{Arg, ArgMatches};
use tracing_subscriber::field::MakeExt;
#[cfg(feature = "mcp")]
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::debug_fn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry};

use crate::options::{option, switch};
use crate::stderr;
use crate::style::WARNING;

/// The default filter: failures of tools, the stderr of backends, and warnings of everything else.
const DEFAULT: &str = "warn,toolkit=info";

/// The target of audit lines.
#[cfg(feature = "mcp")]
const AUDIT: &str = "audit";

/// The variables with the address of a collector of OpenTelemetry.
const ENDPOINTS: [&str; 3] =
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"];

/// The options of the log.
pub(crate) fn options() -> [Arg; 1] {
    [option("log-format", "FORMAT")
        .value_parser(["text", "json"])
        .default_value("text")
        .hide_default_value(true)
        .hide_possible_values(true)
        .help("Write the log as text or JSON [default: text]")]
}

/// The option for audit lines, which the MCP server writes.
pub(crate) fn audit_option() -> Arg {
    switch("audit").help("Log a line for each call, without arguments and results")
}

/// A guard that exports the remaining spans and measurements on drop.
pub(crate) struct Export {
    #[cfg(feature = "otlp")]
    _otlp: Option<otlp::Providers>,
}

/// Starts logging to stderr, filtered by `RUST_LOG`, and the export to the collector in the environment, unless the host
/// has installed a subscriber.
pub(crate) fn start(matches: &ArgMatches, program: &str) -> Export {
    let usual = || DEFAULT.parse::<Targets>().expect("the directives are valid");
    let filter = match std::env::var("RUST_LOG") {
        Ok(directives) if !directives.is_empty() => directives.parse().unwrap_or_else(|error| {
            let message =
                format!("RUST_LOG is ignored: {error}; expected levels of targets, as in `warn,toolkit=debug`");
            stderr::say(WARNING, &message);
            usual()
        }),
        _ => usual(),
    };
    // Only a server that was configured for it writes audit lines.
    #[cfg(feature = "mcp")]
    let filter = filter.with_target(AUDIT, LevelFilter::INFO);
    let log = tracing_subscriber::fmt::layer().with_writer(|| stderr::Log);
    let log: Box<dyn Layer<Registry> + Send + Sync> =
        if matches.get_one::<String>("log-format").is_some_and(|format| format == "json") {
            log.json().flatten_event(true).with_span_list(false).with_filter(filter).boxed()
        } else {
            let has_colors =
                io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
            // The fields for exporters repeat the others.
            let fields = debug_fn(|writer, field, value| match field.name() {
                "message" => write!(writer, "{value:?}"),
                name if name.starts_with("otel.") => Ok(()),
                name => write!(writer, "{name}={value:?}"),
            });
            log.with_ansi(has_colors).fmt_fields(fields.delimited(" ")).with_filter(filter).boxed()
        };
    let is_exported = ENDPOINTS.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    #[cfg(feature = "otlp")]
    {
        let providers = is_exported.then(|| otlp::start(program)).flatten();
        let layer = providers.as_ref().map(otlp::Providers::layer);
        let is_started = tracing_subscriber::registry().with(log).with(layer).try_init().is_ok();
        Export { _otlp: providers.filter(|_| is_started) }
    }
    #[cfg(not(feature = "otlp"))]
    {
        let _ = program;
        let _ = tracing_subscriber::registry().with(log).try_init();
        if is_exported {
            stderr::say(
                WARNING,
                "spans and metrics are not exported to OTEL_EXPORTER_OTLP_ENDPOINT: this program was built without the \
                 feature `otlp` of `toolkit-cli`",
            );
        }
        Export {}
    }
}
