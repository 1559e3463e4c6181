//! Programs in processes of their own.

mod child;
mod command_line;
mod container;
mod exit;
mod pool;
mod session;
mod start;

use std::sync::Arc;
use std::time::Duration;

use toolkit::call::BoxFuture;

pub use self::command_line::CommandLine;
pub use self::container::Container;
use self::pool::Pool;
use self::session::ProcessSession;
use self::start::{Launch, Starter};
use super::super::limits::Limits;
use super::super::profile::Profile;
use super::{Readiness, Sandbox, SandboxError, SandboxInfo, Session};

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
    #[must_use]
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
    #[must_use]
    pub fn command(kind: impl Into<String>, command: CommandLine) -> Self {
        Self::launched(Launch::Command(kind.into(), Box::new(command)))
    }

    /// Creates a sandbox whose workers run in containers.
    #[must_use]
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
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.starter.profile = profile;
        self.pool = Arc::new(Pool::new(self.pool.size()));
        self
    }

    /// Sets the number of workers that wait for programs, already started and confined. Each of them runs one program,
    /// with the limits of the program before. They are started in the background after a session was opened. Default: 0.
    #[must_use]
    pub fn ready(mut self, n: usize) -> Self {
        self.pool = Arc::new(Pool::new(n));
        self
    }

    /// Sets the time that a worker has to start and to confine itself. Default: 10 seconds, and 60 in a container.
    #[must_use]
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
