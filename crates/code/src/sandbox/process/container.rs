//! Command lines of workers: in containers of Docker, Podman and Kubernetes, and in sandboxes of other projects.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::process::Command;

use crate::limits::{Limits, Profile};
use crate::worker;

/// A container in which a worker runs.
///
/// The container is a second boundary: the worker in it confines itself like any other one. Its image contains a worker
/// as its entry point, such as a static build of `toolkit-code-worker`, and nothing else.
///
/// | | `dev` | `standard` | `hardened` |
/// |---|---|---|---|
/// | network | that of the runtime | none | none |
/// | root file system | writable | read-only | read-only |
/// | user | `nobody` | `nobody` | `nobody` |
/// | capabilities | none | none | none |
/// | seccomp profile | that of the runtime | that of the runtime | the [configured](Self::seccomp_profile) one |
///
/// In Kubernetes, only a network policy of the cluster takes away the network.
///
/// # Examples
///
/// ```
/// use toolkit_code::sandbox::{Container, Process};
/// use toolkit_code::Profile;
///
/// let container = Container::docker("toolkit-code-worker:0.1.0").runtime("runsc");
/// let sandbox = Process::container(container).profile(Profile::Hardened).ready(4);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Container {
    client: ContainerClient,
    image: String,
    program: Option<OsString>,
    runtime: Option<String>,
    seccomp_profile: Option<String>,
    options: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ContainerClient {
    Docker,
    Podman,
    Kubectl,
}

impl Container {
    /// Creates a container of Docker. The image must be present, since it is not pulled.
    pub fn docker(image: impl Into<String>) -> Self {
        Self::new(ContainerClient::Docker, image.into())
    }

    /// Creates a container of Podman. The image must be present, since it is not pulled.
    pub fn podman(image: impl Into<String>) -> Self {
        Self::new(ContainerClient::Podman, image.into())
    }

    /// Creates a pod of Kubernetes, in the current context of `kubectl`.
    pub fn kubernetes(image: impl Into<String>) -> Self {
        Self::new(ContainerClient::Kubectl, image.into())
    }

    fn new(client: ContainerClient, image: String) -> Self {
        Self { client, image, program: None, runtime: None, seccomp_profile: None, options: Vec::new() }
    }

    /// Sets the path of the worker in the image. Default: the entry point of the image.
    pub fn program(mut self, program: impl Into<OsString>) -> Self {
        self.program = Some(program.into());
        self
    }

    /// Sets the runtime, such as `runsc` or `kata-runtime`; in Kubernetes, the runtime class of the pod.
    pub fn runtime(mut self, runtime: impl Into<String>) -> Self {
        self.runtime = Some(runtime.into());
        self
    }

    /// Sets the path of the seccomp profile for [`Profile::Hardened`]; in Kubernetes, below the folder of the kubelet.
    pub fn seccomp_profile(mut self, path: impl Into<String>) -> Self {
        self.seccomp_profile = Some(path.into());
        self
    }

    /// Adds an option of the client's command `run`, such as `--cgroup-parent=models`.
    pub fn option(mut self, option: impl Into<OsString>) -> Self {
        self.options.push(option.into());
        self
    }

    /// Returns the command line that starts a container with this name.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit_code::sandbox::Container;
    /// use toolkit_code::{Limits, Profile};
    ///
    /// let container = Container::docker("worker");
    /// let command = container.command_line("worker-1", &Limits::default(), Profile::Standard);
    /// assert!(command.to_string().starts_with("docker run --interactive --rm --name=worker-1 "));
    /// ```
    pub fn command_line(&self, name: &str, limits: &Limits, profile: Profile) -> CommandLine {
        match self.client {
            ContainerClient::Docker => docker("docker", self, name, limits, profile),
            ContainerClient::Podman => docker("podman", self, name, limits, profile),
            ContainerClient::Kubectl => kubernetes(self, name, limits, profile),
        }
    }

    pub(super) fn kind(&self) -> &'static str {
        match self.client {
            ContainerClient::Docker => "docker",
            ContainerClient::Podman => "podman",
            ContainerClient::Kubectl => "kubernetes",
        }
    }
}

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

fn docker(client: &str, container: &Container, name: &str, limits: &Limits, profile: Profile) -> CommandLine {
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

fn kubernetes(container: &Container, name: &str, limits: &Limits, profile: Profile) -> CommandLine {
    let overrides = pod(container, name, limits, profile);
    let cleanup = CommandLine::new("kubectl").args(["delete", "pod", name, "--now", "--wait=false"]);
    CommandLine::new("kubectl")
        .args(["run", name, "--stdin", "--rm", "--quiet", "--restart=Never"])
        .args([format!("--image={}", container.image), format!("--overrides={overrides}")])
        .args(container.options.iter().cloned())
        .inherit_environment()
        .cleanup(cleanup.inherit_environment())
}

/// The parts of the pod that have no option.
fn pod(container: &Container, name: &str, limits: &Limits, profile: Profile) -> Value {
    let is_strict = profile >= Profile::Standard;
    let seccomp = match &container.seccomp_profile {
        Some(path) if profile >= Profile::Hardened => json!({ "type": "Localhost", "localhostProfile": path }),
        _ => json!({ "type": "RuntimeDefault" }),
    };
    let mut worker = json!({
        "name": name,
        "image": container.image,
        "imagePullPolicy": "IfNotPresent",
        "args": [worker::ARGUMENT],
        "stdin": true,
        "stdinOnce": true,
        "resources": { "limits": { "cpu": "1", "memory": worker::memory_bytes(limits).to_string() } },
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "capabilities": { "drop": ["ALL"] },
            "readOnlyRootFilesystem": is_strict,
            "runAsUser": 65534,
            "runAsGroup": 65534,
            "runAsNonRoot": true,
            "seccompProfile": seccomp,
        },
    });
    if let Some(program) = &container.program {
        worker["command"] = json!([program.to_string_lossy()]);
    }
    let mut spec = json!({
        "activeDeadlineSeconds": limits.time.as_secs().saturating_add(60),
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "containers": [worker],
    });
    if is_strict {
        // Names are not resolved, even where the network is not taken away.
        spec["dnsPolicy"] = "None".into();
        spec["dnsConfig"] = json!({ "nameservers": ["127.0.0.1"] });
    }
    if let Some(runtime) = &container.runtime {
        spec["runtimeClassName"] = runtime.as_str().into();
    }
    json!({ "spec": spec })
}

/// The folders with shared libraries.
const LIBRARIES: [&str; 5] = ["/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib64"];

/// A command line that starts a worker, whose standard streams speak the [protocol](crate::wire).
///
/// # Examples
///
/// ```
/// use toolkit_code::sandbox::CommandLine;
///
/// let command = CommandLine::new("/usr/local/bin/toolkit-code-worker");
/// assert_eq!(command.to_string(), "/usr/local/bin/toolkit-code-worker");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct CommandLine {
    pub(super) program: OsString,
    arguments: Vec<OsString>,
    inherits_environment: bool,
    cleanup: Option<Box<CommandLine>>,
}

impl CommandLine {
    /// Creates a command line without arguments and environment.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self { program: program.into(), arguments: Vec::new(), inherits_environment: false, cleanup: None }
    }

    /// Adds arguments.
    pub fn args<S: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Passes on the environment of this process, which clients of containers need to find their servers.
    pub fn inherit_environment(mut self) -> Self {
        self.inherits_environment = true;
        self
    }

    /// Sets a command line that removes what outlives the process when that is killed, such as a container.
    pub fn cleanup(mut self, cleanup: CommandLine) -> Self {
        self.cleanup = Some(Box::new(cleanup));
        self
    }

    pub(super) fn cleanup_command(&self) -> Option<Command> {
        let cleanup = self.cleanup.as_ref()?;
        let mut command = cleanup.command();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Some(command)
    }

    /// Returns the command with streams for a worker, in a process group of its own: the group is killed as a whole, and
    /// does not receive signals of the terminal.
    pub(super) fn worker_command(&self) -> Command {
        let mut command = self.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        command
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        if !self.inherits_environment {
            command.env_clear();
        }
        command
    }
}

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

/// Writes the program and its arguments, for people.
impl std::fmt::Display for CommandLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.program.to_string_lossy())?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {}", argument.to_string_lossy()))
    }
}
