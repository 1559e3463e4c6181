//! The text of a program, as models write it.

use super::errors::Place;
use crate::failure::Failure;

/// The number of characters of a line that a failure shows.
const MAX_EXCERPT: usize = 160;

/// The text of a program, and how it is run.
pub(super) struct Source {
    /// The text of the model.
    text: String,
    /// The first line of the code, from 0, and its length in lines.
    first: usize,
    code: String,
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

impl Source {
    pub(super) fn new(text: &str) -> Self {
        let (first, code) = without_fence(text);
        Self { text: text.to_owned(), first, code: code.to_owned(), form: Form::Script }
    }

    /// Returns the forms in which the text may be a program, in the order in which they are tried.
    pub(super) fn forms(&self) -> &'static [Form] {
        let start = self.code.trim_start();
        if start.starts_with('(') || start.starts_with("async") || start.starts_with("function") {
            &[Form::Expression, Form::Script, Form::Body]
        } else {
            &[Form::Script, Form::Body]
        }
    }

    /// Returns the code in a form. Its lines are those of the program.
    pub(super) fn code(&mut self, form: Form) -> String {
        self.form = form;
        match form {
            Form::Script => self.code.clone(),
            Form::Body => format!("{}{}\n}})", Form::Body.prefix(), self.code),
            Form::Expression => {
                let code = self.code.trim_end();
                format!("({}\n)", code.strip_suffix(';').unwrap_or(code))
            }
        }
    }

    /// Adds a place to a failure, and the text there.
    pub(super) fn locate(&self, mut failure: Failure, place: Option<Place>) -> Failure {
        let Some(place) = place else { return failure };
        let lines = self.code.lines().count();
        let idx = (place.line as usize).saturating_sub(1);
        if idx >= lines {
            return failure;
        }
        let mut column = place.column;
        if idx == 0 {
            column = column.saturating_sub(u32::try_from(self.form.prefix().len()).unwrap_or(0)).max(1);
        }
        let line = self.first + idx;
        failure.line = u32::try_from(line + 1).ok();
        failure.column = Some(column);
        failure.source = self.text.lines().nth(line).map(excerpt);
        failure
    }

    /// Returns the line of the model's text for a line of the code.
    pub(super) fn line(&self, line: u32) -> u32 {
        line + u32::try_from(self.first).unwrap_or(0)
    }
}

impl Form {
    fn prefix(self) -> &'static str {
        match self {
            Self::Script => "",
            Self::Expression => "(",
            Self::Body => "(async () => {",
        }
    }
}

/// Returns the code inside a Markdown fence and its first line from 0, or the whole text.
fn without_fence(text: &str) -> (usize, &str) {
    let before = text.len() - text.trim_start().len();
    let body = text.trim();
    let whole = (0, text);
    let Some(rest) = body.strip_prefix("```") else { return whole };
    let Some((info, code)) = rest.split_once('\n') else { return whole };
    if info.contains('`') {
        return whole;
    }
    let code = match code.rfind("\n```") {
        Some(end) => &code[..end],
        None => code.strip_suffix("```").unwrap_or(code),
    };
    (text[..before].matches('\n').count() + 1, code)
}

fn excerpt(line: &str) -> String {
    let line = line.trim();
    match line.char_indices().nth(MAX_EXCERPT) {
        None => line.to_owned(),
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}
