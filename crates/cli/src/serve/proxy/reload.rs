//! Changes of the configuration file while the server runs.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use toolkit_backends::Backends;
use toolkit_mcp_client::{ConfiguredServers, McpServers};
use toolkit_mcp_server::{LeftOut, Proxy};
use toolkit_runtime::{read_bounded, read_regular_file};

use super::reporter;
use crate::logins::Logins;

/// The interval at which the file is read. A change is applied when two reads agree, so that a file that is being
/// written is not applied in part.
const INTERVAL: Duration = Duration::from_secs(1);

/// The maximum size of the file.
const MAX_BYTES: u64 = 4 << 20;

/// The content of the file, or the reason why it cannot be read.
type Content = Result<String, String>;

/// The servers of a configuration file.
pub(super) struct Configured {
    file: PathBuf,
    /// False for a pipe, such as `<(…)` of a shell, which can be read only once.
    is_followed: bool,
    backends: Arc<Backends>,
    servers: ConfiguredServers,
    /// The servers of `--trust`.
    trusted: Vec<String>,
    logins: Logins,
    /// The content that was applied last.
    content: Content,
    /// The errors in that content.
    errors: Vec<String>,
}

impl Configured {
    /// Reads a configuration file and registers its servers.
    ///
    /// # Errors
    ///
    /// Returns the reason why the file cannot be read.
    pub(super) fn read(
        file: &Path,
        backends: Arc<Backends>,
        trusted: Vec<String>,
        logins: Logins,
    ) -> Result<Self, String> {
        let is_followed = is_regular(file).map_err(|error| error.to_string())?;
        let text = read(file)?;
        let servers = logins.servers(&text, file)?;
        let mut configured = Self {
            file: file.to_owned(),
            is_followed,
            servers: ConfiguredServers::new(Arc::clone(&backends)),
            backends,
            trusted,
            logins,
            content: Ok(text),
            errors: Vec::new(),
        };
        // There are no servers before that would have to be stopped.
        let changes = configured.apply(servers);
        match changes.rejected.first() {
            Some(rejected) => Err(rejected.to_string()),
            None => Ok(configured),
        }
    }

    /// Applies changes of the file until the future is dropped. Only a regular file is read again.
    pub(super) async fn follow(mut self, proxy: &Proxy, wait: Duration, report: impl Fn(LeftOut)) {
        proxy.set_configuration_errors(self.errors.clone());
        if !self.is_followed {
            return std::future::pending().await;
        }
        let mut last = self.content.clone();
        loop {
            tokio::time::sleep(INTERVAL).await;
            let file = self.file.clone();
            let content =
                tokio::task::spawn_blocking(move || read_again(&file)).await.unwrap_or_else(|e| Err(e.to_string()));
            let is_stable = content == last;
            last = content.clone();
            if content == self.content || !is_stable {
                continue;
            }
            self.content = content;
            let servers = self.content.as_ref().map_err(Clone::clone);
            match servers.and_then(|text| self.logins.servers(text, &self.file)) {
                Ok(servers) => {
                    let changes = self.apply(servers);
                    reporter::report_changes(&changes);
                    proxy.set_configuration_errors(self.errors.clone());
                    report(proxy.collect_within(wait).await);
                    tokio::spawn(changes.stop_retired());
                }
                Err(reason) => {
                    let file = self.file.display();
                    reporter::report_error(&format!("the configuration is not applied: {file}: {reason}"));
                    proxy.set_configuration_errors([format!("the configuration is not applied: {reason}")]);
                }
            }
        }
    }

    fn apply(&mut self, servers: McpServers) -> toolkit_mcp_client::ServerChanges {
        reporter::report_configuration(&servers);
        self.errors = servers.rejected().map(ToString::to_string).collect();
        let changes = self.servers.apply(servers);
        self.errors.extend(changes.rejected.iter().map(ToString::to_string));
        for name in changes.added.iter().chain(&changes.changed).filter(|name| self.trusted.contains(name)) {
            self.backends.trust(name);
        }
        changes
    }
}

/// Reads the file again. A pipe is not read twice, because that could block.
fn read_again(file: &Path) -> Content {
    text(read_regular_file(file, MAX_BYTES))
}

fn read(file: &Path) -> Content {
    text(File::open(file).and_then(|file| read_bounded(file, MAX_BYTES)))
}

fn text(bytes: io::Result<Vec<u8>>) -> Content {
    String::from_utf8(bytes.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
}

fn is_regular(file: &Path) -> io::Result<bool> {
    fs::metadata(file).map(|metadata| metadata.is_file())
}
