//! The loop: a request, its reply, the results of the calls, until the model has answered.

use tokio::signal::ctrl_c;
use toolkit::call::CancelToken;
use toolkit::{Context, Dispatcher};
use toolkit_providers::reply::{Reply, RunOptions, ToolResults};
use toolkit_providers::request::{Conversation, NextStep};

use super::connection::Connection;
use super::terminal;

/// Returns the last step of a conversation, or `None` after Ctrl-C while no call was running.
pub async fn answer(
    connection: &Connection,
    dispatcher: &Dispatcher,
    mut chat: Conversation,
) -> anyhow::Result<Option<NextStep>> {
    loop {
        let step = tokio::select! {
            step = connection.send(&mut chat) => step?,
            _ = ctrl_c() => return Ok(None),
        };
        match step {
            NextStep::Wait(time) => tokio::select! {
                () = tokio::time::sleep(time) => {}
                _ = ctrl_c() => return Ok(None),
            },
            NextStep::RunCalls(reply) => chat.add(run_calls(dispatcher, &reply).await.messages()?),
            last => return Ok(Some(last)),
        }
    }
}

/// Runs the calls of a reply. Ctrl-C cancels them, and the model reads that.
async fn run_calls(dispatcher: &Dispatcher, reply: &Reply) -> ToolResults {
    println!();
    let token = CancelToken::new();
    let options = RunOptions::new()
        .context(Context::new().with_cancel(token.clone()))
        .one_write_at_a_time()
        .on_progress(terminal::show_progress);
    let run = reply.run_with(dispatcher, options);
    let mut run = std::pin::pin!(run);
    let results = tokio::select! {
        results = &mut run => results,
        _ = ctrl_c() => {
            token.cancel();
            run.await
        }
    };
    terminal::show_results(&results);
    results
}
