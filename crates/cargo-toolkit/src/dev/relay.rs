//! The session of a client over stdio, which outlives the processes of the program.
//!
//! Messages pass as they come. Requests go to the newest process, and what belongs to a request, such as its cancellation, to the
//! process that runs it. New processes receive what the client has told the earlier ones; replaced processes end after their last
//! response.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::process::Command;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use serde_json::value::RawValue;

use super::build_state::BuildState;
use super::message::{CHANGES, Fields, SUBSCRIPTION, error, fields, id, list_changes, object, replace, response, text};
use super::process::ServedProcess;
use super::stand_in;
use super::{Front, PATIENCE, START_TIMEOUT};

/// The id of the first request to a process.
const START: &str = "\"dev:start\"";
/// The id of requests that repeat those of the client, whose responses it does not see.
const REPEATED: &str = "\"dev:repeated\"";
/// The number of a process, in the order in which they started.
type Generation = u64;

/// The session, which several threads use.
#[derive(Clone)]
pub(super) struct Relay(Arc<Mutex<ClientSession>>);

/// The thread that writes to the client, until [`Relay::end_output`].
pub(super) type Output = thread::JoinHandle<()>;

#[derive(Default)]
struct ClientSession {
    /// Messages to the client, which a thread writes, so that a client that does not read delays nothing. `None` at the end.
    output: Option<Sender<String>>,
    /// The name and the version of the package.
    package: (String, String),
    processes: BTreeMap<Generation, ServedProcess>,
    newest: Generation,
    /// The process of new requests.
    current: Option<Generation>,
    /// The process that has not answered yet, and what receives its first response, or the reason of its end.
    starting: Option<(Generation, Sender<Result<(), String>>)>,
    state: BuildState,
    /// The reason of the end of the current process, which was not told to end.
    crash: Option<String>,
    client: ClientState,
    /// The requests that a process has not answered, by their ids.
    pending: HashMap<String, PendingRequest>,
    /// The requests of processes to the client, by the ids that it sees.
    questions: HashMap<String, (Generation, String)>,
    n_questions: u64,
    /// The processes with the tasks.
    tasks: HashMap<String, Generation>,
    /// The messages that wait for a process, since the time of the first one.
    held: Vec<String>,
    held_since: Option<Instant>,
    /// The calls of `dev_errors` that wait for the end of a build: their ids, and whether they are of the newest revision.
    asked: Vec<(String, bool, Instant)>,
}

/// What a client has told the program.
#[derive(Default)]
struct ClientState {
    /// The request that began the session, after it was answered or sent.
    initialize: Option<String>,
    initialized: Option<String>,
    level: Option<String>,
    /// The subscriptions to resources, by their URI.
    resources: BTreeMap<String, String>,
    /// The requests for notifications, by their ids.
    listening: BTreeMap<String, Listening>,
}

/// A request for notifications, which ends with the session.
struct Listening {
    request: String,
    is_acknowledged: bool,
}

/// A request that a process runs.
struct PendingRequest {
    process: Generation,
    method: String,
}

impl Relay {
    /// Creates the session of the client at stdin and stdout.
    pub(super) fn new(name: &str, version: &str) -> (Self, Output) {
        let (output, lines) = channel::<String>();
        let writing = thread::spawn(move || {
            let mut stdout = io::stdout().lock();
            // If the client does not read any more, stdin has ended as well.
            let _ = lines.into_iter().try_for_each(|line| writeln!(stdout, "{line}").and_then(|()| stdout.flush()));
        });
        let package = (name.to_owned(), version.to_owned());
        let session = ClientSession { output: Some(output), package, ..ClientSession::default() };
        (Self(Arc::new(Mutex::new(session))), writing)
    }

    fn session(&self) -> MutexGuard<'_, ClientSession> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes on a message of the client.
    pub(super) fn receive(&self, line: String) {
        self.session().receive(line);
    }

    /// Removes a process whose stdout has ended.
    fn end(&self, generation: Generation) {
        let Some(process) = self.session().processes.remove(&generation) else {
            return;
        };
        let reason = process.ended();
        self.session().ended(generation, &reason);
    }

    /// Returns true while a client that sends no more expects responses.
    pub(super) fn is_busy(&self) -> bool {
        let session = self.session();
        let listening = &session.client.listening;
        session.pending.keys().any(|id| !listening.contains_key(id))
            || !session.held.is_empty()
            || !session.asked.is_empty()
    }

    /// Tells all processes to end. Returns true while some run.
    pub(super) fn close(&self) -> bool {
        let mut session = self.session();
        session.current = None;
        session.processes.values_mut().for_each(ServedProcess::close);
        !session.processes.is_empty()
    }

    /// Ends all processes, and the output to the client.
    pub(super) fn end_output(&self) {
        let mut session = self.session();
        session.processes.values_mut().for_each(ServedProcess::kill);
        session.output = None;
    }
}

impl Front for Relay {
    fn set_state(&self, state: BuildState) {
        let mut session = self.session();
        session.state = state;
        session.wait();
    }

    fn wait(&self) {
        self.session().wait();
    }

    fn report(&self, time: Instant) {
        let mut session = self.session();
        let (settled, waiting) = std::mem::take(&mut session.asked).into_iter().partition(|(.., asked)| *asked < time);
        session.asked = waiting;
        session.answer_asked(settled);
    }

    fn is_running(&self) -> bool {
        self.session().current.is_some()
    }

    fn crash(&self) -> Option<String> {
        self.session().crash.take()
    }

    fn start(&self, mut command: Command) -> Result<(), String> {
        let (sender, started) = channel();
        let generation = {
            let mut session = self.session();
            session.newest += 1;
            let (relay, generation) = (self.clone(), session.newest);
            let process = ServedProcess::start(&mut command, move |line| match line {
                Some(line) => relay.session().receive_from(generation, line),
                None => relay.end(generation),
            });
            let program = command.get_program().display();
            let process = process.map_err(|error| format!("cannot run {program}: {error}"))?;
            let first = match &session.client.initialize {
                Some(line) => fields(line).map(|fields| replace(line, fields["id"], START)),
                None => None,
            };
            process.send(first.unwrap_or_else(|| format!(r#"{{"jsonrpc":"2.0","id":{START},"method":"ping"}}"#)));
            session.processes.insert(generation, process);
            session.starting = Some((generation, sender));
            generation
        };
        let outcome = started.recv_timeout(START_TIMEOUT).unwrap_or_else(|_| {
            Err(format!("the new program has answered no message within {} s", START_TIMEOUT.as_secs()))
        });
        let mut session = self.session();
        session.starting = None;
        match outcome {
            Ok(()) => session.switch(generation),
            Err(_) => {
                if let Some(process) = session.processes.get_mut(&generation) {
                    process.kill();
                }
            }
        }
        outcome
    }
}

impl ClientSession {
    /// Passes on a message of the client.
    fn receive(&mut self, line: String) {
        let Some(fields) = fields(&line) else {
            return self.receive_batch(line);
        };
        let params = object(&fields, "params");
        match (text(&fields, "method"), id(&fields, "id")) {
            (Some(method), Some(id)) => {
                drop(fields);
                if stand_in::is_errors(&method, &params) {
                    let is_newest = stand_in::is_newest(&params);
                    return self.asked.push((id, is_newest, Instant::now()));
                }
                let process = text(&params, "taskId").and_then(|task| self.tasks.get(&task).copied());
                let process = process.filter(|process| self.processes.contains_key(process)).or(self.current);
                let uri = text(&params, "uri");
                self.request(line, id, method, uri, process);
            }
            (Some(method), None) => {
                let request = self::id(&params, "requestId");
                let mut process = None;
                if method == "notifications/cancelled"
                    && let Some(id) = &request
                {
                    // No response follows.
                    process = self.pending.remove(id).map(|pending| pending.process);
                    self.client.listening.remove(id);
                    self.asked.retain(|(asked, ..)| asked != id);
                }
                if method == "notifications/initialized" {
                    self.client.initialized = Some(line.clone());
                }
                match process.or(self.current) {
                    Some(process) => self.send(process, line),
                    // This one is sent to each process that starts later.
                    None if method != "notifications/initialized" => self.hold(line),
                    None => {}
                }
                self.retire();
            }
            (None, Some(id)) => {
                if let Some((process, original)) = self.questions.remove(&id) {
                    let line = replace(&line, fields["id"], &original);
                    self.send(process, line);
                }
            }
            (None, None) => self.receive_batch(line),
        }
    }

    /// Passes on the messages of a batch one by one, so that each has its response. The program rejects what is no message.
    fn receive_batch(&mut self, line: String) {
        match (serde_json::from_str::<Vec<&RawValue>>(&line), self.current) {
            (Ok(messages), _) if !messages.is_empty() => {
                messages.iter().for_each(|message| self.receive(message.get().to_owned()));
            }
            (_, Some(process)) => self.send(process, line),
            (_, None) => self.hold(line),
        }
    }

    fn request(&mut self, line: String, id: String, method: String, uri: Option<String>, to: Option<Generation>) {
        match &*method {
            "logging/setLevel" => self.client.level = Some(line.clone()),
            "resources/subscribe" => {
                self.client.resources.extend(uri.map(|uri| (uri, line.clone())));
            }
            "resources/unsubscribe" => {
                uri.map(|uri| self.client.resources.remove(&uri));
            }
            "subscriptions/listen" => {
                let listening = Listening { request: line.clone(), is_acknowledged: false };
                self.client.listening.insert(id.clone(), listening);
            }
            _ => {}
        }
        match to {
            Some(process) => {
                if method == "initialize" {
                    self.client.initialize = Some(line.clone());
                }
                self.pending.insert(id, PendingRequest { process, method });
                self.send(process, line);
            }
            None => self.hold(line),
        }
    }

    /// Writes a message to the client.
    fn write(&self, line: String) {
        if let Some(output) = &self.output {
            let _ = output.send(line);
        }
    }

    fn send(&self, process: Generation, line: String) {
        if let Some(process) = self.processes.get(&process) {
            process.send(line);
        }
    }

    /// Keeps a message until there is a process, or answers it if the build has failed.
    fn hold(&mut self, line: String) {
        self.held.push(line);
        self.held_since.get_or_insert_with(Instant::now);
        self.wait();
    }

    fn wait(&mut self) {
        let is_late = |since: Instant| since.elapsed() > PATIENCE;
        let (late, waiting) = std::mem::take(&mut self.asked).into_iter().partition(|&(.., asked)| is_late(asked));
        self.asked = waiting;
        self.answer_asked(late);
        let has_failed = matches!(self.state, BuildState::Failed(_)) && self.starting.is_none();
        if self.current.is_none() && (has_failed || self.held_since.is_some_and(is_late)) {
            self.held_since = None;
            for line in std::mem::take(&mut self.held) {
                self.stand_in(line);
            }
        }
    }

    /// Answers a message in place of the program.
    fn stand_in(&mut self, line: String) {
        let Some(fields) = fields(&line) else { return };
        let (Some(method), Some(id)) = (text(&fields, "method"), id(&fields, "id")) else {
            return;
        };
        if method == "initialize" {
            self.client.initialize = Some(line.clone());
        }
        // The next process answers it.
        if method != "subscriptions/listen" {
            let (name, version) = &self.package;
            let params = object(&fields, "params");
            self.write(stand_in::answer(&id, &method, &params, (name, version), &self.state));
        }
    }

    fn answer_asked(&self, asked: Vec<(String, bool, Instant)>) {
        for (id, is_newest, _) in asked {
            self.write(response(&id, &stand_in::errors(is_newest, &self.state)));
        }
    }

    /// Passes on a message of a process.
    fn receive_from(&mut self, process: Generation, line: String) {
        let Some(fields) = fields(&line) else {
            return self.write(line);
        };
        match (text(&fields, "method"), id(&fields, "id")) {
            (Some(method), None) => {
                let is_change = CHANGES.iter().any(|(_, change)| *change == method);
                let is_passed = match &*method {
                    "notifications/subscriptions/acknowledged" => self.acknowledge(&fields),
                    // The lists of replaced processes are no longer served.
                    _ => !is_change || self.current == Some(process),
                };
                if is_passed {
                    self.write(line);
                }
            }
            (Some(_), Some(id)) => {
                self.n_questions += 1;
                let seen = format!("\"dev:{}\"", self.n_questions);
                self.write(replace(&line, fields["id"], &seen));
                self.questions.insert(seen, (process, id));
            }
            (None, Some(id)) if id == START => {
                // Until it receives requests, the process remains the starting one, which is not told to end.
                if let Some((_, started)) = self.starting.as_ref().filter(|(starting, _)| *starting == process) {
                    let _ = started.send(Ok(()));
                }
            }
            (None, Some(id)) => {
                if let Some(request) = self.pending.remove(&id) {
                    if request.process != process {
                        // The newest process answers it.
                        self.pending.insert(id, request);
                        return;
                    }
                    self.client.listening.remove(&id);
                    let result = object(&fields, "result");
                    if let Some(task) = text(&object(&result, "task"), "taskId").or_else(|| text(&result, "taskId")) {
                        self.tasks.insert(task, process);
                    }
                    drop((fields, result));
                    self.write(stand_in::amended(&request.method, line, &self.state));
                    self.retire();
                }
            }
            (None, None) => self.write(line),
        }
    }

    /// Returns true for the first acknowledgement of a request for notifications.
    fn acknowledge(&mut self, fields: &Fields<'_>) -> bool {
        let params = object(fields, "params");
        let id = id(&object(&params, "_meta"), SUBSCRIPTION).unwrap_or_default();
        let Some(listening) = self.client.listening.get_mut(&id) else {
            return true;
        };
        !std::mem::replace(&mut listening.is_acknowledged, true)
    }

    /// Makes a process the one of new requests, after it received what the client has told the earlier ones.
    fn switch(&mut self, generation: Generation) {
        let client = &self.client;
        let repeat = |line: &String| fields(line).map(|fields| replace(line, fields["id"], REPEATED));
        let repeated = client.level.iter().chain(client.resources.values()).filter_map(repeat);
        let initialized = client.initialized.iter().filter(|_| client.initialize.is_some()).cloned();
        let listening = client.listening.values().map(|listening| listening.request.clone());
        for line in initialized.chain(repeated).chain(listening).collect::<Vec<_>>() {
            self.send(generation, line);
        }
        for id in client.listening.keys() {
            let request = PendingRequest { process: generation, method: String::new() };
            self.pending.insert(id.clone(), request);
        }
        self.current = Some(generation);
        self.state = BuildState::Current;
        self.crash = None;
        self.notify();
        self.held_since = None;
        for line in std::mem::take(&mut self.held) {
            self.receive(line);
        }
        self.retire();
    }

    /// Tells the client that the lists may have changed.
    fn notify(&self) {
        let session = self.client.initialize.iter().map(|_| list_changes(None));
        let acknowledged = self.client.listening.values().filter(|listening| listening.is_acknowledged);
        let listening = acknowledged.map(|listening| list_changes(fields(&listening.request).as_ref()));
        session.chain(listening).flatten().for_each(|line| self.write(line));
    }

    /// Tells the replaced processes to end that have no request and no task.
    fn retire(&mut self) {
        let (current, starting) = (self.current, self.starting.as_ref().map(|(starting, _)| *starting));
        for (generation, process) in &mut self.processes {
            let is_needed = Some(*generation) == current || Some(*generation) == starting;
            let is_busy = self.pending.values().any(|request| request.process == *generation)
                || self.tasks.values().any(|process| process == generation);
            if !is_needed && !is_busy {
                process.close();
            }
        }
    }

    /// Answers the requests of a process that has ended.
    fn ended(&mut self, generation: Generation, reason: &str) {
        if let Some((_, started)) = self.starting.take_if(|(starting, _)| *starting == generation) {
            let _ = started.send(Err(format!("the new program has ended at its start: {reason}")));
        }
        self.tasks.retain(|_, process| *process != generation);
        self.questions.retain(|_, (process, _)| *process != generation);
        let lost: Vec<String> = self
            .pending
            .iter()
            .filter(|(_, request)| request.process == generation)
            .map(|(id, _)| id.clone())
            .collect();
        for id in lost {
            self.pending.remove(&id);
            // The next process goes on with notifications.
            if !self.client.listening.contains_key(&id) {
                self.write(error(&id, -32603, &format!("the program has ended during the call: {reason}")));
            }
        }
        if self.current == Some(generation) {
            self.current = None;
            self.crash = Some(reason.to_owned());
        }
    }
}
