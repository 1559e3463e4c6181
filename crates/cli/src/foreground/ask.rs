//! Questions of a tool to the user of the terminal.

use std::io::{self, BufRead, IsTerminal, Write};

use serde_json::{Map, Value, json};
use toolkit::ToolError;
use toolkit::call::BoxFuture;
use toolkit::call::ask::{Answer, Asker, Mode, Question};

use super::progress::Meter;
use crate::style::{BOLD, DIM, printable};

/// Asks in the terminal. Cannot ask if stdin or stderr is not one.
pub(super) struct Terminal {
    meter: Meter,
}

impl Terminal {
    pub(super) fn new(meter: Meter) -> Self {
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
