//! Running the calls of a reply.

mod options;
mod prepare;
#[cfg(feature = "async")]
mod running;

use toolkit::{Context, Dispatcher};

pub use self::options::{CallInfo, RunOptions};
use self::prepare::prepare;
#[cfg(feature = "async")]
pub use self::running::Running;
use super::Reply;
use super::results::ToolResults;

impl Reply {
    /// Runs all calls concurrently and returns their results.
    ///
    /// On a runtime of tokio with several threads, calls run in parallel. Otherwise a synchronous tool delays the
    /// others, unless it is marked `blocking`.
    #[cfg(feature = "async")]
    pub async fn run(&self, dispatcher: &Dispatcher) -> ToolResults {
        self.run_with(dispatcher, RunOptions::default()).await
    }

    /// Runs all calls and returns their results.
    #[cfg(feature = "async")]
    pub async fn run_with(&self, dispatcher: &Dispatcher, options: RunOptions) -> ToolResults {
        let mut running = self.start(dispatcher, options);
        while running.next().await.is_some() {}
        running.finish()
    }

    /// Starts to run the calls. [`Running::next`] returns each result as soon as it is there.
    #[cfg(feature = "async")]
    #[must_use]
    pub fn start(&self, dispatcher: &Dispatcher, options: RunOptions) -> Running {
        Running::new(self.clone(), dispatcher.clone(), options)
    }

    /// Runs the calls of synchronous tools one after another on this thread, without a runtime.
    #[must_use]
    pub fn run_sync(&self, dispatcher: &Dispatcher, context: &Context) -> ToolResults {
        let options = RunOptions::default().context(context.clone());
        let outcomes = self.calls().iter().enumerate().map(|(idx, call)| {
            let (prepared, arguments) = prepare(self, idx, dispatcher, &options)?;
            prepared.call_sync_with(&options.context_of(idx, call), arguments)
        });
        let outcomes = outcomes.collect();
        ToolResults::new(self.clone(), dispatcher.clone(), outcomes)
    }
}
