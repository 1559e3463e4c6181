//! The Model Context Protocol, over stdio or HTTP.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use clap::ArgMatches;
use clap::parser::ValueSource;
use toolkit::backend::Routes;
#[cfg(feature = "explorer")]
use toolkit::dispatch::DispatcherBuilder;
use toolkit::{Catalog, Dispatcher, Tool};
#[cfg(feature = "explorer")]
use toolkit_explorer::{Explorer, RecentCalls};
use toolkit_mcp_server::{Filter, Rule, ServeError, Server, ServerBuilder, StateKey, TaskDirectory};
#[cfg(feature = "http")]
use toolkit_mcp_server::{Http, HttpError};

#[cfg(feature = "http")]
use super::EXPLORER;
use super::STATE_KEYS;
#[cfg(feature = "jwt")]
use super::access_tokens;
#[cfg(feature = "code")]
use super::code;
#[cfg(feature = "proxy")]
use super::proxy;
#[cfg(feature = "http")]
use super::server_card;
#[cfg(feature = "http")]
use crate::error::Configure;
use crate::error::{CommandError, Exit};
#[cfg(feature = "http")]
use crate::listen::{self, TOKEN};
use crate::options::{naming, program_name};
use crate::program::Program;
use crate::style::{NOTE, WARNING};
use crate::{credentials, report, runtime, stderr};

/// The time that clients may cache a list that other servers can change.
const PROXY_TTL: Duration = Duration::from_secs(60);

pub(super) fn run(catalog: Catalog, matches: &ArgMatches, program: Program) -> Result<Exit, CommandError> {
    let runtime = runtime::create()?;
    #[cfg(feature = "proxy")]
    let servers = proxy::servers(matches, program.backends, &program.name)?;
    #[cfg(feature = "proxy")]
    let is_proxy = servers.is_some();
    #[cfg(not(feature = "proxy"))]
    let is_proxy = false;
    #[cfg(feature = "explorer")]
    let page = ExplorerPage::new(matches, &program.name);
    let dispatcher = {
        let _on_runtime = runtime.enter();
        let builder = Dispatcher::builder(catalog);
        // The outermost layer, which sees calls that others reject.
        #[cfg(feature = "explorer")]
        let builder = match &page {
            Some(page) => page.record(builder),
            None => builder,
        };
        (program.dispatcher)(builder).map_err(CommandError::Setup)?.build()?
    };
    // The program is usually that of the workers, which run its tools. Emptied afterwards, since the instances of toolsets
    // need tools.
    let dispatcher = match matches.contains_id("nats-tools") {
        true => {
            let prompts = dispatcher.catalog().prompts().cloned();
            dispatcher.with_catalog(Catalog::new([])?.with_prompts(prompts)?, Routes::default())?
        }
        false => dispatcher,
    };
    #[cfg(feature = "durable")]
    let worker = super::worker::steps(matches, &program.name, dispatcher.clone())?;
    #[cfg(feature = "proxy")]
    let own = dispatcher.catalog().clone();
    let tools: Vec<Tool> = dispatcher.catalog().iter().cloned().collect();
    let has_others = is_proxy || matches.contains_id("nats-tools") || dispatcher.catalog().prompts().next().is_some();
    if tools.is_empty() && !has_others {
        stderr::say(NOTE, report::NOT_LINKED);
    }
    let version = program.version.as_deref().unwrap_or("0.0.0");
    let builder = Server::builder(dispatcher)
        .named(program.name, version)
        .credentials(|tool| credentials::from_environment(tool.requirements()));
    let server = server((program.server)(builder).map_err(CommandError::Setup)?, &tools, matches, is_proxy)?;
    server.count_dropped_log_lines(&stderr::N_DROPPED);
    #[cfg(feature = "code")]
    let programs = code::Programs::new(matches, &server)?;
    #[cfg(feature = "explorer")]
    let configure: Configure<Http> = match page {
        Some(page) => Box::new(|http| Ok(page.serve((program.http)(http)?))),
        None => program.http,
    };
    #[cfg(all(feature = "http", not(feature = "explorer")))]
    let configure = program.http;
    #[cfg(all(feature = "durable", feature = "http"))]
    let configure = super::queue::beside(runtime.handle(), worker.as_ref(), configure);
    #[cfg(feature = "http")]
    let configure: Configure<Http> = {
        let card = server_card::read(matches, version)?;
        Box::new(|http| Ok(card.into_iter().fold(configure(http)?, Http::server_card)))
    };
    #[cfg(feature = "http")]
    let serving = serve(&server, matches, configure);
    #[cfg(not(feature = "http"))]
    let serving = serve_stdio(&server);
    #[cfg(feature = "proxy")]
    let serving = async {
        match servers {
            #[cfg(feature = "code")]
            Some(servers) => {
                if let Some(programs) = &programs {
                    programs.register(&servers.backends)?;
                }
                let collected = || programs.iter().for_each(|programs| programs.update(&server));
                proxy::along_with(&server, own, servers, matches, serving, collected).await
            }
            #[cfg(not(feature = "code"))]
            Some(servers) => proxy::along_with(&server, own, servers, matches, serving, || {}).await,
            #[cfg(feature = "code")]
            None => code::along_with(&server, programs.as_ref(), serving).await,
            #[cfg(not(feature = "code"))]
            None => serving.await,
        }
    };
    #[cfg(all(feature = "code", not(feature = "proxy")))]
    let serving = code::along_with(&server, programs.as_ref(), serving);
    #[cfg(feature = "durable")]
    let serving = super::worker::along_with(worker, serving);
    let outcome = runtime.block_on(serving);
    // A tool that is still running must not keep the process alive.
    runtime.shutdown_background();
    outcome
}

async fn serve_stdio(server: &Server) -> Result<Exit, CommandError> {
    if std::io::stdin().is_terminal() {
        let program = program_name();
        let message = format!(
            "reading MCP messages from stdin; MCP clients usually start `{program} serve`, and \
             `{program} serve --http 8000` serves http://127.0.0.1:8000/mcp"
        );
        stderr::say(NOTE, &message);
    }
    server.stdio().await?;
    Ok(Exit::Success)
}

#[cfg(feature = "http")]
async fn serve(server: &Server, matches: &ArgMatches, configure: Configure<Http>) -> Result<Exit, CommandError> {
    let Some(address) = matches.get_one::<String>("http") else {
        return serve_stdio(server).await;
    };
    let mut http = configure(server.http()).map_err(CommandError::Setup)?;
    #[cfg(feature = "jwt")]
    {
        http = access_tokens::require(http, matches)?;
    }
    if let Some(token) = listen::token(matches)? {
        http = http.token(token);
    }
    let texts = |name: &str| matches.get_many::<String>(name).into_iter().flatten().cloned();
    if let Some(&time) = matches.get_one::<Duration>("drain-delay") {
        http = http.drain_delay(time);
    }
    if matches.contains_id("trust-proxy") {
        http = http
            .trust_proxies(texts("trust-proxy"))
            .map_err(|error| CommandError::usage(format!("`--trust-proxy`: {error}")))?;
    }
    http = texts("allow-host").fold(http, |http, host| http.allow_host(host));
    http = texts("allow-origin").fold(http, |http, origin| http.allow_origin(origin));
    if let Some(&per_second) = matches.get_one::<u32>("rate") {
        http = http.rate(per_second, per_second.saturating_mul(2));
    }
    if matches.get_flag("allow-unauthenticated") {
        http = http.allow_unauthenticated();
    }
    #[cfg(feature = "openapi")]
    if matches.get_flag("openapi") {
        http = http.openapi();
    }
    let listening = http.bind(address).await.map_err(|error| bind_error(address, &error, matches))?;
    let address = listening.local_addr()?;
    stderr::say(NOTE, &format!("serving at http://{address}/mcp"));
    #[cfg(feature = "openapi")]
    if matches.get_flag("openapi") {
        stderr::say(NOTE, &format!("OpenAPI document at http://{address}/openapi.json"));
    }
    #[cfg(feature = "explorer")]
    if matches.get_flag("explorer") {
        stderr::say(NOTE, &format!("explorer at http://{address}/explorer"));
    }
    listening.run_until_signal().await;
    Ok(Exit::Success)
}

/// Applies the flags of the command line, and builds the server.
fn server(
    mut server: ServerBuilder,
    tools: &[Tool],
    matches: &ArgMatches,
    is_proxy: bool,
) -> Result<Server, CommandError> {
    let rules = |name: &str| matches.get_many::<Rule>(name).into_iter().flatten().cloned();
    if ["allow", "deny"].iter().any(|name| matches.contains_id(name)) || matches.get_flag("read-only") {
        let mut filter = rules("allow").fold(Filter::all(), Filter::allow);
        #[cfg(feature = "code")]
        if matches.contains_id("allow") {
            filter = filter.allow(code::rule());
        }
        filter = rules("deny").fold(filter, Filter::deny);
        // A proxy reports them when it knows the tools of its servers.
        if !is_proxy {
            let own = rules("allow").chain(rules("deny")).fold(Filter::all(), Filter::deny);
            for rule in own.unmatched(tools) {
                let message = format!("no tool matches the rule `{rule}` to allow or deny tools");
                stderr::say(WARNING, &message);
            }
        }
        if matches.get_flag("read-only") {
            filter = filter.read_only();
        }
        server = server.filter(filter);
    }
    #[cfg(feature = "code")]
    {
        server = server.direct(code::direct(matches));
    }
    if is_proxy {
        // Not every client supports change notifications.
        server = server.list_ttl(PROXY_TTL);
    }
    if matches.get_flag("audit") {
        server = server.audit();
    }
    let keys = state_keys()?;
    if !keys.is_empty() {
        server = server.state_keys(keys);
    }
    // Without the flag, the configuration of the host applies.
    if matches.value_source("naming") != Some(ValueSource::DefaultValue) {
        server = server.naming(naming(matches));
    }
    #[cfg(feature = "search")]
    if let Some(&n_tools) = matches.get_one::<usize>("list-at-most") {
        server = server.list_at_most(n_tools);
    }
    if let Some(&limit) = matches.get_one::<Duration>("timeout") {
        server = server.call_timeout(limit);
    }
    if let Some(&time) = matches.get_one::<Duration>("task-after") {
        server = server.task_after(time);
    }
    #[cfg(feature = "skills")]
    match matches.get_one::<PathBuf>("skills") {
        Some(path) if path.as_os_str() == "docs" => server = server.tool_skills(),
        Some(path) => {
            let skills = toolkit_mcp_server::SkillSet::open(path);
            server =
                server.resources(skills.map_err(|error| CommandError::failed("io", format!("--skills: {error}")))?);
        }
        None => {}
    }
    if let Some(name) = matches.get_one::<String>("replica") {
        server = server.replica(name);
    }
    if let Some(path) = matches.get_one::<PathBuf>("task-dir") {
        let store = TaskDirectory::open(path).map_err(|error| {
            let message = format!("--task-dir {}: {error}", path.display());
            CommandError::failed("io", message)
        })?;
        server = server.task_store(store);
    }
    server.build().map_err(|error| match error {
        ServeError::Catalog(diagnostics) => CommandError::Catalog(diagnostics),
        ServeError::Replica => CommandError::usage(format!("--replica: {}", ServeError::Replica)),
        other => CommandError::failed("invalid_catalog", other.to_string()),
    })
}

/// Returns the keys in the environment, separated by commas. An error does not contain them.
fn state_keys() -> Result<Vec<StateKey>, CommandError> {
    let keys = std::env::var(STATE_KEYS).unwrap_or_default();
    let keys = keys.split(',').map(str::trim).filter(|key| !key.is_empty()).map(StateKey::from_secret);
    keys.collect::<Result<_, _>>().map_err(|error| {
        let message = format!("{STATE_KEYS}: {error}");
        CommandError::usage(message)
    })
}

#[cfg(feature = "http")]
fn bind_error(address: &str, error: &HttpError, matches: &ArgMatches) -> CommandError {
    let (kind, message) = match error {
        HttpError::ShortToken => ("short_token", format!("{error}, such as that of `openssl rand -hex 16`")),
        HttpError::Unprotected(_) if EXPLORER && matches.get_flag("explorer") => {
            let message = format!(
                "other machines can reach {address}, and --explorer requires a token there, even with --allow-unauthenticated, \
                 since its page shows the calls of all clients: set {TOKEN} to a token that clients must send, or leave out \
                 --explorer"
            );
            ("unprotected", message)
        }
        HttpError::Unprotected(_) => {
            let fix = format!("set {TOKEN} to a token that clients must send, or pass --allow-unauthenticated");
            ("unprotected", format!("{error}: {fix}"))
        }
        _ => ("io", format!("cannot listen at {address}: {error}")),
    };
    CommandError::failed(kind, message)
}

/// The page of `serve --explorer` and its record of calls, if the flag is set.
#[cfg(feature = "explorer")]
struct ExplorerPage {
    title: String,
    calls: RecentCalls,
}

#[cfg(feature = "explorer")]
impl ExplorerPage {
    fn new(matches: &ArgMatches, title: &str) -> Option<Self> {
        matches.get_flag("explorer").then(|| Self { title: title.to_owned(), calls: RecentCalls::new() })
    }

    /// Records the calls of a dispatcher.
    fn record(&self, dispatcher: DispatcherBuilder) -> DispatcherBuilder {
        dispatcher.layer(self.calls.clone())
    }

    /// Adds the page to a server.
    fn serve(self, http: Http) -> Http {
        let mut explorer = Explorer::new(self.title).recent_calls(self.calls);
        if let Ok(path) = std::env::current_exe() {
            explorer = explorer.program(program_name(), path.to_string_lossy());
        }
        http.route(explorer)
    }
}
