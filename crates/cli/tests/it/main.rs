//! The command line of a program with tools, `tests/programs/fixture_tools.rs`.

mod access_tokens;
mod ask;
mod bundle;
mod call;
mod catalog;
mod chain;
mod code;
mod cost;
mod durable;
mod embed;
mod flags;
#[cfg(unix)]
mod full;
mod help;
#[cfg(unix)]
mod install;
mod log;
mod login;
#[cfg(target_os = "linux")]
mod memory;
mod nats;
mod openapi;
mod otc;
mod page;
mod places;
mod program_options;
mod replicas;
mod serve;
mod server_card;
mod show;
mod status;
mod stop;
mod terminal;
mod views;

use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use serde_json::Value;

static TOOLS: LazyLock<String> = LazyLock::new(|| path("fixture_tools"));
static ENDS: LazyLock<String> = LazyLock::new(|| path("fixture_ends"));
static BROKEN: LazyLock<String> = LazyLock::new(|| path("fixture_broken"));
/// A program with the tools of the server that `toolkit-mcp-server` is tested with.
static SERVE: LazyLock<String> = LazyLock::new(|| path("fixture_serve"));

/// Returns the path of a program that the tests start.
fn path(name: &str) -> String {
    test_support::program(name).into_os_string().into_string().expect("the path is UTF-8")
}

/// The exit code and output of a command.
#[derive(Debug)]
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ran {
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    #[track_caller]
    fn says(self, text: &str) -> Self {
        assert!(self.err.contains(text), "no {text:?} in {self:?}");
        self
    }

    #[track_caller]
    fn prints(self, text: &str) -> Self {
        assert_eq!(self.out, text, "{self:?}");
        self
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the program prints UTF-8");
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// The credentials that the forecast requires.
const HELD: [(&str, &str); 3] = [("ALMANAC_KEY", "k"), ("ALMANAC_TOKEN", "t"), ("USER_ID", "u")];

/// Returns a command without the environment variables that affect output, and with the required credentials.
fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null());
    for variable in ["RUST_BACKTRACE", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(variable);
    }
    command.envs(HELD);
    command
}

fn tools(args: &[&str]) -> Ran {
    let output = command(&TOOLS, args).output();
    output.expect("the fixture runs").into()
}

fn tools_reading(stdin: &str, args: &[&str]) -> Ran {
    running(&TOOLS, stdin, args)
}

fn running(program: &str, stdin: &str, args: &[&str]) -> Ran {
    fed(command(program, args), stdin)
}

fn fed(mut command: Command, stdin: &str) -> Ran {
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the fixture runs");
    let mut pipe = child.stdin.take().expect("stdin is a pipe");
    // A fixture that rejects its arguments ends without reading.
    if let Err(error) = pipe.write_all(stdin.as_bytes()) {
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe, "{error}");
    }
    drop(pipe);
    child.wait_with_output().expect("the fixture ends").into()
}
