//! `serve-sandbox`: runs programs of other machines.

use std::io::Write;
use std::net::SocketAddr;

use clap::{Arg, ArgMatches, Command, value_parser};
use tokio::net::TcpListener;
use toolkit_code::Profile;
use toolkit_code::sandbox::Process;
use toolkit_code::server::{Server, ServerLimits};

use super::sandbox::{self, TOKEN};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::listen::{address, bind_error, until_signal};
use crate::runtime;

pub(super) fn command() -> Command {
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
        .arg(sandbox::profile().default_value("hardened").help(
            "`hardened` runs no program unless the kernel confines everything, `standard` confines what the kernel can",
        ))
        .arg(
            Arg::new("sessions")
                .long("sessions")
                .value_name("N")
                .value_parser(value_parser!(usize))
                .help("The number of programs that run at the same time [default: 64]"),
        )
        .arg(
            Arg::new("memory")
                .long("memory")
                .value_name("MIB")
                .value_parser(value_parser!(u32).range(1..))
                .help("The memory that a program may ask for, in MiB [default: 64]"),
        )
        .arg(sandbox::token_option())
}

pub(super) fn run(matches: &ArgMatches) -> Result<Exit, CommandError> {
    let address = *matches.get_one::<SocketAddr>("address").expect("the argument is required");
    let profile = matches.get_one::<Profile>("profile").copied().unwrap_or(Profile::Hardened);
    let mut limits = ServerLimits::default();
    if let Some(&sessions) = matches.get_one::<usize>("sessions") {
        limits.max_sessions = sessions;
    }
    if let Some(&mebibytes) = matches.get_one::<u32>("memory") {
        limits.program = limits.program.memory_bytes(u64::from(mebibytes) << 20);
    }
    let server = Server::new(Process::new().profile(profile), sandbox::token(matches)?).limits(limits);
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
