//! A command-line program and MCP server of the tools in `tools.rs`.

mod tools;

fn main() -> std::process::ExitCode {
    toolkit_cli::program!().main()
}
