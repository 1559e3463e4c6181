//! The options for NATS, and the tools of workers: `--nats`.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, value_parser};
use tokio::runtime::Runtime;
use toolkit::Catalog;
use toolkit::backend::Routes;
#[cfg(feature = "nats")]
use toolkit_backends::Backends;
#[cfg(feature = "nats")]
use toolkit_nats::{Connect, NatsBackend, RetryPolicy};

use crate::error::CommandError;
#[cfg(feature = "nats")]
use crate::options::read_text;
use crate::options::{option, switch, unless};
#[cfg(feature = "nats")]
use crate::style::{self, printable};

const IS_ON: bool = cfg!(feature = "nats");

/// The name of the backend, which is also the namespace of tools without one.
#[cfg(feature = "nats")]
const NAME: &str = "nats";

/// The maximum size of the seed of a key, which is one line.
#[cfg(feature = "nats")]
const MAX_SEED_BYTES: u64 = 4096;

/// Returns the options of a command that uses the tools of workers.
pub(crate) fn options(help: &'static str) -> Vec<Arg> {
    let mut options = vec![option("nats", "URL").help(help)];
    options.extend(connection("nats"));
    options.extend(calls("nats"));
    options.into_iter().map(|arg| unless(IS_ON, "nats", arg)).collect()
}

/// Returns the options of `serve`.
#[cfg(any(feature = "durable", feature = "mcp", feature = "nats", feature = "otc"))]
pub(crate) fn serve_options() -> Vec<Arg> {
    let mut options = vec![
        option("nats", "URL").help("Serve the tools as a worker at this NATS server"),
        option("nats-tools", "URL")
            .conflicts_with_all(["nats", "otc"])
            .help("Serve the tools of the workers at this NATS server"),
    ];
    options.extend(connection("nats-server"));
    options.extend(calls("nats-tools"));
    let help = "Create the buckets for bodies and claims first";
    options.push(switch("nats-create-buckets").requires("nats").help(help));
    let options = options.into_iter().map(|arg| match arg.get_id() == "nats-tools" {
        true => unless(cfg!(feature = "proxy"), "proxy", arg),
        false => arg,
    });
    options.map(|arg| unless(IS_ON, "nats", arg)).collect()
}

/// Returns the options of a connection, which require the option or group `with`.
fn connection(with: &'static str) -> [Arg; 5] {
    let file = |name: &'static str| option(name, "FILE").requires(with).value_parser(value_parser!(PathBuf));
    [
        file("nats-creds").help("Authenticate with this file of credentials"),
        file("nats-nkey").help("Authenticate with the seed of an NKey in this file"),
        file("nats-ca").help("Trust the certificate authorities in this PEM file"),
        option("nats-inbox", "PREFIX").requires(with).help("Prefix of the subjects for results [default: _INBOX]"),
        option("nats-prefix", "PREFIX").requires(with).help("Prefix that workers and callers share [default: tk]"),
    ]
}

/// Returns the options of a caller, which require the option `with`.
fn calls(with: &'static str) -> [Arg; 5] {
    let text = |name: &'static str, value: &'static str| option(name, value).requires(with);
    [
        switch("nats-trust").requires(with).help("Trust the hints of the workers' tools"),
        switch("nats-claim").requires(with).help("Repeat lost calls, of which none runs twice"),
        switch("nats-send-credentials").requires(with).help("Send credentials of tools to their workers, over TLS"),
        text("nats-only", "NAMESPACE").action(ArgAction::Append).help("Use the tools of this namespace only"),
        text("nats-bodies", "BUCKET").help("Bucket for large bodies [default: tk-bodies]"),
    ]
}

/// Returns the connection to a server, if the option `name` has its URL.
#[cfg(feature = "nats")]
pub(crate) fn connect(matches: &ArgMatches, name: &str) -> Result<Option<Connect>, CommandError> {
    let Some(url) = matches.get_one::<String>(name) else { return Ok(None) };
    let mut connect = Connect::new(url).map_err(|error| CommandError::usage(format!("--{name}: {error}")))?;
    if let Some(path) = matches.get_one::<PathBuf>("nats-creds") {
        connect = connect.credentials_file(path);
    }
    if let Some(path) = matches.get_one::<PathBuf>("nats-nkey") {
        let seed = read_text(path, MAX_SEED_BYTES);
        connect = connect.nkey(seed.map_err(|error| CommandError::usage(format!("--nats-nkey: {error}")))?.trim());
    }
    if let Some(path) = matches.get_one::<PathBuf>("nats-ca") {
        connect = connect.trust(path);
    }
    if let Some(prefix) = matches.get_one::<String>("nats-inbox") {
        connect = connect.inbox_prefix(prefix);
    }
    Ok(Some(connect))
}

/// Returns the prefix of the subjects, if it is not the default.
#[cfg(feature = "nats")]
pub(crate) fn prefix(matches: &ArgMatches) -> Option<&String> {
    matches.get_one("nats-prefix")
}

/// Returns the workers at the server in the option `name`.
#[cfg(feature = "nats")]
pub(crate) fn backend(matches: &ArgMatches, name: &str) -> Result<Option<NatsBackend>, CommandError> {
    Ok(connect(matches, name)?.map(|connect| {
        let mut backend = NatsBackend::new(NAME, connect);
        if let Some(prefix) = prefix(matches) {
            backend = backend.prefix(prefix);
        }
        if let Some(bucket) = matches.get_one::<String>("nats-bodies") {
            backend = backend.body_bucket(bucket);
        }
        if let Some(namespaces) = matches.get_many::<String>("nats-only") {
            backend = backend.only(namespaces);
        }
        if matches.get_flag("nats-claim") {
            backend = backend.retry(RetryPolicy::Claimed);
        }
        if matches.get_flag("nats-send-credentials") {
            backend = backend.send_credentials();
        }
        if matches.get_flag("nats-trust") { backend.trusted() } else { backend }
    }))
}

/// Returns the tools of the workers if the command line has `--nats`. The runtime must be entered while the tools are called.
#[cfg(feature = "nats")]
pub(crate) fn collect(matches: &ArgMatches, runtime: &Runtime) -> Result<Option<(Catalog, Routes)>, CommandError> {
    use std::io::Write;

    let Some(backend) = backend(matches, "nats")? else { return Ok(None) };
    let backends = Backends::new();
    backends.register(backend).map_err(|error| CommandError::Setup(Box::new(error)))?;
    let collected = runtime.block_on(backends.collect(Catalog::new([])?));
    if let Some(failure) = collected.failures.into_iter().next() {
        return Err(CommandError::Tool(failure.error));
    }
    for diagnostic in &collected.diagnostics {
        let _ = writeln!(anstream::stderr(), "{} {}", style::WARNING, printable(diagnostic.message()));
    }
    Ok(Some((collected.catalog, collected.routes)))
}

/// Returns the tools of the workers, only to describe them, if the command line has `--nats`.
pub(crate) fn catalog(matches: &ArgMatches) -> Result<Option<Catalog>, CommandError> {
    if !IS_ON || !matches.contains_id("nats") {
        return Ok(None);
    }
    Ok(collect(matches, &crate::runtime::create()?)?.map(|(catalog, _)| catalog))
}

/// Returns `None`, since clap rejects the option.
#[cfg(not(feature = "nats"))]
pub(crate) fn collect(_: &ArgMatches, _: &Runtime) -> Result<Option<(Catalog, Routes)>, CommandError> {
    Ok(None)
}
