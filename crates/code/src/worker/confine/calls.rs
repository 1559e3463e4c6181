//! Seccomp: the system calls that a worker may still use. Any other one ends the process.

use std::collections::BTreeMap;

use libc::{MAP_ANONYMOUS, PROT_EXEC, SIGABRT, SIGBUS, SIGSEGV, c_int, c_long};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

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

/// Forbids all other system calls. Returns the number of those that remain.
pub(super) fn restrict() -> Result<usize, String> {
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
