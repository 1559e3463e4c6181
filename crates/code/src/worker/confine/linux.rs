//! The confinement by Linux. Landlock needs a descriptor, which the limits deny, and seccomp denies both, so it is last:
//! it permits the listed system calls and denies all others.

use std::collections::BTreeMap;
use std::{fs, io};

use landlock::{ABI, Access, AccessFs, AccessNet, LandlockStatus, Ruleset, RulesetAttr, RulesetStatus, Scope};
use libc::{MAP_ANONYMOUS, PROT_EXEC, SIGABRT, SIGBUS, SIGSEGV, c_int, c_long};
use nix::unistd::close;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::super::super::limits::Limits;
use super::{Ready, cpu_seconds, memory_bytes};
use crate::limits::Guarantee;

/// The version of Landlock of which all rights are taken; the following ones only add what an empty set of rights has
/// not.
const LANDLOCK_VERSION: ABI = ABI::V6;

/// The address space of the worker itself in bytes, if it cannot be read.
const TYPICAL_SIZE: u64 = 64 << 20;
/// The stack in bytes, which grows up to this limit.
const STACK: u64 = 8 << 20;

pub(super) fn confine(limits: &Limits, report: &mut Ready) -> Result<(), String> {
    check_threads(report)?;
    // Landlock denies reading it.
    let own_bytes = size(report);
    if let Err(error) = rustix::thread::set_no_new_privs(true) {
        report.lack(format!("no_new_privs: {error}"));
    }
    match restrict_files() {
        Ok(Landlock::Full(version)) => {
            report.add([Guarantee::Files, Guarantee::Disk]);
            report.detail("landlock", version);
        }
        Ok(Landlock::Partial(version)) => {
            report.add([Guarantee::Files, Guarantee::Disk]);
            report.lack(format!("landlock: the kernel has version {version}, which cannot restrict connections"));
            report.detail("landlock", version);
        }
        Err(reason) => report.lack(format!("landlock: {reason}")),
    }
    limit_resources(own_bytes.saturating_add(memory_bytes(limits)), limits, report);
    match restrict_calls() {
        Ok(n) => {
            let all = [Guarantee::Files, Guarantee::Disk, Guarantee::Network, Guarantee::Processes];
            report.add(all);
            report.detail("seccomp", format!("{n} system calls"));
        }
        Err(reason) => report.lack(format!("seccomp: {reason}")),
    }
    Ok(())
}

/// Returns an error if there are several threads. Landlock applies to the thread that requests it, and another one would
/// be ended by seccomp at any time.
fn check_threads(report: &mut Ready) -> Result<(), String> {
    match fs::read_dir("/proc/self/task").map(Iterator::count) {
        Ok(1) => Ok(()),
        Ok(n) => {
            let reason = "`toolkit_code::worker::init()` must be called first in `main`";
            Err(format!("the process has {n} threads: {reason}"))
        }
        Err(error) => {
            report.lack(format!("/proc: the threads cannot be counted: {error}"));
            Ok(())
        }
    }
}

/// The extent of the enforcement by Landlock, with the kernel's version of Landlock.
enum Landlock {
    Full(String),
    Partial(String),
}

/// Gives up all rights that Landlock knows: those to any file, port, abstract socket or foreign process. Returns why if
/// the kernel has no Landlock.
fn restrict_files() -> Result<Landlock, String> {
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(LANDLOCK_VERSION))
        .and_then(|ruleset| ruleset.handle_access(AccessNet::from_all(LANDLOCK_VERSION)))
        .and_then(|ruleset| ruleset.scope(Scope::from_all(LANDLOCK_VERSION)))
        .and_then(Ruleset::create)
        .and_then(|ruleset| ruleset.restrict_self());
    let status = ruleset.map_err(|error| error.to_string())?;
    let version = match status.landlock {
        LandlockStatus::Available { effective_abi, kernel_abi } => {
            kernel_abi.unwrap_or(effective_abi as i32).to_string()
        }
        LandlockStatus::NotEnabled => return Err("it is disabled in this kernel".to_owned()),
        _ => return Err("this kernel does not have it".to_owned()),
    };
    match status.ruleset {
        RulesetStatus::FullyEnforced => Ok(Landlock::Full(version)),
        RulesetStatus::PartiallyEnforced => Ok(Landlock::Partial(version)),
        RulesetStatus::NotEnforced => Err(format!("version {version} was not enforced")),
    }
}

/// Limits the resources of this process, and its address space to `memory` bytes.
fn limit_resources(memory: u64, limits: &Limits, report: &mut Ready) {
    // The signal at the lower limit shows the reason for the end. The one at the higher limit cannot be handled.
    let seconds = cpu_seconds(limits);
    let wanted = [
        (Resource::As, memory, memory, "address space", Some(Guarantee::Memory)),
        (Resource::Cpu, seconds, seconds.saturating_add(1), "processor time", Some(Guarantee::Cpu)),
        (Resource::Core, 0, 0, "core dumps", None),
        (Resource::Fsize, 0, 0, "file sizes", None),
        (Resource::Memlock, 0, 0, "locked memory", None),
        (Resource::Msgqueue, 0, 0, "message queues", None),
        (Resource::Nofile, 3, 3, "descriptors", None),
        (Resource::Nproc, 0, 0, "processes", None),
        (Resource::Stack, STACK, STACK, "stack", None),
    ];
    for (resource, soft, hard, name, guarantee) in wanted {
        // A lower limit of the host remains.
        let existing = getrlimit(resource);
        let lower = |wanted: u64, existing: Option<u64>| Some(existing.map_or(wanted, |existing| wanted.min(existing)));
        let new = Rlimit { current: lower(soft, existing.current), maximum: lower(hard, existing.maximum) };
        match setrlimit(resource, new) {
            Ok(()) => report.add(guarantee),
            Err(error) => report.lack(format!("limit of {name}: {error}")),
        }
    }
}

/// Returns the size of the address space in bytes.
fn size(report: &mut Ready) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes =
        status.lines().find_map(|line| line.strip_prefix("VmSize:")?.trim().strip_suffix(" kB")?.parse().ok());
    if kilobytes.is_none() {
        report.lack("/proc: the address space of the worker cannot be read".to_owned());
    }
    kilobytes.map_or(TYPICAL_SIZE, |kilobytes: u64| kilobytes << 10)
}

/// Closes all descriptors that the process has inherited, except those of the standard streams. The program could not
/// use them, but they may keep a connection of the host open.
pub(super) fn close_inherited(report: &mut Ready) {
    match inherited() {
        // One that is listed and cannot be closed is that of the list, which is closed already.
        Ok(inherited) => inherited.into_iter().for_each(|descriptor| {
            let _ = close(descriptor);
        }),
        Err(error) => report.lack(format!("/proc: the descriptors cannot be listed: {error}")),
    }
}

fn inherited() -> io::Result<Vec<i32>> {
    let listed = fs::read_dir("/proc/self/fd")?.collect::<io::Result<Vec<_>>>()?;
    let descriptors = listed.iter().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    Ok(descriptors.filter(|&descriptor| descriptor > 2).collect())
}

/// The system calls that are permitted with any arguments.
const PERMITTED: &[c_long] = &[
    // Memory, of which `mmap` and `mprotect` depend on their arguments.
    libc::SYS_brk,
    libc::SYS_madvise,
    libc::SYS_mremap,
    libc::SYS_munmap,
    // Locks and waiting, of a single thread.
    libc::SYS_futex,
    libc::SYS_restart_syscall,
    libc::SYS_sched_yield,
    // The clock, where it is not read in memory.
    libc::SYS_clock_gettime,
    libc::SYS_gettimeofday,
    // The seeds of hash tables, and the number of arenas of glibc's allocator when memory is short.
    libc::SYS_getrandom,
    libc::SYS_sched_getaffinity,
    // The end, also by `abort`, which blocks signals and signals itself.
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
];

/// Forbids by seccomp all other system calls: any of them ends the process. Returns the number of those that remain.
fn restrict_calls() -> Result<usize, String> {
    let rules = rules().map_err(|error| error.to_string())?;
    let n_permitted = rules.len();
    let target = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| error.to_string())?;
    let filter = SeccompFilter::new(rules, SeccompAction::KillProcess, SeccompAction::Allow, target)
        .map_err(|error| error.to_string())?;
    let program = BpfProgram::try_from(filter).map_err(|error| error.to_string())?;
    seccompiler::apply_filter_all_threads(&program).map_err(|error| error.to_string())?;
    Ok(n_permitted)
}

/// Each system call with the alternatives for its arguments; none means any.
fn rules() -> Result<BTreeMap<c_long, Vec<SeccompRule>>, BackendError> {
    let this = std::process::id();
    let abort = SIGABRT.unsigned_abs();
    let without_code = || lacks(2, PROT_EXEC);
    let to = |stream| SeccompRule::new(vec![is(0, stream)?]);
    let handles = |signal: c_int| SeccompRule::new(vec![is(0, signal.unsigned_abs())?]);
    let restricted = [
        (libc::SYS_read, vec![to(0)?]),
        (libc::SYS_write, vec![to(1)?, to(2)?]),
        (libc::SYS_writev, vec![to(1)?, to(2)?]),
        // Memory without a file behind it, which cannot become code.
        (libc::SYS_mmap, vec![SeccompRule::new(vec![without_code()?, has(3, MAP_ANONYMOUS)?])?]),
        (libc::SYS_mprotect, vec![SeccompRule::new(vec![without_code()?])?]),
        // `abort` of glibc, and that of musl.
        (libc::SYS_tgkill, vec![SeccompRule::new(vec![is(0, this)?, is(2, abort)?])?]),
        (libc::SYS_tkill, vec![SeccompRule::new(vec![is(0, this)?, is(1, abort)?])?]),
        // The handlers of crashes restore the default action.
        (libc::SYS_rt_sigaction, vec![handles(SIGABRT)?, handles(SIGBUS)?, handles(SIGSEGV)?]),
    ];
    Ok(PERMITTED.iter().map(|&call| (call, Vec::new())).chain(restricted).collect())
}

/// The argument is this number. The kernel reads descriptors and signals as 32 bits.
fn is(argument: u8, number: u32) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, number.into())
}

/// The argument has this flag.
fn has(argument: u8, flag: c_int) -> Result<SeccompCondition, BackendError> {
    masked(argument, flag, flag.unsigned_abs().into())
}

/// The argument does not have this flag.
fn lacks(argument: u8, flag: c_int) -> Result<SeccompCondition, BackendError> {
    masked(argument, flag, 0)
}

fn masked(argument: u8, flag: c_int, value: u64) -> Result<SeccompCondition, BackendError> {
    let mask = SeccompCmpOp::MaskedEq(flag.unsigned_abs().into());
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, mask, value)
}
