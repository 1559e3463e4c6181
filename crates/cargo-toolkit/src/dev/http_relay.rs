//! The address of a server over HTTP, which outlives the processes of the program.
//!
//! Each request has a connection of its own to the process that is the newest when it arrives, and its response ends the
//! connection of the client. A replaced process ends after its last response. Its streams of notifications end at once, so that
//! their clients connect to the new process; the stream of the explorer also has the errors of builds.

use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{ChildStdin, Command};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::build_state::BuildState;
use super::http_request::{HttpRequest, closing, field, read_head};
use super::message::{Fields, id, list_changes, object, response, text};
use super::process::LastLines;
use super::{Front, INTERVAL, PATIENCE, START_TIMEOUT, stand_in};
use crate::guard;

/// The time in which a client must send a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// The stream of the explorer.
const PAGE_EVENTS: &str = "/explorer/events";

/// The address, which several threads serve.
#[derive(Clone)]
pub(super) struct HttpRelay(Arc<HttpRelayShared>);

struct HttpRelayShared {
    address: SocketAddr,
    /// The name and the version of the package.
    package: (String, String),
    served: Mutex<HttpServed>,
    /// Notified of a new process or state, and of each look at the sources.
    changed: Condvar,
}

#[derive(Default)]
struct HttpServed {
    n_started: u64,
    current: Option<HttpProcess>,
    state: BuildState,
    crash: Option<String>,
    /// The time of the last look at the sources that found no change.
    settled: Option<Instant>,
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
    pub(super) fn listen(listener: TcpListener, name: &str, version: &str) -> io::Result<Self> {
        let package = (name.to_owned(), version.to_owned());
        let (address, changed) = (listener.local_addr()?, Condvar::new());
        let relay = Self(Arc::new(HttpRelayShared { address, package, served: Mutex::default(), changed }));
        let accepting = relay.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let relay = accepting.clone();
                // If a connection fails, its client sees it.
                thread::spawn(move || relay.pass_on(client));
            }
        });
        Ok(relay)
    }

    fn served(&self) -> MutexGuard<'_, HttpServed> {
        self.0.served.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what is served, after the time that requests wait at most.
    fn served_after(&self, waits: impl Fn(&HttpServed) -> bool) -> MutexGuard<'_, HttpServed> {
        let waited = self.0.changed.wait_timeout_while(self.served(), PATIENCE, |served| waits(served));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Passes on a request and its response.
    fn pass_on(&self, client: TcpStream) -> io::Result<()> {
        client.set_nodelay(true)?;
        client.set_read_timeout(Some(REQUEST_TIMEOUT))?;
        let Some(request) = HttpRequest::read(&client)? else { return Ok(()) };
        client.set_read_timeout(None)?;
        let message = request.message().unwrap_or_default();
        let (method, params) = (text(&message, "method").unwrap_or_default(), object(&message, "params"));
        let id = id(&message, "id");
        if let Some(id) = id.as_deref().filter(|_| stand_in::is_errors(&method, &params)) {
            let asked = Instant::now();
            let served = self.served_after(|served| served.settled.is_none_or(|settled| settled <= asked));
            let text = response(id, &stand_in::errors(stand_in::is_newest(&params), &served.state));
            drop(served);
            return answer(&client, &request, "200 OK\r\nContent-Type: application/json", &text);
        }
        let waits = |served: &HttpServed| served.current.is_none() && matches!(served.state, BuildState::Building);
        let served = self.served_after(waits);
        let Some(process) = &served.current else {
            let (head, text) = match id {
                Some(id) => {
                    let package = (&*self.0.package.0, &*self.0.package.1);
                    let text = stand_in::answer(&id, &method, &params, package, &served.state);
                    ("200 OK\r\nContent-Type: application/json", text)
                }
                None if !message.is_empty() => ("202 Accepted", String::new()),
                // A browser asks again.
                None => (
                    "503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nRefresh: 2",
                    format!("the program does not run: {}\n", served.state.report()),
                ),
            };
            drop(served);
            return answer(&client, &request, head, &text);
        };
        let (number, _alive) = (process.number, Arc::clone(&process.alive));
        let mut server = TcpStream::connect(process.address)?;
        drop(served);
        server.set_nodelay(true)?;
        server.write_all(request.passed_head().as_bytes())?;
        server.write_all(&request.body)?;
        let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
        thread::spawn(move || {
            // The call of a client that is gone ends.
            let _ = io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Write);
        });
        let copied = self.copy(server, &client, &request, &message, number);
        client.shutdown(Shutdown::Both)?;
        copied
    }

    /// Copies the response of a process, with what `dev` adds to messages and to streams.
    fn copy(
        &self,
        server: TcpStream,
        mut client: &TcpStream,
        request: &HttpRequest,
        message: &Fields<'_>,
        process: u64,
    ) -> io::Result<()> {
        let mut server = BufReader::new(server);
        let Some(mut head) = read_head(&mut server)? else { return Ok(()) };
        head[0] = head[0].replace("HTTP/1.0", "HTTP/1.1");
        // The length changes with the messages.
        client.write_all(closing(&head, "content-length").as_bytes())?;
        let method = text(message, "method").unwrap_or_default();
        let (is_page, is_listening) = (request.reads(PAGE_EVENTS), method == "subscriptions/listen");
        let is_stream =
            field(&head, "content-type") == Some("text/event-stream") && (is_listening || message.is_empty());
        server.get_ref().set_read_timeout(is_stream.then_some(INTERVAL))?;
        let (mut part, mut shown) = (Vec::new(), None);
        loop {
            let is_over = match server.read_until(b'\n', &mut part) {
                Ok(n) => n == 0 || !part.ends_with(b"\n"),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => false,
                Err(error) => return Err(error),
            };
            if is_over || part.ends_with(b"\n\n") {
                let part = std::mem::take(&mut part);
                client.write_all(&if message.is_empty() { part } else { self.amended(&method, &part) })?;
            }
            if is_over {
                return Ok(());
            }
            if !is_stream || !part.is_empty() {
                continue;
            }
            let served = self.served();
            let errors = match &served.state {
                BuildState::Building => shown.clone(),
                BuildState::Failed(_) => Some(served.state.report()),
                BuildState::Current => None,
            };
            let is_replaced = served.current.as_ref().is_some_and(|current| current.number != process);
            drop(served);
            if is_page && errors != shown {
                write!(client, "data: {}\n\n", json!({ "buildErrors": errors }))?;
                shown = errors;
            }
            if is_replaced {
                let changes = list_changes(is_listening.then_some(message));
                let mut changes = changes.iter().filter(|_| !is_page);
                return changes.try_for_each(|change| write!(client, "data: {change}\n\n"));
            }
        }
    }

    /// Adds to the messages in a part of a response what `dev` knows.
    fn amended(&self, method: &str, part: &[u8]) -> Vec<u8> {
        let (part, served) = (String::from_utf8_lossy(part), self.served());
        let lines = part.split_inclusive('\n').map(|line| {
            let (start, text) = line.split_at(if line.starts_with("data: ") { "data: ".len() } else { 0 });
            start.to_owned() + &stand_in::amended(method, text.to_owned(), &served.state)
        });
        lines.collect::<String>().into_bytes()
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

    fn report(&self, time: Instant) {
        self.served().settled = Some(time);
        self.0.changed.notify_all();
    }
}

/// Answers a request in place of a process.
fn answer(mut client: &TcpStream, request: &HttpRequest, head: &str, text: &str) -> io::Result<()> {
    let (head, text) = match request.is_local() {
        true => (head, text),
        false => ("403 Forbidden\r\nContent-Type: text/plain", "this host is not allowed\n"),
    };
    write!(client, "HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}", text.len())
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
