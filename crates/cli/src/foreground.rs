//! Work in the foreground of a terminal: with progress, questions and log messages, until it ends, reaches the time limit,
//! or is interrupted by Ctrl-C.

use std::future::pending;
use std::io::{self, BufRead, IsTerminal, Write};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use toolkit::call::ask::{Answer, Asker, Mode, Question};
use toolkit::call::{BoxFuture, LogLevel, LogMessage};
use toolkit::{CancelToken, Context, ToolError};

use crate::error::{CommandError, Exit};
use crate::meter::{self, Meter};
use crate::style::{self, BOLD, DIM, printable};

/// The time that cancelled work has for its cleanup before the program continues.
const CLEANUP_TIME: Duration = Duration::from_millis(200);

/// The least time by which an open question extends the time limit.
const MIN_EXTENSION: Duration = Duration::from_millis(20);

/// The time in which a tool notices its own timeout. One that blocks its thread does not.
const NOTICE_TIME: Duration = Duration::from_millis(500);

/// The least level of a log message that is printed.
const LEAST_LEVEL: LogLevel = LogLevel::Info;

/// Runs the work that `start` creates with a context, and returns its result.
///
/// It runs as a separate task, so that the time limit also applies to synchronous tools: they cannot be stopped, but the
/// program can end without waiting for them. So does the timeout of a tool that blocks its thread.
pub(crate) async fn until_done<T, W>(
    context: Context,
    time_limit: Option<Duration>,
    timeout_of_tool: Option<Duration>,
    start: impl FnOnce(Context) -> W,
) -> Result<T, CommandError>
where
    T: Send + 'static,
    W: Future<Output = Result<T, CommandError>> + Send + 'static,
{
    let cancel = CancelToken::new();
    let meter = Meter::default();
    let context = context.with_cancel(cancel.clone()).on_progress(meter.listener());
    let context = context.on_log(LEAST_LEVEL, log_listener(&meter));
    let context = context.with_asker(Terminal::new(meter.clone()));
    let asking = context.clone();
    // Before the tool starts, so that Ctrl-C never reaches the default handler.
    let mut interrupts = interrupts()?;
    let task = tokio::spawn(start(context));
    let work = async { task.await.unwrap_or_else(|lost| Err(CommandError::Tool(ToolError::internal(lost)))) };
    let mut work = std::pin::pin!(work);
    let updates = updated(&meter);
    let (why, is_interrupted) = tokio::select! {
        outcome = &mut work => {
            meter.finish();
            return outcome;
        }
        limit = elapsed(time_limit, Duration::ZERO, &asking) => (timed_out(limit), false),
        limit = elapsed(timeout_of_tool, NOTICE_TIME, &asking) => (timed_out(limit), false),
        _ = interrupts.recv() => (interruption(), true),
        () = updates => unreachable!("the meter is updated until the work ends"),
    };
    cancel.cancel();
    meter.finish();
    // The result of cancelled work is ignored.
    if tokio::time::timeout(CLEANUP_TIME, &mut work).await.is_err() && is_interrupted {
        let wait = "waiting for the tool to stop; press Ctrl-C again to abandon it";
        let _ = writeln!(anstream::stderr(), "{} {wait}", style::NOTE);
        tokio::select! {
            _ = &mut work => {}
            _ = interrupts.recv() => {}
        }
    }
    Err(why)
}

/// Shows each report of progress soon. Never returns.
async fn updated(meter: &Meter) {
    loop {
        tokio::time::sleep(meter::INTERVAL).await;
        meter.update();
    }
}

/// Waits until `time_limit` has elapsed, or forever without a limit. The time that the user takes to answer does not
/// count.
async fn elapsed(time_limit: Option<Duration>, more: Duration, context: &Context) -> Duration {
    let Some(limit) = time_limit else {
        return pending().await;
    };
    let start = Instant::now();
    loop {
        let whole = limit.saturating_add(more).saturating_add(context.time_asking());
        let left = whole.saturating_sub(start.elapsed());
        if left.is_zero() {
            return limit;
        }
        tokio::time::sleep(left.max(MIN_EXTENSION)).await;
    }
}

fn timed_out(limit: Duration) -> CommandError {
    CommandError::failed("timed_out", format!("the tool took longer than {limit:?}"))
}

fn interruption() -> CommandError {
    CommandError::Other { exit: Exit::Interrupted, kind: "cancelled", message: "the call was cancelled".to_owned() }
}

/// Returns the log listener of a call, which hides the progress bar while it prints.
fn log_listener(meter: &Meter) -> impl Fn(LogMessage) + Send + Sync + 'static {
    let meter = meter.clone();
    move |message| {
        meter.suspended(|| {
            let label = match message.level {
                level if level < LogLevel::Warning => style::NOTE,
                LogLevel::Warning => style::WARNING,
                _ => style::ERROR,
            };
            let text = match message.data {
                Value::String(text) => text,
                data => data.to_string(),
            };
            let _ = writeln!(anstream::stderr(), "{label} {}", printable(&text));
        });
    }
}

/// Replaces the default handler of Ctrl-C, which ends the process, and returns the stream of interrupts.
#[cfg(unix)]
fn interrupts() -> io::Result<tokio::signal::unix::Signal> {
    tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())
}

#[cfg(windows)]
fn interrupts() -> io::Result<tokio::signal::windows::CtrlC> {
    tokio::signal::windows::ctrl_c()
}

/// Asks in the terminal. Cannot ask if stdin or stderr is not one.
struct Terminal {
    meter: Meter,
}

impl Terminal {
    fn new(meter: Meter) -> Self {
        Self { meter }
    }
}

impl Asker for Terminal {
    fn can_ask(&self, _: Mode) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, ToolError>> {
        let (question, meter) = (question.clone(), self.meter.clone());
        let asked = tokio::task::spawn_blocking(move || {
            // Two questions of one tool follow each other.
            let mut input = io::stdin().lock();
            meter.suspended(|| ask(&question, &mut input, &mut anstream::stderr()))
        });
        Box::pin(async { asked.await.map_err(ToolError::internal)?.map_err(ToolError::internal) })
    }
}

/// Shows a question and reads the answer. The end of the input closes the question.
fn ask(question: &Question, input: &mut impl BufRead, output: &mut impl Write) -> io::Result<Answer> {
    writeln!(output, "{BOLD}{}{}", printable(question.message()), BOLD.clear())?;
    let mut prompt = Prompt { input, output };
    let content = match (question.form(), question.url()) {
        (Some(form), _) => {
            let schema = form.schema();
            let fields = schema["properties"].as_object().into_iter().flatten();
            let mut content = Map::new();
            for (name, field) in fields {
                let is_required =
                    schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name));
                match prompt.field(name, field, is_required)? {
                    Read::Value(value) => drop(content.insert(name.clone(), value)),
                    Read::Nothing => {}
                    Read::End => return Ok(Answer::Cancelled),
                }
            }
            Value::Object(content)
        }
        (None, url) => {
            writeln!(prompt.output, "  open {}", printable(url.unwrap_or_default()))?;
            Value::Null
        }
    };
    prompt.confirmed(content)
}

/// The outcome of a prompt.
enum Read {
    Value(Value),
    /// An optional field was left empty.
    Nothing,
    End,
}

struct Prompt<'p, I, O> {
    input: &'p mut I,
    output: &'p mut O,
}

impl<I: BufRead, O: Write> Prompt<'_, I, O> {
    /// Reads a field, again until it has a valid value.
    fn field(&mut self, name: &str, field: &Value, is_required: bool) -> io::Result<Read> {
        if let Some(description) = field["description"].as_str() {
            writeln!(self.output, "  {DIM}{}{}", printable(description), DIM.clear())?;
        }
        for (idx, (value, title)) in choices(field).iter().enumerate() {
            let title = if title.is_empty() { String::new() } else { format!(": {title}") };
            writeln!(self.output, "  {DIM}{}. {}{}{}", idx + 1, printable(value), printable(&title), DIM.clear())?;
        }
        let label = field["title"].as_str().unwrap_or(name);
        let default = match (field.get("default"), is_required) {
            (Some(default), _) => format!(" [{}]", shown(default)),
            (None, true) => String::new(),
            (None, false) => " [none]".to_owned(),
        };
        loop {
            let kind = kind(field);
            let Some(line) = self.line(&format!("  {} ({kind}){}: ", printable(label), printable(&default)))? else {
                return Ok(Read::End);
            };
            match (line.trim(), field.get("default")) {
                ("", Some(default)) => return Ok(Read::Value(default.clone())),
                ("", None) if !is_required => return Ok(Read::Nothing),
                (text, _) => match value(field, text) {
                    Some(value) => return Ok(Read::Value(value)),
                    None => writeln!(self.output, "  enter {kind}")?,
                },
            }
        }
    }

    fn confirmed(&mut self, content: Value) -> io::Result<Answer> {
        loop {
            let Some(line) = self.line("  answer? yes, no (decline) or cancel [yes]: ")? else {
                return Ok(Answer::Cancelled);
            };
            match line.trim().to_lowercase().as_str() {
                "" | "y" | "yes" => return Ok(Answer::Accepted(content)),
                "n" | "no" | "decline" => return Ok(Answer::Declined),
                "c" | "cancel" => return Ok(Answer::Cancelled),
                _ => {}
            }
        }
    }

    /// Returns the next line, or `None` at the end of the input.
    fn line(&mut self, prompt: &str) -> io::Result<Option<String>> {
        write!(self.output, "{prompt}")?;
        self.output.flush()?;
        let mut line = String::new();
        let n_read = self.input.read_line(&mut line)?;
        if n_read == 0 {
            writeln!(self.output)?;
        }
        Ok((n_read > 0).then_some(line))
    }
}

/// Returns the name of what a field expects.
fn kind(field: &Value) -> &'static str {
    match field["type"].as_str() {
        Some("array") => "numbers or values, separated by commas",
        Some("boolean") => "yes or no",
        Some("integer") => "an integer",
        Some("number") => "a number",
        _ if !choices(field).is_empty() => "one of the choices",
        _ => "text",
    }
}

/// Returns the choices of a field, with their titles.
fn choices(field: &Value) -> Vec<(String, String)> {
    let field = field.get("items").unwrap_or(field);
    let title = |idx: usize| field["enumNames"][idx].as_str().unwrap_or_default().to_owned();
    let values = field["enum"].as_array().into_iter().flatten().enumerate();
    let values = values.map(|(idx, value)| (shown(value), title(idx)));
    let branches = field.get("oneOf").or_else(|| field.get("anyOf")).and_then(Value::as_array).into_iter().flatten();
    let titled = branches.map(|branch| (shown(&branch["const"]), shown(&branch["title"])));
    values.chain(titled).collect()
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Converts what the user has entered, or returns `None` if it is not valid for the field.
fn value(field: &Value, text: &str) -> Option<Value> {
    let choices = choices(field);
    let choice = |text: &str| {
        let by_number = text.parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
        let choice = choices.iter().find(|(value, _)| value == text).or(by_number);
        choice.map(|(value, _)| json!(value))
    };
    match field["type"].as_str() {
        Some("array") => {
            text.split(',').map(|part| choice(part.trim())).collect::<Option<Vec<Value>>>().map(Value::from)
        }
        Some("boolean") => match text.to_lowercase().as_str() {
            "y" | "yes" | "true" => Some(json!(true)),
            "n" | "no" | "false" => Some(json!(false)),
            _ => None,
        },
        Some("integer") => text.parse::<i64>().ok().map(Value::from),
        Some("number") => text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from),
        _ if !choices.is_empty() => choice(text),
        _ => Some(json!(text)),
    }
}
