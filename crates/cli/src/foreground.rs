//! Work in the foreground of a terminal: with progress, questions and log messages, until it ends, reaches the time limit,
//! or is interrupted by Ctrl-C.

mod ask;
mod progress;

use std::future::pending;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use serde_json::Value;
use toolkit::call::{LogLevel, LogMessage};
use toolkit::{CancelToken, Context, ToolError};

use self::ask::Terminal;
use self::progress::Meter;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::style::{self, printable};

/// The time that cancelled work has for its cleanup before the program continues.
const CLEANUP_TIME: Duration = Duration::from_millis(200);

/// The least time by which an open question extends the time limit.
const MIN_EXTENSION: Duration = Duration::from_millis(20);

/// The least level of a log message that is printed.
const LEAST_LEVEL: LogLevel = LogLevel::Info;

/// Runs the work that `start` creates with a context, and returns its result.
///
/// It runs as a separate task, so that the time limit also applies to synchronous tools: they cannot be stopped, but the
/// program can end without waiting for them.
pub(crate) async fn until_done<T, W>(
    context: Context,
    time_limit: Option<Duration>,
    start: impl FnOnce(Context) -> W,
) -> Result<T, CommandError>
where
    T: Send + 'static,
    W: Future<Output = Result<T, CommandError>> + Send + 'static,
{
    let cancel = CancelToken::new();
    let meter = Meter::default();
    let context = context.with_cancel(cancel.clone()).on_progress(meter.listener());
    let context = context.on_log(LEAST_LEVEL, log_listener(&meter));
    let context = context.with_asker(Terminal::new(meter.clone()));
    let asking = context.clone();
    // Before the tool starts, so that Ctrl-C never reaches the default handler.
    let mut interrupts = Interrupts::listen()?;
    let task = tokio::spawn(start(context));
    let work = async { task.await.unwrap_or_else(|lost| Err(CommandError::Tool(ToolError::internal(lost)))) };
    let mut work = std::pin::pin!(work);
    let (why, is_interrupted) = tokio::select! {
        outcome = &mut work => {
            meter.finish();
            return outcome;
        }
        limit = elapsed(time_limit, &asking) => (timed_out(limit), false),
        () = interrupts.next() => (interruption(), true),
    };
    cancel.cancel();
    meter.finish();
    // The result of cancelled work is ignored.
    if tokio::time::timeout(CLEANUP_TIME, &mut work).await.is_err() && is_interrupted {
        let wait = "waiting for the tool to stop; press Ctrl-C again to abandon it";
        let _ = writeln!(anstream::stderr(), "{} {wait}", style::NOTE);
        tokio::select! {
            _ = &mut work => {}
            () = interrupts.next() => {}
        }
    }
    Err(why)
}

/// Waits until `time_limit` has elapsed, or forever without a limit. The time that the user takes to answer does not
/// count.
async fn elapsed(time_limit: Option<Duration>, context: &Context) -> Duration {
    let Some(limit) = time_limit else {
        return pending().await;
    };
    let start = Instant::now();
    loop {
        let left = limit.saturating_add(context.time_asking()).saturating_sub(start.elapsed());
        if left.is_zero() {
            return limit;
        }
        tokio::time::sleep(left.max(MIN_EXTENSION)).await;
    }
}

fn timed_out(limit: Duration) -> CommandError {
    CommandError::Other {
        exit: Exit::Failed,
        kind: "timed_out",
        message: format!("the tool took longer than {limit:?}"),
    }
}

fn interruption() -> CommandError {
    CommandError::Other { exit: Exit::Interrupted, kind: "cancelled", message: "the call was cancelled".to_owned() }
}

/// Returns the log listener of a call, which hides the progress bar while it prints.
fn log_listener(meter: &Meter) -> impl Fn(LogMessage) + Send + Sync + 'static {
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

/// A stream of Ctrl-C events since [`Interrupts::listen`], including those that arrive between two calls of `next`.
#[cfg(unix)]
struct Interrupts(tokio::signal::unix::Signal);

#[cfg(unix)]
impl Interrupts {
    /// Replaces the default handler of Ctrl-C, which ends the process.
    fn listen() -> io::Result<Self> {
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt()).map(Self)
    }

    /// Waits for the next Ctrl-C.
    async fn next(&mut self) {
        self.0.recv().await;
    }
}

#[cfg(windows)]
struct Interrupts(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Interrupts {
    fn listen() -> io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    async fn next(&mut self) {
        self.0.recv().await;
    }
}
