//! Calls that may hang: each runs on a thread that is given up when the time is over.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime, RuntimeFlavor};
use toolkit::call::{CancelToken, ErrorKind, RunResult, ToolError};
use toolkit::dispatch::BlockingThreads;
use toolkit::{Context, Dispatcher};

use super::writes::{Writes, has_written};

/// The name of the threads. The command line prints no report of a panic on threads of this name.
const THREAD_NAME: &str = "toolkit-call";

/// Makes calls, one after the other.
pub(super) struct Caller {
    dispatcher: Dispatcher,
    time_limit: Duration,
    handle: Handle,
    /// The runtime, unless it is that of the host.
    own: Option<Runtime>,
    /// The thread of the previous call, unless that call hangs.
    thread: Option<CallThread>,
    /// True if the server of a tool has ended during a call.
    pub(super) has_lost_server: bool,
}

struct CallThread {
    calls: Sender<Call>,
    outcomes: Receiver<Result<RunResult, ToolError>>,
}

struct Call {
    context: Context,
    tool: String,
    arguments: String,
    writes: Writes,
}

/// The end of a call within the time limit.
pub(super) struct Ended {
    pub(super) outcome: Result<RunResult, ToolError>,
    /// True if the call wrote to a file.
    pub(super) has_written: bool,
}

impl Caller {
    pub(super) fn new(dispatcher: Dispatcher, time_limit: Duration) -> io::Result<Self> {
        // The caller blocks its thread, on which a runtime of a single thread would have to run the tools.
        let current = Handle::try_current().ok();
        let current = current.filter(|handle| handle.runtime_flavor() != RuntimeFlavor::CurrentThread);
        let own = match current {
            Some(_) => None,
            None => Some(Builder::new_multi_thread().worker_threads(1).enable_all().build()?),
        };
        let handle = own.as_ref().map(Runtime::handle).cloned().or(current);
        let handle = handle.ok_or_else(|| io::Error::other("no runtime"))?;
        Ok(Self { dispatcher, time_limit, handle, own, thread: None, has_lost_server: false })
    }

    /// Calls a tool. Returns `None` if the call exceeds the time limit; its thread then remains until the tool returns.
    ///
    /// # Errors
    ///
    /// Returns an error if a thread cannot be started.
    pub(super) fn call(&mut self, context: Context, tool: &str, arguments: String) -> io::Result<Option<Ended>> {
        let thread = match self.thread.take() {
            Some(thread) => thread,
            None => self.start()?,
        };
        let cancel = CancelToken::new();
        // A runtime waits for its blocking threads when it is dropped; threads of their own keep nothing alive.
        let (writes, notes) = Writes::new();
        let of_thread = writes.clone();
        let blocking = BlockingThreads::new(move |work| {
            let writes = of_thread.clone();
            drop(thread::Builder::new().name(THREAD_NAME.into()).spawn(move || writes.during(work)));
        });
        let context = context.with(blocking).with_cancel(cancel.clone());
        let sent = thread.calls.send(Call { context, tool: tool.to_owned(), arguments, writes });
        let outcome = match sent {
            Ok(()) => thread.outcomes.recv_timeout(self.time_limit),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        };
        match outcome {
            Ok(outcome) => {
                self.thread = Some(thread);
                // A tool that exceeded its own time limit may still run.
                let has_ended = !matches!(&outcome, Err(error) if error.kind() == ErrorKind::TimedOut);
                Ok(Some(Ended { has_written: has_ended && has_written(&notes), outcome }))
            }
            Err(RecvTimeoutError::Timeout) => {
                cancel.cancel();
                Ok(None)
            }
            Err(RecvTimeoutError::Disconnected) => Err(io::Error::other("the thread of the calls ended")),
        }
    }

    fn start(&self) -> io::Result<CallThread> {
        let (calls, to_call) = channel::<Call>();
        let (outcome, outcomes) = channel();
        let (dispatcher, handle) = (self.dispatcher.clone(), self.handle.clone());
        let run = move || {
            for Call { context, tool, arguments, writes } in to_call {
                let call = dispatcher.call_with(&context, &tool, arguments);
                let called = writes.during(|| handle.block_on(call));
                if outcome.send(called).is_err() {
                    break;
                }
            }
        };
        thread::Builder::new().name(THREAD_NAME.to_owned()).spawn(run)?;
        Ok(CallThread { calls, outcomes })
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        // Dropping a runtime would wait for the tools that hang.
        if let Some(runtime) = self.own.take() {
            runtime.shutdown_background();
        }
    }
}
