//! Calls that are read while they run.

use std::sync::Arc;

use super::Dispatcher;
use super::report::report;
use crate::call::{Arguments, Context, unwind};
use crate::stream::{CallStream, Queue, reporting_to};

impl Dispatcher {
    /// Calls a tool, and gives what happens while it runs: see [`stream`](crate::stream).
    ///
    /// A name that does not resolve is an error event, like every other error.
    pub fn stream<'a>(&self, name: &str, arguments: impl Into<Arguments<'a>>) -> CallStream {
        self.stream_with(Context::EMPTY, name, arguments)
    }

    /// As [`Dispatcher::stream`], with a context of the host's. A listener of the context hears the progress too.
    pub fn stream_with<'a>(&self, context: &Context, name: &str, arguments: impl Into<Arguments<'a>>) -> CallStream {
        let tool = match self.shared.catalog.resolve(name) {
            Ok(tool) => tool,
            Err(error) => return CallStream::refused(name.to_owned().into(), error),
        };
        let queue = Arc::new(Queue::default());
        // A clone of a tool that nobody has looked at would build its schemas for itself.
        let place = self.shared.catalog.place_of(tool);
        let (dispatcher, arguments) = (self.clone(), arguments.into().into_owned());
        let (id, parts) = (tool.id_text(), Arc::clone(&queue));
        let context = reporting_to(context.carried(), Arc::clone(&queue));
        let call = Box::pin(async move {
            let tool = dispatcher.shared.catalog.at(place);
            // Whatever happens, a stream ends in an event.
            let work = || dispatcher.run_layered(&context, tool, arguments, Some(&parts));
            let outcome = unwind::catch_future(work).await.unwrap_or_else(|panic| Err(panic.of_host()));
            outcome.map_err(|error| report(tool, error))
        });
        CallStream::new(id, queue, call)
    }
}
