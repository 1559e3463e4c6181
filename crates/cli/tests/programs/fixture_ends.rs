//! A program whose tools end the process, tools that only look as if they broke a promise, and instructions that are too long.

use std::process::ExitCode;

use toolkit::tool;

fn main() -> ExitCode {
    toolkit_cli::program!().server(|server| Ok(server.instructions("Dates are in UTC. ".repeat(120)))).main()
}

/// Aborts for a number above 36.
#[tool(namespace = "end", read_only)]
fn abort(number: u32) -> u32 {
    if number > 36 {
        std::process::abort();
    }
    number
}

/// Exits as if all were well.
#[tool(namespace = "end", read_only)]
fn exit() {
    std::process::exit(0);
}

/// Recurses without an end.
#[tool(namespace = "end", read_only)]
fn overflow(text: String) -> String {
    #[allow(unconditional_recursion, clippy::only_used_in_recursion)]
    fn deeper(text: &str) -> usize {
        std::hint::black_box(deeper(std::hint::black_box(text))) + text.len()
    }
    deeper(&text).to_string()
}

/// Fails with an error that is not shown.
#[tool(namespace = "other", read_only)]
fn broken() -> Result<i64, std::io::Error> {
    Err(std::io::Error::other("disk on fire"))
}

/// Logs what it does.
#[tool(namespace = "other", read_only)]
fn logs(text: String) -> usize {
    eprintln!("asked for {text:?}");
    text.len()
}

/// Prints, which breaks a server over stdio.
#[tool(namespace = "other", read_only)]
fn prints(n: u8) -> u8 {
    println!("{n}");
    n
}
