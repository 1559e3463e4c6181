//! Runs the call, and stops waiting for it when the time is over or Ctrl-C is pressed.

use std::future::pending;
use std::io::Write;
use std::time::Duration;

use toolkit::{Arguments, CancelToken, Context, Dispatcher, ToolError};

use super::interrupts::Interrupts;
use super::parts::{self, Ended, Parts};
use super::progress::Meter;
use crate::credentials;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::style;

/// How long a tool that was cancelled has to clean up before anything more is said or done.
const GRACE: Duration = Duration::from_millis(200);

/// The result of the call, and whether it was printed part by part.
///
/// The call runs on a thread of its own, so that a time limit holds for a synchronous tool too: nothing can stop one,
/// but nobody has to wait for it.
pub(super) async fn until_done(
    dispatcher: Dispatcher,
    id: String,
    arguments: Arguments<'static>,
    time_limit: Option<Duration>,
    parts: Parts,
) -> Result<Ended, Failure> {
    let cancel = CancelToken::new();
    let meter = Meter::default();
    let held = dispatcher.catalog().get(&id).map(|tool| credentials::from_environment(tool.requirements()));
    let context = Context::new().with_credentials(held.unwrap_or_default());
    let context = context.with_cancel(cancel.clone()).on_progress(meter.listener());
    // Before the tool begins, so that no Ctrl-C ends the process in its place.
    let mut interrupts = Interrupts::listen()?;
    let task = tokio::spawn(async move {
        if parts != Parts::None {
            return parts::print(dispatcher.stream_with(&context, &id, arguments), parts).await;
        }
        let result = dispatcher.call_with(&context, &id, arguments).await.map_err(Failure::Tool)?;
        Ok(Ended { result, is_printed: false })
    });
    let call = async { task.await.unwrap_or_else(|lost| Err(Failure::Tool(ToolError::internal(lost)))) };
    let mut call = std::pin::pin!(call);
    let (why, is_interrupted) = tokio::select! {
        outcome = &mut call => {
            meter.finish();
            return outcome;
        }
        limit = elapsed(time_limit) => (timed_out(limit), false),
        () = interrupts.next() => (interruption(), true),
    };
    cancel.cancel();
    meter.finish();
    // Whatever it returns from here on, it returns because it was told to stop.
    if tokio::time::timeout(GRACE, &mut call).await.is_err() && is_interrupted {
        let wait = "waiting for the tool to stop; Ctrl-C again leaves it behind";
        let _ = writeln!(anstream::stderr(), "{} {wait}", style::NOTE);
        tokio::select! {
            _ = &mut call => {}
            () = interrupts.next() => {}
        }
    }
    Err(why)
}

/// Waits for the end of `time_limit`; for ever, where there is none.
async fn elapsed(time_limit: Option<Duration>) -> Duration {
    match time_limit {
        Some(limit) => {
            tokio::time::sleep(limit).await;
            limit
        }
        None => pending().await,
    }
}

fn timed_out(limit: Duration) -> Failure {
    Failure::Own { exit: Exit::Failed, kind: "timed_out", message: format!("the tool took longer than {limit:?}") }
}

fn interruption() -> Failure {
    Failure::Own { exit: Exit::Interrupted, kind: "cancelled", message: "the call was cancelled".to_owned() }
}
