//! Calls that may hang: each runs on a thread that is given up when the time is over. What a thread writes is counted,
//! on Linux.

use std::fs;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime, RuntimeFlavor};
use toolkit::call::{CancelToken, ErrorKind, RunResult, ToolError};
use toolkit::dispatch::BlockingThreads;
use toolkit::tool::BackendKind;
use toolkit::{Context, Dispatcher};

/// The name of the threads. The command line prints no report of a panic on threads of this name.
const THREAD_NAME: &str = "toolkit-call";

/// The size of a write by which one thread wakes another (`eventfd`). Such writes do not count.
const WAKE_BYTES: u64 = 8;

/// The time after the end of a call within which the threads that ran it have counted what they wrote.
const COUNTING: Duration = Duration::from_secs(1);

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
    calls: Sender<PlannedCall>,
    outcomes: Receiver<Result<RunResult, ToolError>>,
}

struct PlannedCall {
    context: Context,
    tool: String,
    arguments: String,
    writes: Writes,
}

/// The end of a call within the time limit.
pub(super) struct EndedCall {
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
    pub(super) fn call(&mut self, context: Context, tool: &str, arguments: String) -> io::Result<Option<EndedCall>> {
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
        let sent = thread.calls.send(PlannedCall { context, tool: tool.to_owned(), arguments, writes });
        let outcome = match sent {
            Ok(()) => thread.outcomes.recv_timeout(self.time_limit),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        };
        match outcome {
            Ok(outcome) => {
                self.thread = Some(thread);
                // A tool that exceeded its own time limit may still run.
                let has_ended = !matches!(&outcome, Err(error) if error.kind() == ErrorKind::TimedOut);
                // A call of another process is itself written.
                let has_written = has_ended && !is_foreign(&outcome) && has_written(&notes);
                Ok(Some(EndedCall { has_written, outcome }))
            }
            Err(RecvTimeoutError::Timeout) => {
                cancel.cancel();
                Ok(None)
            }
            Err(RecvTimeoutError::Disconnected) => Err(io::Error::other("the thread of the calls ended")),
        }
    }

    fn start(&self) -> io::Result<CallThread> {
        let (calls, to_call) = channel::<PlannedCall>();
        let (outcome, outcomes) = channel();
        let (dispatcher, handle) = (self.dispatcher.clone(), self.handle.clone());
        let run = move || {
            for PlannedCall { context, tool, arguments, writes } in to_call {
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

/// Counts what the threads of one call write.
#[derive(Clone)]
struct Writes(Sender<()>);

impl Writes {
    /// Creates the counter, and a receiver of a message for each thread that wrote.
    fn new() -> (Self, Receiver<()>) {
        let (sender, receiver) = channel();
        (Self(sender), receiver)
    }

    /// Runs a part of the call on the current thread.
    fn during<T>(self, run: impl FnOnce() -> T) -> T {
        let before = Written::now();
        let outcome = run();
        if let (Some(before), Some(after)) = (before, Written::now())
            && after.has_written_since(&before)
        {
            // The receiver is gone if the call exceeded its time limit.
            let _ = self.0.send(());
        }
        outcome
    }
}

/// Returns true if the tool of a call runs in another process.
fn is_foreign(outcome: &Result<RunResult, ToolError>) -> bool {
    let backend = match outcome {
        Ok(result) => Some(result.backend()),
        Err(error) => error.backend().cloned(),
    };
    backend.is_some_and(|backend| backend.kind() != BackendKind::Local)
}

/// Returns true if a thread of a call that ended has written, as soon as all of them have counted.
fn has_written(notes: &Receiver<()>) -> bool {
    notes.recv_timeout(COUNTING).is_ok()
}

/// The output of the current thread so far.
struct Written {
    bytes: u64,
    n_writes: u64,
    /// The length of standard error if it is a file, which the log of a tool may be written to.
    logged: u64,
}

impl Written {
    fn now() -> Option<Self> {
        let text = fs::read_to_string("/proc/thread-self/io").ok()?;
        let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name))?.parse().ok();
        let stderr = fs::metadata("/proc/self/fd/2").ok().filter(fs::Metadata::is_file);
        let logged = stderr.map_or(0, |file| file.len());
        Some(Self { bytes: value("wchar: ")?, n_writes: value("syscw: ")?, logged })
    }

    /// Returns true if more was written than the log and what wakes other threads.
    fn has_written_since(&self, before: &Self) -> bool {
        let (n_writes, logged) = (self.n_writes - before.n_writes, self.logged - before.logged);
        let rest = (self.bytes - before.bytes).saturating_sub(logged);
        !(rest.is_multiple_of(WAKE_BYTES) && rest / WAKE_BYTES <= n_writes)
            || (logged == 0 && rest != n_writes * WAKE_BYTES)
    }
}
