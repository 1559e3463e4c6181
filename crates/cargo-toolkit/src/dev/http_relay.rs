//! The address of a server over HTTP, which outlives the processes of the program.
//!
//! Each request has a connection of its own to the process that is the newest when it arrives, and its response ends the
//! connection of the client. A replaced process ends after its last response. Streams of events, which begin with `GET`, end at
//! once, so that their clients connect to the new process.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{ChildStdin, Command};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::build_state::BuildState;
use super::process::LastLines;
use super::{Front, PATIENCE, START_TIMEOUT};
use crate::guard;

/// The maximum size of the head of a request, in bytes.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// The time in which a client must send the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// An address that several threads serve.
#[derive(Clone)]
pub(super) struct HttpRelay(Arc<HttpRelayShared>);

struct HttpRelayShared {
    address: SocketAddr,
    served: Mutex<HttpServed>,
    /// Notified of a new process or state.
    changed: Condvar,
}

struct HttpServed {
    n_started: u64,
    current: Option<HttpProcess>,
    state: BuildState,
    crash: Option<String>,
    /// The connections of the current process whose requests began with `GET`.
    streams: Vec<TcpStream>,
}

/// A running process.
struct HttpProcess {
    number: u64,
    address: SocketAddr,
    /// The pipe at whose end the process ends. Each of its requests holds it.
    alive: Arc<Option<ChildStdin>>,
}

impl HttpRelay {
    /// Starts to accept connections of clients.
    pub(super) fn listen(listener: TcpListener) -> io::Result<Self> {
        let served =
            HttpServed { n_started: 0, current: None, state: BuildState::Building, crash: None, streams: Vec::new() };
        let address = listener.local_addr()?;
        let shared = HttpRelayShared { address, served: Mutex::new(served), changed: Condvar::new() };
        let relay = Self(Arc::new(shared));
        let accepting = relay.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let relay = accepting.clone();
                // A connection that fails is that of its client.
                thread::spawn(move || relay.pass_on(client));
            }
        });
        Ok(relay)
    }

    fn served(&self) -> MutexGuard<'_, HttpServed> {
        self.0.served.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes on a request and its response.
    fn pass_on(&self, mut client: TcpStream) -> io::Result<()> {
        client.set_nodelay(true)?;
        client.set_read_timeout(Some(HEAD_TIMEOUT))?;
        let Some((head, rest)) = read_head(&mut client)? else { return Ok(()) };
        client.set_read_timeout(None)?;
        let served = self.served();
        let waits = |served: &mut HttpServed| served.current.is_none() && matches!(served.state, BuildState::Building);
        let waited = self.0.changed.wait_timeout_while(served, PATIENCE, waits);
        let (mut served, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let Some(process) = &served.current else {
            let text = format!("the program does not run: {}\n", served.state.report());
            drop(served);
            let head =
                "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close";
            return write!(client, "{head}\r\nContent-Length: {}\r\n\r\n{text}", text.len());
        };
        let _alive = Arc::clone(&process.alive);
        let mut server = TcpStream::connect(process.address)?;
        if head.starts_with("GET ") {
            served.streams.retain(|stream| stream.peer_addr().is_ok());
            served.streams.push(server.try_clone()?);
        }
        drop(served);
        server.set_nodelay(true)?;
        server.write_all(head.as_bytes())?;
        server.write_all(&rest)?;
        let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
        thread::spawn(move || {
            // A client that is gone ends its call.
            let _ = io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Write);
        });
        let copied = io::copy(&mut server, &mut client);
        client.shutdown(Shutdown::Both)?;
        copied.map(drop)
    }

    /// Records the end of a process.
    fn ended(&self, number: u64, reason: String) {
        let mut served = self.served();
        if served.current.as_ref().is_some_and(|current| current.number == number) {
            served.current = None;
            served.crash = Some(reason);
        }
    }
}

impl Front for HttpRelay {
    fn start(&self, command: Command) -> Result<(), String> {
        let mut child = guard::spawn(&command)
            .map_err(|error| format!("cannot run {}: {error}", command.get_program().display()))?;
        let alive = child.stdin.take();
        let number = {
            let mut served = self.served();
            served.n_started += 1;
            served.n_started
        };
        let (sender, started) = channel();
        let (log, public) = (LastLines::default(), self.0.address);
        let (addressed, mut own) = (sender.clone(), None);
        let printed = child.stderr.take().map(|pipe| {
            log.copy(pipe, move |line| {
                if let Some(address) = served_address(&line).filter(|_| own.is_none()) {
                    own = Some(address.to_string());
                    let _ = addressed.send(Ok(address));
                }
                own.as_ref().map_or_else(|| line.clone(), |own| line.replace(own, &public.to_string()))
            })
        });
        let output = child.stdout.take();
        thread::spawn(move || output.map(|mut output| io::copy(&mut output, &mut io::stderr())));
        let relay = self.clone();
        thread::spawn(move || {
            let status = child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
            // The reason of the end, unless the program outlives its guard after it was told to end.
            let is_replaced = relay.served().current.as_ref().is_some_and(|current| current.number > number);
            printed.filter(|_| !is_replaced).map(thread::JoinHandle::join);
            let reason = log.after(&status);
            let _ = sender.send(Err(format!("the new program has ended at its start: {reason}")));
            relay.ended(number, reason);
        });
        let address = started.recv_timeout(START_TIMEOUT).unwrap_or_else(|_| {
            Err(format!("the new program has served no address within {} s", START_TIMEOUT.as_secs()))
        })?;
        let mut served = self.served();
        served.state = BuildState::Current;
        served.crash = None;
        served.current = Some(HttpProcess { number, address, alive: Arc::new(alive) });
        for stream in std::mem::take(&mut served.streams) {
            // It may have ended.
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.0.changed.notify_all();
        Ok(())
    }

    fn set_state(&self, state: BuildState) {
        self.served().state = state;
        self.0.changed.notify_all();
    }

    fn is_running(&self) -> bool {
        self.served().current.is_some()
    }

    fn crash(&self) -> Option<String> {
        self.served().crash.take()
    }
}

/// Reads the head of a request, and what follows it. Returns the head of a request that closes its connection, or `None` at the
/// end of the connection.
fn read_head(client: &mut TcpStream) -> io::Result<Option<(String, Vec<u8>)>> {
    let (mut read, mut piece) = (Vec::new(), [0; 8 << 10]);
    let end = loop {
        match client.read(&mut piece)? {
            0 => return Ok(None),
            n => read.extend_from_slice(&piece[..n]),
        }
        if let Some(end) = read.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            break end;
        }
        if read.len() > MAX_HEAD_BYTES {
            return Ok(None);
        }
    };
    let rest = read.split_off(end + 4);
    // Header fields are in ASCII.
    let head = String::from_utf8_lossy(&read[..end]);
    let is_kept = |line: &&str| {
        let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
        name != "connection" && name != "keep-alive"
    };
    let mut head: String = head.split("\r\n").filter(is_kept).map(|line| format!("{line}\r\n")).collect();
    head.push_str("Connection: close\r\n\r\n");
    Ok(Some((head, rest)))
}

/// Returns the address in the line by which `serve` reports it.
fn served_address(line: &str) -> Option<SocketAddr> {
    let (_, address) = line.split_once("serving at http://")?;
    address.split_once("/mcp")?.0.parse().ok()
}

/// Splits the arguments of `serve` into the address of `--http`, if any, and those of a process at an address of its own.
///
/// # Errors
///
/// Returns an error for an address that other machines can reach, or that is in use.
pub(super) fn bind(arguments: &mut [std::ffi::OsString]) -> Result<Option<TcpListener>, String> {
    const OWN: &str = "127.0.0.1:0";
    let Some(at) = arguments.iter().position(|word| word == "--http" || word.to_string_lossy().starts_with("--http="))
    else {
        return Ok(None);
    };
    let given = arguments[at].to_string_lossy().into_owned();
    let (address, own) = match given.split_once('=') {
        Some((_, address)) => (address.to_owned(), format!("--http={OWN}")),
        None => {
            let address = arguments.get_mut(at + 1).ok_or("`--http` needs an address, such as 8000")?;
            let given = address.to_string_lossy().into_owned();
            *address = OWN.into();
            (given, "--http".to_owned())
        }
    };
    arguments[at] = own.into();
    let (host, port) = address.rsplit_once(':').unwrap_or(("", &address));
    let address = format!("{}:{port}", if matches!(host, "" | "localhost") { "127.0.0.1" } else { host });
    let listener = TcpListener::bind(&address).map_err(|error| format!("cannot listen at {address}: {error}"))?;
    match listener.local_addr() {
        Ok(bound) if bound.ip().is_loopback() => Ok(Some(listener)),
        _ => Err(format!("other machines can reach {address}; `dev` serves this one only: write `--http 8000`")),
    }
}
