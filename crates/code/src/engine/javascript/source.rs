//! The text of a program, as models write it, the names by which it calls tools, and its steps and time.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use toolkit::schema::suggest::nearest;

use crate::engine::javascript::types;
use crate::failure::{Failure, FailureKind};
use crate::limits::Limits;

/// The name of the program in stack traces.
pub(super) const FILE: &str = "program.js";

/// The number of characters of a line that a failure shows.
const MAX_EXCERPT: usize = 160;

/// The text of a program, and the form in which it is run.
pub(super) struct Source {
    /// The text of the model.
    pub(super) text: String,
    /// The code inside the text, without a fence.
    written: String,
    /// The code that runs: the same, but with spaces in place of types and exports.
    code: String,
    /// The number of lines before the code.
    offset: usize,
    form: ProgramForm,
    /// True if the code has exports, of which the default one is the value.
    pub(super) is_module: bool,
}

/// The form of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProgramForm {
    /// An expression: a function, which is called, or a value.
    Expression,
    /// Statements, of which the last one has the value.
    Script,
    /// The body of an asynchronous function.
    Body,
}

impl ProgramForm {
    /// Returns the text before the code, in its first line.
    fn prefix(self) -> &'static str {
        match self {
            Self::Expression => "(async () => (",
            Self::Script => "",
            Self::Body => "(async () => {",
        }
    }
}

impl Source {
    pub(super) fn new(text: &str) -> Self {
        let (offset, code) = without_fence(text);
        Self {
            text: text.to_owned(),
            written: code.to_owned(),
            code: code.to_owned(),
            offset,
            form: ProgramForm::Script,
            is_module: false,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.code.trim().is_empty()
    }

    /// Returns the forms in which the text may be a program, in the order in which they are tried.
    pub(super) fn forms(&self) -> &'static [ProgramForm] {
        if self.may_be_function() {
            &[ProgramForm::Expression, ProgramForm::Script, ProgramForm::Body]
        } else {
            &[ProgramForm::Script, ProgramForm::Body]
        }
    }

    /// Returns true if the value is called if it is a function.
    pub(super) fn calls_value(&self) -> bool {
        self.is_module || self.form != ProgramForm::Body && self.may_be_function()
    }

    pub(super) fn is_script(&self) -> bool {
        self.form == ProgramForm::Script
    }

    /// Removes what is not part of a program, if the error at a place is due to it: an `export`, a type, or the text around the
    /// only block of code. Returns false if there is nothing to remove.
    pub(super) fn correct(&mut self, place: Option<SourcePlace>) -> bool {
        if let Some(place) = place
            && self.remove_export(place)
        {
            return true;
        }
        if let Some(erased) = place.and_then(|place| self.offset_of(place)).and_then(|at| types::at(&self.code, at)) {
            self.erase(erased);
            // Now it is known to be TypeScript, for which these are no comparisons.
            types::of_calls(&self.code).into_iter().for_each(|erased| self.erase(erased));
            return true;
        }
        let Some((offset, code)) = only_block(&self.text).filter(|(_, code)| *code != self.written) else {
            return false;
        };
        (self.offset, self.written, self.code) = (offset, code.to_owned(), code.to_owned());
        true
    }

    /// Writes spaces in place of a part of the code.
    fn erase(&mut self, part: Range<usize>) {
        let spaces = self.code[part.clone()].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' });
        let spaces: String = spaces.collect();
        self.code.replace_range(part, &spaces);
    }

    /// Returns the index of a place in the code.
    fn offset_of(&self, place: SourcePlace) -> Option<usize> {
        let lines = (place.line as usize).checked_sub(1)?;
        let start: usize = self.code.split_inclusive('\n').take(lines).map(str::len).sum();
        let prefix = if place.line == 1 { self.form.prefix().len() } else { 0 };
        let offset = start + (place.column as usize).checked_sub(prefix + 1)?;
        self.code.is_char_boundary(offset).then_some(offset)
    }

    /// Removes the `export` at a place. The default export becomes the value of `__out`. All other places stay.
    fn remove_export(&mut self, place: SourcePlace) -> bool {
        let Some(start) = self.offset_of(place) else { return false };
        let statement = &self.code[start..];
        let statement = statement.lines().next().unwrap_or_default();
        let Some(rest) = statement.strip_prefix("export") else { return false };
        let declared = rest.trim_start();
        let (removed, replacement) = if let Some(value) = declared.strip_prefix("default") {
            (&statement[..statement.len() - value.len()], "__out =")
        } else if ["async ", "function", "const ", "let ", "class ", "type ", "interface "]
            .iter()
            .any(|word| declared.starts_with(word))
        {
            ("export", "")
        } else {
            let Some((names, from)) = rest.split_once('}') else { return false };
            if !declared.starts_with('{') || from.trim_start().starts_with("from") {
                return false;
            }
            (&statement[..names.len() + "export}".len()], "")
        };
        let replacement = format!("{replacement:0$}", removed.len());
        let end = start + removed.len();
        self.code.replace_range(start..end, &replacement);
        self.is_module = true;
        true
    }

    /// Returns true if the code begins like a function.
    fn may_be_function(&self) -> bool {
        let start = self.code.trim_start();
        ["(", "async", "function"].iter().any(|word| start.starts_with(word))
    }

    /// Returns true if the code may throw a value of its own.
    pub(super) fn may_throw(&self) -> bool {
        ["throw", "reject"].iter().any(|word| self.code.contains(word))
    }

    /// Returns the text to evaluate for a form. Its lines are those of the code.
    pub(super) fn evaluated(&mut self, form: ProgramForm) -> String {
        self.form = form;
        let prefix = form.prefix();
        match form {
            ProgramForm::Script => self.code.clone(),
            ProgramForm::Body => format!("{prefix}{}\n}})", self.code),
            ProgramForm::Expression => {
                let code = self.code.trim_end();
                format!("{prefix}{}\n))", code.strip_suffix(';').unwrap_or(code))
            }
        }
    }

    /// Returns true if a place is behind the code, where the form ends.
    pub(super) fn is_behind(&self, place: SourcePlace) -> bool {
        place.line as usize > self.code.lines().count()
    }

    /// Returns the place of the last character, or of the last one that is `character`.
    pub(super) fn last(&self, character: Option<char>) -> Option<SourcePlace> {
        let code = self.code.trim_end();
        let end = match character {
            Some(character) => code.rfind(character)?,
            None => code.char_indices().next_back()?.0,
        };
        let line = code[..end].matches('\n').count();
        let before = code[..end].rfind('\n').map_or(0, |newline| newline + 1);
        let prefix = if line == 0 { self.form.prefix().len() } else { 0 };
        let column = end - before + prefix;
        Some(SourcePlace { line: number(line + 1), column: number(column + 1) })
    }

    /// Returns the text of the line at a place, and the column in it as an index of characters.
    pub(super) fn line_at(&self, place: SourcePlace) -> Option<(&str, usize)> {
        let line = self.written.lines().nth((place.line as usize).checked_sub(1)?)?;
        let prefix = if place.line == 1 { self.form.prefix().len() } else { 0 };
        let bytes = (place.column as usize).saturating_sub(prefix + 1);
        Some((line, line.char_indices().take_while(|&(idx, _)| idx < bytes).count()))
    }

    /// Adds a place to a failure, and the text there.
    pub(super) fn locate(&self, mut failure: Failure, place: Option<SourcePlace>) -> Failure {
        let Some(place) = place else { return failure };
        if let Some((line, column)) = self.line_at(place) {
            failure.line = Some(self.line(place.line));
            failure.column = Some(number(column + 1));
            failure.source = Some(excerpt(line));
        }
        failure
    }

    /// Returns the line in the text of the model.
    pub(super) fn line(&self, line: u32) -> u32 {
        line.saturating_add(number(self.offset))
    }
}

/// Returns the number of lines before the code inside a Markdown fence, and the code; or the whole text.
fn without_fence(text: &str) -> (usize, &str) {
    let body = text.trim();
    let Some((info, code)) = body.strip_prefix("```").and_then(|rest| rest.split_once('\n')) else {
        // With text before it. Inside a template of a program, a backtick would precede the fence.
        let is_fenced = |block: &(usize, &str)| text.lines().take(block.0 - 1).all(|line| !line.contains('`'));
        return only_block(text).filter(is_fenced).unwrap_or((0, text));
    };
    if info.contains('`') {
        return (0, text);
    }
    let code = match code.rfind("\n```") {
        Some(end) => &code[..end],
        None => code.strip_suffix("```").unwrap_or(code),
    };
    let before = text.len() - text.trim_start().len();
    (text[..before].matches('\n').count() + 1, code)
}

/// Returns the number of lines before the only block of code inside Markdown fences, and the code.
fn only_block(text: &str) -> Option<(usize, &str)> {
    let mut fences = text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with("```"));
    let (open, close) = (fences.next()?.0, fences.next()?.0);
    let start = text.split_inclusive('\n').take(open + 1).map(str::len).sum();
    let end = text.split_inclusive('\n').take(close).map(str::len).sum();
    fences.next().is_none().then(|| (open + 1, &text[start..end]))
}

fn excerpt(line: &str) -> String {
    let line = line.trim();
    match line.char_indices().nth(MAX_EXCERPT) {
        None => line.to_owned(),
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

fn number(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A place in the text that QuickJS runs: the line and the byte in it, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SourcePlace {
    pub(super) line: u32,
    pub(super) column: u32,
}

impl SourcePlace {
    /// Returns the innermost place of the program in a stack trace.
    pub(super) fn in_stack(stack: &str) -> Option<Self> {
        stack.lines().find_map(|frame| {
            // `at name (FILE:line:column)` or `at FILE:line:column`.
            let mut parts = frame.trim_end_matches(')').rsplitn(3, ':');
            let (column, line) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            parts.next()?.ends_with(FILE).then_some(Self { line, column })
        })
    }
}

/// The number of names that a message lists.
const LISTED: usize = 8;

/// The functions of a program by their paths, such as `math.add`, which form a tree.
#[derive(Default)]
pub(super) struct ToolNames(BTreeMap<String, String>);

impl ToolNames {
    pub(super) fn new(functions: BTreeMap<String, String>) -> Self {
        Self(functions)
    }

    /// Returns the size of all names in bytes, roughly.
    pub(super) fn size(&self) -> usize {
        64 * self.0.len()
    }

    /// Returns the id of the tool at a path.
    pub(super) fn tool(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// Returns true if something is at a path.
    pub(super) fn exists(&self, path: &str) -> bool {
        self.0.contains_key(path) || self.has_members(path)
    }

    /// Returns true if paths begin with this one.
    pub(super) fn has_members(&self, path: &str) -> bool {
        self.below(path).next().is_some()
    }

    /// Returns the names in a namespace, sorted.
    pub(super) fn members(&self, path: &str) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.below(path).map(|rest| rest.split_once('.').map_or(rest, |(name, _)| name)).collect();
        names.dedup();
        names
    }

    /// Returns the paths below one, without it.
    fn below<'a>(&'a self, path: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let prefix = if path.is_empty() { String::new() } else { format!("{path}.") };
        self.0
            .range(prefix.clone()..)
            .map(move |(name, _)| name.strip_prefix(&*prefix))
            .take_while(Option::is_some)
            .flatten()
    }

    /// Returns a path as a program writes it, whose last name is `name`.
    pub(super) fn named(&self, name: &str) -> Option<String> {
        let mut paths = self.0.keys().filter(|path| path.rsplit_once('.').is_some_and(|(_, last)| last == name));
        paths.next().map(|path| shown(path))
    }

    /// Returns the message for a path without a tool.
    pub(super) fn unknown(&self, path: &str) -> String {
        if self.has_members(path) {
            return format!("{} is a namespace and not a tool; it has {}", shown(path), self.listed(path));
        }
        let (parent, name) = path.rsplit_once('.').unwrap_or(("", path));
        if let Some(near) = self.nearest(path, parent, name) {
            return format!("{} is not a tool; did you mean {}?", shown(path), shown(near));
        }
        let near = nearest(path, self.members("").into_iter().filter(|name| self.has_members(name)));
        match near.unwrap_or(parent) {
            "" if self.0.is_empty() => format!("{} is not a tool; this program may call no tools", shown(path)),
            space if self.has_members(space) => format!(
                "{} is not a tool; {} has {}; `await search(\"words\")` finds tools",
                shown(path),
                if space.is_empty() { "tools".to_owned() } else { shown(space) },
                self.listed(space)
            ),
            _ => format!("{} is not a tool; `await search(\"words\")` finds tools", shown(path)),
        }
    }

    /// Returns the path that was probably meant: of the same namespace, of the same name elsewhere, or a similar one.
    fn nearest<'a>(&'a self, path: &str, parent: &str, name: &str) -> Option<&'a str> {
        let paths = || self.0.keys().map(String::as_str);
        let last = |path: &'a str| path.rsplit_once('.').map_or(path, |(_, name)| name);
        let same = squeezed(name);
        nearest(path, paths().filter(|near| near.rsplit_once('.').map_or("", |(space, _)| space) == parent))
            .or_else(|| paths().find(|near| squeezed(last(near)) == same))
            .or_else(|| paths().find(|near| squeezed(near) == squeezed(path)))
            .or_else(|| nearest(path, paths()))
            .or_else(|| nearest(name, paths().map(last)).and_then(|near| paths().find(|path| last(path) == near)))
    }

    fn listed(&self, path: &str) -> String {
        let names = self.members(path);
        let mut text = names[..names.len().min(LISTED)].join(", ");
        if names.len() > LISTED {
            text.push_str(&format!(" and {} more", names.len() - LISTED));
        }
        text
    }
}

/// Returns a name without case and separators, which models confuse: `listIssues` for `list_issues`.
fn squeezed(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns a path as a program writes it.
fn shown(path: &str) -> String {
    let mut text = "tools".to_owned();
    for name in path.split('.').take(8) {
        let is_identifier = !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
        let name: String = name.chars().take(80).collect();
        text.push_str(&if is_identifier { format!(".{name}") } else { format!("[{name:?}]") });
    }
    text
}

/// The number of backward jumps and calls between two polls of QuickJS.
const STEPS_PER_POLL: u64 = 10_000;
/// The steps that a job counts. Between two polls, thousands of jobs may run.
const STEPS_PER_JOB: u64 = 10;
/// The bytes that the host reads or writes for a program in the time of a step.
const BYTES_PER_STEP: usize = 32;
/// The steps between two looks at the clock, apart from polls.
const STEPS_PER_LOOK: u64 = 1_000;

/// The count of what a program has used, and the reason why it must end.
pub(super) struct Fuel {
    limits: Limits,
    stop: Arc<AtomicBool>,
    steps: Cell<u64>,
    /// The steps at the last look at the clock.
    looked: Cell<u64>,
    run_time: Cell<Duration>,
    resumed: Cell<Option<Instant>>,
    ended: Cell<Option<FailureKind>>,
}

impl Fuel {
    pub(super) fn new(limits: Limits, stop: Arc<AtomicBool>) -> Self {
        Self {
            limits,
            stop,
            steps: Cell::new(0),
            looked: Cell::new(0),
            run_time: Cell::new(Duration::ZERO),
            resumed: Cell::new(None),
            ended: Cell::new(None),
        }
    }

    /// Counts the steps between two polls, and returns true if the program must end.
    pub(super) fn poll(&self) -> bool {
        self.count(STEPS_PER_POLL)
    }

    /// Counts a job, and returns true if the program must end.
    pub(super) fn job(&self) -> bool {
        self.count(STEPS_PER_JOB)
    }

    /// Counts what the host does for the program, which no poll interrupts, and returns true if the program must end.
    pub(super) fn work(&self, bytes: usize) -> bool {
        self.count((bytes / BYTES_PER_STEP) as u64)
    }

    fn count(&self, steps: u64) -> bool {
        self.steps.set(self.steps.get() + steps);
        if self.ended.get().is_none() && self.steps.get() - self.looked.get() >= STEPS_PER_LOOK {
            self.look();
        }
        self.ended.get().is_some()
    }

    fn look(&self) {
        self.looked.set(self.steps.get());
        let elapsed = self.resumed.get().map_or(Duration::ZERO, |resumed| resumed.elapsed());
        let kind = if self.stop.load(Ordering::Relaxed) {
            FailureKind::Cancelled
        } else if self.steps.get() > self.limits.steps {
            FailureKind::Steps
        } else if self.run_time.get() + elapsed > self.limits.run_time {
            FailureKind::Time
        } else {
            return;
        };
        self.ended.set(Some(kind));
    }

    /// Starts the clock.
    pub(super) fn resume(&self) {
        self.resumed.set(Some(Instant::now()));
        if self.ended.get().is_none() {
            self.look();
        }
    }

    /// Stops the clock.
    pub(super) fn pause(&self) {
        if let Some(resumed) = self.resumed.take() {
            self.run_time.set(self.run_time.get() + resumed.elapsed());
        }
    }

    pub(super) fn steps(&self) -> u64 {
        self.steps.get()
    }

    /// Returns why the program must end.
    pub(super) fn failure(&self) -> Option<Failure> {
        let kind = self.ended.get()?;
        let message = match kind {
            FailureKind::Steps => format!(
                "the program exceeds {} steps: check for a loop that does not end, or work on less data",
                self.limits.steps
            ),
            FailureKind::Time => format!(
                "the program computes for longer than {:?}: check for a loop that does not end, or work on less data",
                self.limits.run_time
            ),
            _ => "the run was canceled".to_owned(),
        };
        Some(Failure::new(kind, message))
    }
}
