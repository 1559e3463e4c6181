//! The minimum for each transport: servers that implement nothing of the protocol but this one call.

use std::io::{BufRead, BufReader, BufWriter, Write, stdin, stdout};
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use serde_json::value::RawValue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use toolkit::Dispatcher;
use toolkit::mcp::{CallParams, Revision, write_result};

use super::answer::Message;
use super::{Answered, listener};

const JSON: [(&str, &str); 1] = [("content-type", "application/json")];

/// A handler of axum.
pub(super) async fn axum(answered: Answered) {
    let handler = async move |body: Bytes| (JSON, answered(&body));
    let router = Router::new().route("/mcp", post(handler));
    axum::serve(listener().await, router).await.expect("it serves");
}

/// A handler of axum with a dispatcher, which looks up the tool and checks arguments and result.
pub(super) async fn axum_with(dispatcher: Dispatcher) {
    let dispatcher = Arc::new(dispatcher);
    let handler = move |body: Bytes| {
        let dispatcher = Arc::clone(&dispatcher);
        async move { (JSON, dispatched(&dispatcher, &body).await) }
    };
    let router = Router::new().route("/mcp", post(handler));
    axum::serve(listener().await, router).await.expect("it serves");
}

async fn dispatched(dispatcher: &Dispatcher, message: &[u8]) -> Vec<u8> {
    let message: Message<'_, &RawValue> = serde_json::from_slice(message).expect("valid");
    let params = CallParams::parse(message.params.get().as_bytes()).expect("valid");
    let tool = dispatcher.prepared(params.name()).expect("it is there");
    let result = tool.call(params.arguments()).await.expect("it succeeds");
    response(message.id, &write_result(tool.tool(), &result, Revision::V2026_07_28))
}

fn response(id: &RawValue, result: &[u8]) -> Vec<u8> {
    let mut response = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#).into_bytes();
    response.extend_from_slice(result);
    response.push(b'}');
    response
}

/// HTTP read by hand: a head, and the number of bytes in its `content-length`.
pub(super) async fn socket(answered: Answered) {
    let listener = listener().await;
    loop {
        let (stream, _) = listener.accept().await.expect("it listens");
        tokio::spawn(connection(stream, answered));
    }
}

async fn connection(mut stream: TcpStream, answered: Answered) {
    const END_OF_HEAD: &[u8] = b"\r\n\r\n";
    let mut read = Vec::with_capacity(4 << 10);
    while stream.read_buf(&mut read).await.is_ok_and(|n_bytes| n_bytes > 0) {
        let Some(head) = read.windows(END_OF_HEAD.len()).position(|bytes| bytes == END_OF_HEAD) else { continue };
        let text = str::from_utf8(&read[..head]).expect("ASCII");
        let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("it has a body");
        let start = head + END_OF_HEAD.len();
        let Some(body) = read.get(start..start + length.parse::<usize>().expect("a number")) else { continue };
        let body = answered(body);
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.write_all((head + &body).as_bytes()).await.expect("somebody reads");
        // One call at a time: nothing follows it.
        read.clear();
    }
}

/// One thread that reads and writes lines, and flushes when there is no further input.
pub(super) fn lines(answered: Answered) {
    each_line(|line| answered(line).into_bytes());
}

/// The same with a dispatcher, which looks up the tool and checks arguments and result.
pub(super) fn lines_with(dispatcher: &Dispatcher) {
    each_line(|line| {
        let message: Message<'_, &RawValue> = serde_json::from_slice(line).expect("valid");
        let params = CallParams::parse(message.params.get().as_bytes()).expect("valid");
        let tool = dispatcher.prepared(params.name()).expect("it is there");
        let result = tool.call_sync(params.arguments()).expect("it succeeds");
        response(message.id, &write_result(tool.tool(), &result, Revision::V2025_11_25))
    });
}

fn each_line(answer: impl Fn(&[u8]) -> Vec<u8>) {
    let (mut input, mut output) = (BufReader::new(stdin()), BufWriter::new(stdout()));
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).is_ok_and(|n_read| n_read > 0) {
        if line.windows(12).any(|word| word == b"\"tools/call\"") {
            output.write_all(&answer(&line)).and_then(|()| output.write_all(b"\n")).expect("somebody reads");
        } else if line.windows(12).any(|word| word == b"\"initialize\"") {
            writeln!(output, "{{}}").expect("somebody reads");
        }
        line.clear();
        if input.buffer().is_empty() {
            output.flush().expect("somebody reads");
        }
    }
}
