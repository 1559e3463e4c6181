//! Limits of a program, the guarantees of a sandbox, and profiles: the strictness of the confinement.

use std::collections::BTreeSet;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::failure::SandboxError;

/// The limits of a program.
///
/// A limit bounds one run. What exceeds it fails with a [`Failure`](crate::Failure) whose
/// [kind](crate::FailureKind) names the limit.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use toolkit_code::Limits;
///
/// let limits = Limits::default().calls(20).time(Duration::from_secs(10));
/// assert_eq!(limits.memory_bytes, 64 << 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Limits {
    /// The time that the program may run, without the time that it waits for calls. Default: 10 seconds.
    pub run_time: Duration,
    /// The time of the whole run, with its calls. Default: 5 minutes.
    pub time: Duration,
    /// The number of steps: backward jumps, function calls and jobs, as the engine counts them. It is the same in each
    /// run of the same program. Default: 200 million.
    pub steps: u64,
    /// The memory of the program, in bytes. Default: 64 MiB.
    pub memory_bytes: u64,
    /// The number of calls of tools, in which each step of a chain counts. Default: 100.
    pub calls: u32,
    /// The number of calls that run at the same time; further ones wait. Default: 16.
    pub concurrent_calls: u32,
    /// The number of steps of a chain. Default: 64.
    pub chain_steps: u32,
    /// The size of the program, in bytes. Default: 256 KiB.
    pub code_bytes: u64,
    /// The text that the program may print, in bytes; the rest is dropped, with a note. Default: 64 KiB.
    pub output_bytes: u64,
    /// The value that the program returns, in bytes of JSON. Default: 1 MiB.
    pub value_bytes: u64,
    /// The arguments of a call, and its result, in bytes of JSON. Default: 4 MiB.
    pub message_bytes: u64,
    /// The arguments and results of all calls together, in bytes of JSON: the host keeps them until the run ends. All runs
    /// of a [`CodeMode`](crate::CodeMode) together keep at most four times as much. Default: 32 MiB.
    pub kept_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            run_time: Duration::from_secs(10),
            time: Duration::from_secs(300),
            steps: 200_000_000,
            memory_bytes: 64 << 20,
            calls: 100,
            concurrent_calls: 16,
            chain_steps: 64,
            code_bytes: 256 << 10,
            output_bytes: 64 << 10,
            value_bytes: 1 << 20,
            message_bytes: 4 << 20,
            kept_bytes: 32 << 20,
        }
    }
}

macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $kind:ty),* $(,)?) => {
        impl Limits {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name(self, limit: $kind) -> Self {
                    Self { $name: limit, ..self }
                }
            )*
        }
    };
}

setters! {
    /// Sets [`run_time`](Self::run_time).
    run_time: Duration,
    /// Sets [`time`](Self::time).
    time: Duration,
    /// Sets [`steps`](Self::steps).
    steps: u64,
    /// Sets [`memory_bytes`](Self::memory_bytes).
    memory_bytes: u64,
    /// Sets [`calls`](Self::calls).
    calls: u32,
    /// Sets [`concurrent_calls`](Self::concurrent_calls).
    concurrent_calls: u32,
    /// Sets [`chain_steps`](Self::chain_steps).
    chain_steps: u32,
    /// Sets [`code_bytes`](Self::code_bytes).
    code_bytes: u64,
    /// Sets [`output_bytes`](Self::output_bytes).
    output_bytes: u64,
    /// Sets [`value_bytes`](Self::value_bytes).
    value_bytes: u64,
    /// Sets [`message_bytes`](Self::message_bytes).
    message_bytes: u64,
    /// Sets [`kept_bytes`](Self::kept_bytes).
    kept_bytes: u64,
}

impl Limits {
    /// Returns the lower of two limits each, for a run that may not exceed those of its host.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        Self {
            run_time: self.run_time.min(other.run_time),
            time: self.time.min(other.time),
            steps: self.steps.min(other.steps),
            memory_bytes: self.memory_bytes.min(other.memory_bytes),
            calls: self.calls.min(other.calls),
            concurrent_calls: self.concurrent_calls.min(other.concurrent_calls),
            chain_steps: self.chain_steps.min(other.chain_steps),
            code_bytes: self.code_bytes.min(other.code_bytes),
            output_bytes: self.output_bytes.min(other.output_bytes),
            value_bytes: self.value_bytes.min(other.value_bytes),
            message_bytes: self.message_bytes.min(other.message_bytes),
            kept_bytes: self.kept_bytes.min(other.kept_bytes),
        }
    }
}

/// Something that a sandbox enforces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Guarantee {
    /// The time of the run.
    Time,
    /// The number of calls.
    Calls,
    /// The number of steps of a chain.
    ChainSteps,
    /// The number of steps of the program.
    Steps,
    /// The memory of the program.
    Memory,
    /// The processor time of the sandbox, by the kernel.
    Cpu,
    /// The program starts no process and no thread.
    Processes,
    /// The program writes no file.
    Disk,
    /// The program reads no file.
    Files,
    /// The program opens no connection.
    Network,
    /// The program sees no variable of the host's environment.
    Environment,
}

/// The set of guarantees that hold for a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Enforced(BTreeSet<Guarantee>);

impl Enforced {
    /// Returns true if a guarantee holds.
    #[must_use]
    pub fn contains(&self, guarantee: Guarantee) -> bool {
        self.0.contains(&guarantee)
    }

    /// Adds a guarantee.
    #[must_use]
    pub fn with(mut self, guarantee: Guarantee) -> Self {
        self.0.insert(guarantee);
        self
    }

    /// Returns the guarantees in order.
    pub fn iter(&self) -> impl Iterator<Item = Guarantee> + '_ {
        self.0.iter().copied()
    }
}

impl FromIterator<Guarantee> for Enforced {
    fn from_iter<T: IntoIterator<Item = Guarantee>>(guarantees: T) -> Self {
        Self(guarantees.into_iter().collect())
    }
}

toolkit::named! {
    /// The strictness with which programs are confined.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit_code::Profile;
    ///
    /// assert_eq!("hardened".parse::<Profile>()?, Profile::Hardened);
    /// assert_eq!(Profile::default(), Profile::Standard);
    /// # Ok::<(), toolkit_code::sandbox::SandboxError>(())
    /// ```
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    #[non_exhaustive]
    pub enum Profile {
        /// For development: programs may run in the process of the host.
        Dev = "dev",
        /// Programs run in a process of their own, with what the platform enforces. See
        /// [`Session::enforced`](crate::sandbox::Session::enforced).
        #[default]
        Standard = "standard",
        /// As [`Standard`](Self::Standard), and no program runs unless the platform enforces everything.
        Hardened = "hardened",
    }
}

impl FromStr for Profile {
    type Err = SandboxError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::from_name(name).ok_or_else(|| {
            let name: String = name.chars().take(40).collect();
            SandboxError::configuration(format!("unknown profile {name:?}, expected `dev`, `standard` or `hardened`"))
        })
    }
}
