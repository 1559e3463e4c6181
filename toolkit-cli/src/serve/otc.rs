//! The call format of Open Tool Calling, over HTTP.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use clap::{Arg, ArgAction, ArgMatches, Command};
use tokio::net::TcpListener;
use toolkit::{Catalog, Dispatcher};
use toolkit_otc::{Auth, Naming, Published, Server};

use crate::Setup;
use crate::check::counted;
use crate::command::{program_name, switch};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::style::{self, printable};
use crate::{SetupError, call};

/// At least so many threads: a synchronous tool keeps the one that it runs on.
const MIN_THREADS: usize = 4;

pub(super) fn command(command: Command) -> Command {
    command
        .about("Offers the tools to other programs, until it is told to stop")
        .long_about(
            "Offers the tools to other programs, in the call format of Open Tool Calling, until it is told to stop: by \
             Ctrl-C or SIGTERM, after which the calls that run come to their end.\n\nThe credentials that a tool \
             requires come with each call.",
        )
        .args([
            Arg::new("otc")
                .long("otc")
                .value_name("ADDR")
                .required(true)
                .value_parser(address)
                .help("Where to listen: an address and a port such as 127.0.0.1:8080, or a port of this machine only"),
            Arg::new("api-key-env")
                .long("api-key-env")
                .value_name("NAME")
                .help("Lets in who sends the API key that stands in this environment variable"),
            Arg::new("jwt-secret-env")
                .long("jwt-secret-env")
                .value_name("NAME")
                .conflicts_with("api-key-env")
                .help("Lets in who signs its tokens (HS256) with the secret that stands in this environment variable"),
            switch("anyone").help("Lets everybody in, also from other machines"),
            Arg::new("host")
                .long("host")
                .value_name("NAME")
                .action(ArgAction::Append)
                .help("A name under which clients reach this server; localhost and IP addresses need not be named"),
            toolkit(),
        ])
}

pub(crate) fn toolkit() -> Arg {
    let help = "What tools without a namespace are in, for Open Tool Calling [default: the name of this program]";
    Arg::new("toolkit").long("toolkit").value_name("NAME").help(help)
}

pub(super) fn run(catalog: Catalog, matches: &ArgMatches, setup: impl Setup) -> Result<Exit, Failure> {
    let address = *matches.get_one::<SocketAddr>("otc").expect("clap asks for it");
    let auth = auth(matches)?;
    if auth.is_none() && !address.ip().is_loopback() && !matches.get_flag("anyone") {
        let message = format!(
            "{address} can be reached from other machines; say who may come in with `--api-key-env` or \
             `--jwt-secret-env`, or let everybody in with `--anyone`"
        );
        return Err(usage(message));
    }
    let runtime =
        call::runtime_of(std::thread::available_parallelism().map_or(MIN_THREADS, usize::from).max(MIN_THREADS))?;
    let dispatcher = {
        let _on_runtime = runtime.enter();
        setup(Dispatcher::builder(catalog)).map_err(Failure::Setup)?.build()?
    };
    let hosts = matches.get_many::<String>("host").unwrap_or_default();
    let server =
        hosts.fold(Server::new(dispatcher).naming(&naming(matches)).auth(auth), |server, host| server.host(host));
    tell_problems(server.published());
    call::panics::silence();
    runtime.block_on(serve(server, address))?;
    // A tool that nobody waits for any more must not keep the process alive.
    runtime.shutdown_background();
    Ok(Exit::Success)
}

/// What tools are called that have no namespace or no version.
pub(crate) fn naming(matches: &ArgMatches) -> Naming {
    Naming::new(&matches.get_one::<String>("toolkit").cloned().unwrap_or_else(program_name), "0.0.0")
}

/// Says on stderr which tools are left out, and why.
pub(crate) fn tell_problems(published: &Published) {
    for problem in published.problems() {
        let _ = writeln!(anstream::stderr(), "{} left out: {}", style::WARNING, printable(&problem.to_string()));
    }
}

async fn serve(server: Server, address: SocketAddr) -> Result<(), Failure> {
    let cannot_listen = |error| Failure::Own {
        exit: Exit::Failed,
        kind: "io",
        message: format!("cannot listen at {address}: {error}"),
    };
    let mut stops = Stops::listen().map_err(|error| Failure::Setup(SetupError::from(error)))?;
    let listener = TcpListener::bind(address).await.map_err(cannot_listen)?;
    let address = listener.local_addr().map_err(cannot_listen)?;
    let tools = counted(server.published().definitions().count(), "tool");
    writeln!(anstream::stderr(), "{tools} at http://{address} (Open Tool Calling)")?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let served = server.serve(listener, async { drop(stopped.await) });
    let mut served = std::pin::pin!(served);
    tokio::select! {
        () = &mut served => return Ok(()),
        () = stops.next() => drop(stop),
    }
    let wait = "waiting for the calls that run; a second signal leaves them behind";
    writeln!(anstream::stderr(), "{} {wait}", style::NOTE)?;
    tokio::select! {
        () = &mut served => {}
        () = stops.next() => {}
    }
    Ok(())
}

/// Every signal to stop, from now on.
struct Stops {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Stops {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
impl Stops {
    fn listen() -> std::io::Result<Self> {
        Ok(Self {})
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}

fn auth(matches: &ArgMatches) -> Result<Auth, Failure> {
    let from_environment = |option: &str| -> Result<Option<String>, Failure> {
        let Some(name) = matches.get_one::<String>(option) else {
            return Ok(None);
        };
        match std::env::var(name) {
            Ok(value) if !value.is_empty() => Ok(Some(value)),
            _ => Err(usage(format!("`--{option}` names the environment variable `{name}`, which is not set"))),
        }
    };
    Ok(match (from_environment("api-key-env")?, from_environment("jwt-secret-env")?) {
        (Some(key), _) => Auth::api_key(key),
        (None, Some(secret)) => Auth::jwt(secret),
        (None, None) => Auth::none(),
    })
}

fn usage(message: String) -> Failure {
    Failure::Own { exit: Exit::Usage, kind: "usage", message }
}

/// An address and a port; a port alone, or behind a colon, is one of this machine only.
fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.strip_prefix(':').unwrap_or(text).parse() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    let text = text.strip_prefix("localhost").map_or_else(|| text.to_owned(), |port| format!("127.0.0.1{port}"));
    text.parse().map_err(|_| "an address is an IP address and a port, such as 127.0.0.1:8080, or a port".to_owned())
}
