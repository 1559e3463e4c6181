//! Reports on other servers, on stderr.

use std::collections::HashSet;
use std::error::Error as _;
use std::io::Write;

use toolkit_mcp_client::{McpServers, ServerChanges};
use toolkit_mcp_server::LeftOut;

use crate::style::{self, printable};

/// Reports invalid servers of a configuration, and servers whose namespace differs from their name.
pub(super) fn report_configuration(servers: &McpServers) {
    let mut err = anstream::stderr();
    for rejected in servers.rejected() {
        for line in rejected.to_string().lines() {
            let _ = writeln!(err, "{} {}", style::ERROR, printable(line));
        }
    }
    for (name, namespace) in servers.renamed() {
        let text = format!("the tools of the server `{name}` are in the namespace `{namespace}`");
        let _ = writeln!(err, "{} {}", style::NOTE, printable(&text));
    }
}

/// Reports the servers that a changed configuration has added, changed or removed.
pub(super) fn report_changes(changes: &ServerChanges) {
    for rejected in &changes.rejected {
        report_error(&rejected.to_string());
    }
    let mut err = anstream::stderr();
    let lists = [("was added", &changes.added), ("has changed", &changes.changed), ("was removed", &changes.removed)];
    for (what, names) in lists {
        for name in names {
            let _ = writeln!(err, "{} the server `{name}` {what}", style::NOTE);
        }
    }
}

pub(super) fn report_error(message: &str) {
    let _ = writeln!(anstream::stderr(), "{} {}", style::ERROR, printable(message));
}

/// Reports omitted tools, and remembers the reports so that none is repeated while its reason persists.
pub(super) struct Reporter {
    current: HashSet<String>,
    /// With a lock, each change is a diagnostic already.
    has_lock: bool,
}

impl Reporter {
    pub(super) fn new(has_lock: bool) -> Self {
        Self { current: HashSet::new(), has_lock }
    }

    pub(super) fn report(&mut self, left_out: &LeftOut) {
        let mut err = anstream::stderr();
        let mut now = HashSet::new();
        for failure in &left_out.failures {
            let (style, text) = match failure.is_pending {
                true => (style::NOTE, format!("{} has not responded yet", failure.backend)),
                false => {
                    let cause = failure.error.source().map(|cause| format!("\n  {cause}")).unwrap_or_default();
                    (style::ERROR, format!("{failure}{cause}"))
                }
            };
            // The key omits the message, which may differ for each attempt.
            let key = format!("{} {}", failure.is_pending, failure.backend);
            if !self.current.contains(&key) {
                let _ = writeln!(err, "{style} {}", printable(&text));
            }
            now.insert(key);
        }
        for diagnostic in &left_out.diagnostics {
            if !self.current.contains(diagnostic.message()) {
                let _ = writeln!(err, "{} {}", style::WARNING, printable(diagnostic.message()));
            }
            now.insert(diagnostic.message().to_owned());
        }
        for change in left_out.changes.iter().filter(|_| !self.has_lock) {
            let _ = writeln!(err, "{} {}", style::WARNING, printable(&change.to_string()));
        }
        self.current = now;
    }
}
