//! Calls over HTTP, on connections that stay open.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::thread;

use crate::load::{Server, Spent};

const N_CONNECTIONS: usize = 8;

const BODY: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"}}}}"#;

pub(crate) fn measure(name: &str, n_calls: usize) -> Spent {
    let mut server = Server::start(name);
    let mut address = String::new();
    let output = server.0.stdout.take().expect("stdout is a pipe");
    BufReader::new(output).read_line(&mut address).expect("the server says where it is");
    let address = address.trim();
    ask(address, n_calls / 10);
    server.spend(n_calls, || ask(address, n_calls))
}

fn ask(address: &str, n_calls: usize) {
    thread::scope(|scope| {
        for _ in 0..N_CONNECTIONS {
            scope.spawn(move || {
                let mut connection = Connection::open(address);
                (0..n_calls / N_CONNECTIONS).for_each(|_| connection.call());
            });
        }
    });
}

struct Connection {
    stream: BufReader<TcpStream>,
    request: String,
    line: String,
    body: Vec<u8>,
}

impl Connection {
    fn open(address: &str) -> Self {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_nodelay(true).expect("it is a connection");
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
             mcp-method: tools/call\r\nmcp-name: add\r\ncontent-length: {}\r\n\r\n{BODY}",
            BODY.len()
        );
        Self { stream: BufReader::new(stream), request, line: String::new(), body: Vec::new() }
    }

    fn call(&mut self) {
        self.stream.get_mut().write_all(self.request.as_bytes()).expect("the server reads");
        let (mut length, mut is_chunked) = (0, false);
        assert!(self.line().contains(" 200 "), "{}", self.line);
        loop {
            let line = self.line().to_ascii_lowercase();
            match line.trim_end().split_once(": ") {
                Some(("content-length", value)) => length = value.parse().expect("a number"),
                Some(("transfer-encoding", _)) => is_chunked = true,
                Some(_) => {}
                None => break,
            }
        }
        self.body.clear();
        while is_chunked {
            let length = usize::from_str_radix(self.line().trim_end(), 16).expect("the length of a chunk");
            self.take(length + 2);
            is_chunked = length > 0;
        }
        self.take(length);
        let text = String::from_utf8_lossy(&self.body);
        assert!(text.contains(r#""structuredContent":{"sum":3}"#), "{text}");
    }

    fn line(&mut self) -> &str {
        self.line.clear();
        self.stream.read_line(&mut self.line).expect("the server answers");
        &self.line
    }

    fn take(&mut self, length: usize) {
        let start = self.body.len();
        self.body.resize(start + length, 0);
        self.stream.read_exact(&mut self.body[start..]).expect("the server answers in full");
    }
}
