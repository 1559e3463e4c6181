//! Calls over pipes of the system, one at a time.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};

use tokio::runtime::Builder;
use toolkit_mcp_server::Server;

use super::pipe::{CALL, answer_lines};

/// A loop over lines.
pub(super) fn floor(n_calls: usize) {
    let (input, output) = call(n_calls);
    answer_lines(input, output);
}

/// The server, from the first line to the last response.
pub(super) fn calls(server: &Server, n_calls: usize) {
    let (input, output) = call(n_calls);
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    runtime.block_on(server.pipes(input, output)).expect("the pipes hold");
}

/// Makes the calls on another thread. Returns the ends of the server.
fn call(n_calls: usize) -> (PipeReader, PipeWriter) {
    let (input, mut calls) = pipe().expect("the system has pipes");
    let (answers, output) = pipe().expect("the system has pipes");
    std::thread::spawn(move || {
        let (mut answers, mut line) = (BufReader::new(answers), String::new());
        for id in 0..n_calls {
            let call = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{CALL}}}\n");
            calls.write_all(call.as_bytes()).expect("the server reads");
            line.clear();
            answers.read_line(&mut line).expect("the server answers");
            assert!(line.contains(r#""sum":42"#), "{line}");
        }
    });
    (input, output)
}
