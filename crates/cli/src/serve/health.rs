//! `serve --health`: the state and the metrics of a server or worker without HTTP of its own.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::future::{Future, pending, poll_fn};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use clap::{Arg, ArgMatches};
use http::header::{HeaderValue, WWW_AUTHENTICATE};
use http::{HeaderMap, Response, StatusCode};
use toolkit::call::{BoxError, ErrorKind};
use toolkit::dispatch::{Call, DispatcherBuilder};
use toolkit::{RunResult, ToolError};
use toolkit_runtime::{
    Body, HostGuard, HttpServer, Limits, RequestHead, ShutdownSignals, bearer, bind, is_token, text_response,
};
use tower_layer::Layer;
use tower_service::Service;

use crate::error::{CommandError, Configure};
use crate::listen::{self, TOKEN};
use crate::options;
use crate::stderr;
use crate::style::{NOTE, WARNING};

pub(super) fn option() -> Arg {
    options::option("health", "ADDR")
        .value_parser(listen::address)
        .conflicts_with("http")
        .help("Serve /healthz and /metrics here, without --http")
}

/// Writes further metrics, for each request.
pub(super) type Metrics = Box<dyn Fn() -> Pin<Box<dyn Future<Output = String> + Send>> + Send + Sync>;

/// Starts to serve the state of this process, if the option is set. It has a thread of its own, so that no tool delays a
/// probe. Returns the configuration of a dispatcher whose calls are counted.
pub(super) fn start(
    matches: &ArgMatches,
    configure: Configure<DispatcherBuilder>,
    others: Metrics,
) -> Result<Configure<DispatcherBuilder>, CommandError> {
    let Some(address) = matches.get_one::<String>("health") else { return Ok(configure) };
    let address = listen::resolve(address)?;
    let calls = CallCounter::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let listener = {
        let _on_runtime = runtime.enter();
        bind(&[address]).map_err(|error| listen::bind_error(address, &error))?
    };
    let address = listener.local_addr()?;
    stderr::say(NOTE, &format!("health at http://{address}/healthz"));
    let access = MetricsAccess::new(matches, address)?;
    let state = calls.clone();
    let others: Arc<Metrics> = Arc::new(others);
    std::thread::Builder::new().name("health".to_owned()).spawn(move || {
        runtime.block_on(async {
            let is_ending = Arc::new(AtomicBool::new(false));
            let mut signals = ShutdownSignals::listen();
            let ending = Arc::clone(&is_ending);
            tokio::spawn(async move {
                signals.next().await;
                ending.store(true, Ordering::Relaxed);
            });
            let answer = move |head: RequestHead, _| {
                let (state, others) = (state.clone(), Arc::clone(&others));
                let (is_ending, is_granted) = (is_ending.load(Ordering::Relaxed), access.is_granted(head.headers()));
                async move {
                    match head.path() {
                        "/metrics" if !is_granted => unauthorized(),
                        path => respond(path, &state, &others, is_ending).await,
                    }
                }
            };
            // The process ends with its server.
            let server = HttpServer::new(Limits::default(), HostGuard::unchecked());
            server.serve(listener, answer, pending(), pending()).await;
        });
    })?;
    Ok(Box::new(move |builder| Ok(configure(builder)?.layer(calls))))
}

async fn respond(path: &str, calls: &CallCounter, others: &Metrics, is_ending: bool) -> Response<Body> {
    match path {
        "/healthz" if is_ending => text_response(StatusCode::SERVICE_UNAVAILABLE, "shutting down\n"),
        "/healthz" => text_response(StatusCode::OK, "ok\n"),
        "/metrics" => text_response(StatusCode::OK, calls.render() + &others().await),
        _ => text_response(StatusCode::NOT_FOUND, "not found; there are /healthz and /metrics\n"),
    }
}

fn unauthorized() -> Response<Body> {
    let text = format!("/metrics requires the token of the server, which it reads from {TOKEN} or --token-env\n");
    let mut response = text_response(StatusCode::UNAUTHORIZED, text);
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

/// The access to the metrics.
#[derive(Clone)]
enum MetricsAccess {
    Open,
    Closed,
    Token(String),
}

impl MetricsAccess {
    /// Reads the token of the server. Without one, other machines have no access unless the host allows it.
    fn new(matches: &ArgMatches, address: SocketAddr) -> Result<Self, CommandError> {
        let is_local = address.ip().is_loopback();
        Ok(match listen::token_at(matches, is_local)? {
            Some(token) => Self::Token(token),
            None if is_local || matches.get_flag("allow-unauthenticated") => Self::Open,
            None => {
                let message = format!(
                    "other machines can reach {address}, so that /metrics requires a token: set {TOKEN}, or pass \
                     --allow-unauthenticated"
                );
                stderr::say(WARNING, &message);
                Self::Closed
            }
        })
    }

    fn is_granted(&self, headers: &HeaderMap) -> bool {
        match self {
            Self::Open => true,
            Self::Closed => false,
            Self::Token(token) => bearer(headers).is_some_and(|sent| is_token(sent, token)),
        }
    }
}

/// Writes the description of a metric in the Prometheus text format.
pub(super) fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

/// A layer that counts calls.
#[derive(Clone, Default)]
struct CallCounter(Arc<Counts>);

#[derive(Default)]
struct Counts {
    running: AtomicU64,
    ended: Mutex<BTreeMap<(String, &'static str), CallTotals>>,
}

/// The ended calls of a tool with one outcome.
#[derive(Default)]
struct CallTotals {
    n: u64,
    duration: Duration,
}

/// A call that is counted when it ends, also if it is dropped.
struct CountedCall {
    counts: Arc<Counts>,
    tool: String,
    started: Instant,
    outcome: &'static str,
}

impl Drop for CountedCall {
    fn drop(&mut self) {
        self.counts.running.fetch_sub(1, Ordering::Relaxed);
        let mut ended = self.counts.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = ended.entry((std::mem::take(&mut self.tool), self.outcome)).or_default();
        ended.n += 1;
        ended.duration += self.started.elapsed();
    }
}

impl CountedCall {
    fn end(&mut self, outcome: &'static str) {
        self.outcome = outcome;
    }
}

impl CallCounter {
    fn start(&self, call: &Call) -> CountedCall {
        self.0.running.fetch_add(1, Ordering::Relaxed);
        CountedCall {
            counts: Arc::clone(&self.0),
            tool: call.tool().id().to_string(),
            started: Instant::now(),
            outcome: ErrorKind::Cancelled.name(),
        }
    }

    /// Writes the metrics in the Prometheus text format.
    fn render(&self) -> String {
        let mut text = String::new();
        head(&mut text, "toolkit_calls_running", "gauge", "Number of running calls.");
        let _ = writeln!(text, "toolkit_calls_running {}", self.0.running.load(Ordering::Relaxed));
        head(&mut text, "toolkit_calls_total", "counter", "Number of completed calls, by tool and outcome.");
        let ended = self.0.ended.lock().unwrap_or_else(PoisonError::into_inner);
        for ((tool, outcome), CallTotals { n, .. }) in &*ended {
            let _ = writeln!(text, "toolkit_calls_total{{tool=\"{tool}\",outcome=\"{outcome}\"}} {n}");
        }
        head(&mut text, "toolkit_call_seconds_total", "counter", "Duration of completed calls, by tool and outcome.");
        for ((tool, outcome), CallTotals { duration, .. }) in &*ended {
            let seconds = duration.as_secs_f64();
            let _ = writeln!(text, "toolkit_call_seconds_total{{tool=\"{tool}\",outcome=\"{outcome}\"}} {seconds}");
        }
        drop(ended);
        let help = "Number of lines of the log that were dropped, since stderr was not read.";
        head(&mut text, "toolkit_log_lines_dropped_total", "counter", help);
        let _ = writeln!(text, "toolkit_log_lines_dropped_total {}", stderr::N_DROPPED.load(Ordering::Relaxed));
        text
    }
}

impl<S> Layer<S> for CallCounter {
    type Service = Counted<S>;

    fn layer(&self, inner: S) -> Counted<S> {
        Counted { calls: self.clone(), inner }
    }
}

#[derive(Clone)]
struct Counted<S> {
    calls: CallCounter,
    inner: S,
}

impl<S> Service<Call> for Counted<S>
where
    S: Service<Call, Response = RunResult> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
{
    type Response = RunResult;
    type Error = ToolError;
    type Future = Pin<Box<dyn Future<Output = Result<RunResult, ToolError>> + Send>>;

    /// Always ready, since the inner service is polled when the call starts.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ToolError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: Call) -> Self::Future {
        let (mut running, mut inner) = (self.calls.start(&call), self.inner.clone());
        Box::pin(async move {
            poll_fn(|context| inner.poll_ready(context)).await.map_err(ToolError::internal)?;
            let outcome = inner.call(call).await.map_err(ToolError::internal);
            running.end(outcome.as_ref().map_or_else(|error| error.kind().name(), |_| "ok"));
            outcome
        })
    }
}
