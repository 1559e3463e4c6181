//! `cargo toolkit dev`: serves a program while its sources change.
//!
//! It builds the program at each change of a file, and starts each new executable. A client is connected to `dev`, whose
//! session outlives the processes of the program: new calls go to the newest one, and running calls end in theirs. A build that fails
//! leaves the earlier process, and its errors are the result of the tool `dev_errors`.
//!
//! | module | part |
//! |---|---|
//! | `sources` | the files that are watched |
//! | `compile` | a build, and the messages of the compiler |
//! | `relay` | the session of a client, between its pipes and those of the processes |
//! | `http_relay`, `http_request` | the address of a server, with `--http` |
//! | `process` | a process that serves a session |
//! | `stand_in`, `build_state` | the tool `dev_errors`, the answers without a program, and what is known about the build |
//! | `message` | messages of MCP, changed in place |

mod build_state;
mod compile;
mod http_relay;
mod http_request;
mod message;
mod process;
mod relay;
mod sources;
mod stand_in;

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, value_parser};

use self::build_state::BuildState;
use self::http_relay::HttpRelay;
use self::relay::Relay;
use self::sources::{Sources, Stamp, stamp};
use crate::package::{Package, WatchedPackage, cargo};
use crate::{program, say};

/// The time between two looks at the sources.
const INTERVAL: Duration = Duration::from_millis(100);
/// The time that running calls may take after the client has ended, as in `serve`.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(30);
/// The time that processes may take after their last call.
const END_TIMEOUT: Duration = Duration::from_secs(2);
/// The time in which a new process must answer.
const START_TIMEOUT: Duration = Duration::from_secs(20);
/// The time that requests wait for a program, or for the end of a build. Clients end them after a minute or less.
const PATIENCE: Duration = Duration::from_secs(20);
/// The variable with the keys by which servers continue each other's calls.
const STATE_KEYS: &str = "SERVE_STATE_KEYS";
/// A process that ends earlier is not started again before the next change.
const MIN_LIFE: Duration = Duration::from_secs(1);

pub(crate) fn command() -> clap::Command {
    clap::Command::new("dev")
        .about("Serve a program, build it at each change of its sources, and stay connected to its clients")
        .long_about(
            "Serve a program over MCP, build it at each change of its sources, and stay connected to its clients.\n\n\
             It is the command of a client in place of `PROGRAM serve`. After a build, new calls go to the new program, \
             running calls end in the earlier one, and the client is told that the lists have changed. A build that fails leaves the \
             earlier program; the tool `dev_errors` waits for the build and returns its errors.",
        )
        .args(crate::package_options())
        .arg(Arg::new("bin").long("bin").value_name("NAME").help("Program of the package, if it has several"))
        .arg(
            Arg::new("arguments")
                .value_name("ARGS")
                .num_args(0..)
                .last(true)
                .value_parser(value_parser!(OsString))
                .help("Arguments of `serve`"),
        )
}

/// Serves until the client ends. `all` are the options before the command.
///
/// # Errors
///
/// Returns an error if the options do not select a program.
pub(crate) fn run(all: &ArgMatches, options: &ArgMatches) -> Result<ExitCode, String> {
    let is_given = |id: &&str| all.value_source(id) == Some(ValueSource::CommandLine);
    if let Some(name) = crate::package_options().iter().map(|arg| arg.get_id().as_str()).find(is_given) {
        return Err(format!("write `--{name}` after `dev`"));
    }
    #[cfg(unix)]
    end_at_interrupt().map_err(|error| format!("cannot handle Ctrl-C: {error}"))?;
    let program = ServedProgram::new(options)?;
    let (options, mut arguments) = (options.clone(), arguments(options));
    let listener = http_relay::bind(&mut arguments)?;
    if let Some(listener) = listener {
        let relay = HttpRelay::listen(listener, &program.package.name, &program.package.version);
        let relay = relay.map_err(|error| format!("cannot listen: {error}"))?;
        watch(&relay, program, arguments, &options);
    }
    let (relay, output) = Relay::new(&program.package.name, &program.package.version);
    if io::stdin().is_terminal() {
        say("note: reading MCP messages from stdin; MCP clients usually start `cargo toolkit dev`");
    }
    let watching = relay.clone();
    thread::spawn(move || watch(&watching, program, arguments, &options));
    for line in io::stdin().lines() {
        let Ok(line) = line else { break };
        relay.receive(line);
    }
    let end = Instant::now();
    while relay.is_busy() && end.elapsed() < SHUTDOWN_TIMEOUT {
        thread::sleep(INTERVAL / 10);
    }
    let end = Instant::now();
    while relay.close() && end.elapsed() < END_TIMEOUT {
        thread::sleep(INTERVAL / 10);
    }
    relay.end_output();
    let _ = output.join();
    // Builds end with this process.
    Ok(ExitCode::SUCCESS)
}

/// Ends with one line at Ctrl-C. Programs and builds, which are in process groups of their own, end with their pipes.
#[cfg(unix)]
fn end_at_interrupt() -> io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([signal_hook::consts::SIGINT])?;
    thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            say("note: stopped by Ctrl-C; the program and its build end as well");
            // The exit code of a program that a signal has ended.
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}

/// What clients are connected to.
trait Front {
    /// Starts a process of the program, for requests from now on.
    ///
    /// # Errors
    ///
    /// Returns the reason if the process ends at its start or does not answer; the earlier process then remains.
    fn start(&self, command: Command) -> Result<(), String>;

    /// Sets what is known about the last build.
    fn set_state(&self, state: BuildState);

    /// Returns true if a process receives new requests.
    fn is_running(&self) -> bool;

    /// Returns the reason for which the current process has ended, once.
    fn crash(&self) -> Option<String>;

    /// Answers what has waited too long. Called several times in a second.
    fn wait(&self) {}

    /// Answers the questions for errors that came before `time`, since nothing has changed after it.
    fn report(&self, _time: Instant) {}
}

/// A program, and how it is built and started.
struct ServedProgram {
    package: WatchedPackage,
    build: Command,
}

impl ServedProgram {
    fn new(options: &ArgMatches) -> Result<Self, String> {
        let package = WatchedPackage::find(options, options.get_one::<String>("bin").map(String::as_str))?;
        let mut build = match &package.program {
            Some(program) => {
                let mut build = cargo();
                build.args(["build", "--package", &package.name, "--bin", program]);
                build.arg("--manifest-path").arg(&package.manifest_path).current_dir(&package.workspace_root);
                for switch in ["all-features", "no-default-features", "release", "offline"] {
                    build.args(options.get_flag(switch).then(|| format!("--{switch}")));
                }
                let features = options.get_many::<String>("features").unwrap_or_default();
                build.args(features.map(|feature| format!("--features={feature}")));
                build
            }
            None => program::prepare(&Package::find(options)?, options, &arguments(options))?.0,
        };
        build.args(["--message-format", "json-diagnostic-rendered-ansi"]);
        Ok(Self { package, build })
    }
}

/// Returns the arguments of the program.
fn arguments(options: &ArgMatches) -> Vec<OsString> {
    let given = options.get_many::<OsString>("arguments").unwrap_or_default().cloned();
    std::iter::once("serve".into()).chain(given).collect()
}

/// Builds and starts the program at each change of its sources.
fn watch(front: &dyn Front, program: ServedProgram, arguments: Vec<OsString>, options: &ArgMatches) -> ! {
    let sources = Sources::new(&program.package);
    let mut watched = WatchedProgram { program, arguments, sources, is_outdated: false, running: None };
    watched.build(front, options);
    loop {
        let time = Instant::now();
        let changed = watched.sources.changed();
        if let Some(path) = changed.first() {
            say(&format!("note: {} has changed", path.display()));
            // Other packages, programs or dependencies.
            watched.is_outdated |= changed.iter().any(|path| path.ends_with("Cargo.toml"));
            watched.build(front, options);
        } else if let Some(reason) = front.crash() {
            watched.restart(front, &reason);
        } else {
            front.report(time);
            front.wait();
            thread::sleep(INTERVAL);
        }
    }
}

/// A program and its sources.
struct WatchedProgram {
    program: ServedProgram,
    arguments: Vec<OsString>,
    sources: Sources,
    /// True if a manifest has changed since the program was found.
    is_outdated: bool,
    running: Option<StartedProgram>,
}

/// The executable that was started last.
struct StartedProgram {
    executable: PathBuf,
    stamp: Stamp,
    since: Instant,
}

impl WatchedProgram {
    /// Builds the program, and starts it if it is another one.
    fn build(&mut self, front: &dyn Front, options: &ArgMatches) {
        front.set_state(BuildState::Building);
        if let Err(errors) = self.try_build(front, options) {
            let earlier = if front.is_running() { "the earlier program goes on" } else { "no program runs" };
            let first = errors.lines().next().unwrap_or_default();
            let prefix = if first.starts_with("error") { "" } else { "error: " };
            say(&format!("{prefix}{first}; {earlier}"));
            front.set_state(BuildState::Failed(errors));
        }
    }

    fn try_build(&mut self, front: &dyn Front, options: &ArgMatches) -> Result<(), String> {
        let time = Instant::now();
        if self.is_outdated {
            self.program = ServedProgram::new(options)?;
            self.sources.set_directories(&self.program.package);
            self.is_outdated = false;
        }
        let _lock = self.lock(front)?;
        let executable = compile::compile(&self.program.build, || front.wait())?;
        self.sources.list(&executable);
        let stamp = stamp(&executable);
        if front.is_running() && self.running.as_ref().is_some_and(|running| running.stamp == stamp) {
            front.set_state(BuildState::Current);
            return Ok(());
        }
        front.start(self.command(&executable))?;
        self.running = Some(StartedProgram { executable, stamp, since: Instant::now() });
        let seconds = time.elapsed().as_secs_f64();
        say(&format!("note: serving `{}`, built and started in {seconds:.1} s", self.program.package.name));
        Ok(())
    }

    /// Waits until no other `dev` builds and starts programs in the target directory: its cargo could replace the executable
    /// before it is started.
    fn lock(&self, front: &dyn Front) -> Result<File, String> {
        let directory = self.program.package.target_directory.join("cargo-toolkit");
        let file = fs::create_dir_all(&directory).and_then(|()| File::create(directory.join("dev.lock")));
        let failed = |error: io::Error| format!("cannot write in {}: {error}", directory.display());
        let file = file.map_err(failed)?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) => front.wait(),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
            thread::sleep(INTERVAL / 5);
        }
    }

    /// Starts the program again after its end, unless it has ended at once.
    fn restart(&mut self, front: &dyn Front, reason: &str) {
        let Some(ended) = &self.running else { return };
        let reason = format!("the program has ended: {reason}");
        let outcome = match ended.since.elapsed() < MIN_LIFE {
            true => Err(reason.clone()),
            false => self.lock(front).and_then(|_lock| front.start(self.command(&ended.executable))),
        };
        let first = reason.lines().next().unwrap_or_default();
        match outcome {
            Ok(()) => say(&format!("warning: {first}; it was started again")),
            Err(errors) => {
                say(&format!("error: {first}; it is started again after the next change"));
                front.set_state(BuildState::Failed(errors));
            }
        }
        self.running.iter_mut().for_each(|running| running.since = Instant::now());
    }

    /// Returns the command that starts an executable.
    fn command(&self, executable: &Path) -> Command {
        static KEY: LazyLock<String> = LazyLock::new(|| {
            let random = RandomState::new();
            (0..4).map(|n| format!("{:016x}", random.hash_one(n))).collect()
        });
        let mut command = Command::new(executable);
        // Without a copy, Windows would not let the next build replace a running program.
        #[cfg(windows)]
        {
            static N_STARTS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
            let n = N_STARTS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let copy = executable.with_extension(format!("dev{}.exe", n % 8));
            if std::fs::copy(executable, &copy).is_ok() {
                command = Command::new(copy);
            }
        }
        command.args(&self.arguments);
        // A question that one process has asked is answered to the next one.
        if std::env::var_os(STATE_KEYS).is_none() {
            command.env(STATE_KEYS, &*KEY);
        }
        command
    }
}
