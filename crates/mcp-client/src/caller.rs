//! What a request passes on from its caller (the trace context, the capabilities, and headers) and to it (progress and log
//! messages).

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::Instant;
use toolkit::call::{ErrorKind, LogLevel, TraceContext};
use toolkit::internals::CallerToken;
use toolkit::schema::excerpt::escaped;
use toolkit::{Context, ToolError};
use toolkit_mcp::{CLIENT_CAPABILITIES, LOG_LEVEL, UI_EXTENSION};
use toolkit_runtime::Mutex;
use toolkit_schema::repair::repaired;

use super::endpoint::Forwarded;
use super::meta::Meta;
use super::questions;
use super::remote::{Remote, RemoteTarget};
use super::server_info::{TASKS_EXTENSION, ui};

/// The parts of a caller that a request passes on.
#[derive(Clone, Default)]
pub(super) struct FromCaller {
    /// Fields of `_meta`.
    pub(super) meta: Meta,
    /// The headers, with their names for the server.
    pub(super) headers: Option<Arc<HeaderMap>>,
    /// The token to exchange for one of the server.
    pub(super) token: Option<CallerToken>,
}

impl FromCaller {
    /// Returns what a call passes on, and the requests about the task that runs it: unless the revision `is_legacy`, also the
    /// capabilities of the client.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller lacks credentials that the server requires.
    pub(super) fn of_call(remote: &Remote, is_legacy: bool, context: &Context) -> Result<Self, ToolError> {
        let mut from = Self::of(remote, context)?;
        if is_legacy {
            return Ok(from);
        }
        // The client of this call may be unable to ask its user.
        let capabilities = match questions::modes(context).filter(|_| remote.may_ask) {
            None => Cow::Borrowed(&**WITHOUT_QUESTIONS),
            Some(modes) => with_questions(modes).to_string().into(),
        };
        from.meta.set(CLIENT_CAPABILITIES, capabilities);
        if let Some(level) = log_level(context) {
            from.meta.set_text(LOG_LEVEL, level.name());
        }
        Ok(from)
    }

    /// Returns what any request passes on.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller lacks credentials that the server requires.
    pub(super) fn of(remote: &Remote, context: &Context) -> Result<Self, ToolError> {
        let forwarded = match &*remote.target {
            RemoteTarget::Http(endpoint) => &*endpoint.forwarded,
            RemoteTarget::Stdio(_) => &[],
        };
        let headers = if forwarded.is_empty() { None } else { Some(headers(remote, forwarded, context)?.into()) };
        let token = match &*remote.target {
            RemoteTarget::Http(endpoint) if endpoint.exchanges_tokens() => Some(caller_token(remote, context)?),
            _ => None,
        };
        Ok(Self { meta: trace(context), headers, token })
    }
}

fn headers(remote: &Remote, forwarded: &[Forwarded], context: &Context) -> Result<HeaderMap, ToolError> {
    let mut headers = HeaderMap::new();
    for Forwarded { name, from, is_credential } in forwarded {
        let request = context.request();
        let value = match is_credential {
            true => request.credential(from.as_str()).map(|credential| credential.expose()),
            false => request.header(from.as_str()),
        };
        match value.and_then(|value| HeaderValue::try_from(value).ok()) {
            Some(mut value) => {
                value.set_sensitive(*is_credential);
                headers.insert(name, value);
            }
            None if *is_credential => {
                let message = format!("{remote} requires the header `{from}` of the caller");
                let reason =
                    "over stdio there are no headers, and a token that this program itself checks is not passed on";
                return Err(ToolError::new(ErrorKind::MissingRequirements, message).caused_by(reason));
            }
            None => {}
        }
    }
    Ok(headers)
}

/// Returns the token of the caller, which is exchanged.
fn caller_token(remote: &Remote, context: &Context) -> Result<CallerToken, ToolError> {
    context.get::<CallerToken>().cloned().ok_or_else(|| {
        let message =
            format!("{remote} requires the access token of the caller, which is exchanged for one of the server");
        let reason =
            "only callers of `serve --http --issuer` have one: not those over stdio, and not those who share a token";
        ToolError::new(ErrorKind::MissingRequirements, message).caused_by(reason)
    })
}

/// The capabilities of a client that cannot ask its user.
static WITHOUT_QUESTIONS: LazyLock<String> = LazyLock::new(|| capabilities().to_string());

fn capabilities() -> Value {
    json!({ "extensions": { TASKS_EXTENSION: {}, UI_EXTENSION: ui() } })
}

fn with_questions(modes: Value) -> Value {
    let mut capabilities = capabilities();
    capabilities["elicitation"] = modes;
    capabilities
}

/// Returns the W3C Trace Context of a call as `_meta` of a request.
fn trace(context: &Context) -> Meta {
    let mut meta = Meta::default();
    let fields = context.get::<TraceContext>().into_iter().flat_map(TraceContext::fields);
    fields.for_each(|(name, value)| meta.set_text(name, value));
    meta
}

/// The difference in progress between two descriptions of the status of a task, which have no progress. The protocol
/// requires that progress increases.
const STATUS_STEP: f64 = 1.0 / 1024.0;

/// The last report.
struct Last {
    progress: f64,
    total: Option<f64>,
    /// The last description of the status of a task.
    status: String,
    /// The time of the last report.
    at: Option<Instant>,
    /// The start of a second, and the number of log messages in it.
    logged: (Instant, u32),
}

/// The number of log messages of a call per second, beyond which messages are dropped.
const MAX_LOGS_PER_SECOND: u32 = 100;

/// The size of a log message in bytes, beyond which its data is omitted.
const MAX_LOG_BYTES: usize = 16 << 10;

/// The length in characters to which the name of a logger is truncated.
const MAX_LOGGER_CHARS: usize = 128;

/// The parameters of `notifications/message`.
#[derive(Deserialize)]
struct Logged<'m> {
    #[serde(borrow)]
    level: Cow<'m, str>,
    #[serde(borrow, default)]
    logger: Option<Cow<'m, str>>,
    #[serde(borrow)]
    data: &'m RawValue,
}

/// A listener to the progress and the log messages of a call.
pub(super) struct Listener {
    context: Context,
    /// The name of the server.
    server: Arc<str>,
    last: Mutex<Last>,
}

/// Returns the least level of the log messages that the caller receives.
pub(super) fn log_level(context: &Context) -> Option<LogLevel> {
    LogLevel::ALL.into_iter().find(|level| context.logs(*level))
}

/// The parameters of `notifications/progress`.
#[derive(Deserialize)]
pub(super) struct Progress<'m> {
    #[serde(borrow, rename = "progressToken")]
    pub(super) token: &'m RawValue,
    progress: f64,
    total: Option<f64>,
    #[serde(borrow, default)]
    message: Option<Cow<'m, str>>,
}

impl Listener {
    pub(super) fn new(context: &Context, server: &Arc<str>) -> Arc<Self> {
        let logged = (Instant::now(), 0);
        Arc::new(Self {
            context: context.clone(),
            server: Arc::clone(server),
            last: Mutex::new(Last {
                progress: f64::NEG_INFINITY,
                total: None,
                status: String::new(),
                at: None,
                logged,
            }),
        })
    }

    /// Passes on a log message of the server, with the name of the server before that of its logger.
    pub(super) fn log(&self, params: &str) {
        let Ok(logged) = serde_json::from_str::<Logged<'_>>(params) else { return };
        let Some(level) = LogLevel::from_name(&logged.level).filter(|level| self.context.logs(*level)) else { return };
        if !self.may_log() {
            return;
        }
        let data = logged.data.get();
        let data = match data.len() > MAX_LOG_BYTES {
            true => format!("a log message of {} bytes is omitted", data.len()).into(),
            false => serde_json::from_str(&repaired(data.as_bytes())).unwrap_or(Value::Null),
        };
        let logger = match logged.logger.filter(|logger| !logger.is_empty()) {
            Some(logger) => {
                let logger: String = logger.chars().take(MAX_LOGGER_CHARS).collect();
                format!("{}/{}", self.server, escaped(&logger))
            }
            None => self.server.to_string(),
        };
        self.context.forward_log(level, logger, data);
    }

    fn may_log(&self) -> bool {
        let (start, n_logged) = &mut self.last.lock().logged;
        if start.elapsed() >= Duration::from_secs(1) {
            (*start, *n_logged) = (Instant::now(), 0);
        }
        *n_logged += 1;
        *n_logged <= MAX_LOGS_PER_SECOND
    }

    /// Passes on a report if it exceeds the last one. A resumed stream repeats reports.
    pub(super) fn report(&self, report: &Progress<'_>) {
        let mut last = self.last.lock();
        if report.progress > last.progress {
            last.at = Some(Instant::now());
            (last.progress, last.total) = (report.progress, report.total);
            self.context.progress(report.progress, report.total, report.message.as_deref().unwrap_or_default());
        }
    }

    /// Passes on the description of the status of a task if it differs from the last one, with the last progress.
    pub(super) fn report_status(&self, status: &str) {
        let mut last = self.last.lock();
        if status != last.status {
            last.at = Some(Instant::now());
            last.progress = if last.progress.is_finite() { last.progress + STATUS_STEP } else { 0.0 };
            status.clone_into(&mut last.status);
            self.context.progress(last.progress, last.total, status);
        }
    }

    /// Returns the time of the last report.
    pub(super) fn reported_at(&self) -> Option<Instant> {
        self.last.lock().at
    }
}
