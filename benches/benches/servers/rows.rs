//! The servers that are compared.

use std::process::Command;

use crate::cores::Cores;
use crate::http::Revision;

/// A server to compare.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// The parts of a call that the server checks against schemas.
    pub(crate) checked: &'static str,
    pub(crate) program: Program,
    /// The name of the server in its program.
    pub(crate) server: &'static str,
}

/// The program that contains a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// This program, in `serve`.
    This,
    /// `peers/serve.py`.
    Python,
    /// `peers/serve.mjs`.
    Node,
}

const fn row(name: &'static str, checked: &'static str, program: Program, server: &'static str) -> Row {
    Row { name, checked, program, server }
}

/// Servers over HTTP; the first is the reference of the ratios.
pub(crate) fn http(revision: Revision) -> Vec<Row> {
    let mut rows = vec![
        row("a handler of axum", "nothing", Program::This, "axum"),
        row("a socket of tokio, HTTP read by hand", "nothing", Program::This, "socket"),
        row("a handler of axum with `Dispatcher::call`", "in and out", Program::This, "axum-dispatcher"),
        row("`toolkit-mcp-server`", "in and out", Program::This, "toolkit"),
        row("rmcp 3.11.0, no macros, no router", "nothing", Program::This, "rmcp-bare"),
        row("rmcp 3.11.0, macros, one handler cloned", "nothing", Program::This, "rmcp-cloned"),
        row("rmcp 3.11.0, macros, as in its examples", "nothing", Program::This, "rmcp"),
    ];
    // Version 1 rejects revisions after 2025-11-25.
    rows.extend(peers().filter(|row| revision == Revision::V2025_11_25 || row.server != "v1"));
    rows
}

/// The servers that are compared beside computing processes. The last one is the floor of a transport.
pub(crate) fn busy(floor: &'static str) -> [Row; 3] {
    [
        row("`toolkit-mcp-server`", "in and out", Program::This, "toolkit"),
        row("rmcp 3.11.0, macros", "nothing", Program::This, "rmcp-cloned"),
        row(floor, "nothing", Program::This, floor),
    ]
}

/// Returns the servers that have all of the tools: the peers have `add` only.
pub(crate) fn of_rust(mut rows: Vec<Row>) -> Vec<Row> {
    rows.retain(|row| row.program == Program::This);
    rows
}

/// Servers over pipes; the first is the reference of the ratios.
pub(crate) fn pipe() -> Vec<Row> {
    let mut rows = vec![
        row("a loop over lines", "nothing", Program::This, "loop"),
        row("a loop over lines with `Dispatcher::call_sync`", "in and out", Program::This, "loop-dispatcher"),
        row("`toolkit-mcp-server`", "in and out", Program::This, "toolkit"),
        row("rmcp 3.11.0, no macros, no router", "nothing", Program::This, "rmcp-bare"),
        row("rmcp 3.11.0, macros", "nothing", Program::This, "rmcp"),
    ];
    rows.extend(peers());
    rows
}

/// The server over pipes, and proxies in front of it; the first is the reference of the ratios.
pub(crate) fn proxied() -> Vec<Row> {
    vec![
        row("`toolkit-mcp-server`", "in and out", Program::This, "toolkit"),
        row("behind a proxy, over pipes", "in and out, twice", Program::This, "proxy-to-pipes"),
        row("behind a proxy, over HTTP", "in and out, twice", Program::This, "proxy-to-http"),
        row("behind a proxy of `fastmcp` 4.1, over pipes", "in and out", Program::Python, "fastmcp-proxy"),
    ]
}

/// Clients of the server over HTTP; the first is the reference of the ratios.
pub(crate) fn clients() -> Vec<Row> {
    vec![
        row("a POST of reqwest", "nothing", Program::This, "post"),
        row("`toolkit-mcp-client`", "in and out", Program::This, "toolkit"),
        row("rmcp 3.11.0", "nothing", Program::This, "rmcp"),
    ]
}

/// The server that these clients call.
pub(crate) const CALLED: Row = row("`toolkit-mcp-server`", "in and out", Program::This, "toolkit");

fn peers() -> impl Iterator<Item = Row> {
    [
        row("TypeScript, `@modelcontextprotocol/sdk` 1.32.2", "in and out", Program::Node, "v1"),
        row("TypeScript, `@modelcontextprotocol/server` 2.4.0", "in and out", Program::Node, "v2"),
        row("Python, `mcp` 2.3.0, `lowlevel`", "nothing", Program::Python, "lowlevel"),
        row("Python, `mcp` 2.3.0, `MCPServer`", "in and out", Program::Python, "mcpserver"),
        row("Python, `fastmcp` 4.1", "in and out", Program::Python, "fastmcp"),
    ]
    .into_iter()
}

impl Program {
    /// Returns true if the server can run: the peers need `TOOLKIT_PEERS`, `python` and `node`.
    pub(crate) fn is_there(self) -> bool {
        self == Self::This || std::env::var_os("TOOLKIT_PEERS").is_some()
    }

    /// Returns the command that starts it, without the name of the server.
    pub(crate) fn command(self, cores: Cores) -> Command {
        let peers = || std::env::var("TOOLKIT_PEERS").expect("it is there");
        let (program, arguments) = match self {
            Self::This => {
                let program = std::env::current_exe().expect("the program is a file");
                (program.to_str().expect("cargo names it").to_owned(), vec!["serve".to_owned()])
            }
            Self::Python => ("python".to_owned(), vec![format!("{}/serve.py", peers())]),
            Self::Node => ("node".to_owned(), vec![format!("{}/serve.mjs", peers())]),
        };
        let mut command = cores.command(&program);
        // The program behind a proxy.
        command.args(arguments).env("TOOLKIT_SERVERS", std::env::current_exe().expect("the program is a file"));
        command
    }
}
