//! The descriptors that the process has inherited.

use std::fs;
use std::io;

use nix::unistd::close;

use super::super::report::Report;

/// Closes all descriptors except those of the standard streams. The program could not use them, but they may keep a
/// connection of the host open.
pub(in super::super) fn close_inherited(report: &mut Report) {
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
