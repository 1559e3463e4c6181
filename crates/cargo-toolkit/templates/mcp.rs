//! A command-line program and MCP server of the tools in `tools.rs`.

mod tools;

use std::time::Duration;

/// The options of this program, before or after each command.
#[derive(clap::Args)]
struct Options {
    /// Seconds after which a call ends
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    call_limit: u64,
}

fn main() -> std::process::ExitCode {
    toolkit_cli::program!()
        .options(|options: Options, program| {
            let limit = Duration::from_secs(options.call_limit);
            Ok(program.dispatcher(move |dispatcher| Ok(dispatcher.timeout(limit))))
        })
        .main()
}
