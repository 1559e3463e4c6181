//! Questions of calls to the user.

use std::sync::Arc;

use tokio::sync::watch;
use toolkit::call::BoxFuture;
use toolkit::call::ask::{Answer, Asker, Mode, Question};
use toolkit::{Context, ToolError};

/// Delays the questions of calls until nothing else runs.
///
/// A question may end the call of the program: over MCP it runs again with the answer. A call that runs beside the
/// question would be lost then, and be made again.
#[derive(Clone, Debug)]
pub(crate) struct Pauses(Arc<watch::Sender<Counts>>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    n_running: usize,
    n_asking: usize,
}

impl Pauses {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(Counts::default())))
    }

    /// Sets the number of calls that run, including those that ask.
    pub(super) fn set_running(&self, n_running: usize) {
        self.0.send_modify(|counts| counts.n_running = n_running);
    }

    /// Returns an asker that passes questions on to that of `context`.
    pub(crate) fn asker(&self, context: &Context) -> impl Asker + 'static {
        Delayed { pauses: self.clone(), context: context.clone() }
    }
}

struct Delayed {
    pauses: Pauses,
    context: Context,
}

impl Asker for Delayed {
    fn can_ask(&self, mode: Mode) -> bool {
        self.context.can_ask(mode)
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(async {
            let mut counts = self.pauses.0.subscribe();
            let _asking = Asking::begin(&self.pauses);
            // The sender lives as long as `self`.
            let _ = counts.wait_for(|counts| counts.n_asking >= counts.n_running).await;
            self.context.ask_question(question).await
        })
    }
}

/// A guard that counts a question.
struct Asking<'p>(&'p Pauses);

impl<'p> Asking<'p> {
    fn begin(pauses: &'p Pauses) -> Self {
        pauses.0.send_modify(|counts| counts.n_asking += 1);
        Self(pauses)
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.0.send_modify(|counts| counts.n_asking -= 1);
    }
}
