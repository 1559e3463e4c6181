//! A client that is connected to `dev`.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// The time that a test waits, on a machine that does much else.
pub(super) const TIMEOUT: Duration = Duration::from_secs(240);

pub(super) struct DevClient {
    child: Mutex<Child>,
    input: Mutex<Option<ChildStdin>>,
    received: Arc<(Mutex<Received>, Condvar)>,
    n_sent: AtomicU64,
}

#[derive(Default)]
pub(super) struct Received {
    pub(super) responses: HashMap<String, String>,
    /// The notifications and requests, in their order.
    pub(super) others: Vec<String>,
    /// What was written to stderr.
    pub(super) log: String,
    /// The number of pipes that have ended.
    n_ended: usize,
}

impl Received {
    pub(super) fn has(&self, text: &str) -> bool {
        self.others.iter().any(|line| line.contains(text))
    }
}

impl Drop for DevClient {
    fn drop(&mut self) {
        let _ = self.child.get_mut().unwrap().kill();
        let _ = self.child.get_mut().unwrap().wait();
    }
}

impl DevClient {
    pub(super) fn new(mut child: Child) -> Self {
        let received = Arc::new((Mutex::new(Received::default()), Condvar::new()));
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take().unwrap());
        let shared = Arc::clone(&received);
        thread::spawn(move || {
            for line in stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines()).map_while(Result::ok) {
                let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
                let mut received = shared.0.lock().unwrap();
                match message.get("id").filter(|_| message.get("method").is_none()) {
                    Some(id) => assert_eq!(received.responses.insert(id.to_string(), line), None, "a second response"),
                    None => received.others.push(line),
                }
                shared.1.notify_all();
            }
            shared.0.lock().unwrap().n_ended += 1;
            shared.1.notify_all();
        });
        let shared = Arc::clone(&received);
        thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let mut received = shared.0.lock().unwrap();
                received.log.push_str(&line);
                received.log.push('\n');
                shared.1.notify_all();
            }
            shared.0.lock().unwrap().n_ended += 1;
            shared.1.notify_all();
        });
        Self { child: Mutex::new(child), input: Mutex::new(stdin), received, n_sent: AtomicU64::new(1) }
    }

    pub(super) fn send(&self, line: &str) {
        let mut input = self.input.lock().unwrap();
        writeln!(input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Sends a request, and returns its id.
    pub(super) fn begin(&self, method: &str, params: &str) -> String {
        let id = (1000 + self.n_sent.fetch_add(1, Ordering::Relaxed)).to_string();
        self.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#));
        id
    }

    /// Waits for what a function finds.
    #[track_caller]
    pub(super) fn wait<T>(&self, what: &str, find: impl Fn(&Received) -> Option<T>) -> T {
        let (lock, changed) = &*self.received;
        let start = Instant::now();
        let mut received = lock.lock().unwrap();
        loop {
            if let Some(found) = find(&received) {
                return found;
            }
            assert!(received.n_ended < 2 && start.elapsed() < TIMEOUT, "no {what}; {}", received.log);
            received = changed.wait_timeout(received, Duration::from_millis(100)).unwrap().0;
        }
    }

    #[track_caller]
    pub(super) fn response(&self, id: &str) -> String {
        self.wait("response", |received| received.responses.get(id).cloned())
    }

    #[track_caller]
    pub(super) fn request(&self, method: &str, params: &str) -> String {
        let id = self.begin(method, params);
        self.response(&id)
    }

    /// Begins the session.
    #[track_caller]
    pub(super) fn initialize(&self) -> String {
        let response = self.request("initialize", r#"{"protocolVersion":"2025-11-25"}"#);
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        response
    }

    /// Calls a tool, and returns the texts of its result.
    #[track_caller]
    pub(super) fn call(&self, tool: &str) -> Vec<String> {
        texts(&self.request("tools/call", &format!(r#"{{"name":"{tool}"}}"#)))
    }

    /// Waits for the build of the present sources, and returns its errors.
    #[track_caller]
    pub(super) fn errors(&self) -> String {
        loop {
            let errors = self.call("dev_errors").concat();
            // The call ends before its client gives up.
            if !errors.starts_with("The build is still running.") {
                return errors;
            }
        }
    }

    /// Returns the number of notifications that the tools have changed.
    pub(super) fn n_changes(&self) -> usize {
        let received = self.received.0.lock().unwrap();
        received.others.iter().filter(|line| line.contains("notifications/tools/list_changed")).count()
    }

    /// Waits for a text in the log, which another pipe brings than the responses, and returns the log.
    #[track_caller]
    pub(super) fn logged(&self, text: &str) -> String {
        self.wait(text, |received| received.log.contains(text).then(|| received.log.clone()))
    }

    pub(super) fn log(&self) -> String {
        self.received.0.lock().unwrap().log.clone()
    }

    /// Closes stdin, and waits for the end of `dev`.
    #[track_caller]
    pub(super) fn close(&self) {
        self.input.lock().unwrap().take();
        assert!(self.child.lock().unwrap().wait().unwrap().success());
    }

    /// Presses Ctrl-C, which is for the whole process group of `dev`. Returns the exit code, and what is written then.
    #[track_caller]
    pub(super) fn interrupt(&self) -> (Option<i32>, String) {
        let n_written = self.log().len();
        let mut child = self.child.lock().unwrap();
        let group = format!("-{}", child.id());
        assert!(Command::new("kill").args(["-INT", "--", &group]).status().unwrap().success());
        let code = child.wait().unwrap().code();
        (code, self.wait("end", |received| (received.n_ended == 2).then(|| received.log[n_written..].to_owned())))
    }

    /// Ends `dev` as nothing can that it sees.
    pub(super) fn kill(&self) {
        self.child.lock().unwrap().kill().unwrap();
    }
}

/// Returns the texts of the result of a call.
#[track_caller]
pub(super) fn texts(response: &str) -> Vec<String> {
    let response: Value = serde_json::from_str(response).unwrap();
    let content = response["result"]["content"].as_array().unwrap_or_else(|| panic!("{response}"));
    content.iter().map(|content| content["text"].as_str().unwrap().to_owned()).collect()
}
