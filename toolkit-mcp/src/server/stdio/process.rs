//! The stdin and stdout of the process, taken away from everything else in it.

use std::io::{self, Read, Write};

/// Takes stdin and stdout for the protocol. `/dev/null` takes the place of stdin, and stderr that of stdout, for tools and
/// for the processes that they start.
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
