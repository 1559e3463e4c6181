//! The options of Docker, which Podman shares.

use std::ffi::OsString;

use super::super::super::super::limits::Limits;
use super::super::super::super::profile::Profile;
use super::super::super::super::worker;
use super::super::command_line::CommandLine;
use super::Container;

/// The options for all profiles. Logs are a copy of the messages, and a pull would be unbounded work and a connection.
const OPTIONS: [&str; 8] = [
    "--pull=never",
    "--log-driver=none",
    "--cap-drop=all",
    "--security-opt=no-new-privileges",
    // `nobody`, which an image without `/etc/passwd` does not know.
    "--user=65534:65534",
    // The runtime starts threads in the container before the worker, which starts none.
    "--pids-limit=64",
    "--ulimit=nofile=1024:1024",
    // Of all processes of this user.
    "--ulimit=nproc=512:512",
];

pub(super) fn command_line(
    client: &str,
    container: &Container,
    name: &str,
    limits: &Limits,
    profile: Profile,
) -> CommandLine {
    let mut command = CommandLine::new(client);
    // A global option of Podman, and one of `run` of Docker.
    let runtime = container.runtime.as_ref().map(|runtime| format!("--runtime={runtime}"));
    let (global, local) = if client == "podman" { (runtime, None) } else { (None, runtime) };
    command = command.args(global).args(["run", "--interactive", "--rm"]).args([format!("--name={name}")]).args(local);
    command = command.args(OPTIONS).args(resources(limits));
    if profile >= Profile::Standard {
        command = command.args(["--network=none", "--read-only"]);
    }
    if let Some(path) = container.seccomp_profile.as_ref().filter(|_| profile >= Profile::Hardened) {
        command = command.args([format!("--security-opt=seccomp={path}")]);
    }
    command = command.args(container.options.iter().cloned());
    if let Some(program) = &container.program {
        let mut option = OsString::from("--entrypoint=");
        option.push(program);
        command = command.args([option]);
    }
    // Without the option, Podman waits 10 seconds for the worker to end by itself.
    let at_once = (client == "podman").then_some("--time=0");
    let cleanup = CommandLine::new(client).args(["rm", "--force"]).args(at_once).args([name]).inherit_environment();
    command.args([&container.image]).args([worker::ARGUMENT]).inherit_environment().cleanup(cleanup)
}

/// The memory of the container, a processor for its one thread, and the time of that.
fn resources(limits: &Limits) -> [String; 4] {
    let (memory, seconds) = (worker::memory_bytes(limits), worker::cpu_seconds(limits));
    [
        format!("--memory={memory}"),
        // No swap in addition.
        format!("--memory-swap={memory}"),
        "--cpus=1".to_owned(),
        format!("--ulimit=cpu={seconds}:{}", seconds.saturating_add(1)),
    ]
}
