//! Calls as streams of events.

use std::sync::Arc;

use super::dispatcher::Dispatcher;
use super::execute::run_layered;
use super::report::report;
use crate::call::{Arguments, Context, unwind};
use crate::stream::{CallStream, Queue, reporting_to};

impl Dispatcher {
    /// Calls a tool and streams its progress and the parts of its result; see [`stream`](crate::stream).
    ///
    /// Every error is an event, including an unknown name.
    ///
    /// ```standalone_crate
    /// use toolkit::{Chunks, Dispatcher, catalog, tool};
    ///
    /// /// Counts up.
    /// #[tool]
    /// fn count(to: u8) -> Chunks<u8> {
    ///     Chunks::from_items(1..=to)
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let dispatcher = Dispatcher::new(catalog![count]?)?;
    /// let mut events = dispatcher.stream("count", r#"{"to": 2}"#);
    /// let mut kinds = Vec::new();
    /// while let Some(event) = events.next().await {
    ///     kinds.push(event.event.kind());
    /// }
    /// assert_eq!(kinds, ["chunk", "chunk", "done"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stream<'a>(&self, name: &str, arguments: impl Into<Arguments<'a>>) -> CallStream {
        self.stream_with(Context::EMPTY, name, arguments)
    }

    /// Streams a call with a context. A progress listener of the context still receives the progress.
    pub fn stream_with<'a>(&self, context: &Context, name: &str, arguments: impl Into<Arguments<'a>>) -> CallStream {
        let tool = match self.resolve(name) {
            Ok(tool) => tool,
            Err(error) => return CallStream::refused(name.to_owned().into(), error),
        };
        let queue = Arc::new(Queue::default());
        // A clone of the tool would build its schemas again.
        let place = self.shared.catalog.position(tool);
        let (dispatcher, arguments) = (self.clone(), arguments.into().into_owned());
        let (id, parts) = (tool.id_text(), Arc::clone(&queue));
        let context = reporting_to(context.carried(), Arc::clone(&queue));
        let call = Box::pin(async move {
            let tool = dispatcher.shared.catalog.at(place);
            // A stream ends with an event, even after a panic.
            let work = || run_layered(&dispatcher, &context, tool, arguments, Some(&parts));
            let outcome = unwind::catch_future(work).await.unwrap_or_else(|panic| Err(panic.into_host_error()));
            outcome.map_err(|error| report(tool, error))
        });
        CallStream::new(id, queue, call)
    }
}
