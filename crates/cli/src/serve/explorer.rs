//! The explorer of `serve --explorer`.

use clap::ArgMatches;
use toolkit::dispatch::DispatcherBuilder;
use toolkit_explorer::{Explorer, RecentCalls};
use toolkit_mcp_server::Http;

use crate::options::program_name;

/// The page and its record of calls, if the flag is set.
pub(super) struct Page {
    title: String,
    calls: RecentCalls,
}

impl Page {
    pub(super) fn new(matches: &ArgMatches, title: &str) -> Option<Self> {
        matches.get_flag("explorer").then(|| Self { title: title.to_owned(), calls: RecentCalls::new() })
    }

    /// Records the calls of a dispatcher.
    pub(super) fn record(&self, dispatcher: DispatcherBuilder) -> DispatcherBuilder {
        dispatcher.layer(self.calls.clone())
    }

    /// Adds the page to a server.
    pub(super) fn serve(self, http: Http) -> Http {
        let mut explorer = Explorer::new(self.title).recent_calls(self.calls);
        if let Ok(path) = std::env::current_exe() {
            explorer = explorer.program(program_name(), path.to_string_lossy());
        }
        http.route(explorer)
    }
}
