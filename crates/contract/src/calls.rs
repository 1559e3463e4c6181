//! Calls of every tool with generated arguments, which look for calls that break the contract of their tool.
//!
//! The arguments come from the input schema: valid ones, boundary values, texts on which tools fail, and arguments that
//! are one change away from valid. Each [`Defect`] is reported with the simplest arguments that were found to show it.
//!
//! ```
//! use toolkit::{Dispatcher, catalog, tool};
//! use toolkit_contract::calls;
//! use toolkit_contract::calls::Defect;
//!
//! /// Returns the first character in upper case.
//! #[tool(namespace = "text", version = "1.0.0", read_only)]
//! fn initial(text: String) -> String {
//!     text[..1].to_uppercase()
//! }
//!
//! let dispatcher = Dispatcher::new(catalog![initial]?)?;
//! let report = calls(&dispatcher).run()?;
//! let diagnostic = &report.diagnostics()[0];
//! assert_eq!(diagnostic.defect, Defect::Panic);
//! assert_eq!(diagnostic.command("program"), r#"program call text:initial '{"text":""}'"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Tools that are called
//!
//! Only tools that are declared `read_only` are called, and those that are [included](Calls::include) by name. The
//! others are [reported](CallReport::untested), and so are tools whose credentials are missing.
//!
//! # Writing
//!
//! On Linux, a tool that is declared `read_only` and writes to a file, a pipe or the terminal is reported. Only the thread
//! on which a call runs is observed: `tokio::fs` writes on others. Creating, renaming and deleting a file without writing
//! to it is not seen, and neither is a message on a socket. What it writes to standard error does not count if that is a file, as
//! it is for `check --calls`. A tool that writes to another process or to a file that it removes is not told apart; see
//! [`Calls::allow`].
//!
//! # Calls that hang
//!
//! A call that exceeds the [time limit](Calls::time_limit) is cancelled, and the run goes on. An async tool is dropped.
//! A synchronous one cannot be stopped: its thread remains until the tool returns or the process ends, so that a tool
//! which hangs is called at most 8 times more, for simpler arguments. Pass a dispatcher whose concurrency limit is higher
//! than the number of such threads.
//!
//! # Limits of the verdicts
//!
//! Schemas do not assert `format`, so a type may reject a text for its format. Integers beyond 64 bits are not sent unless
//! the schema names such a bound, since the schema of a 64-bit type has none. Tools that are `idempotent` and
//! `open_world` may return different results. Secrets of fewer than 8 characters are not searched for in errors.
//!
//! # Source
//!
//! | module | part |
//! |---|---|
//! | `generate` | arguments |
//! | `caller` | calls within a time limit, and what they write |
//! | `judge` | the defects that a call shows |
//! | `shrink` | simpler arguments |
//! | `cases` | the file of arguments that failed once |
//! | `report` | the result, and the error of a run that could not be made |

mod caller;
mod cases;
mod generate;
mod judge;
mod report;
mod shrink;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use toolkit::call::{ErrorKind, ToolError};
use toolkit::catalog::{Diagnostic, DiagnosticKind, Diagnostics};
use toolkit::{Catalog, Context, Dispatcher, Tool, ToolId};

use self::caller::{Caller, EndedCall};
use self::cases::Cases;
use self::generate::{Generator, mutate};
use self::judge::{FoundDefect, Judge};
pub use self::report::{CallDiagnostic, CallReport, CallsError, Defect, Untested};

/// The default number of calls of each tool.
const PER_TOOL: usize = 100;

/// The default time limit of a call: far more than a tool takes that has no time limit of its own.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// The maximum number of calls that simplify the arguments of one defect, and of arguments that are considered for that.
const MAX_SHRINKING_CALLS: usize = 500;
const MAX_SIMPLER: usize = 20_000;

/// The maximum number of calls that simplify the arguments of a hang and hang themselves, or end the server of the tool.
const MAX_HUNG_CALLS: usize = 8;

/// The time within which a server that ended is available again.
const RESTART: Duration = Duration::from_secs(5);

/// The number of attempts to generate valid arguments, or arguments that were not used yet.
const MAX_ATTEMPTS: usize = 20;

/// Creates a run of generated calls; [`Calls::run`] makes them.
///
/// In a test:
///
/// ```no_run
/// #[test]
/// fn no_call_breaks_the_contract_of_its_tool() {
///     let dispatcher = toolkit::Dispatcher::new(toolkit::Catalog::linked().unwrap()).unwrap();
///     toolkit_contract::calls(&dispatcher).cases("tests/calls.jsonl").expect_no_defects().unwrap();
/// }
/// ```
pub fn calls(dispatcher: &Dispatcher) -> Calls {
    Calls {
        dispatcher: dispatcher.clone(),
        per_tool: PER_TOOL,
        time_limit: TIME_LIMIT,
        seed: 0,
        included: Vec::new(),
        excluded: Vec::new(),
        allowed: Vec::new(),
        cases: None,
        context: Box::new(|_| Context::new()),
        before_call: Box::new(|_, _| {}),
        after_tool: Box::new(|_, _| {}),
    }
}

type BeforeCall = Box<dyn Fn(&Tool, &Value)>;
type AfterTool = Box<dyn Fn(&Tool, &CallReport)>;

/// A run of generated calls.
///
/// The calls run on the current tokio runtime if it has several threads, and otherwise on a runtime of their own.
#[must_use = "call `run` or `expect_no_defects`"]
pub struct Calls {
    dispatcher: Dispatcher,
    per_tool: usize,
    time_limit: Duration,
    seed: u64,
    included: Vec<String>,
    excluded: Vec<String>,
    allowed: Vec<Defect>,
    cases: Option<PathBuf>,
    context: Box<dyn Fn(&Tool) -> Context>,
    before_call: BeforeCall,
    after_tool: AfterTool,
}

impl Calls {
    /// Sets the number of calls of each tool; by default 100. The second call of an idempotent tool counts. Kept cases and calls
    /// that simplify the arguments of a defect do not.
    pub fn per_tool(mut self, n_calls: usize) -> Self {
        self.per_tool = n_calls;
        self
    }

    /// Sets the time limit of each call; by default 10 seconds.
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// Sets the seed, by default 0. Runs with the same seed make the same calls, as long as the tools answer the same.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Includes a tool by any of its names although it is not declared `read_only`. It is called with arguments that
    /// nobody has chosen.
    pub fn include(mut self, tool: impl Into<String>) -> Self {
        self.included.push(tool.into());
        self
    }

    /// Excludes a tool by any of its names although it is declared `read_only`.
    pub fn exclude(mut self, tool: impl Into<String>) -> Self {
        self.excluded.push(tool.into());
        self
    }

    /// Does not report a kind of defect.
    ///
    /// ```
    /// use toolkit::{Dispatcher, catalog, tool};
    /// use toolkit_contract::calls::Defect;
    ///
    /// /// Returns the time, and logs it to a file.
    /// #[tool(read_only)]
    /// fn now() -> String {
    ///     let _ = std::fs::write("/dev/null", "asked");
    ///     "12:00".to_owned()
    /// }
    ///
    /// let dispatcher = Dispatcher::new(catalog![now]?)?;
    /// toolkit_contract::calls(&dispatcher).allow(Defect::Writes).expect_no_defects()?;
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    pub fn allow(mut self, defect: Defect) -> Self {
        self.allowed.push(defect);
        self
    }

    /// Sets a function that is called with the tool and the arguments before each call, such as one that records them in case
    /// the call ends the process.
    pub fn before_call(mut self, before: impl Fn(&Tool, &Value) + 'static) -> Self {
        self.before_call = Box::new(before);
        self
    }

    /// Sets a function that is called with each tool and its result, also for a tool that was not tested.
    pub fn after_tool(mut self, after: impl Fn(&Tool, &CallReport) + 'static) -> Self {
        self.after_tool = Box::new(after);
        self
    }

    /// Keeps arguments that show a defect in a file, one case on each line: `{"tool": ID, "arguments": {…}}`. The cases of
    /// the file are tried first, and may be committed.
    pub fn cases(mut self, path: impl Into<PathBuf>) -> Self {
        self.cases = Some(path.into());
        self
    }

    /// Sets the context of the calls of each tool, for example its credentials.
    pub fn context(mut self, context: impl Fn(&Tool) -> Context + 'static) -> Self {
        self.context = Box::new(context);
        self
    }

    /// Makes the calls.
    ///
    /// # Errors
    ///
    /// Returns an error if a tool that is named is unknown, the file of cases cannot be read or written, or a thread cannot be
    /// started.
    pub fn run(self) -> Result<CallReport, CallsError> {
        let catalog = self.dispatcher.catalog();
        let ids = |names: &[String]| -> Result<Vec<ToolId>, CallsError> {
            let ids = names.iter().map(|name| catalog.resolve(name).map(|tool| tool.id().clone()));
            ids.collect::<Result<_, _>>().map_err(|error| CallsError::new(error.to_string(), error))
        };
        let (included, excluded) = (ids(&self.included)?, ids(&self.excluded)?);
        let mut cases = Cases::read(self.cases.clone())?;
        let mut caller = Caller::new(self.dispatcher.clone(), self.time_limit).map_err(CallsError::from_io)?;
        let mut report = CallReport::default();
        for tool in catalog.iter() {
            let mut of_tool = CallReport::default();
            let name = shortest_name(catalog, tool);
            let untested = match excluded.contains(tool.id()) {
                true => Some("it is excluded".to_owned()),
                false if tool.annotations().read_only == Some(true) || included.contains(tool.id()) => {
                    let context = (self.context)(tool);
                    let judge = Judge::new(tool, self.dispatcher.coercion(tool), &context);
                    let (caller, before_call, allowed) = (&mut caller, &*self.before_call, &*self.allowed);
                    let mut run =
                        ToolRun { judge, context, caller, before_call, allowed, n_calls: 0, n_hung: 0, n_ended: 0 };
                    let kept: Vec<Value> = cases.of(catalog, tool).collect();
                    let outcome = run.run(kept, self.per_tool, self.seed).map_err(CallsError::from_io)?;
                    of_tool.count(run.n_calls);
                    for (arguments, (defect, message)) in outcome.found {
                        cases.keep(name.clone(), &arguments);
                        of_tool.push(CallDiagnostic::new(defect, name.clone(), arguments, message));
                    }
                    outcome.untested
                }
                false => Some("it is not declared `read_only`, and not included".to_owned()),
            };
            of_tool.untested.extend(untested.map(|reason| Untested { tool: name, reason }));
            cases.write()?;
            (self.after_tool)(tool, &of_tool);
            report.extend(of_tool);
        }
        Ok(report)
    }

    /// Makes the calls and requires that they show no defect.
    ///
    /// # Errors
    ///
    /// Returns a diagnostic for each defect, or the error of [`Calls::run`].
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::{Dispatcher, catalog, tool};
    ///
    /// /// Adds two integers.
    /// #[tool(read_only, idempotent)]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a.wrapping_add(b)
    /// }
    ///
    /// let report = toolkit_contract::calls(&Dispatcher::new(catalog![add]?)?).expect_no_defects()?;
    /// assert_eq!(report.n_calls(), 100);
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    pub fn expect_no_defects(self) -> Result<CallReport, Diagnostics> {
        let dispatcher = self.dispatcher.clone();
        let of = |message: String, tool| Diagnostic::new(DiagnosticKind::Unexpected, message, tool);
        let report = self.run().map_err(|error| Diagnostics::from(of(error.to_string(), None)))?;
        let diagnostics = report.diagnostics.iter();
        let diagnostics = diagnostics.map(|found| of(found.to_string(), dispatcher.catalog().get(&found.tool)));
        Diagnostics::none_or(diagnostics.collect())?;
        Ok(report)
    }
}

toolkit::debug_fields!(Calls { per_tool, time_limit, seed, included, excluded, allowed, cases });

/// Returns the id without its version, unless that is the name of another version.
fn shortest_name(catalog: &Catalog, tool: &Tool) -> String {
    let unversioned = match tool.id().namespace() {
        Some(namespace) => format!("{namespace}:{}", tool.name()),
        None => tool.name().to_owned(),
    };
    match catalog.get(&unversioned) {
        Some(other) if other.id() == tool.id() => unversioned,
        _ => tool.id().to_string(),
    }
}

/// The calls of one tool.
struct ToolRun<'r, 't> {
    judge: Judge<'t>,
    context: Context,
    caller: &'r mut Caller,
    before_call: &'r dyn Fn(&Tool, &Value),
    allowed: &'r [Defect],
    n_calls: usize,
    n_hung: usize,
    /// The number of calls in which the server of the tool ended.
    n_ended: usize,
}

/// The result of the calls of one tool.
#[derive(Default)]
struct ToolOutcome {
    found: Vec<(Value, FoundDefect)>,
    untested: Option<String>,
}

/// The result of one call, or of two equal ones.
enum Tried {
    Sound,
    Defective(FoundDefect),
    /// The tool cannot be called, for a reason that does not depend on the arguments.
    Blocked(String),
}

impl ToolRun<'_, '_> {
    fn run(&mut self, kept: Vec<Value>, n_calls: usize, seed: u64) -> io::Result<ToolOutcome> {
        let tool = self.judge.tool;
        let mut generator = Generator::new(tool.input().as_value(), seed, &tool.id().to_string());
        let mut outcome = ToolOutcome::default();
        let mut used = HashSet::new();
        let mut has_valid = false;
        // The smallest arguments are tried before generated ones, so that a defect is often found in its simplest form.
        let examples = tool.input().example().into_iter().chain(tool.examples());
        let kept = kept.into_iter().map(|arguments| (arguments, false));
        let mut given = kept.chain(examples.map(|arguments| (arguments, true)));
        let (mut nth, mut n_left) = (0, n_calls);
        loop {
            let (arguments, counts) = match given.next() {
                Some((arguments, counts)) => (used.insert(fingerprint(&arguments)).then_some(arguments), counts),
                None if nth == n_calls => break,
                None => {
                    nth += 1;
                    (self.generated(&mut generator, nth, &mut used), true)
                }
            };
            if counts && n_left == 0 {
                break;
            }
            let Some(arguments) = arguments else { continue };
            has_valid |= tool.input().is_valid(&arguments);
            let n_before = self.n_calls;
            let tried = self.attempt(&arguments, !counts || n_left > 1)?;
            if counts {
                n_left = n_left.saturating_sub(self.n_calls - n_before);
            }
            match tried {
                Tried::Sound => {}
                Tried::Defective((defect, _)) if outcome.found.iter().any(|(_, (known, _))| *known == defect) => {}
                Tried::Defective(found) => outcome.found.push(self.shrunk(arguments, found)?),
                Tried::Blocked(reason) => {
                    outcome.untested = Some(reason);
                    return Ok(outcome);
                }
            }
            // Every further hang takes the whole time limit and may leave a thread behind. A server takes time to start.
            if self.n_hung + self.n_ended > 0 {
                return Ok(outcome);
            }
        }
        if !has_valid {
            let reason = "no arguments that match its input schema were generated; add an example to the tool";
            outcome.untested = Some(reason.to_owned());
        }
        Ok(outcome)
    }

    /// Returns arguments that were not used yet: of four, three are valid and one has a change. Returns `None` if none
    /// were found, as for a tool without arguments.
    fn generated(&self, generator: &mut Generator<'_>, nth: usize, used: &mut HashSet<u64>) -> Option<Value> {
        (0..MAX_ATTEMPTS).find_map(|_| {
            let input = self.judge.tool.input();
            let mut arguments = generator.arguments();
            for _ in 0..MAX_ATTEMPTS {
                if input.is_valid(&arguments) {
                    break;
                }
                arguments = generator.arguments();
            }
            if nth.is_multiple_of(4) {
                mutate(&mut arguments, generator);
            }
            used.insert(fingerprint(&arguments)).then_some(arguments)
        })
    }

    /// Makes a call, and repeats that of an idempotent tool if it may.
    fn attempt(&mut self, arguments: &Value, may_repeat: bool) -> io::Result<Tried> {
        let is_valid = self.judge.tool.input().is_valid(arguments);
        let first = self.call(arguments)?;
        if let Some(EndedCall { outcome: Err(error), .. }) = &first
            && let Some(reason) = blocked(error)
        {
            return Ok(Tried::Blocked(reason));
        }
        if let Some(found) = self.judge.defect(arguments, is_valid, &first) {
            self.n_hung += usize::from(found.0 == Defect::Hang);
            return Ok(self.judged(found));
        }
        match first {
            Some(EndedCall { outcome: Ok(first), .. }) if may_repeat && self.judge.must_repeat() => {
                let second = self.call(arguments)?;
                Ok(self.judge.difference(&first, &second).map_or(Tried::Sound, |found| self.judged(found)))
            }
            _ => Ok(Tried::Sound),
        }
    }

    fn judged(&self, found: FoundDefect) -> Tried {
        if self.allowed.contains(&found.0) { Tried::Sound } else { Tried::Defective(found) }
    }

    fn call(&mut self, arguments: &Value) -> io::Result<judge::CallOutcome> {
        let tool = self.judge.tool.id().to_string();
        let started = Instant::now();
        loop {
            self.n_calls += 1;
            (self.before_call)(self.judge.tool, arguments);
            let outcome = self.caller.call(self.context.clone(), &tool, arguments.to_string())?;
            let kind = outcome.as_ref().and_then(|ended| ended.outcome.as_ref().err()).map(ToolError::kind);
            // The server of the tool may have ended in the call before, and is started again.
            let may_return = kind == Some(ErrorKind::Unavailable) && self.caller.has_lost_server;
            if !may_return || started.elapsed() > RESTART {
                if kind == Some(ErrorKind::OutcomeUnknown) {
                    self.n_ended += 1;
                    self.caller.has_lost_server = true;
                }
                return Ok(outcome);
            }
            thread::sleep(RESTART / 50);
        }
    }

    /// Returns the simplest arguments with the same defect, which stay valid if they are.
    fn shrunk(&mut self, mut arguments: Value, mut found: FoundDefect) -> io::Result<(Value, FoundDefect)> {
        let input = self.judge.tool.input();
        let is_valid = input.is_valid(&arguments);
        let mut used = HashSet::from([fingerprint(&arguments)]);
        let last_call = self.n_calls + MAX_SHRINKING_CALLS;
        let mut n_left = MAX_SIMPLER;
        loop {
            let mut next = None;
            for simpler in shrink::simpler(&arguments) {
                if self.n_calls >= last_call || self.n_hung + self.n_ended > MAX_HUNG_CALLS || n_left == 0 {
                    break;
                }
                n_left -= 1;
                if input.is_valid(&simpler) != is_valid || !used.insert(fingerprint(&simpler)) {
                    continue;
                }
                if let Tried::Defective(other) = self.attempt(&simpler, true)?
                    && other.0 == found.0
                {
                    next = Some((simpler, other));
                    break;
                }
            }
            match next {
                Some(simpler) => (arguments, found) = simpler,
                None => return Ok((arguments, found)),
            }
        }
    }
}

/// Returns a number that stands for the arguments, since a set of many large ones would take much memory.
fn fingerprint(arguments: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    arguments.to_string().hash(&mut hasher);
    hasher.finish()
}

/// Returns the reason of an error that every call of the tool has.
fn blocked(error: &ToolError) -> Option<String> {
    use ErrorKind::{
        Denied, MissingRequirements, NeedsRuntime, NoBackend, Overloaded, Pending, Unauthorized, Unavailable,
    };

    let is_blocked = matches!(
        error.kind(),
        Denied | MissingRequirements | NeedsRuntime | NoBackend | Overloaded | Pending | Unauthorized | Unavailable
    );
    is_blocked.then(|| error.message().to_owned())
}
