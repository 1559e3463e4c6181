//! `serve --proxy`: serves the tools of other MCP servers, checks them against a lock, follows changes of the configuration
//! file, and reports on stderr.

use std::collections::{HashMap, HashSet};
use std::error::Error as _;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, value_parser};
use toolkit::{Catalog, Tool, ToolId};
use toolkit_backends::{Backends, ContractChange};
use toolkit_contract::Lock;
use toolkit_mcp_client::{ConfiguredServers, McpServers, ServerChanges};
use toolkit_mcp_server::{LeftOut, Proxy, Server, View};
use toolkit_runtime::{read_bounded, read_regular_file};

use super::views::Needs;
use crate::error::{CommandError, Exit};
use crate::login::Logins;
use crate::options::{MAX_MANIFEST_BYTES, duration, option, switch};
use crate::report::counted;
use crate::stderr;
use crate::style::{ERROR, NOTE, WARNING, without_os_codes};

/// The default time to wait for the tools of other servers before serving, since many clients request the list once and
/// ignore changes. Launchers such as `npx` and `uvx` take some seconds. The tools of slower servers are added as soon as they
/// are available.
const WAIT: Duration = Duration::from_secs(5);

pub(super) fn options() -> [Arg; 5] {
    [
        option("proxy", "FILE")
            .value_parser(value_parser!(PathBuf))
            .help("Also serve the tools of the servers in FILE (`mcpServers`)"),
        option("lock", "LOCK")
            .requires("proxy")
            .value_parser(value_parser!(PathBuf))
            .help("Serve only tools of other servers that are as in LOCK"),
        switch("update-lock").requires("lock").help("Write the tools of other servers to LOCK, and exit"),
        option("trust", "SERVER")
            .requires("proxy")
            .action(ArgAction::Append)
            .help("Trust the hints of a server, such as `readOnlyHint`"),
        option("proxy-wait", "TIME")
            .requires("proxy")
            .value_parser(duration)
            .help("Time to wait for other servers at first [default: 5s]"),
    ]
}

/// The backends to serve.
pub(super) struct Servers {
    pub(super) backends: Arc<Backends>,
    /// Those of a configuration file.
    configured: Option<Configured>,
}

/// Returns the backends to serve, without starting them, or `None` if there are none.
pub(super) fn servers(
    matches: &ArgMatches,
    mut backends: Backends,
    program: &str,
) -> Result<Option<Servers>, CommandError> {
    #[cfg(feature = "nats")]
    if let Some(workers) = crate::nats::backend(matches, "nats-tools")? {
        backends.register(workers).map_err(|error| CommandError::Setup(Box::new(error)))?;
    }
    let Some(file) = matches.get_one::<PathBuf>("proxy") else {
        let backends = Arc::new(backends);
        return Ok((!backends.names().is_empty()).then_some(Servers { backends, configured: None }));
    };
    let unusable = |kind, reason: String| CommandError::failed(kind, format!("{}: {reason}", file.display()));
    if let (Some(path), false) = (matches.get_one::<PathBuf>("lock"), matches.get_flag("update-lock")) {
        backends = backends.with_lock(read_lock(path)?);
    }
    let backends = Arc::new(backends);
    let trusted: Vec<String> = matches.get_many("trust").into_iter().flatten().cloned().collect();
    let logins = Logins::new(program);
    let logins = logins.map_err(CommandError::usage)?;
    let configured = Configured::read(file, Arc::clone(&backends), trusted.clone(), logins, Needs::new(matches));
    let configured = configured.map_err(|reason| unusable("invalid_servers", reason))?;
    if let Some(name) = trusted.iter().find(|name| !backends.names().contains(name)) {
        return Err(unusable("unknown_server", format!("--trust: unknown server `{}`", name.escape_debug())));
    }
    Ok(Some(Servers { backends, configured: Some(configured) }))
}

/// Runs `serving` with the tools of these servers and applies their changes, or writes the lock.
///
/// Tools that cannot be served are reported on stderr. `collected` is called whenever the tools may have changed.
pub(super) async fn along_with(
    server: &Server,
    own: Catalog,
    servers: Servers,
    matches: &ArgMatches,
    serving: impl Future<Output = Result<Exit, CommandError>>,
    collected: impl Fn(),
) -> Result<Exit, CommandError> {
    let Servers { backends, configured } = servers;
    if let (Some(path), true) = (matches.get_one::<PathBuf>("lock"), matches.get_flag("update-lock")) {
        let outcome = update_lock(path, &backends, own).await;
        backends.stop().await;
        return outcome;
    }
    let wait = matches.get_one::<Duration>("proxy-wait").copied().unwrap_or(WAIT);
    let proxy = Proxy::new(server.clone(), Arc::clone(&backends)).wait(wait);
    if let Some(views) = configured.as_ref().and_then(|configured| configured.views.clone()) {
        proxy.set_views(views);
    }
    let reporter = Mutex::new(Reporter::new(matches.contains_id("lock")));
    let report = |left_out: LeftOut| {
        collected();
        reporter.lock().unwrap_or_else(PoisonError::into_inner).report(&left_out);
    };
    report(proxy.collect_within(wait).await);
    let following = proxy.follow(report);
    let reloading = async {
        match configured {
            Some(configured) => configured.follow(&proxy, wait, report).await,
            None => std::future::pending().await,
        }
    };
    let mut serving = std::pin::pin!(serving);
    let outcome = tokio::select! {
        outcome = &mut serving => outcome,
        // The server is shutting down, but still answers running calls.
        () = following => serving.await,
        () = reloading => serving.await,
    };
    backends.stop().await;
    outcome
}

fn read_lock(path: &Path) -> Result<Lock, CommandError> {
    let unusable = |reason: String| invalid_lock(path, &reason);
    let text = text(read_regular_file(path, MAX_MANIFEST_BYTES));
    let text = text.map_err(|error| unusable(format!("{error}; --update-lock creates the file")))?;
    Lock::from_json(&text).map_err(|error| unusable(error.to_string()))
}

/// Writes the current tools of the servers to the lock file, and reports the differences. The tools of a server that cannot
/// be reached are kept.
async fn update_lock(path: &Path, backends: &Backends, own: Catalog) -> Result<Exit, CommandError> {
    let before = match path.exists() {
        true => read_lock(path)?,
        false => Lock::from_tools([]),
    };
    let collected = backends.collect(own).await;
    for failure in &collected.failures {
        stderr::say(ERROR, &failure.to_string());
    }
    for diagnostic in &collected.diagnostics {
        stderr::say(WARNING, diagnostic.message());
    }
    let is_missing = |tool: &&Tool| {
        let namespace = tool.id().namespace();
        collected.failures.iter().any(|failure| namespace == Some(failure.backend.as_str()))
    };
    let kept = before.tools().filter(is_missing).cloned();
    let now = Lock::from_tools(collected.offered.iter().cloned().chain(kept));
    for line in differences(&before, &now) {
        stderr::say(NOTE, &line);
    }
    fs::write(path, now.to_json()).map_err(|error| invalid_lock(path, &error.to_string()))?;
    let n_tools = now.tools().count();
    stderr::say(NOTE, &format!("wrote {} to {}; review it", counted(n_tools, "tool"), path.display()));
    Ok(if collected.failures.is_empty() { Exit::Success } else { Exit::Failed })
}

fn differences(before: &Lock, now: &Lock) -> Vec<String> {
    let by_id = |lock: &'_ Lock| -> HashMap<ToolId, Tool> {
        lock.tools().map(|tool| (tool.id().clone(), tool.clone())).collect()
    };
    let (was, is) = (by_id(before), by_id(now));
    let changed = now.tools().filter_map(|tool| match was.get(tool.id()) {
        Some(before) => ContractChange::between(before, tool).map(|change| change.to_string()),
        None => Some(format!("`{}` was added", tool.id())),
    });
    let removed = before.tools().filter(|tool| !is.contains_key(tool.id()));
    changed.chain(removed.map(|tool| format!("`{}` was removed", tool.id()))).collect()
}

fn invalid_lock(path: &Path, reason: &str) -> CommandError {
    CommandError::failed("invalid_lock", format!("{}: {reason}", path.display()))
}

/// The interval at which the file is read. A change is applied when two reads agree, so that a file that is being
/// written is not applied in part.
const INTERVAL: Duration = Duration::from_secs(1);

/// The maximum size of the file.
const MAX_BYTES: u64 = 4 << 20;

/// The content of the file, or the reason why it cannot be read.
type ConfigText = Result<String, String>;

/// The servers of a configuration file.
struct Configured {
    file: PathBuf,
    /// False for a pipe, such as `<(…)` of a shell, which can be read only once.
    is_followed: bool,
    backends: Arc<Backends>,
    servers: ConfiguredServers,
    /// The servers of `--trust`.
    trusted: Vec<String>,
    logins: Logins,
    needs: Needs,
    /// The views of the file.
    views: Option<Vec<View>>,
    /// The content that was applied last.
    content: ConfigText,
    /// The errors in that content.
    errors: Vec<String>,
}

impl Configured {
    /// Reads a configuration file and registers its servers.
    ///
    /// # Errors
    ///
    /// Returns the reason why the file cannot be read.
    fn read(
        file: &Path,
        backends: Arc<Backends>,
        trusted: Vec<String>,
        logins: Logins,
        needs: Needs,
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
            needs,
            views: None,
            content: Ok(text),
            errors: Vec::new(),
        };
        configured.views = configured.read_views(&servers)?;
        // There are no servers before that would have to be stopped.
        let changes = configured.apply(servers);
        match changes.rejected.first() {
            Some(rejected) => Err(rejected.to_string()),
            None => Ok(configured),
        }
    }

    /// Applies changes of the file until the future is dropped. Only a regular file is read again.
    async fn follow(mut self, proxy: &Proxy, wait: Duration, report: impl Fn(LeftOut)) {
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
            let servers = servers.and_then(|text| self.logins.servers(text, &self.file));
            match servers.and_then(|servers| Ok((self.read_views(&servers)?, servers))) {
                Ok((views, servers)) => {
                    // Before the tools of new servers are known.
                    if let Some(views) = &views {
                        proxy.set_views(views.clone());
                    }
                    self.views = views;
                    let changes = self.apply(servers);
                    report_changes(&changes);
                    proxy.set_configuration_errors(self.errors.clone());
                    report(proxy.collect_within(wait).await);
                    tokio::spawn(changes.stop_retired());
                }
                Err(reason) => {
                    let (file, reason) = (self.file.display(), without_os_codes(&reason));
                    stderr::say(ERROR, &format!("the configuration is not applied: {file}: {reason}"));
                    proxy.set_configuration_errors([format!("the configuration is not applied: {reason}")]);
                }
            }
        }
    }

    /// Reads the views of a configuration, which may have them for the first time, and does not lose them.
    fn read_views(&self, servers: &McpServers) -> Result<Option<Vec<View>>, String> {
        let Some(views) = servers.views() else {
            return match &self.views {
                Some(_) => Err("`views` was removed; restart the server to serve everything to all callers".to_owned()),
                None => Ok(None),
            };
        };
        let mut names = servers.declared().to_vec();
        names.extend(self.backends.names().into_iter().filter(|name| !self.servers.names().contains(&&**name)));
        self.needs.read(views, &names).map(Some)
    }

    fn apply(&mut self, servers: McpServers) -> toolkit_mcp_client::ServerChanges {
        report_configuration(&servers, &self.file);
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
fn read_again(file: &Path) -> ConfigText {
    text(read_regular_file(file, MAX_BYTES))
}

fn read(file: &Path) -> ConfigText {
    text(File::open(file).and_then(|file| read_bounded(file, MAX_BYTES)))
}

fn text(bytes: io::Result<Vec<u8>>) -> ConfigText {
    String::from_utf8(bytes.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
}

fn is_regular(file: &Path) -> io::Result<bool> {
    fs::metadata(file).map(|metadata| metadata.is_file())
}

/// Reports invalid servers of a configuration, keys without effect, and servers whose namespace differs from their name.
fn report_configuration(servers: &McpServers, file: &Path) {
    for rejected in servers.rejected() {
        for line in rejected.to_string().lines() {
            stderr::say(ERROR, line);
        }
    }
    for warning in servers.warnings() {
        let text = format!("{}: {warning}", file.display());
        stderr::say(WARNING, &text);
    }
    for (name, namespace) in servers.renamed() {
        let text = format!("the tools of the server `{name}` are in the namespace `{namespace}`");
        stderr::say(NOTE, &text);
    }
}

/// Reports the servers that a changed configuration has added, changed or removed.
fn report_changes(changes: &ServerChanges) {
    for rejected in &changes.rejected {
        stderr::say(ERROR, &rejected.to_string());
    }
    let lists = [("was added", &changes.added), ("has changed", &changes.changed), ("was removed", &changes.removed)];
    for (what, names) in lists {
        for name in names {
            stderr::say(NOTE, &format!("the server `{name}` {what}"));
        }
    }
}

/// Reports omitted tools, and remembers the reports so that none is repeated while its reason persists.
struct Reporter {
    current: HashSet<String>,
    /// With a lock, each change is a diagnostic already.
    has_lock: bool,
}

impl Reporter {
    fn new(has_lock: bool) -> Self {
        Self { current: HashSet::new(), has_lock }
    }

    fn report(&mut self, left_out: &LeftOut) {
        let mut now = HashSet::new();
        for failure in &left_out.failures {
            let (label, text) = match failure.is_pending {
                true => (NOTE, format!("{} has not responded yet", failure.backend)),
                false => {
                    let cause = failure.error.source().map(|cause| format!("\n  {cause}")).unwrap_or_default();
                    (ERROR, format!("{failure}{cause}"))
                }
            };
            // The key omits the message, which may differ for each attempt.
            let key = format!("{} {}", failure.is_pending, failure.backend);
            if !self.current.contains(&key) {
                stderr::say(label, &text);
            }
            now.insert(key);
        }
        for diagnostic in &left_out.diagnostics {
            if !self.current.contains(diagnostic.message()) {
                stderr::say(WARNING, diagnostic.message());
            }
            now.insert(diagnostic.message().to_owned());
        }
        for change in left_out.changes.iter().filter(|_| !self.has_lock) {
            stderr::say(WARNING, &change.to_string());
        }
        self.current = now;
    }
}
