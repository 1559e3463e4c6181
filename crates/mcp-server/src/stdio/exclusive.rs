//! Exclusive use of the stdin and stdout of the process.

use std::io::{self, Read, Write};

/// Returns the stdin and stdout of the process, and redirects both for the rest of the process: stdin to `/dev/null`,
/// and stdout to stderr.
#[cfg(unix)]
pub(super) fn take() -> io::Result<(impl Read + Send, impl Write + Send)> {
    use std::fs::File;
    use std::os::fd::AsFd;

    let input = io::stdin().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok((File::from(input), File::from(output)))
}

#[cfg(not(unix))]
pub(super) fn take() -> io::Result<(impl Read + Send, impl Write + Send)> {
    Ok((io::stdin(), io::stdout()))
}
