//! Programs whose end is known, which sandboxes and engines run alike.
//!
//! They are in `tests/data/programs`: after a block of lines that begin with `//# `, a program follows. The first line
//! of the block is the name; the others are `key: value`:
//!
//! - `kind`: the kinds of failure that are accepted, separated by `|`; `ok` stands for a value
//! - `value`: the value, as JSON, or `*`
//! - `place`: line and column of the failure
//! - `says`: words in the message or in the output; may be repeated
//! - `origin`: where the program was published
//! - `needs: process`: only a process that its host ends can end it

use std::fmt;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use serde_json::value::RawValue;
use toolkit_code::engine::{Answer, Call, Done, Engine, Printed, Request, State, Step, Thrown, Usage};
use toolkit_code::{FailureKind, Limits, Program};

/// A program and its expected end.
#[derive(Clone, Debug)]
pub struct KnownProgram {
    /// The name, with the file.
    pub name: String,
    /// Where it was published.
    pub origin: String,
    /// The text.
    pub code: String,
    /// The kinds of failure that are accepted, in snake case, or `ok`.
    pub kinds: Vec<String>,
    /// The value, if it is known.
    pub value: Option<Value>,
    /// The line and column of the failure.
    pub place: Option<(u32, u32)>,
    /// Words in the message or in the output.
    pub says: Vec<String>,
    /// True if only a process that its host ends can end it.
    pub needs_process: bool,
}

/// Returns the programs with mistakes that models make.
///
/// # Panics
///
/// Panics if the file is invalid.
#[must_use]
pub fn failing() -> Vec<KnownProgram> {
    read("failing.js")
}

/// Returns the programs that attack what runs them.
///
/// # Panics
///
/// Panics if a file is invalid.
#[must_use]
pub fn hostile() -> Vec<KnownProgram> {
    ["loops.js", "memory.js", "escapes.js", "prototypes.js", "engines.js", "requests.js"]
        .iter()
        .flat_map(|file| read(file))
        .collect()
}

/// Returns limits for known programs.
#[must_use]
pub fn small_limits() -> Limits {
    Limits::default().steps(1_000_000).memory_bytes(16 << 20).run_time(Duration::from_secs(2))
}

/// Returns a program that may call the tools of [`answer`].
#[must_use]
pub fn program(code: &str) -> Program {
    let mut program = Program::javascript(code);
    program.started_at = 1_700_000_000_000;
    program.seed = 7;
    for (path, id) in [
        ("math.add", "math:add:1.0.0"),
        ("math.subtract", "math:subtract:1.0.0"),
        ("github.list_issues", "github:list_issues:2.0.0"),
        ("echo", "echo"),
        ("fail", "fail"),
        ("image", "image"),
        ("nothing", "nothing"),
    ] {
        program.functions.insert(path.to_owned(), id.to_owned());
    }
    program
}

/// Answers a call: `math:add` adds, `fail` fails, `image` returns content, and other tools return their arguments.
#[must_use]
pub fn answer(call: &Call, at: u64) -> Answer {
    let (outcome, content) = match &call.request {
        Request::RunTool { id, args } => run(call.id, id, args),
        Request::Sleep { .. } => (Ok(raw("null")), None),
        _ => (Ok(raw("[]")), None),
    };
    Answer { id: call.id, at, outcome, content }
}

type Outcome = Result<Box<RawValue>, Thrown>;

fn run(call: u32, id: &str, args: &RawValue) -> (Outcome, Option<Box<RawValue>>) {
    let failure = |kind: &str, message: &str| Thrown {
        kind: kind.to_owned(),
        message: message.to_owned(),
        tool: Some(id.to_owned()),
        retryable: kind == "unavailable",
        violations: None,
    };
    let args_value: Value = serde_json::from_str(args.get()).unwrap_or_default();
    match id {
        "math:add:1.0.0" => match (args_value["a"].as_i64(), args_value["b"].as_i64()) {
            (Some(a), Some(b)) => (Ok(raw(&(a + b).to_string())), None),
            _ => {
                let mut thrown = failure("invalid_arguments", "/a must be an integer");
                thrown.violations = Some(raw(r#"[{"location":"/a"}]"#));
                (Err(thrown), None)
            }
        },
        "fail" => (Err(failure("unavailable", "the server is restarting")), None),
        "image" => {
            let blocks = format!(r#"[{{"type":"image","mimeType":"image/png","call":{call},"block":0}}]"#);
            (Ok(raw("null")), Some(raw(&blocks)))
        }
        "nothing" => (Ok(raw("null")), None),
        _ => (Ok(args.to_owned()), None),
    }
}

/// The end of a program, and what it did.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The end.
    pub done: Done,
    /// The lines that it printed.
    pub printed: Vec<Printed>,
    /// The calls, as JSON.
    pub calls: Vec<String>,
    /// The calls of each step.
    pub steps: Vec<usize>,
    /// The usage.
    pub usage: Usage,
}

impl Ended {
    /// Returns the value.
    ///
    /// # Panics
    ///
    /// Panics if the program failed.
    #[must_use]
    #[track_caller]
    pub fn value(&self) -> Value {
        match &self.done.outcome {
            Ok(value) => serde_json::from_str(value.get()).unwrap(),
            Err(failure) => panic!("{failure}"),
        }
    }

    /// Returns the lines that the program printed.
    #[must_use]
    pub fn lines(&self) -> Vec<&str> {
        self.printed.iter().map(|line| &*line.text).collect()
    }

    /// Returns the failure as a line: the kind, the message, and the place.
    #[must_use]
    pub fn summary(&self) -> String {
        match &self.done.outcome {
            Ok(value) => format!("ok: {}", value.get().chars().take(200).collect::<String>()),
            Err(failure) => format!("{}: {failure}", kind_name(failure.kind)),
        }
    }
}

/// Runs a program to its end, and answers each call in the order of the calls.
pub fn run_to_end(engine: &mut dyn Engine, program: &Program) -> Ended {
    run_with(engine, program, |calls| calls.remove(0))
}

/// Runs a program to its end. `next` selects the call that is answered next.
///
/// # Panics
///
/// Panics if the program waits for nothing.
pub fn run_with(engine: &mut dyn Engine, program: &Program, mut next: impl FnMut(&mut Vec<Call>) -> Call) -> Ended {
    let mut ended = Ended {
        done: Done { outcome: Ok(raw("null")), shown: Vec::new() },
        printed: Vec::new(),
        calls: Vec::new(),
        steps: Vec::new(),
        usage: Usage::default(),
    };
    let (mut waiting, mut at) = (Vec::new(), program.started_at);
    let mut step: Step = engine.start(program);
    loop {
        ended.printed.append(&mut step.printed);
        ended.usage = step.usage;
        match step.state {
            State::Done(done) => {
                ended.done = done;
                return ended;
            }
            State::Waiting(calls) => {
                ended.steps.push(calls.len());
                ended.calls.extend(calls.iter().map(|call| serde_json::to_string(call).unwrap()));
                waiting.extend(calls);
            }
        }
        assert!(!waiting.is_empty(), "the program waits for nothing");
        at += 5;
        let call = next(&mut waiting);
        step = engine.resume(vec![answer(&call, at)]);
    }
}

/// Returns what differs between the expected end of a program and its end.
#[must_use]
pub fn mismatch(known: &KnownProgram, ended: &Ended) -> Option<String> {
    let (kind, place, message) = match &ended.done.outcome {
        Ok(_) => ("ok".to_owned(), None, String::new()),
        Err(failure) => (kind_name(failure.kind), failure.line.zip(failure.column), failure.message.clone()),
    };
    let text = format!("{message}\n{}", ended.lines().join("\n"));
    let missing = known.says.iter().find(|words| !text.contains(&***words));
    // A slow machine may take longer than the time before the limit is reached.
    let ran_out = kind == "time" && known.kinds.iter().any(|kind| kind == "steps" || kind == "memory");
    let wrong = if ran_out {
        return None;
    } else if !known.kinds.contains(&kind) {
        format!("expected {}", known.kinds.join(" or "))
    } else if known.value.is_some() && ended.done.outcome.is_ok() && known.value.as_ref() != Some(&ended.value()) {
        format!("expected {}", known.value.as_ref()?)
    } else if known.place.is_some() && known.place != place {
        format!("expected the place {:?}", known.place?)
    } else {
        format!("expected the words {:?}", missing?)
    };
    Some(format!("{}: {wrong}, got {}\n{}\n", known.name, ended.summary(), ended.lines().join("\n")))
}

/// Returns the name of a kind in JSON.
#[must_use]
pub fn kind_name(kind: FailureKind) -> String {
    serde_json::to_value(kind).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

fn read(file: &str) -> Vec<KnownProgram> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/programs").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut programs: Vec<KnownProgram> = Vec::new();
    let mut in_header = false;
    for line in text.lines() {
        if let Some(header) = line.strip_prefix("//# ") {
            if !in_header {
                programs.push(KnownProgram::new(format!("{file}: {header}")));
            } else if let Some(program) = programs.last_mut() {
                program.add(header);
            }
            in_header = true;
        } else if let Some(program) = programs.last_mut() {
            in_header = false;
            program.code.push_str(line);
            program.code.push('\n');
        }
    }
    for program in &mut programs {
        program.code.truncate(program.code.trim_end().len());
        assert!(!program.kinds.is_empty(), "{program} has no kind");
    }
    programs
}

impl KnownProgram {
    fn new(name: String) -> Self {
        Self {
            name,
            origin: String::new(),
            code: String::new(),
            kinds: Vec::new(),
            value: None,
            place: None,
            says: Vec::new(),
            needs_process: false,
        }
    }

    fn add(&mut self, header: &str) {
        let (key, value) = header.split_once(": ").unwrap_or_else(|| panic!("{self}: {header}"));
        match key {
            "kind" => self.kinds = value.split('|').map(|kind| kind.trim().to_owned()).collect(),
            "value" => {
                self.kinds.push("ok".to_owned());
                self.value = (value != "*").then(|| serde_json::from_str(value).unwrap());
            }
            "place" => {
                let (line, column) = value.split_once(':').unwrap_or_else(|| panic!("{self}: {header}"));
                self.place = Some((line.parse().unwrap(), column.parse().unwrap()));
            }
            "says" => self.says.push(value.to_owned()),
            "origin" => value.clone_into(&mut self.origin),
            "needs" => self.needs_process = value == "process",
            _ => panic!("{self}: unknown key {key}"),
        }
    }
}

impl fmt::Display for KnownProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
