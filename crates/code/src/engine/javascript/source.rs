//! The text of a program, as models write it, and places in the text that QuickJS runs.

use crate::failure::Failure;

/// The name of the program in stack traces.
pub(super) const FILE: &str = "program.js";

/// The number of characters of a line that a failure shows.
const MAX_EXCERPT: usize = 160;

/// The text of a program, and the form in which it is run.
pub(super) struct Source {
    /// The text of the model.
    text: String,
    /// The code inside the text, without a fence.
    code: String,
    /// The number of lines before the code.
    offset: usize,
    form: Form,
}

/// The form of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// An expression: a function, which is called, or a value.
    Expression,
    /// Statements, of which the last one has the value.
    Script,
    /// The body of an asynchronous function.
    Body,
}

impl Form {
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
        Self { text: text.to_owned(), code: code.to_owned(), offset, form: Form::Script }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.code.trim().is_empty()
    }

    /// Returns the forms in which the text may be a program, in the order in which they are tried.
    pub(super) fn forms(&self) -> &'static [Form] {
        if self.may_be_function() { &[Form::Expression, Form::Script, Form::Body] } else { &[Form::Script, Form::Body] }
    }

    /// Returns true if the value is called if it is a function.
    pub(super) fn calls_value(&self) -> bool {
        self.form != Form::Body && self.may_be_function()
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
    pub(super) fn evaluated(&mut self, form: Form) -> String {
        self.form = form;
        let prefix = form.prefix();
        match form {
            Form::Script => self.code.clone(),
            Form::Body => format!("{prefix}{}\n}})", self.code),
            Form::Expression => {
                let code = self.code.trim_end();
                format!("{prefix}{}\n))", code.strip_suffix(';').unwrap_or(code))
            }
        }
    }

    /// Returns true if a place is behind the code, where the form ends.
    pub(super) fn is_behind(&self, place: Place) -> bool {
        place.line as usize > self.code.lines().count()
    }

    /// Returns the place of the last character, or of the last one that is `character`.
    pub(super) fn last(&self, character: Option<char>) -> Option<Place> {
        let code = self.code.trim_end();
        let end = match character {
            Some(character) => code.rfind(character)?,
            None => code.char_indices().next_back()?.0,
        };
        let line = code[..end].matches('\n').count();
        let before = code[..end].rfind('\n').map_or(0, |newline| newline + 1);
        let prefix = if line == 0 { self.form.prefix().len() } else { 0 };
        let column = end - before + prefix;
        Some(Place { line: number(line + 1), column: number(column + 1) })
    }

    /// Returns the text of the line at a place, and the column in it as an index of characters.
    pub(super) fn line_at(&self, place: Place) -> Option<(&str, usize)> {
        let line = self.code.lines().nth((place.line as usize).checked_sub(1)?)?;
        let prefix = if place.line == 1 { self.form.prefix().len() } else { 0 };
        let bytes = (place.column as usize).saturating_sub(prefix + 1);
        Some((line, line.char_indices().take_while(|&(idx, _)| idx < bytes).count()))
    }

    /// Adds a place to a failure, and the text there.
    pub(super) fn locate(&self, mut failure: Failure, place: Option<Place>) -> Failure {
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

    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// Returns the number of lines before the code inside a Markdown fence, and the code; or the whole text.
fn without_fence(text: &str) -> (usize, &str) {
    let body = text.trim();
    let Some((info, code)) = body.strip_prefix("```").and_then(|rest| rest.split_once('\n')) else { return (0, text) };
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
pub(super) struct Place {
    pub(super) line: u32,
    pub(super) column: u32,
}

impl Place {
    /// Returns the innermost place of the program in a stack trace.
    pub(super) fn in_stack(stack: &str) -> Option<Self> {
        stack.lines().find_map(|frame| {
            let (_, place) = frame.rsplit_once(FILE)?;
            let mut numbers = place.trim_end_matches(')').split(':').skip(1).map(str::parse);
            Some(Self { line: numbers.next()?.ok()?, column: numbers.next()?.ok()? })
        })
    }
}
