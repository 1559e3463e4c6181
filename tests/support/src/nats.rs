//! A NATS server in a process of its own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::port::{free_port, until_it_listens};

/// The time after which a test that waits fails.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A server that is killed on drop.
pub struct Server {
    child: Child,
    port: u16,
    folder: PathBuf,
    configuration: Option<String>,
    has_jetstream: bool,
}

impl Server {
    /// Starts a server with JetStream and without authentication.
    #[must_use]
    pub fn start() -> Self {
        Self::new(None, true)
    }

    /// Starts a server without JetStream.
    #[must_use]
    pub fn without_jetstream() -> Self {
        Self::new(None, false)
    }

    /// Starts a server with a configuration.
    #[must_use]
    pub fn configured(text: impl Into<String>) -> Self {
        Self::new(Some(text.into()), true)
    }

    /// Starts a server with a configuration and without JetStream.
    #[must_use]
    pub fn configured_without_jetstream(text: impl Into<String>) -> Self {
        Self::new(Some(text.into()), false)
    }

    fn new(configuration: Option<String>, has_jetstream: bool) -> Self {
        static N_SERVERS: AtomicU64 = AtomicU64::new(0);
        let nth = N_SERVERS.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("toolkit-nats-{}-{nth}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let port = free_port();
        let child = spawn(port, &folder, configuration.as_deref(), has_jetstream);
        Self { child, port, folder, configuration, has_jetstream }
    }

    /// Returns the port on which it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns its URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Returns the folder of its files, where tests may write theirs.
    #[must_use]
    pub fn folder(&self) -> &PathBuf {
        &self.folder
    }

    /// Kills the server.
    ///
    /// # Panics
    ///
    /// Panics if it has ended.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Kills the server and starts it again on the same port.
    pub fn restart(&mut self) {
        self.kill();
        self.child = spawn(self.port, &self.folder, self.configuration.as_deref(), self.has_jetstream);
    }
}

fn spawn(port: u16, folder: &Path, configuration: Option<&str>, has_jetstream: bool) -> Child {
    let file = folder.join("server.conf");
    std::fs::write(&file, configuration.unwrap_or_default()).unwrap();
    let mut command = Command::new("nats-server");
    if has_jetstream {
        command.args(["-js", "-sd"]).arg(folder.join("js"));
    }
    let child = command
        .args(["-a", "127.0.0.1", "-p", &port.to_string()])
        .arg("-c")
        .arg(&file)
        .arg("-l")
        .arg(folder.join("log"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("`nats-server` is installed");
    until_it_listens(("127.0.0.1", port));
    child
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}
