//! `run` and `serve-sandbox`: programs that call the tools.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, value_parser};
use tokio::net::TcpListener;
use toolkit::dispatch::DispatcherBuilder;
use toolkit::{Catalog, Context};
use toolkit_code::sandbox::{Inline, Process, Remote, Sandbox};
use toolkit_code::server::{Server, ServerLimits};
use toolkit_code::{CodeMode, Execution, Limits, Profile, Program};

use crate::error::{CommandError, Configure, Exit};
use crate::listen::{self, address, bind_error, until_signal};
use crate::options::{duration, json_switch, option, read_text, switch};
use crate::style::{self, content_line, printable};
use crate::{credentials, foreground, runtime};

/// The time after the limit of the run within which it should have ended.
const BLOCKED: Duration = Duration::from_secs(1);
/// The maximum number of columns of the arguments and the result of a call.
const WIDTH: usize = 60;

pub(crate) fn run_command() -> Command {
    Command::new("run")
        .about("Run a program that calls the tools")
        .long_about(
            "Run a program that calls the tools: JavaScript or TypeScript, the body of an async function, in which \
             `await tools.NAMESPACE.NAME({...})` calls a tool. What it returns goes to stdout as JSON, and what it \
             prints to stderr.\n\nThe program has no files, no network and no variables of the environment. The tools \
             that it calls are those of `call`, with the same credentials.",
        )
        .arg(
            Arg::new("program")
                .required(true)
                .value_name("FILE | -")
                .value_parser(value_parser!(PathBuf))
                .help("The file of the program, or `-` for stdin"),
        )
        .args(sandbox_options())
        .arg(
            option("timeout", "TIME")
                .value_parser(duration)
                .help("Time of the whole run, with its calls [default: 5m]"),
        )
        .arg(
            option("calls", "N")
                .value_parser(value_parser!(u32))
                .help("The number of calls that the program may make [default: 100]"),
        )
        .arg(switch("trace").help("Print the calls to stderr, with their arguments and results"))
        .arg(json_switch("Print the value, the output, the calls and the limits as one JSON document"))
}

pub(crate) fn run(
    catalog: Catalog,
    matches: &ArgMatches,
    configure: Configure<DispatcherBuilder>,
) -> Result<Exit, CommandError> {
    let path = matches.get_one::<PathBuf>("program").expect("the argument is required");
    let source = read_text(path, Limits::default().code_bytes);
    let source = source.map_err(|message| CommandError::Other { exit: Exit::Usage, kind: "io", message })?;
    let program = Program::javascript(source);
    let sandbox = sandbox(matches)?;
    let runtime = runtime::create()?;
    let dispatcher = runtime::dispatcher(&runtime, catalog, configure)?;
    runtime::silence_panics();
    let limits = limits(matches);
    let code = CodeMode::new(dispatcher, sandbox).limits(limits);
    // A tool that blocks its thread also blocks the timer of the run.
    let time_limit = Some(limits.time + BLOCKED);
    let work =
        foreground::until_done(credentials::of_each_tool(Context::new()), time_limit, None, async move |context| {
            code.run_with(&context, limits, program)
                .await
                .map_err(|error| CommandError::failed("unavailable", error.to_string()))
        });
    let outcome = runtime.block_on(work);
    // A tool that is still running must not keep the process alive.
    runtime.shutdown_background();
    let execution: Execution = outcome?;
    if matches.get_flag("trace") {
        write_trace(&execution);
    }
    match matches.get_flag("json") {
        true => style::write_json(&execution)?,
        false => write(&execution)?,
    }
    Ok(if execution.outcome.is_ok() { Exit::Success } else { Exit::Failed })
}

fn limits(matches: &ArgMatches) -> Limits {
    let mut limits = Limits::default();
    if let Some(&time) = matches.get_one::<Duration>("timeout") {
        limits = limits.time(time).run_time(limits.run_time.min(time));
    }
    if let Some(&calls) = matches.get_one::<u32>("calls") {
        limits = limits.calls(calls);
    }
    limits
}

/// Writes the value to stdout, and the rest to stderr.
fn write(execution: &Execution) -> io::Result<()> {
    let mut err = anstream::stderr();
    for printed in &execution.printed {
        let _ = writeln!(err, "{}", printable(&printed.text));
    }
    for block in &execution.content {
        let _ = writeln!(err, "{}", printable(&content_line(block)));
    }
    match &execution.outcome {
        Ok(value) => style::write_line(value.get()),
        Err(failure) => {
            let _ = writeln!(err, "{} {}", style::ERROR, printable(&failure.to_string()));
            if let Some(source) = &failure.source {
                let _ = writeln!(err, "  {}", printable(source));
            }
            Ok(())
        }
    }
}

/// Writes one line for each call.
fn write_trace(execution: &Execution) {
    let mut err = anstream::stderr();
    for call in &execution.calls {
        let (mark, result) = match &call.result {
            Ok(result) => ("->", result.get()),
            Err(error) => ("!!", &*error.message),
        };
        let line = call.line.map(|line| format!("{line}: ")).unwrap_or_default();
        let (args, result) = (printable(call.args.get()), printable(result));
        let _ = writeln!(
            err,
            "{line}{}({}) {mark} {} [{:.1?}]",
            printable(&call.tool),
            style::cut(&args, WIDTH),
            style::cut(&result, WIDTH),
            call.duration,
        );
    }
}

pub(crate) fn serve_sandbox_command() -> Command {
    Command::new("serve-sandbox")
        .about("Serve a sandbox, in which programs of other machines run")
        .long_about(format!(
            "Serve a sandbox at http://ADDR until the process receives SIGTERM or Ctrl-C. Programs of `run --sandbox URL` \
             and `serve --code --sandbox URL` run here, each in a confined process, and their tools run there.\n\nEveryone \
             who sends the token may run programs. It is read from the environment variable {TOKEN}, or from that of \
             --sandbox-token-env. Put a proxy with TLS in front, since other machines are only reached by https."
        ))
        .arg(
            Arg::new("address")
                .required(true)
                .value_name("ADDR")
                .value_parser(address)
                .help("The address, such as 0.0.0.0:8090; a port without a host listens on 127.0.0.1"),
        )
        .arg(profile().default_value("hardened").help(
            "`hardened` runs no program unless the kernel confines everything, `standard` confines what the kernel can",
        ))
        .arg(
            option("sessions", "N")
                .value_parser(value_parser!(usize))
                .help("The number of programs that run at the same time [default: 64]"),
        )
        .arg(
            option("memory", "MIB")
                .value_parser(value_parser!(u32).range(1..))
                .help("The memory that a program may ask for, in MiB [default: 64]"),
        )
        .arg(token_option())
}

pub(crate) fn serve_sandbox(matches: &ArgMatches) -> Result<Exit, CommandError> {
    let address = listen::resolve(matches.get_one::<String>("address").expect("the argument is required"))?;
    let profile = matches.get_one::<Profile>("profile").copied().unwrap_or(Profile::Hardened);
    let mut limits = ServerLimits::default();
    if let Some(&sessions) = matches.get_one::<usize>("sessions") {
        limits.max_sessions = sessions;
    }
    if let Some(&mebibytes) = matches.get_one::<u32>("memory") {
        limits.program = limits.program.memory_bytes(u64::from(mebibytes) << 20);
    }
    let server = Server::new(Process::new().profile(profile), token(matches)?).limits(limits);
    let runtime = runtime::create()?;
    runtime.block_on(serve(server, address))?;
    Ok(Exit::Success)
}

async fn serve(server: Server, address: SocketAddr) -> Result<(), CommandError> {
    let listener = TcpListener::bind(address).await.map_err(|error| bind_error(address, &error))?;
    let address = listener.local_addr().map_err(|error| bind_error(address, &error))?;
    writeln!(anstream::stderr(), "sandbox at http://{address}")?;
    let wait = "waiting for running programs; a second signal ends them";
    until_signal(wait, |stopped| server.serve(listener, async { drop(stopped.await) })).await
}

/// The environment variable of the token for a sandbox on another machine.
const TOKEN: &str = "SANDBOX_TOKEN";

/// Returns the options that choose it.
pub(crate) fn sandbox_options() -> Vec<Arg> {
    vec![
        profile().help("Where programs run: standard (confined), hardened (or refused), dev"),
        option("sandbox", "URL").help("Run programs where `serve-sandbox` runs"),
        token_option().requires("sandbox"),
    ]
}

/// Creates the option `--profile`.
fn profile() -> Arg {
    option("profile", "PROFILE").value_parser(value_parser!(Profile)).default_value("standard")
}

/// Creates the option `--sandbox-token-env`.
fn token_option() -> Arg {
    option("sandbox-token-env", "NAME").help("Variable of the token of the sandbox [default: SANDBOX_TOKEN]")
}

/// Returns the chosen sandbox.
pub(crate) fn sandbox(matches: &ArgMatches) -> Result<Arc<dyn Sandbox>, CommandError> {
    let profile = matches.get_one::<Profile>("profile").copied().unwrap_or_default();
    if let Some(url) = matches.get_one::<String>("sandbox") {
        let remote =
            Remote::new(url, token(matches)?).map_err(|error| CommandError::usage(format!("`--sandbox`: {error}")))?;
        return Ok(Arc::new(remote.profile(profile)));
    }
    Ok(match profile {
        Profile::Dev => Arc::new(Inline::javascript()),
        profile => Arc::new(Process::new().profile(profile)),
    })
}

/// Returns the token of a sandbox on another machine.
fn token(matches: &ArgMatches) -> Result<String, CommandError> {
    let named = listen::named(matches, "sandbox-token-env")?;
    let token = named.or_else(|| std::env::var(TOKEN).ok().filter(|token| !token.is_empty()));
    token.ok_or_else(|| {
        CommandError::usage(format!("set {TOKEN} to the token of the sandbox, or pass --sandbox-token-env"))
    })
}
