//! Workers in containers.

mod docker;
mod kubernetes;

use std::ffi::OsString;

use super::super::super::limits::Limits;
use super::super::super::profile::Profile;
use super::command_line::CommandLine;

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
pub struct Container {
    client: Client,
    image: String,
    program: Option<OsString>,
    runtime: Option<String>,
    seccomp_profile: Option<String>,
    options: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Client {
    Docker,
    Podman,
    Kubectl,
}

impl Container {
    /// Creates a container of Docker. The image must be present, since it is not pulled.
    pub fn docker(image: impl Into<String>) -> Self {
        Self::new(Client::Docker, image.into())
    }

    /// Creates a container of Podman. The image must be present, since it is not pulled.
    pub fn podman(image: impl Into<String>) -> Self {
        Self::new(Client::Podman, image.into())
    }

    /// Creates a pod of Kubernetes, in the current context of `kubectl`.
    pub fn kubernetes(image: impl Into<String>) -> Self {
        Self::new(Client::Kubectl, image.into())
    }

    fn new(client: Client, image: String) -> Self {
        Self { client, image, program: None, runtime: None, seccomp_profile: None, options: Vec::new() }
    }

    /// Sets the path of the worker in the image. Default: the entry point of the image.
    #[must_use]
    pub fn program(mut self, program: impl Into<OsString>) -> Self {
        self.program = Some(program.into());
        self
    }

    /// Sets the runtime, such as `runsc` or `kata-runtime`; in Kubernetes, the runtime class of the pod.
    #[must_use]
    pub fn runtime(mut self, runtime: impl Into<String>) -> Self {
        self.runtime = Some(runtime.into());
        self
    }

    /// Sets the path of the seccomp profile for [`Profile::Hardened`]; in Kubernetes, below the folder of the kubelet.
    #[must_use]
    pub fn seccomp_profile(mut self, path: impl Into<String>) -> Self {
        self.seccomp_profile = Some(path.into());
        self
    }

    /// Adds an option of the client's command `run`, such as `--cgroup-parent=models`.
    #[must_use]
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
    #[must_use]
    pub fn command_line(&self, name: &str, limits: &Limits, profile: Profile) -> CommandLine {
        match self.client {
            Client::Docker => docker::command_line("docker", self, name, limits, profile),
            Client::Podman => docker::command_line("podman", self, name, limits, profile),
            Client::Kubectl => kubernetes::command_line(self, name, limits, profile),
        }
    }

    pub(super) fn kind(&self) -> &'static str {
        match self.client {
            Client::Docker => "docker",
            Client::Podman => "podman",
            Client::Kubectl => "kubernetes",
        }
    }
}
