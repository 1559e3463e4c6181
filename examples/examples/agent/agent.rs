//! The loop: a request, its reply, the results of the calls, until the model has answered.

use serde_json::Value;
use tokio::signal::ctrl_c;
use toolkit::call::CancelToken;
use toolkit::{Context, Dispatcher};
use toolkit_providers::Export;
use toolkit_providers::reply::{Reply, RunOptions, StopReason, ToolResults};

use super::connection::Connection;
use super::terminal;

/// An agent, which answers questions.
pub struct Agent {
    pub connection: Connection,
    pub tools: Export,
    pub dispatcher: Dispatcher,
    pub limits: Limits,
}

/// Limits of one answer.
pub struct Limits {
    pub turns: u64,
    pub calls: u64,
    pub tokens: u64,
}

/// The end of the loop.
pub enum End {
    /// The model has answered.
    Answered,
    /// A limit was reached.
    Limit(String),
    /// The model stopped for another reason.
    Stopped(String),
    /// The user pressed Ctrl-C while no call was running.
    Interrupted,
}

impl Agent {
    /// Answers a question.
    pub async fn answer(&self, question: &str) -> anyhow::Result<End> {
        let provider = self.connection.provider;
        let mut messages: Vec<Value> = vec![(provider.question)(question)];
        let (mut n_calls, mut n_tokens, mut is_retry) = (0, 0, false);
        for _ in 0..self.limits.turns {
            let reply = tokio::select! {
                reply = self.connection.send(&self.tools, &messages) => reply?,
                _ = ctrl_c() => return Ok(End::Interrupted),
            };
            n_calls += reply.calls().len() as u64;
            n_tokens += provider.tokens_of(reply.metadata());
            match reply.stop_reason() {
                StopReason::End => return Ok(End::Answered),
                // The provider could not read a call of the model, which the next attempt may write correctly.
                StopReason::Malformed(_) if !is_retry => {
                    is_retry = true;
                    continue;
                }
                StopReason::ToolCalls | StopReason::Paused => is_retry = false,
                other => return Ok(End::Stopped(other.to_string())),
            }
            if n_calls > self.limits.calls {
                return Ok(End::Limit(format!("the limit of {} calls is reached", self.limits.calls)));
            }
            if n_tokens > self.limits.tokens {
                return Ok(End::Limit(format!("the limit of {} tokens is reached", self.limits.tokens)));
            }
            messages.extend_from_slice(reply.messages());
            // A reply that the provider paused may have no calls of these tools.
            if reply.needs_results() {
                messages.extend(self.run_calls(&reply).await.messages()?);
            }
        }
        Ok(End::Limit(format!("the limit of {} turns is reached", self.limits.turns)))
    }

    /// Runs the calls of a reply. Ctrl-C cancels them, and the model reads that.
    async fn run_calls(&self, reply: &Reply) -> ToolResults {
        let token = CancelToken::new();
        let options = RunOptions::new()
            .context(Context::new().with_cancel(token.clone()))
            .one_write_at_a_time()
            .on_progress(terminal::show_progress);
        let run = reply.run_with(&self.dispatcher, options);
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
}
