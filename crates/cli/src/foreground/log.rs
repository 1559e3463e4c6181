//! Log messages of a tool, on stderr.

use std::io::Write;

use serde_json::Value;
use toolkit::call::{LogLevel, LogMessage};

use super::progress::Meter;
use crate::style::{self, printable};

/// The least level that is printed.
pub(super) const LEAST: LogLevel = LogLevel::Info;

/// Returns the log listener of a call, which hides the progress bar while it prints.
pub(super) fn listener(meter: &Meter) -> impl Fn(LogMessage) + Send + Sync + 'static {
    let meter = meter.clone();
    move |message| {
        meter.suspended(|| {
            let label = match message.level {
                level if level < LogLevel::Warning => style::NOTE,
                LogLevel::Warning => style::WARNING,
                _ => style::ERROR,
            };
            let text = match message.data {
                Value::String(text) => text,
                data => data.to_string(),
            };
            let _ = writeln!(anstream::stderr(), "{label} {}", printable(&text));
        });
    }
}
