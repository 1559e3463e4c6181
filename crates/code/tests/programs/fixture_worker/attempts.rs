//! System calls of a program that has escaped from its engine.

use toolkit_syscall::Argument::{self, Address, Memory, Number, Stack, Text};
use toolkit_syscall::syscall;

/// A system call and its arguments.
type Attempt = (&'static str, (i64, &'static [Argument]));

const HERE: Argument = Number(libc::AT_FDCWD as i64);
const NONE: Argument = Number(-1);
const ZERO: Argument = Number(0);
const ONE: Argument = Number(1);
const PAGE: Argument = Number(4096);
const PASSWD: Argument = Text(c"/etc/passwd");
const NEW: Argument = Text(c"/tmp/toolkit-escaped");
const SHELL: Argument = Text(c"/bin/sh");
const ROOT: Argument = Text(c"/");
const EMPTY: Argument = Text(c"");
/// The parent of most processes in a container, and the first one of a machine.
const INIT: Argument = ONE;
const READ_WRITE: Argument = Number(libc::O_RDWR as i64 | libc::O_CREAT as i64);
const EXECUTABLE: Argument = Number((libc::PROT_READ | libc::PROT_EXEC) as i64);
const ANONYMOUS: Argument = Number((libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as i64);
const PRIVATE: Argument = Number(libc::MAP_PRIVATE as i64);
const KILL: Argument = Number(libc::SIGKILL as i64);

/// The attempts, by name. None may succeed.
pub const ATTEMPTS: &[Attempt] = &[
    // Files.
    #[cfg(target_arch = "x86_64")]
    ("open", (libc::SYS_open, &[PASSWD, ZERO])),
    #[cfg(target_arch = "x86_64")]
    ("creat", (libc::SYS_creat, &[NEW, ZERO])),
    ("openat", (libc::SYS_openat, &[HERE, PASSWD, ZERO])),
    ("openat_of_a_new_file", (libc::SYS_openat, &[HERE, NEW, READ_WRITE, ZERO])),
    (
        "openat_of_a_temporary_file",
        (libc::SYS_openat, &[HERE, Text(c"/tmp"), Number(libc::O_TMPFILE as i64 | 2), ZERO]),
    ),
    ("openat2", (libc::SYS_openat2, &[HERE, PASSWD, Memory, Number(24)])),
    ("open_by_handle_at", (libc::SYS_open_by_handle_at, &[HERE, Memory, ZERO])),
    ("name_to_handle_at", (libc::SYS_name_to_handle_at, &[HERE, ROOT, Memory, Memory, ZERO])),
    ("newfstatat", (libc::SYS_newfstatat, &[HERE, PASSWD, Memory, ZERO])),
    ("statx", (libc::SYS_statx, &[HERE, PASSWD, ZERO, Number(0x7ff), Memory])),
    ("readlinkat", (libc::SYS_readlinkat, &[HERE, Text(c"/proc/self/exe"), Memory, PAGE])),
    ("faccessat", (libc::SYS_faccessat, &[HERE, PASSWD, ZERO])),
    ("getdents64", (libc::SYS_getdents64, &[ZERO, Memory, PAGE])),
    ("getcwd", (libc::SYS_getcwd, &[Memory, PAGE])),
    ("chdir", (libc::SYS_chdir, &[ROOT])),
    ("chroot", (libc::SYS_chroot, &[ROOT])),
    ("mkdirat", (libc::SYS_mkdirat, &[HERE, NEW, ZERO])),
    ("unlinkat", (libc::SYS_unlinkat, &[HERE, NEW, ZERO])),
    ("renameat2", (libc::SYS_renameat2, &[HERE, NEW, HERE, Text(c"/tmp/toolkit-renamed"), ZERO])),
    ("linkat", (libc::SYS_linkat, &[HERE, PASSWD, HERE, NEW, ZERO])),
    ("symlinkat", (libc::SYS_symlinkat, &[PASSWD, HERE, NEW])),
    ("fchmodat", (libc::SYS_fchmodat, &[HERE, NEW, Number(0o777)])),
    ("fchownat", (libc::SYS_fchownat, &[HERE, NEW, ZERO, ZERO, ZERO])),
    ("truncate", (libc::SYS_truncate, &[NEW, ZERO])),
    ("utimensat", (libc::SYS_utimensat, &[HERE, NEW, ZERO, ZERO])),
    ("setxattr", (libc::SYS_setxattr, &[NEW, Text(c"user.a"), Memory, ONE, ZERO])),
    ("mknodat", (libc::SYS_mknodat, &[HERE, NEW, Number(0o666), ZERO])),
    ("statfs", (libc::SYS_statfs, &[ROOT, Memory])),
    ("inotify_init1", (libc::SYS_inotify_init1, &[ZERO])),
    ("fanotify_init", (libc::SYS_fanotify_init, &[ZERO, ZERO])),
    // Descriptors.
    ("read_of_another_descriptor", (libc::SYS_read, &[Number(3), Memory, PAGE])),
    ("write_to_the_input", (libc::SYS_write, &[ZERO, Memory, ONE])),
    ("write_to_another_descriptor", (libc::SYS_write, &[Number(3), Memory, ONE])),
    ("pread64", (libc::SYS_pread64, &[ZERO, Memory, ONE, ZERO])),
    ("dup", (libc::SYS_dup, &[ZERO])),
    ("dup3", (libc::SYS_dup3, &[ZERO, Number(9), ZERO])),
    ("fcntl", (libc::SYS_fcntl, &[ZERO, Number(libc::F_DUPFD as i64), ZERO])),
    ("ioctl", (libc::SYS_ioctl, &[ZERO, Number(0x5412), Memory])),
    ("close", (libc::SYS_close, &[ZERO])),
    ("pipe2", (libc::SYS_pipe2, &[Memory, ZERO])),
    ("eventfd2", (libc::SYS_eventfd2, &[ZERO, ZERO])),
    ("epoll_create1", (libc::SYS_epoll_create1, &[ZERO])),
    ("timerfd_create", (libc::SYS_timerfd_create, &[ZERO, ZERO])),
    ("signalfd4", (libc::SYS_signalfd4, &[NONE, Memory, Number(8), ZERO])),
    ("memfd_create", (libc::SYS_memfd_create, &[EMPTY, ZERO])),
    ("memfd_secret", (libc::SYS_memfd_secret, &[ZERO])),
    ("sendfile", (libc::SYS_sendfile, &[ONE, ZERO, ZERO, ONE])),
    ("splice", (libc::SYS_splice, &[ZERO, ZERO, ONE, ZERO, ONE, ZERO])),
    ("pidfd_open", (libc::SYS_pidfd_open, &[INIT, ZERO])),
    ("pidfd_getfd", (libc::SYS_pidfd_getfd, &[ZERO, ZERO, ZERO])),
    // Connections.
    ("socket", (libc::SYS_socket, &[Number(2), ONE, ZERO])),
    ("socket_of_netlink", (libc::SYS_socket, &[Number(16), Number(3), ZERO])),
    ("socket_of_this_machine", (libc::SYS_socket, &[ONE, ONE, ZERO])),
    ("socketpair", (libc::SYS_socketpair, &[ONE, ONE, ZERO, Memory])),
    ("connect", (libc::SYS_connect, &[ZERO, Address, Number(16)])),
    ("bind", (libc::SYS_bind, &[ZERO, Address, Number(16)])),
    ("listen", (libc::SYS_listen, &[ZERO, ONE])),
    ("accept4", (libc::SYS_accept4, &[ZERO, ZERO, ZERO, ZERO])),
    ("sendto", (libc::SYS_sendto, &[ONE, Memory, ONE, ZERO, Address, Number(16)])),
    ("sendmsg", (libc::SYS_sendmsg, &[ONE, Memory, ZERO])),
    ("recvmsg", (libc::SYS_recvmsg, &[ZERO, Memory, ZERO])),
    // Processes and threads.
    #[cfg(target_arch = "x86_64")]
    ("fork", (libc::SYS_fork, &[])),
    #[cfg(target_arch = "x86_64")]
    ("vfork", (libc::SYS_vfork, &[])),
    ("clone", (libc::SYS_clone, &[Number(libc::SIGCHLD as i64), ZERO, ZERO, ZERO, ZERO])),
    ("clone3", (libc::SYS_clone3, &[Memory, Number(88)])),
    ("execve", (libc::SYS_execve, &[SHELL, Memory, Memory])),
    ("execveat", (libc::SYS_execveat, &[HERE, SHELL, Memory, Memory, ZERO])),
    ("wait4", (libc::SYS_wait4, &[NONE, ZERO, ZERO, ZERO])),
    ("kill", (libc::SYS_kill, &[INIT, ZERO])),
    ("kill_of_all_processes", (libc::SYS_kill, &[NONE, ZERO])),
    ("tgkill_of_another_process", (libc::SYS_tgkill, &[INIT, INIT, KILL])),
    ("tkill_of_another_process", (libc::SYS_tkill, &[INIT, KILL])),
    ("rt_sigqueueinfo", (libc::SYS_rt_sigqueueinfo, &[INIT, KILL, Memory])),
    ("pidfd_send_signal", (libc::SYS_pidfd_send_signal, &[ZERO, KILL, ZERO, ZERO])),
    ("ptrace", (libc::SYS_ptrace, &[Number(16), INIT, ZERO, ZERO])),
    ("process_vm_readv", (libc::SYS_process_vm_readv, &[INIT, Memory, ONE, Memory, ONE, ZERO])),
    ("process_vm_writev", (libc::SYS_process_vm_writev, &[INIT, Memory, ONE, Memory, ONE, ZERO])),
    ("kcmp", (libc::SYS_kcmp, &[INIT, INIT, ZERO, ZERO, ZERO])),
    ("getppid", (libc::SYS_getppid, &[])),
    ("setpgid", (libc::SYS_setpgid, &[ZERO, ZERO])),
    ("setsid", (libc::SYS_setsid, &[])),
    ("setpriority", (libc::SYS_setpriority, &[ZERO, ZERO, ZERO])),
    ("sched_setaffinity", (libc::SYS_sched_setaffinity, &[INIT, Number(8), Memory])),
    ("sched_setscheduler", (libc::SYS_sched_setscheduler, &[ZERO, ONE, Memory])),
    // Memory.
    ("mmap_of_code", (libc::SYS_mmap, &[ZERO, PAGE, EXECUTABLE, ANONYMOUS, NONE, ZERO])),
    ("mmap_of_a_file", (libc::SYS_mmap, &[ZERO, PAGE, ONE, PRIVATE, ZERO, ZERO])),
    ("mprotect_of_code", (libc::SYS_mprotect, &[Memory, PAGE, EXECUTABLE])),
    ("pkey_mprotect", (libc::SYS_pkey_mprotect, &[Memory, PAGE, EXECUTABLE, NONE])),
    ("remap_file_pages", (libc::SYS_remap_file_pages, &[Memory, PAGE, ZERO, ZERO, ZERO])),
    ("mlock", (libc::SYS_mlock, &[Memory, PAGE])),
    ("shmget", (libc::SYS_shmget, &[ZERO, PAGE, Number(0o1600)])),
    ("shmat", (libc::SYS_shmat, &[ZERO, ZERO, ZERO])),
    ("msgget", (libc::SYS_msgget, &[ZERO, Number(0o1600)])),
    ("semget", (libc::SYS_semget, &[ZERO, ONE, Number(0o1600)])),
    ("mq_open", (libc::SYS_mq_open, &[Text(c"escaped"), READ_WRITE, ZERO, ZERO])),
    ("userfaultfd", (libc::SYS_userfaultfd, &[ZERO])),
    ("process_madvise", (libc::SYS_process_madvise, &[ZERO, Memory, ONE, ZERO, ZERO])),
    // The kernel.
    ("io_uring_setup", (libc::SYS_io_uring_setup, &[ONE, Memory])),
    ("io_setup", (libc::SYS_io_setup, &[ONE, Memory])),
    ("bpf", (libc::SYS_bpf, &[ZERO, Memory, Number(72)])),
    ("perf_event_open", (libc::SYS_perf_event_open, &[Memory, ZERO, NONE, NONE, ZERO])),
    ("keyctl", (libc::SYS_keyctl, &[ZERO, NONE, ZERO])),
    ("add_key", (libc::SYS_add_key, &[Text(c"user"), Text(c"a"), Memory, ONE, NONE])),
    ("request_key", (libc::SYS_request_key, &[Text(c"user"), Text(c"a"), ZERO, ZERO])),
    ("init_module", (libc::SYS_init_module, &[Memory, ONE, EMPTY])),
    ("finit_module", (libc::SYS_finit_module, &[ZERO, EMPTY, ZERO])),
    ("syslog", (libc::SYS_syslog, &[Number(3), Memory, PAGE])),
    ("prctl", (libc::SYS_prctl, &[Number(libc::PR_SET_DUMPABLE as i64), ONE])),
    ("seccomp", (libc::SYS_seccomp, &[ZERO, ZERO, ZERO])),
    ("landlock_create_ruleset", (libc::SYS_landlock_create_ruleset, &[ZERO, ZERO, ONE])),
    ("prlimit64", (libc::SYS_prlimit64, &[ZERO, ZERO, ZERO, Memory])),
    ("prlimit64_of_another_process", (libc::SYS_prlimit64, &[INIT, ZERO, Memory, Memory])),
    ("personality", (libc::SYS_personality, &[ZERO])),
    ("uname", (libc::SYS_uname, &[Memory])),
    ("sysinfo", (libc::SYS_sysinfo, &[Memory])),
    #[cfg(target_arch = "x86_64")]
    ("arch_prctl", (libc::SYS_arch_prctl, &[Number(0x1004), Memory])),
    #[cfg(target_arch = "x86_64")]
    ("modify_ldt", (libc::SYS_modify_ldt, &[ZERO, Memory, PAGE])),
    #[cfg(target_arch = "x86_64")]
    ("iopl", (libc::SYS_iopl, &[Number(3)])),
    // The same numbers in another table, which filters forget.
    #[cfg(target_arch = "x86_64")]
    ("open_of_x32", (0x4000_0000 | libc::SYS_open, &[PASSWD, ZERO])),
    // The machine.
    ("mount", (libc::SYS_mount, &[EMPTY, Text(c"/tmp"), Text(c"tmpfs"), ZERO, ZERO])),
    ("umount2", (libc::SYS_umount2, &[Text(c"/toolkit-none"), ZERO])),
    ("pivot_root", (libc::SYS_pivot_root, &[ROOT, ROOT])),
    ("fsopen", (libc::SYS_fsopen, &[Text(c"tmpfs"), ZERO])),
    ("unshare", (libc::SYS_unshare, &[Number(libc::CLONE_NEWUSER as i64)])),
    ("setns", (libc::SYS_setns, &[ZERO, ZERO])),
    ("setuid", (libc::SYS_setuid, &[ZERO])),
    ("setgid", (libc::SYS_setgid, &[ZERO])),
    ("setresuid", (libc::SYS_setresuid, &[ZERO, ZERO, ZERO])),
    ("capset", (libc::SYS_capset, &[Memory, Memory])),
    ("clock_settime", (libc::SYS_clock_settime, &[Number(-9), Memory])),
    ("sethostname", (libc::SYS_sethostname, &[Memory, Number(-1)])),
    ("swapon", (libc::SYS_swapon, &[Text(c"/toolkit-none"), ZERO])),
    ("acct", (libc::SYS_acct, &[Text(c"/toolkit-none")])),
    ("reboot", (libc::SYS_reboot, &[ZERO, ZERO, ZERO, ZERO])),
    ("quotactl", (libc::SYS_quotactl, &[ZERO, ZERO, ZERO, ZERO])),
    // A number that no kernel has.
    ("unknown", (100_000, &[Stack])),
];

/// Makes the system call of this name. Returns its result, or the negative number of its error.
pub fn attempt(name: &str) -> Option<i64> {
    let (_, (number, arguments)) = ATTEMPTS.iter().find(|(known, _)| *known == name)?;
    Some(syscall(*number, arguments))
}
