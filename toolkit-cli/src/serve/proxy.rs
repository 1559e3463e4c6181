//! The tools of other servers, served along with those of this program.

use std::collections::HashSet;
use std::error::Error as _;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Arg, ArgMatches, value_parser};
use toolkit::backend::Backends;
use toolkit::call::ErrorKind;
use toolkit_mcp::client::McpServers;
use toolkit_mcp::server::{LeftOut, Proxy, Server};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::style::{self, printable};

pub(super) fn option() -> Arg {
    Arg::new("proxy").long("proxy").value_name("FILE").value_parser(value_parser!(PathBuf)).help(
        "Serves the tools of other servers too, each in a namespace of its own: those in FILE, as `mcpServers` of \
         Claude, Cursor or VS Code has them",
    )
}

/// The servers that are asked for, none of which is started yet; `None` where none is.
pub(super) fn servers(matches: &ArgMatches, backends: Backends) -> Result<Option<Arc<Backends>>, Failure> {
    let Some(file) = matches.get_one::<PathBuf>("proxy") else {
        return Ok((!backends.names().is_empty()).then(|| Arc::new(backends)));
    };
    let unusable = |reason: String| Failure::Own {
        exit: Exit::Failed,
        kind: "invalid_servers",
        message: format!("{}: {reason}", file.display()),
    };
    let json = fs::read_to_string(file).map_err(|error| unusable(error.to_string()))?;
    for server in McpServers::from_json(&json).map_err(|error| unusable(error.to_string()))? {
        backends.register(server).map_err(|error| unusable(error.to_string()))?;
    }
    Ok(Some(Arc::new(backends)))
}

/// How long servers may take to list their tools before anything is served: many a client lists once, at once, and never
/// hears of a change. Servers that take longer are served as soon as they are there.
const HEAD_START: Duration = Duration::from_secs(2);

/// Runs what serves, with the tools of these servers, and follows them as they change.
///
/// One that cannot be reached, or a tool that is not sound, is told on stderr, and keeps no other from being served.
pub(super) async fn along_with<T>(server: &Server, backends: Arc<Backends>, serving: impl Future<Output = T>) -> T {
    let proxy = Proxy::new(server.clone(), Arc::clone(&backends));
    let mut told = Told::default();
    let mut first = proxy.collect_within(HEAD_START).await;
    let n_failures = first.failures.len();
    first.failures.retain(|failure| failure.error.kind() != ErrorKind::TimedOut);
    let is_late = first.failures.len() < n_failures;
    told.tell(&first);
    let following = async {
        if is_late {
            told.tell(&proxy.collect().await);
        }
        proxy.follow(|left_out| told.tell(&left_out)).await;
    };
    let mut serving = std::pin::pin!(serving);
    let outcome = tokio::select! {
        outcome = &mut serving => outcome,
        // The server is about to end, and is still to answer what runs.
        () = following => serving.await,
    };
    backends.stop().await;
    outcome
}

/// What the user was told last, so that nothing is told again while it lasts.
#[derive(Default)]
struct Told(HashSet<String>);

impl Told {
    fn tell(&mut self, left_out: &LeftOut) {
        let mut err = anstream::stderr();
        let mut now = HashSet::new();
        for failure in &left_out.failures {
            let error = &failure.error;
            let cause = error.source().map(|cause| format!("\n  {cause}")).unwrap_or_default();
            if !self.0.contains(&failure.backend) {
                let _ = writeln!(err, "{} {}{}", style::ERROR, printable(&error.to_string()), printable(&cause));
            }
            now.insert(failure.backend.clone());
        }
        for problem in &left_out.problems {
            if !self.0.contains(problem.message()) {
                let _ = writeln!(err, "{} {}", style::WARNING, printable(problem.message()));
            }
            now.insert(problem.message().to_owned());
        }
        self.0 = now;
    }
}
