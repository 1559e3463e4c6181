//! Code mode of a host.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Instant, SystemTime};

use tokio::sync::watch;
use toolkit::{Context, Dispatcher};

use super::drive::{End, Pauses, ProgramRun, TotalBytes, Trace, is_nested, total_bytes};
use super::engine::Done;
use super::execution::Execution;
use super::gateway::Gateway;
use super::journal::{Journal, JournalEntry};
use super::limits::Limits;
use super::program::Program;
use super::sandbox::{Enforced, Guarantee, Sandbox, SandboxInfo};
use crate::failure::CodeError;

/// Runs programs that call the tools of a dispatcher.
///
/// Each program runs in a sandbox of its own. Its calls pass the dispatcher: its layers, validation, credentials and
/// limits apply to them as to other calls. Clones share the tools and the sandbox.
#[derive(Clone)]
#[must_use]
pub struct CodeMode {
    gateway: Arc<RwLock<Arc<Gateway>>>,
    /// Incremented whenever the gateway is replaced.
    version: Arc<watch::Sender<u64>>,
    sandbox: Arc<dyn Sandbox>,
    /// The limits of each program.
    pub(crate) limits: Limits,
    /// The memory that all runs keep.
    total: TotalBytes,
}

impl CodeMode {
    /// Creates code mode for the tools of a dispatcher, with programs in this sandbox.
    pub fn new(dispatcher: Dispatcher, sandbox: impl Sandbox) -> Self {
        Self::with_gateway(Gateway::new(dispatcher), sandbox)
    }

    /// Creates code mode for the tools of a gateway.
    pub fn with_gateway(gateway: Gateway, sandbox: impl Sandbox) -> Self {
        let limits = Limits::default();
        Self {
            gateway: Arc::new(RwLock::new(Arc::new(gateway))),
            version: Arc::new(watch::Sender::new(1)),
            sandbox: Arc::new(sandbox),
            limits,
            total: total_bytes(&limits),
        }
    }

    /// Sets the limits of each program.
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, total: total_bytes(&limits), ..self }
    }

    /// Replaces the tools of the programs that start from now on.
    pub fn replace(&self, gateway: Gateway) {
        *self.gateway.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(gateway);
        self.version.send_modify(|version| *version += 1);
    }

    /// Returns code mode for other tools, which shares the sandbox and the memory of runs.
    pub(crate) fn for_gateway(&self, gateway: Gateway) -> Self {
        let (gateway, version) = (Arc::new(RwLock::new(Arc::new(gateway))), Arc::new(watch::Sender::new(1)));
        Self { gateway, version, ..self.clone() }
    }

    /// Returns the number of the current tools.
    pub(crate) fn version(&self) -> u64 {
        *self.version.borrow()
    }

    pub(crate) fn versions(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    /// Returns the current tools.
    pub(crate) fn gateway(&self) -> Arc<Gateway> {
        Arc::clone(&self.gateway.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns a description of the sandbox.
    #[must_use]
    pub fn sandbox(&self) -> SandboxInfo {
        self.sandbox.info()
    }

    /// Runs a program.
    ///
    /// # Errors
    ///
    /// Returns an error if the program could not be started. The failure of a program that was started is part of the
    /// result.
    pub async fn run(&self, program: Program) -> Result<Execution, CodeError> {
        self.run_with(&Context::new(), self.limits, program).await
    }

    /// Runs a program whose calls have this context, with limits that are at most those of [`CodeMode::limits`]. The
    /// progress of the context counts its calls.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`CodeMode::run`].
    pub async fn run_with(&self, context: &Context, limits: Limits, program: Program) -> Result<Execution, CodeError> {
        let job = self.job(context, self.prepare(program)?, Vec::new());
        match self.execute(context, limits, job, false).await? {
            Outcome::Done(execution) => Ok(execution),
            Outcome::Paused(_) => unreachable!("only a run that can be resumed is paused"),
        }
    }

    /// Runs a program until it ends, or until all that it waits for are decisions: calls that failed with
    /// [`ErrorKind::Pending`](toolkit::call::ErrorKind::Pending) are made again when it is [resumed](Self::resume). Other
    /// calls finish first.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`CodeMode::run`].
    pub async fn start(&self, context: &Context, limits: Limits, program: Program) -> Result<Outcome, CodeError> {
        let job = self.job(context, self.prepare(program)?, Vec::new());
        self.execute(context, limits, job, true).await
    }

    /// Resumes a paused program, also in another process. Answered calls are not made again.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`CodeMode::run`].
    pub async fn resume(&self, context: &Context, limits: Limits, journal: Journal) -> Result<Outcome, CodeError> {
        if !journal.is_supported() {
            return Err(CodeError::UnknownJournal);
        }
        let job = self.job(context, journal.program, journal.entries);
        self.execute(context, limits, job, true).await
    }

    /// Completes a program with the functions of the current tools, the time and a seed.
    pub(crate) fn prepare(&self, mut program: Program) -> Result<Program, CodeError> {
        if program.code.trim().is_empty() {
            return Err(CodeError::MissingCode);
        }
        program.functions = self.gateway().functions().into_iter().collect();
        program.started_at = now();
        program.seed = fastrand::u64(..);
        Ok(program)
    }

    /// Creates a run of a program for the caller of the context, with the answers of an earlier one.
    pub(crate) fn job(&self, context: &Context, program: Program, replayed: Vec<JournalEntry>) -> Job {
        let trace = Trace::new(&self.total, context.request().caller());
        Job { program, replayed, trace: Arc::new(trace) }
    }

    pub(crate) async fn execute(
        &self,
        context: &Context,
        limits: Limits,
        job: Job,
        is_resumable: bool,
    ) -> Result<Outcome, CodeError> {
        let limits = limits.min(self.limits);
        let Job { program, replayed, trace } = job;
        if program.code.len() as u64 > limits.code_bytes {
            return Err(CodeError::TooLong(limits.code_bytes));
        }
        if is_nested(context) {
            return Err(CodeError::Nested);
        }
        let gateway = self.gateway();
        let start = Instant::now();
        let mut session = self.sandbox.open(&limits).await.map_err(CodeError::Unavailable)?;
        let enforced = enforced(session.enforced());
        let pauses = Pauses::new();
        let run = ProgramRun { gateway: &gateway, context, limits: &limits, start, pauses: &pauses, is_resumable };
        let end = run.drive(&mut *session, &program, replayed, &trace).await;
        drop(session);
        let mut traced = trace.take();
        let Done { outcome, shown } = match end {
            End::Done(done) => done,
            End::Paused(waiting) => return Ok(Outcome::Paused(Journal::new(program, traced.entries, waiting))),
        };
        Ok(Outcome::Done(Execution {
            outcome: outcome.map_err(|failure| failure.in_program(&program.code)),
            content: traced.shown(&shown),
            printed: std::mem::take(&mut traced.printed),
            usage: traced.usage,
            calls: traced.into_calls(),
            duration: start.elapsed(),
            sandbox: self.sandbox.info(),
            enforced,
        }))
    }
}

/// The end of a run that can be resumed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// The program has ended.
    Done(Execution),
    /// The program waits for decisions.
    Paused(Journal),
}

/// A program that runs, from its start or with the answers of an earlier run.
pub(crate) struct Job {
    pub(crate) program: Program,
    pub(crate) replayed: Vec<JournalEntry>,
    pub(crate) trace: Arc<Trace>,
}

/// Adds what the host enforces.
fn enforced(by_sandbox: &Enforced) -> Enforced {
    let by_host = [Guarantee::Time, Guarantee::Calls, Guarantee::ChainSteps];
    by_sandbox.iter().chain(by_host).collect()
}

/// Returns the milliseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

toolkit::debug_fields!(it, CodeMode { sandbox: it.sandbox.info(), limits });
