//! Programs on another machine.

use std::net::SocketAddr;
use std::time::Duration;

use test_support::programs;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use toolkit_code::engine::{Answer, State};
use toolkit_code::sandbox::{CommandLine, Guarantee, Process, Remote, Sandbox, SandboxError, Session};
use toolkit_code::server::{Server, ServerLimits};
use toolkit_code::{FailureKind, Limits, Profile, Program};

use super::{Tagged, in_the_end, native, tagged, until, value, worker};

pub(super) const TOKEN: &str = "s3cr3t";

/// A server, which ends with this value.
pub(super) struct Served {
    pub(super) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Served {
    pub(super) async fn new(sandbox: impl Sandbox, limits: ServerLimits) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let server = Server::new(sandbox, TOKEN.to_owned()).limits(limits);
        let task = tokio::spawn(server.serve(listener, async { drop(stopped.await) }));
        Self { address, stop: Some(stop), task }
    }

    pub(super) fn remote(&self) -> Remote {
        self.remote_with(TOKEN)
    }

    fn remote_with(&self, token: &str) -> Remote {
        Remote::new(&format!("http://{}", self.address), token.to_owned()).unwrap()
    }

    /// Requests shutdown, and returns when the server has ended.
    async fn shut_down(mut self) {
        drop(self.stop.take());
        in_the_end(&mut self.task).await.unwrap();
    }

    fn request_shutdown(&mut self) {
        drop(self.stop.take());
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn javascript() -> Process {
    Process::command("javascript", CommandLine::new(worker()).args(["javascript"]))
}

async fn open(sandbox: &Remote) -> Result<Box<dyn Session>, SandboxError> {
    in_the_end(sandbox.open(&Limits::default())).await
}

/// Runs a program to its end, and answers its calls.
async fn run(sandbox: &dyn Sandbox, limits: Limits, code: &str) -> String {
    let program = programs::program(code);
    let mut session = in_the_end(sandbox.open(&limits)).await.unwrap();
    let (mut at, mut printed) = (program.started_at, Vec::new());
    let mut stepped = in_the_end(session.start(&program)).await;
    loop {
        let step = match stepped {
            Ok(step) => step,
            Err(SandboxError::Ended(kind, reason)) => return format!("{printed:?} {kind:?}: {reason}"),
            Err(error) => return format!("{printed:?} {error}"),
        };
        printed.extend(step.printed);
        let calls = match step.state {
            State::Waiting(calls) => calls,
            State::Done(done) => match done.outcome {
                Ok(value) => return format!("{printed:?} {value}"),
                Err(failure) => return format!("{printed:?} {:?}: {failure}", failure.kind),
            },
        };
        at += 5;
        let answers: Vec<Answer> = calls.iter().map(|call| programs::answer(call, at)).collect();
        stepped = in_the_end(session.resume(answers)).await;
    }
}

#[tokio::test]
async fn programs_end_as_in_a_process_of_this_machine() {
    let served = Served::new(javascript(), ServerLimits::default()).await;
    let (local, remote, limits) = (javascript(), served.remote(), programs::small_limits());
    let programs = programs::failing();
    for program in &programs {
        let expected = run(&local, limits, &program.code).await;
        assert_eq!(run(&remote, limits, &program.code).await, expected, "{}", program.name);
    }
    test_support::ran(programs.len());
}

#[tokio::test]
async fn a_program_that_its_sandbox_ends_fails_with_the_same_kind() {
    let served = Served::new(native(), ServerLimits::default()).await;
    for code in ["pieces", "panic", "open", "socket"] {
        let expected = run(&native(), Limits::default(), code).await;
        assert_eq!(run(&served.remote(), Limits::default(), code).await, expected, "{code}");
    }
}

#[tokio::test]
async fn a_session_confirms_the_guarantees_of_the_other_machine() {
    let served = Served::new(native(), ServerLimits::default()).await;
    let session = open(&served.remote().profile(Profile::Hardened)).await.unwrap();
    assert!(session.enforced().contains(Guarantee::Network));

    let script = r#"read -r hello; echo '{"ready":{"version":1,"enforced":["memory"]}}'; read -r start"#;
    let weak = Process::command("script", CommandLine::new("/bin/sh").args(["-c", script]));
    let served = Served::new(weak, ServerLimits::default()).await;
    assert!(open(&served.remote()).await.is_ok());
    let error = open(&served.remote().profile(Profile::Hardened)).await.err().unwrap();
    assert!(error.to_string().contains("the profile `hardened` requires what is not enforced: steps"), "{error}");
}

#[tokio::test]
async fn a_client_without_the_token_opens_no_session() {
    let tagged = tagged();
    let served = Served::new(tagged.sandbox.clone(), ServerLimits::default()).await;
    for token in ["", "s3cr3", "s3cr3t2", "S3CR3T"] {
        let error = open(&served.remote_with(token)).await.err().unwrap();
        let SandboxError::Unavailable { reason, .. } = &error else { panic!("{error:?}") };
        assert_eq!(reason, "the server responded with HTTP 401: send the token as `Authorization: Bearer …`");
    }
    assert_eq!(tagged.processes().len(), 0);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(Server::new(native(), String::new()).serve(listener, std::future::pending()));
    let without = Remote::new(&format!("http://{address}"), String::new()).unwrap();
    assert!(open(&without).await.is_err(), "an empty token is none");
}

#[test]
fn a_url_that_would_send_the_token_in_the_open_is_an_error() {
    let cases = [
        ("http://sandbox.example.org", "it must begin with `https://`"),
        ("http://127.0.0.1.example.org", "it must begin with `https://`"),
        ("http://10.0.0.1:8090", "it must begin with `https://`"),
        ("ftp://localhost", "it must begin with `https://` or `http://`"),
        ("sandbox.example.org", "it must begin with `https://` or `http://`"),
        ("https://user:password@sandbox.example.org", "it must not contain a password"),
        ("https://sandbox.example.org/?a=1", "it must not contain a query"),
        ("https://sandbox .example.org", "the syntax is invalid"),
    ];
    for (url, expected) in cases {
        let error = Remote::new(url, TOKEN.to_owned()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("not the URL of a sandbox: {expected}")), "{url}: {error}");
    }
    for url in ["https://sandbox.example.org/code/", "http://localhost:8090", "http://[::1]:8090", "http://127.0.0.1"] {
        assert!(Remote::new(url, TOKEN.to_owned()).is_ok(), "{url}");
    }
    assert!(Remote::unencrypted("http://10.0.0.1:8090", TOKEN.to_owned()).is_ok());
    assert!(Remote::new("http://localhost", "a\nb".to_owned()).is_err());
    let shown = format!("{:?}", Remote::new("http://localhost", TOKEN.to_owned()).unwrap());
    assert!(!shown.contains(TOKEN), "{shown}");
}

#[tokio::test]
async fn dropping_a_session_ends_it_on_the_other_machine() {
    let Tagged { sandbox, tag } = tagged();
    let served = Served::new(sandbox.clone(), ServerLimits::default()).await;
    let processes = Tagged { sandbox, tag };
    let mut waiting = open(&served.remote()).await.unwrap();
    in_the_end(waiting.start(&Program::javascript("wait"))).await.unwrap();
    let unused = open(&served.remote()).await.unwrap();
    let mut running = open(&served.remote()).await.unwrap();
    assert_eq!(processes.processes().len(), 3);
    let started = tokio::time::timeout(Duration::from_millis(50), running.start(&Program::javascript("spin"))).await;
    assert!(started.is_err(), "the program runs without end");
    drop((waiting, unused, running));
    until(|| processes.processes().is_empty()).await;
}

#[tokio::test]
async fn a_session_ends_when_the_time_of_its_run_is_over() {
    let Tagged { sandbox, tag } = tagged();
    let served = Served::new(sandbox.clone(), ServerLimits::default()).await;
    let processes = Tagged { sandbox, tag };
    let limits = Limits::default().time(Duration::from_millis(200));
    let mut session = in_the_end(served.remote().open(&limits)).await.unwrap();
    in_the_end(session.start(&Program::javascript("wait"))).await.unwrap();
    until(|| processes.processes().is_empty()).await;
    let error = in_the_end(session.resume(Vec::new())).await.unwrap_err();
    let expected = "the server responded with HTTP 404: the session has ended";
    assert!(matches!(&error, SandboxError::Unavailable { reason, .. } if reason == expected), "{error:?}");
}

#[tokio::test]
async fn limits_beyond_those_of_the_server_are_rejected() {
    let mut limits = ServerLimits::default();
    limits.program = Limits::default().memory_bytes(32 << 20);
    let served = Served::new(native(), limits).await;
    let error = open(&served.remote()).await.err().unwrap();
    let expected = "the server responded with HTTP 422: the limit `memory_bytes` of 67108864 exceeds the 33554432 that the \
                    server permits";
    assert!(matches!(&error, SandboxError::Unavailable { reason, .. } if reason == expected), "{error:?}");
    let lower = Limits::default().memory_bytes(32 << 20);
    assert!(in_the_end(served.remote().open(&lower)).await.is_ok());
    let longer = lower.run_time(Duration::from_secs(11));
    let error = in_the_end(served.remote().open(&longer)).await.err().unwrap();
    assert!(error.to_string().contains("the limit `run_time` of 11000 ms exceeds the 10000 ms"), "{error}");
}

#[tokio::test]
async fn sessions_are_limited_and_the_end_of_one_makes_room() {
    let mut limits = ServerLimits::default();
    limits.max_sessions = 2;
    let served = Served::new(native(), limits).await;
    let first = open(&served.remote()).await.unwrap();
    let mut second = open(&served.remote()).await.unwrap();
    let error = open(&served.remote()).await.err().unwrap();
    assert!(error.to_string().contains("HTTP 503: no more programs can run now"), "{error}");
    let done = in_the_end(second.start(&Program::javascript("large"))).await.unwrap();
    assert_eq!(value(&done), "1000000");
    let third = open(&served.remote()).await.unwrap();
    drop((first, third));
    in_the_end(async {
        while open(&served.remote()).await.is_err() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_program_that_runs_ends_before_the_server_does() {
    let mut served = Served::new(native(), ServerLimits::default()).await;
    let mut session = open(&served.remote()).await.unwrap();
    in_the_end(session.start(&Program::javascript("wait"))).await.unwrap();
    served.request_shutdown();
    in_the_end(async {
        while open(&served.remote()).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
    let done = in_the_end(session.resume(Vec::new())).await.unwrap();
    assert_eq!(value(&done), "0");
    served.shut_down().await;
}

#[tokio::test]
async fn a_server_that_disappears_is_no_fault_of_the_program() {
    let served = Served::new(native(), ServerLimits::default()).await;
    let remote = served.remote();
    let mut session = open(&remote).await.unwrap();
    in_the_end(session.start(&Program::javascript("wait"))).await.unwrap();
    drop(served);
    in_the_end(async { while open(&remote).await.is_ok() {} }).await;
    let error = in_the_end(session.resume(Vec::new())).await.unwrap_err();
    assert!(matches!(error, SandboxError::Unavailable { .. }), "{error:?}");
    let error = open(&remote).await.err().unwrap();
    assert!(
        matches!(&error, SandboxError::Unavailable { reason, .. } if reason == "the server cannot be reached"),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_run_on_a_server_that_disappears_fails_as_unavailable() {
    use toolkit::{Catalog, Dispatcher, Tool, ToolError};
    use toolkit_backends::{Backends, LocalBackend};

    let served = Served::new(javascript(), ServerLimits::default()).await;
    let remote = served.remote();
    let served = std::sync::Mutex::new(Some(served));
    let tools = LocalBackend::new("power");
    tools.add(Tool::builder("cut").build().unwrap(), move |_, _| {
        drop(served.lock().unwrap().take());
        async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            Ok::<_, ToolError>(serde_json::json!(1))
        }
    });
    let backends = Backends::new();
    backends.register(tools).unwrap();
    let collected = backends.collect(Catalog::new([]).unwrap()).await;
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap();
    let code = toolkit_code::CodeMode::new(dispatcher, remote);
    let execution = in_the_end(code.run(Program::javascript("return await tools.power.cut()"))).await.unwrap();
    assert_eq!(execution.failure().unwrap().kind, FailureKind::Unavailable, "{execution:?}");
    assert_eq!(execution.calls.len(), 1);
}
