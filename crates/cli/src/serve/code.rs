//! `serve --code`: clients call the tools by programs, beside or instead of calling them directly.

use std::future::Future;
#[cfg(feature = "proxy")]
use std::sync::{Mutex, PoisonError};

use clap::{Arg, ArgMatches};
use toolkit::Tool;
use toolkit_backends::Backends;
use toolkit_code::{CodeMode, Gateway, RunCode};
use toolkit_mcp_server::{Filter, Proxy, Rule, Server};
#[cfg(feature = "proxy")]
use toolkit_search::Fingerprint;

use crate::code;
use crate::error::{CommandError, Exit};
use crate::options::option;

/// Returns the options.
pub(super) fn options() -> Vec<Arg> {
    let code = option("code", "only")
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("beside")
        .value_parser(["beside", "only"])
        .hide_possible_values(true)
        .help("Serve a tool that runs programs, or `only` that tool");
    std::iter::once(code).chain(code::sandbox_options()).collect()
}

/// Returns the rule that admits the tool that runs programs.
pub(super) fn rule() -> Rule {
    Rule::Tool(RunCode::ID.to_owned())
}

/// Returns the filter of the tools that clients call themselves.
pub(super) fn direct(matches: &ArgMatches) -> Filter {
    let is_only = matches.get_one::<String>("code").is_some_and(|mode| mode == "only");
    if is_only { Filter::all().allow(rule()) } else { Filter::all() }
}

/// The programs of clients.
pub(super) struct Programs {
    code: CodeMode,
    /// The tools that programs call now.
    #[cfg(feature = "proxy")]
    current: Mutex<Fingerprint>,
}

impl Programs {
    /// Returns `None` without the option.
    pub(super) fn new(matches: &ArgMatches, server: &Server) -> Result<Option<Self>, CommandError> {
        if !matches.contains_id("code") {
            return Ok(None);
        }
        let code = CodeMode::with_gateway(tools(server), code::sandbox(matches)?);
        Ok(Some(Self {
            code,
            #[cfg(feature = "proxy")]
            current: Mutex::new(fingerprint(server)),
        }))
    }

    /// Adds the tool that runs programs.
    pub(super) fn register(&self, backends: &Backends) -> Result<(), CommandError> {
        backends.register(RunCode::new(self.code.clone())).map_err(|error| CommandError::Other {
            exit: Exit::Usage,
            kind: "invalid_servers",
            message: format!("--code: {error}"),
        })
    }

    /// Passes the tools of the server to programs.
    #[cfg(feature = "proxy")]
    pub(super) fn update(&self, server: &Server) {
        let fingerprint = fingerprint(server);
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        // The tool that runs programs is listed again when they change, which must not change them again.
        if std::mem::replace(&mut *current, fingerprint) != fingerprint {
            self.code.replace(tools(server));
        }
    }
}

/// Runs `serving` with the tool that runs programs, if there is one, and without other backends.
pub(super) async fn along_with(
    server: &Server,
    programs: Option<&Programs>,
    serving: impl Future<Output = Result<Exit, CommandError>>,
) -> Result<Exit, CommandError> {
    if let Some(programs) = programs {
        let backends = Backends::new();
        programs.register(&backends)?;
        Proxy::new(server.clone(), backends).collect().await;
    }
    serving.await
}

/// Returns the tools of the server that programs call: all but the one that runs them.
fn tools(server: &Server) -> Gateway {
    Gateway::new(server.dispatcher()).only(allowed(server))
}

#[cfg(feature = "proxy")]
fn fingerprint(server: &Server) -> Fingerprint {
    let is_allowed = allowed(server);
    Fingerprint::new(server.dispatcher().catalog().iter().filter(|tool| is_allowed(tool)))
}

fn allowed(server: &Server) -> impl Fn(&Tool) -> bool + Send + Sync + 'static {
    let filter = server.filter().clone();
    move |tool| tool.id().to_string() != RunCode::ID && filter.admits(tool)
}
