//! A question, and the ways to ask it.

use std::fmt;

use super::form::Form;
use crate::call::kind::ErrorKind;
use crate::call::tool_error::ToolError;

/// A question to the user: a form to fill in, or a URL to open.
///
/// # Examples
///
/// ```
/// use toolkit::call::ask::{Form, Mode, Question};
///
/// let question = Question::from_form("How many?", Form::of::<u8>()?);
/// assert_eq!(question.mode(), Mode::Form);
///
/// let question = Question::from_url("Sign in to the calendar.", "https://calendar.example/connect?call=7");
/// assert_eq!(question.url(), Some("https://calendar.example/connect?call=7"));
/// # Ok::<(), toolkit::call::ask::FormError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    key: Option<String>,
    message: String,
    subject: Subject,
}

#[derive(Clone, Debug, PartialEq)]
enum Subject {
    Form(Form),
    Url(String),
}

/// A way to ask a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// The client shows a form and returns its content. Secrets must not be requested this way.
    Form,
    /// The client opens a URL after the user has agreed. What the user does there does not pass through the client.
    Url,
}

/// The cause of an error of kind [`ErrorKind::CannotAsk`]: the client cannot ask its
/// user in a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsupportedMode {
    mode: Mode,
}

impl UnsupportedMode {
    /// Creates the cause for a mode.
    #[must_use]
    pub fn new(mode: Mode) -> Self {
        Self { mode }
    }

    /// Returns the mode that the client does not support.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }
}

impl fmt::Display for UnsupportedMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.mode {
            Mode::Form => "the client does not support forms",
            Mode::Url => "the client does not support questions with a URL",
        })
    }
}

impl std::error::Error for UnsupportedMode {}

impl From<UnsupportedMode> for ToolError {
    /// Creates an error of kind [`ErrorKind::CannotAsk`].
    fn from(cause: UnsupportedMode) -> Self {
        let what = match cause.mode() {
            Mode::Form => "show a form to",
            Mode::Url => "open a URL for",
        };
        let message = format!("the tool asks the user, and the client cannot {what} its user");
        Self::new(ErrorKind::CannotAsk, message).caused_by(cause)
    }
}

impl Question {
    /// Creates a question with a form.
    #[must_use]
    pub fn from_form(message: impl Into<String>, form: Form) -> Self {
        Self { key: None, message: message.into(), subject: Subject::Form(form) }
    }

    /// Creates a question whether to open a URL.
    ///
    /// The URL must not contain personal data, or grant access to the one who opens it: the page has to verify that its
    /// visitor is the user of the call.
    #[must_use]
    pub fn from_url(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self { key: None, message: message.into(), subject: Subject::Url(url.into()) }
    }

    /// Sets a name for the question, which clients of MCP revision 2026-07-28 see as its key in `inputRequests`. By default,
    /// questions are numbered.
    #[must_use]
    pub fn with_key(self, key: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..self }
    }

    /// Returns the name of the question, if it has one.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Returns the text that the user reads.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the way in which the question is asked.
    #[must_use]
    pub fn mode(&self) -> Mode {
        match self.subject {
            Subject::Form(_) => Mode::Form,
            Subject::Url(_) => Mode::Url,
        }
    }

    /// Returns the form, if the question has one.
    #[must_use]
    pub fn form(&self) -> Option<&Form> {
        match &self.subject {
            Subject::Form(form) => Some(form),
            Subject::Url(_) => None,
        }
    }

    /// Returns the URL, if the question has one.
    #[must_use]
    pub fn url(&self) -> Option<&str> {
        match &self.subject {
            Subject::Form(_) => None,
            Subject::Url(url) => Some(url),
        }
    }

    /// Returns the question with the text for a user whose answer was invalid.
    pub(crate) fn repeated(&self, message: String) -> Self {
        Self { message, ..self.clone() }
    }
}
