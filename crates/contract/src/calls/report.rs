//! The result of a run: the defects that the calls showed, and the tools that were not tested.

use std::fmt;
use std::io;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolkit::call::BoxError;
use toolkit_schema::excerpt;

macro_rules! defects {
    ($($Defect:ident $code:literal $doc:literal,)*) => {
        /// A way in which a call breaks the contract of its tool.
        ///
        /// # Examples
        ///
        /// ```
        /// use toolkit_contract::calls::Defect;
        ///
        /// assert_eq!(Defect::LeakedSecret.code(), "leaked-secret");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[non_exhaustive]
        pub enum Defect { $(#[doc = $doc] $Defect,)* }

        impl Defect {
            /// All defects.
            pub const ALL: &[Self] = &[$(Defect::$Defect),*];

            /// Returns the code, such as `leaked-secret`.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self { $(Defect::$Defect => $code,)* }
            }

            /// Returns the defect with this [code](Self::code).
            #[must_use]
            pub fn from_code(code: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|defect| defect.code() == code)
            }
        }
    };
}

defects! {
    Panic "panic" "The tool panics, or the server of the tool ends during the call.",
    Ends "ends" "The call ends the process: it exits, aborts, or exceeds the stack or the memory.",
    Hang "hang" "The call exceeds the time limit of the check, or that of the tool.",
    InvalidResult "invalid-result" "The result does not match the output schema.",
    InternalError "internal-error" "The tool fails with an error whose text the model cannot read.",
    RejectsValid "rejects-valid" "The type of the arguments rejects arguments that match the input schema.",
    AcceptsInvalid "accepts-invalid" "The tool is called with arguments that do not match its input schema.",
    LeakedSecret "leaked-secret" "The text of an error contains a secret (`writeOnly`) of the arguments, or a credential.",
    Writes "writes" "A tool that is declared `read_only` writes.",
    NotIdempotent "not-idempotent" "Two calls of an idempotent tool with the same arguments have different results.",
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// A defect of a tool, with the simplest arguments that were found to show it.
///
/// `Display` prints the tool, the defect, and a command that makes the call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallDiagnostic {
    /// The defect.
    pub defect: Defect,
    /// The name of the tool, without its version unless a later one has the same name.
    pub tool: String,
    /// The arguments.
    pub arguments: Value,
    /// A description of what happened.
    pub message: String,
}

impl CallDiagnostic {
    /// Creates a diagnostic, such as that of a call that has ended the process that made it.
    pub fn new(defect: Defect, tool: impl Into<String>, arguments: Value, message: impl Into<String>) -> Self {
        Self { defect, tool: tool.into(), arguments, message: message.into() }
    }

    /// Returns a command for a POSIX shell that makes the call with a program of `toolkit-cli`.
    #[must_use]
    pub fn command(&self, program: &str) -> String {
        let arguments = escaped(&self.arguments.to_string()).replace('\'', r"'\''");
        format!("{program} call {} '{arguments}'", self.tool)
    }
}

impl fmt::Display for CallDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, message, defect, .. } = self;
        write!(f, "{tool}: {} [{defect}]\n  {}", message.replace(char::is_control, " "), self.command("PROGRAM"))
    }
}

/// Escapes the characters of JSON text that a reader would not see.
fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    let mut written = 0;
    for (at, hidden) in excerpt::hidden(json) {
        escaped += &json[written..at];
        for unit in hidden.encode_utf16(&mut [0; 2]) {
            escaped += &format!("\\u{unit:04x}");
        }
        written = at + hidden.len_utf8();
    }
    escaped + &json[written..]
}

/// A tool that was not tested.
///
/// `Display` prints it on one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Untested {
    /// The name of the tool.
    pub tool: String,
    /// The reason.
    pub reason: String,
}

impl fmt::Display for Untested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was not tested: {}", self.tool, self.reason)
    }
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallReport {
    #[serde(rename = "calls")]
    pub(super) n_calls: usize,
    pub(super) diagnostics: Vec<CallDiagnostic>,
    pub(super) untested: Vec<Untested>,
}

impl CallReport {
    /// Returns the number of calls, including those that simplified arguments.
    #[must_use]
    pub fn n_calls(&self) -> usize {
        self.n_calls
    }

    /// Returns the defects, sorted by tool: at most one of each kind for each tool.
    #[must_use]
    pub fn diagnostics(&self) -> &[CallDiagnostic] {
        &self.diagnostics
    }

    /// Adds the result of a run for other tools.
    pub fn extend(&mut self, other: Self) {
        self.n_calls += other.n_calls;
        self.diagnostics.extend(other.diagnostics);
        self.untested.extend(other.untested);
    }

    /// Adds calls.
    pub fn count(&mut self, n_calls: usize) {
        self.n_calls += n_calls;
    }

    /// Adds a defect.
    pub fn push(&mut self, found: CallDiagnostic) {
        self.diagnostics.push(found);
    }

    /// Returns the tools that were not tested, with the reasons, sorted by tool.
    #[must_use]
    pub fn untested(&self) -> &[Untested] {
        &self.untested
    }
}

/// The error of a run that could not be made.
///
/// # Examples
///
/// ```
/// use toolkit::{Dispatcher, catalog, tool};
///
/// /// Does nothing.
/// #[tool]
/// fn nothing() {}
///
/// let dispatcher = Dispatcher::new(catalog![nothing]?)?;
/// let error = toolkit_contract::calls(&dispatcher).include("missing").run().unwrap_err();
/// assert_eq!(error.to_string(), "no tool is named `missing`");
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Debug)]
pub struct CallsError {
    message: String,
    source: BoxError,
}

impl CallsError {
    pub(super) fn new(message: String, source: impl Into<BoxError>) -> Self {
        Self { message, source: source.into() }
    }

    pub(super) fn from_io(error: io::Error) -> Self {
        Self::new(format!("cannot make the calls: {error}"), error)
    }
}

impl fmt::Display for CallsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CallsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.source)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_command_is_one_line_of_visible_characters_in_quotes() {
        let arguments = json!({ "text": "it's\n\u{202e}😀\u{0}" });
        let diagnostic =
            CallDiagnostic { defect: Defect::Panic, tool: "a:b".to_owned(), arguments, message: "boom".to_owned() };
        assert_eq!(diagnostic.command("p"), r#"p call a:b '{"text":"it'\''s\n\u202e😀\u0000"}'"#);
        assert!(diagnostic.to_string().starts_with("a:b: boom [panic]\n  PROGRAM call a:b '"));
    }
}
