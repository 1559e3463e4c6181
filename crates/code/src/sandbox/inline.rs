//! Programs in the process of the host.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::{io, thread};

use tokio::sync::oneshot;
use toolkit::call::BoxFuture;
use toolkit_runtime::Mutex;

use super::super::engine::{Answer, Engine, Step};
use super::super::failure::FailureKind;
use super::super::limits::Limits;
use super::super::program::Program;
use super::{Readiness, Sandbox, SandboxError, SandboxInfo, Session};
use crate::limits::{Enforced, Guarantee};

/// The stack of an engine in bytes, that of a worker.
const STACK: usize = 8 << 20;

type NewEngine = dyn Fn(Limits, Arc<AtomicBool>) -> Box<dyn Engine> + Send + Sync;

/// Runs programs in the process of the host, each on a thread of its own.
///
/// Only the engine is between a program and the memory of the host: a defect of the engine is one of the host. Use it in
/// tests, and for programs that you trust. A program that is dropped ends at the next check of its engine, which may
/// take as long as one operation of the engine.
///
/// # Examples
///
/// ```
/// use toolkit_code::Limits;
/// use toolkit_code::sandbox::{Guarantee, Inline, Sandbox};
/// # #[cfg(feature = "javascript")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toolkit_code::sandbox::SandboxError> {
///
/// let session = Inline::javascript().open(&Limits::default()).await?;
/// assert!(!session.enforced().contains(Guarantee::Files));
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "javascript"))]
/// # fn main() {}
/// ```
#[derive(Clone)]
pub struct Inline {
    engine: Arc<NewEngine>,
    n_ready: usize,
    ready: Arc<Mutex<Ready>>,
}

/// Engines that wait for programs, all for the same limits. Each is used once.
#[derive(Default)]
struct Ready {
    /// Those of the session that was opened last.
    limits: Option<Limits>,
    sessions: VecDeque<InlineSession>,
}

impl Inline {
    /// Creates a sandbox for programs in JavaScript.
    #[cfg(feature = "javascript")]
    #[must_use]
    pub fn javascript() -> Self {
        Self::new(super::super::engine::JavaScript::new)
    }

    /// Creates a sandbox for an engine, from the function that creates the engine. The program must end soon after the
    /// flag is set.
    #[must_use]
    pub fn new<E: Engine + 'static>(engine: impl Fn(Limits, Arc<AtomicBool>) -> E + Send + Sync + 'static) -> Self {
        let engine: Arc<NewEngine> = Arc::new(move |limits, stop| Box::new(engine(limits, stop)));
        Self { engine, n_ready: 0, ready: Arc::default() }
    }

    /// Sets the number of engines that wait for programs, already prepared. Each of them runs one program, with the limits
    /// of the program before. They are prepared in the background after a session was opened. Default: 0.
    #[must_use]
    pub fn ready(self, n: usize) -> Self {
        Self { n_ready: n, ready: Arc::default(), ..self }
    }

    /// Returns a session with an engine that is ready, or with a new one.
    fn session(&self, limits: Limits) -> io::Result<InlineSession> {
        if self.n_ready == 0 {
            return InlineSession::new(Arc::clone(&self.engine), limits);
        }
        let mut ready = self.ready.lock();
        if ready.limits != Some(limits) {
            *ready = Ready { limits: Some(limits), sessions: VecDeque::new() };
        }
        let session = match ready.sessions.pop_front() {
            Some(session) => session,
            None => InlineSession::new(Arc::clone(&self.engine), limits)?,
        };
        while ready.sessions.len() < self.n_ready {
            // The next `open` creates an engine itself and returns its error.
            let Ok(next) = InlineSession::new(Arc::clone(&self.engine), limits) else { break };
            ready.sessions.push_back(next);
        }
        Ok(session)
    }
}

toolkit::debug_fields!(Inline {});

impl Sandbox for Inline {
    fn info(&self) -> SandboxInfo {
        SandboxInfo { kind: "inline".to_owned(), readiness: Readiness::Prod, details: Default::default() }
    }

    fn open<'a>(&'a self, limits: &'a Limits) -> BoxFuture<'a, Result<Box<dyn Session>, SandboxError>> {
        let opened = self.session(*limits).map(|session| Box::new(session) as Box<dyn Session>);
        let opened = opened.map_err(|error| {
            SandboxError::unavailable(format!("no thread can be started: {error}")).with_source(error)
        });
        Box::pin(std::future::ready(opened))
    }
}

/// A request to the engine, and the receiver of its step.
struct Turn {
    input: EngineInput,
    step: oneshot::Sender<Step>,
}

enum EngineInput {
    Start(Program),
    Resume(Vec<Answer>),
}

/// Runs the engine until the session is dropped.
fn run(engine: &mut dyn Engine, turns: &Receiver<Turn>) {
    for Turn { input, step } in turns {
        let result = match input {
            EngineInput::Start(program) => engine.start(&program),
            EngineInput::Resume(answers) => engine.resume(answers),
        };
        // The receiver is gone if the host does not wait any longer.
        let _ = step.send(result);
    }
}

struct InlineSession {
    turns: Sender<Turn>,
    stop: Arc<AtomicBool>,
    enforced: Enforced,
}

impl InlineSession {
    /// Starts a thread with an engine.
    fn new(engine: Arc<NewEngine>, limits: Limits) -> io::Result<Self> {
        let (turns, received) = mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::Builder::new().name("toolkit-code".to_owned()).stack_size(STACK);
        thread.spawn(move || run(&mut *engine(limits, stopped), &received))?;
        Ok(Self { turns, stop, enforced: Enforced::from_iter([Guarantee::Steps, Guarantee::Memory]) })
    }

    fn turn(&self, input: EngineInput) -> BoxFuture<'_, Result<Step, SandboxError>> {
        let (step, received) = oneshot::channel();
        let sent = self.turns.send(Turn { input, step });
        Box::pin(async move {
            // The thread ends early only by a panic of the engine.
            let ended = |()| SandboxError::Ended(FailureKind::Violation, "the engine panicked".to_owned());
            sent.map_err(|_| ended(()))?;
            received.await.map_err(|_| ended(()))
        })
    }
}

impl Session for InlineSession {
    fn enforced(&self) -> &Enforced {
        &self.enforced
    }

    fn start<'a>(&'a mut self, program: &'a Program) -> BoxFuture<'a, Result<Step, SandboxError>> {
        self.turn(EngineInput::Start(program.clone()))
    }

    fn resume(&mut self, answers: Vec<Answer>) -> BoxFuture<'_, Result<Step, SandboxError>> {
        self.turn(EngineInput::Resume(answers))
    }
}

impl Drop for InlineSession {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
