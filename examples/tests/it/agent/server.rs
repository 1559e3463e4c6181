//! A server that imitates a provider: it checks each request, and replies with the next turn of a script.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::script::Turn;
use super::wire::Wire;

pub(crate) struct Server {
    pub(crate) wire: &'static Wire,
    pub(crate) url: String,
    n_requests: Arc<AtomicUsize>,
}

/// How the server behaves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Reliable,
    /// The connection ends in the middle of each reply.
    Cut,
    /// Each response is 429.
    Overloaded,
    /// The first response is 429.
    OverloadedOnce,
    /// No request has a response.
    Silent,
}

impl Server {
    /// Starts a server. Its thread ends with the process.
    pub(crate) fn new(wire: &'static Wire, mode: Mode, turns: impl IntoIterator<Item = Turn>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let n_requests = Arc::new(AtomicUsize::new(0));
        let (count, turns) = (Arc::clone(&n_requests), turns.into_iter().collect::<Vec<_>>());
        thread::spawn(move || {
            for connection in listener.incoming() {
                // A client that closes its connection early is not an error of the server.
                let _ = connection.and_then(|mut connection| respond(&mut connection, wire, mode, &turns, &count));
            }
        });
        Self { wire, url, n_requests }
    }

    pub(crate) fn n_requests(&self) -> usize {
        self.n_requests.load(Ordering::SeqCst)
    }
}

fn respond(connection: &mut TcpStream, wire: &Wire, mode: Mode, turns: &[Turn], count: &AtomicUsize) -> io::Result<()> {
    let request = Request::read(connection)?;
    let index = count.fetch_add(1, Ordering::SeqCst);
    if mode == Mode::Silent {
        loop {
            thread::park();
        }
    }
    if mode == Mode::Overloaded || (mode == Mode::OverloadedOnce && index == 0) {
        return write(connection, "429 Too Many Requests", "application/json", &(wire.error)("slow down").to_string());
    }
    let index = if mode == Mode::OverloadedOnce { index - 1 } else { index };
    if let Err(reason) = request.check(wire, turns, index) {
        return write(connection, "400 Bad Request", "application/json", &(wire.error)(&reason).to_string());
    }
    let body = (wire.reply)(&turns[index]);
    match mode {
        // The announced end of the body never arrives.
        Mode::Cut => write_chunks(connection, wire.content_type, &body[..body.len() * 3 / 4]),
        _ => {
            write_chunks(connection, wire.content_type, &body)?;
            connection.write_all(b"0\r\n\r\n")
        }
    }
}

fn write(connection: &mut TcpStream, status: &str, content_type: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n");
    write!(connection, "{head}connection: close\r\n\r\n{body}")
}

/// Writes chunks that end in the middle of events and characters.
fn write_chunks(connection: &mut TcpStream, content_type: &str, body: &[u8]) -> io::Result<()> {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ntransfer-encoding: chunked\r\n");
    write!(connection, "{head}connection: close\r\n\r\n")?;
    for chunk in body.chunks(37) {
        write!(connection, "{:x}\r\n", chunk.len())?;
        connection.write_all(chunk)?;
        connection.write_all(b"\r\n")?;
    }
    Ok(())
}

struct Request {
    target: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    fn read(connection: &TcpStream) -> io::Result<Self> {
        let mut reader = BufReader::new(connection);
        let mut line = || {
            let mut line = String::new();
            reader.read_line(&mut line).map(|_| line.trim_end().to_owned())
        };
        let target = line()?;
        let mut headers = Vec::new();
        while let Some((name, value)) = line()?.split_once(": ") {
            headers.push((name.to_owned(), value.to_owned()));
        }
        let length = headers.iter().find(|(name, _)| name == "content-length").map(|(_, value)| value.parse());
        let mut body = vec![0; length.and_then(Result::ok).unwrap_or(0)];
        reader.read_exact(&mut body)?;
        Ok(Self { target, headers, body })
    }

    /// Returns the reason why the provider rejects this request.
    fn check(&self, wire: &Wire, turns: &[Turn], index: usize) -> Result<(), String> {
        let target = format!("POST {} HTTP/1.1", wire.path);
        if self.target != target {
            return Err(format!("{} is not {target}", self.target));
        }
        for expected in wire.headers.iter().chain(&[("content-type", "application/json")]) {
            if !self.headers.iter().any(|(name, value)| (name.as_str(), value.as_str()) == *expected) {
                return Err(format!("no header {}: {}", expected.0, expected.1));
            }
        }
        let body = serde_json::from_slice(&self.body).map_err(|error| error.to_string())?;
        let replies = turns.get(..index).filter(|_| index < turns.len()).ok_or("one request too many")?;
        wire.check(body, replies)
    }
}
