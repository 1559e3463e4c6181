//! Sandboxes of other projects that start a program of this machine.

use std::ffi::OsString;
use std::path::Path;

use super::super::super::worker;
use super::command_line::CommandLine;

/// The folders with shared libraries.
const LIBRARIES: [&str; 5] = ["/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib64"];

impl CommandLine {
    /// Creates the command line of [Bubblewrap](https://github.com/containers/bubblewrap): the worker at this absolute
    /// path in new namespaces of all kinds, as `nobody`, with no files except its own and the shared libraries, all of
    /// them read-only.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit_code::sandbox::{CommandLine, Process};
    ///
    /// let command = CommandLine::bubblewrap("/usr/local/bin/toolkit-code-worker");
    /// let sandbox = Process::command("bubblewrap", command);
    /// ```
    pub fn bubblewrap(worker: impl AsRef<Path>) -> Self {
        let options = ["--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"];
        let mut command = Self::new("bwrap").args(options).args(["--uid", "65534", "--gid", "65534"]);
        for folder in LIBRARIES {
            command = command.args(["--ro-bind-try", folder, folder]);
        }
        let worker = worker.as_ref().as_os_str().to_owned();
        let inside = OsString::from("/worker");
        command
            .args(["--ro-bind".into(), worker, inside.clone()])
            .args(["--proc", "/proc", "--remount-ro", "/", "--chdir", "/", "--"])
            .args([inside, worker::ARGUMENT.into()])
            .inherit_environment()
    }

    /// Creates the command line of [gVisor](https://gvisor.dev) without a container: the worker at this absolute path on a
    /// kernel in user space, without network. It sees the files of this machine until it has confined itself; `runsc` as the
    /// [runtime](super::Container::runtime) of a container hides them.
    pub fn gvisor(worker: impl AsRef<Path>) -> Self {
        let worker = worker.as_ref().as_os_str().to_owned();
        Self::new("runsc")
            .args(["--network=none", "--ignore-cgroups", "do", "--cwd=/", "--quiet", "--"])
            .args([worker, worker::ARGUMENT.into()])
            .inherit_environment()
    }
}
