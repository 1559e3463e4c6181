//! The confinement by Linux. Landlock needs a descriptor, which the limits deny, and seccomp denies both, so it is last.

mod calls;
mod descriptors;
mod files;
mod resources;
mod threads;

pub(super) use self::descriptors::close_inherited;
use super::super::super::guarantee::Guarantee;
use super::super::super::limits::Limits;
use super::report::Report;

pub(super) fn confine(limits: &Limits, report: &mut Report) -> Result<(), String> {
    threads::check(report)?;
    if let Err(error) = rustix::thread::set_no_new_privs(true) {
        report.lack(format!("no_new_privs: {error}"));
    }
    match files::restrict() {
        Ok(files::Landlock::Full(version)) => {
            report.add([Guarantee::Files, Guarantee::Disk]);
            report.detail("landlock", version);
        }
        Ok(files::Landlock::Partial(version)) => {
            report.add([Guarantee::Files, Guarantee::Disk]);
            report.lack(format!("landlock: the kernel has version {version}, which cannot restrict connections"));
            report.detail("landlock", version);
        }
        Err(reason) => report.lack(format!("landlock: {reason}")),
    }
    resources::limit(limits, report);
    match calls::restrict() {
        Ok(n) => {
            let all = [Guarantee::Files, Guarantee::Disk, Guarantee::Network, Guarantee::Processes];
            report.add(all);
            report.detail("seccomp", format!("{n} system calls"));
        }
        Err(reason) => report.lack(format!("seccomp: {reason}")),
    }
    Ok(())
}
