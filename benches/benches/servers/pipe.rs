//! Calls over pipes, many of them before the first is answered.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::sync::mpsc::sync_channel;
use std::thread;

use crate::load::{Server, Spent};

const N_IN_FLIGHT: usize = 64;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"load","version":"1"}}}"#;

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

pub(crate) fn measure(name: &str, n_calls: usize) -> Spent {
    let mut server = Server::start(name);
    let mut to = BufWriter::new(server.0.stdin.take().expect("stdin is a pipe"));
    let mut from = BufReader::new(server.0.stdout.take().expect("stdout is a pipe"));
    let mut line = String::new();
    writeln!(to, "{INITIALIZE}").and_then(|()| to.flush()).expect("the server reads");
    from.read_line(&mut line).expect("the server answers");
    writeln!(to, "{INITIALIZED}").and_then(|()| to.flush()).expect("the server reads");
    ask(&mut to, &mut from, n_calls / 10);
    server.spend(n_calls, || ask(&mut to, &mut from, n_calls))
}

fn ask(to: &mut (impl Write + Send), from: &mut impl BufRead, n_calls: usize) {
    let (begun, answered) = sync_channel(N_IN_FLIGHT);
    thread::scope(|scope| {
        scope.spawn(move || {
            for id in 1..=n_calls {
                // What is asked goes out before this waits for an answer to make room.
                if begun.try_send(()).is_err() {
                    to.flush().expect("the server reads");
                    begun.send(()).expect("somebody reads the answers");
                }
                let call = r#""method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}"#;
                writeln!(to, r#"{{"jsonrpc":"2.0","id":{id},{call}}}"#).expect("the server reads");
            }
            to.flush().expect("the server reads");
        });
        let mut line = String::new();
        for _ in 0..n_calls {
            line.clear();
            from.read_line(&mut line).expect("the server answers");
            assert!(line.contains(r#""structuredContent":{"sum":3}"#), "{line}");
            answered.recv().expect("it was asked");
        }
    });
}
