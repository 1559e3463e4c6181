//! Programs in processes of their own, and workers that wait for programs.

mod child;
mod container;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use toolkit::call::BoxFuture;
use toolkit_runtime::Mutex;

use self::child::{Launch, Starter, WorkerProcess};
pub use self::container::{CommandLine, Container};
use crate::engine::{Answer, Step};
use crate::limits::{Enforced, Limits, Profile};
use crate::program::Program;
use crate::sandbox::{Exchange, Readiness, Sandbox, SandboxError, SandboxInfo, Session, protocol};
use crate::wire::WireError;

/// The time that a worker has to start, if the host sets no other.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// The same for a container, which a server may have to schedule.
const CONTAINER_START_TIMEOUT: Duration = Duration::from_secs(60);

/// Runs each program in a process of its own, a [worker](crate::worker).
///
/// The worker is this program, started again; its `main` must begin with [`worker::init`](crate::worker::init). Another
/// program may be a worker too, and with it a container; see [`command`](Self::command).
///
/// The messages of a worker are checked, and one that breaks the [protocol](crate::wire) is ended. Dropping a session
/// kills its process.
///
/// Sessions are opened in a runtime of tokio with I/O and time, and used in that runtime.
///
/// # Examples
///
/// ```no_run
/// use toolkit_code::sandbox::{Guarantee, Process, Sandbox};
/// use toolkit_code::{Limits, Profile, Program};
///
/// # #[cfg(feature = "javascript")]
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     toolkit_code::worker::init();
///     tokio::runtime::Runtime::new()?.block_on(async {
///         let sandbox = Process::new().profile(Profile::Hardened);
///         let mut session = sandbox.open(&Limits::default()).await?;
///         assert!(session.enforced().contains(Guarantee::Network));
///         let step = session.start(&Program::javascript("return 1 + 1")).await?;
///         println!("{step:?}");
///         Ok(())
///     })
/// }
/// # #[cfg(not(feature = "javascript"))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Process {
    starter: Starter,
    pool: Arc<Pool>,
}

impl Default for Process {
    fn default() -> Self {
        Self::new()
    }
}

impl Process {
    /// Creates a sandbox whose workers are this program.
    pub fn new() -> Self {
        Self::launched(Launch::ThisProgram)
    }

    /// Creates a sandbox from any command line that starts a worker, such as one in a container or on another machine.
    /// `kind` names the sandbox for operators.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit_code::sandbox::{CommandLine, Process, Sandbox};
    ///
    /// let command = CommandLine::new("ssh").args(["sandbox.example.com", "toolkit-code-worker"]).inherit_environment();
    /// let sandbox = Process::command("ssh", command);
    /// assert_eq!(sandbox.info().kind, "ssh");
    /// ```
    pub fn command(kind: impl Into<String>, command: CommandLine) -> Self {
        Self::launched(Launch::Command(kind.into(), Box::new(command)))
    }

    /// Creates a sandbox whose workers run in containers.
    pub fn container(container: Container) -> Self {
        let sandbox = Self::launched(Launch::Container(Box::new(container)));
        sandbox.start_timeout(CONTAINER_START_TIMEOUT)
    }

    fn launched(launch: Launch) -> Self {
        let starter = Starter { launch: Arc::new(launch), profile: Profile::default(), timeout: START_TIMEOUT };
        Self { starter, pool: Arc::default() }
    }

    /// Sets the profile. With [`Profile::Hardened`], no session is opened unless everything is enforced. Default:
    /// [`Profile::Standard`].
    pub fn profile(mut self, profile: Profile) -> Self {
        self.starter.profile = profile;
        self.pool = Arc::new(Pool::new(self.pool.size()));
        self
    }

    /// Sets the number of workers that wait for programs, already started and confined. Each of them runs one program,
    /// with the limits of the program before. They are started in the background after a session was opened. Default: 0.
    pub fn ready(mut self, n: usize) -> Self {
        self.pool = Arc::new(Pool::new(n));
        self
    }

    /// Sets the time that a worker has to start and to confine itself. Default: 10 seconds, and 60 in a container.
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.starter.timeout = timeout;
        self.pool = Arc::new(Pool::new(self.pool.size()));
        self
    }

    /// Starts the workers that wait for programs with these limits, and returns when they are [ready](Self::ready).
    ///
    /// # Errors
    ///
    /// Returns an error if a worker cannot be started.
    pub async fn prepare(&self, limits: &Limits) -> Result<(), SandboxError> {
        self.pool.fill(&self.starter, limits).await
    }
}

impl Sandbox for Process {
    fn info(&self) -> SandboxInfo {
        let (kind, readiness) = match &*self.starter.launch {
            Launch::ThisProgram if cfg!(target_os = "linux") => ("process", Readiness::Prod),
            Launch::ThisProgram => ("process", Readiness::Beta),
            Launch::Command(kind, _) => (&**kind, Readiness::Beta),
            Launch::Container(container) => (container.kind(), Readiness::Beta),
        };
        let details = [
            ("platform".to_owned(), std::env::consts::OS.to_owned()),
            ("profile".to_owned(), self.starter.profile.to_string()),
            ("ready".to_owned(), self.pool.size().to_string()),
        ];
        SandboxInfo { kind: kind.to_owned(), readiness, details: details.into() }
    }

    fn open<'a>(&'a self, limits: &'a Limits) -> BoxFuture<'a, Result<Box<dyn Session>, SandboxError>> {
        Box::pin(async move {
            let worker = match self.pool.take(limits) {
                Some(worker) => worker,
                None => self.starter.start(limits).await?,
            };
            Pool::refill(&self.pool, &self.starter, limits);
            Ok(Box::new(ProcessSession::new(worker, *limits)) as Box<dyn Session>)
        })
    }
}

/// Workers that are started and confined, all for the same limits. Each is used once.
#[derive(Default)]
struct Pool {
    size: usize,
    state: Mutex<PoolState>,
}

#[derive(Default)]
struct PoolState {
    /// Those of the session that was opened last.
    limits: Option<Limits>,
    workers: VecDeque<WorkerProcess>,
    n_starting: usize,
}

/// The time between the use of a worker and the start of the next one, which would slow down the first.
const REFILL_DELAY: Duration = Duration::from_millis(10);

impl Pool {
    fn new(size: usize) -> Self {
        Self { size, state: Mutex::default() }
    }

    fn size(&self) -> usize {
        self.size
    }

    /// Returns a worker for these limits. Workers for other limits are dropped.
    fn take(&self, limits: &Limits) -> Option<WorkerProcess> {
        // It is dropped after the lock.
        let mut dropped = Vec::new();
        let mut state = self.state.lock();
        if state.limits != Some(*limits) {
            state.limits = Some(*limits);
            dropped.extend(state.workers.drain(..));
        }
        while let Some(mut worker) = state.workers.pop_front() {
            if worker.is_alive() {
                return Some(worker);
            }
            dropped.push(worker);
        }
        None
    }

    /// Starts the workers that are missing, in the background.
    fn refill(this: &Arc<Self>, starter: &Starter, limits: &Limits) {
        let mut state = this.state.lock();
        let n_missing = this.size.saturating_sub(state.workers.len() + state.n_starting);
        state.n_starting += n_missing;
        drop(state);
        for _ in 0..n_missing {
            let (pool, starter, limits) = (Arc::downgrade(this), starter.clone(), *limits);
            tokio::spawn(async move {
                tokio::time::sleep(REFILL_DELAY).await;
                let started = starter.start(&limits).await;
                let Some(pool) = pool.upgrade() else { return };
                pool.state.lock().n_starting -= 1;
                match started {
                    Ok(worker) => pool.put(worker, &limits),
                    // The next `open` starts a worker itself and returns its error.
                    Err(error) => tracing::warn!(%error, "no worker could be started ahead of time"),
                }
            });
        }
    }

    /// Starts the workers that are missing.
    async fn fill(&self, starter: &Starter, limits: &Limits) -> Result<(), SandboxError> {
        self.state.lock().limits = Some(*limits);
        while self.state.lock().workers.len() < self.size {
            let worker = starter.start(limits).await?;
            self.put(worker, limits);
        }
        Ok(())
    }

    /// Keeps a worker unless sessions have other limits by now.
    fn put(&self, worker: WorkerProcess, limits: &Limits) {
        let mut state = self.state.lock();
        if state.limits == Some(*limits) && state.workers.len() < self.size {
            state.workers.push_back(worker);
            return;
        }
        drop(state);
        drop(worker);
    }
}

toolkit::debug_fields!(Pool { size });

/// A session with a worker.
struct ProcessSession {
    worker: WorkerProcess,
    exchange: Exchange,
    /// The time that the program has run.
    running: Duration,
}

impl ProcessSession {
    fn new(worker: WorkerProcess, limits: Limits) -> Self {
        Self { worker, exchange: Exchange::new(limits), running: Duration::ZERO }
    }

    /// Sends a line and receives the answer.
    async fn send(&mut self, line: &[u8]) -> Result<Step, SandboxError> {
        if self.worker.has_more() {
            return Err(protocol(WireError::Invalid("a message out of turn".to_owned())));
        }
        let begin = Instant::now();
        let received = match self.worker.send(line).await {
            Ok(()) => self.worker.receive(self.exchange.max_line()).await.map_err(protocol)?,
            Err(_) => None,
        };
        self.running += begin.elapsed();
        let Some(line) = received else {
            return Err(self.worker.end().await.error(self.exchange.limits(), self.running));
        };
        let step = self.exchange.read(&line)?;
        self.worker.is_done = self.exchange.is_done();
        Ok(step)
    }
}

impl Session for ProcessSession {
    fn enforced(&self) -> &Enforced {
        &self.worker.enforced
    }

    fn start<'a>(&'a mut self, program: &'a Program) -> BoxFuture<'a, Result<Step, SandboxError>> {
        Box::pin(async move {
            let line = self.exchange.start(program)?;
            self.send(&line).await
        })
    }

    fn resume(&mut self, answers: Vec<Answer>) -> BoxFuture<'_, Result<Step, SandboxError>> {
        Box::pin(async move {
            let line = self.exchange.resume(&answers)?;
            drop(answers);
            self.send(&line).await
        })
    }
}
