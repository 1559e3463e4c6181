//! Errors and exit codes of commands, and their output.

use std::error::Error as _;
use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::json;
use toolkit::call::ErrorKind;
use toolkit::catalog::Diagnostics;
use toolkit::{Catalog, ToolError};

use crate::credentials::variables;
use crate::options::{MissingFeature, program_name};
use crate::report::{diagnostics_as_json, snake_case, write_diagnostics};
use crate::stderr;
use crate::style::{self, printable, without_os_codes};

/// An error of a configuration function of [`Program`](crate::Program). It is printed, and the exit code is 1.
///
/// # Examples
///
/// Errors of any type convert to it with `?`:
///
/// ```
/// use toolkit::dispatch::DispatcherBuilder;
/// use toolkit_cli::SetupError;
///
/// fn configure(dispatcher: DispatcherBuilder) -> Result<DispatcherBuilder, SetupError> {
///     let limit = std::env::var("MAX_CALLS").unwrap_or("many".to_owned());
///     Ok(dispatcher.concurrency(limit.parse()?))
/// }
///
/// let dispatcher = toolkit::Dispatcher::builder(toolkit::Catalog::new([])?);
/// assert_eq!(configure(dispatcher).err().unwrap().to_string(), "invalid digit found in string");
/// let program = toolkit_cli::program!().dispatcher(configure);
/// # drop(program);
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
pub type SetupError = Box<dyn std::error::Error + Send + Sync>;

/// A configuration function of the host.
pub(crate) type Configure<T> = Box<dyn FnOnce(T) -> Result<T, SetupError>>;

/// An error of a command.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// An invalid command line, or a request for help.
    Usage(clap::Error),
    /// An error of the dispatcher or the tool.
    Tool(ToolError),
    /// An invalid catalog, for every command except `check`, which reports it as its result.
    Catalog(Diagnostics),
    /// An error of a configuration function of the host.
    Setup(SetupError),
    /// Any other error.
    Other { exit: Exit, kind: &'static str, message: String },
    /// An I/O error, such as a closed pipe or a full disk.
    Io(io::Error),
}

impl CommandError {
    /// Returns the error of an invalid command line.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Other { exit: Exit::Usage, kind: "usage", message: message.into() }
    }

    /// Returns the error of a command that has failed.
    pub(crate) fn failed(kind: &'static str, message: impl Into<String>) -> Self {
        Self::Other { exit: Exit::Failed, kind, message: message.into() }
    }

    /// Returns the error of a name that no tool has: `error`, unless it is the name of a namespace.
    pub(crate) fn unresolved(catalog: &Catalog, name: &str, error: ToolError) -> Self {
        let is_namespace = || catalog.iter().any(|tool| tool.id().namespace() == Some(name));
        match error.kind() {
            ErrorKind::UnknownTool if is_namespace() => {
                let list = format!("{} list --namespace {name}", program_name());
                let message = format!("`{name}` is a namespace, and no tool has that name; `{list}` lists its tools");
                Self::Other { exit: Exit::Usage, kind: "unknown_tool", message }
            }
            _ => Self::Tool(error),
        }
    }

    /// Returns the error of a command or value that requires a feature.
    pub(crate) fn missing_feature(name: &'static str) -> Self {
        MissingFeature(name).into()
    }

    /// Prints the error as text to stderr.
    pub(crate) fn report(self) -> Exit {
        let exit = self.exit();
        let mut err = anstream::stderr();
        // Errors while writing to stderr cannot be reported.
        let _ = match &self {
            CommandError::Usage(error) if !error.use_stderr() || !stderr::is_json() => error.print(),
            CommandError::Io(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            _ if stderr::is_json() => {
                stderr::say(style::ERROR, &self.message());
                Ok(())
            }
            CommandError::Tool(error) => write_tool_error(&mut err, error),
            CommandError::Catalog(diagnostics) => write_diagnostics(&mut err, diagnostics),
            _ => {
                writeln!(err, "{} {}", style::ERROR, printable(&self.message()))
            }
        };
        exit
    }

    /// Prints the error as JSON to stdout.
    pub(crate) fn report_as_json(self) -> Exit {
        let is_help = matches!(&self, CommandError::Usage(error) if !error.use_stderr());
        let is_broken_pipe = matches!(&self, CommandError::Io(error) if error.kind() == io::ErrorKind::BrokenPipe);
        if is_help || is_broken_pipe {
            return self.report();
        }
        let mut error = json!({ "kind": self.kind(), "message": self.message() });
        match &self {
            CommandError::Tool(tool_error) => {
                error["tool"] = json!(tool_error.tool());
                error["violations"] = json!(tool_error.violations());
                if !tool_error.missing().is_empty() {
                    error["missing"] = json!(tool_error.missing());
                }
                if !tool_error.content().is_empty() {
                    error["content"] = json!(tool_error.content());
                }
                if let Some(data) = tool_error.data() {
                    error["data"] = data.clone();
                }
                if let Some(cause) = cause(tool_error) {
                    let _ = writeln!(anstream::stderr(), "{} {}", style::CAUSE, printable(&cause));
                }
            }
            CommandError::Catalog(diagnostics) => error["diagnostics"] = diagnostics_as_json(diagnostics),
            _ => {}
        }
        match style::write_json(&json!({ "error": error })) {
            Ok(()) => self.exit(),
            Err(error) => CommandError::Io(error).report(),
        }
    }

    fn exit(&self) -> Exit {
        match self {
            CommandError::Usage(error) if error.use_stderr() => Exit::Usage,
            CommandError::Usage(_) => Exit::Success,
            CommandError::Tool(error) => match error.kind() {
                ErrorKind::UnknownTool | ErrorKind::AmbiguousTool => Exit::Usage,
                _ => Exit::Failed,
            },
            CommandError::Catalog(_) => Exit::Failed,
            CommandError::Other { exit, .. } => *exit,
            // The reader of a pipe has ended, as in `list | head -1`.
            CommandError::Io(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Success,
            CommandError::Setup(_) | CommandError::Io(_) => Exit::Failed,
        }
    }

    fn kind(&self) -> String {
        match self {
            CommandError::Usage(_) => "usage".to_owned(),
            CommandError::Tool(error) => snake_case(&format!("{:?}", error.kind())),
            CommandError::Catalog(_) => "invalid_catalog".to_owned(),
            CommandError::Other { kind, .. } => (*kind).to_owned(),
            CommandError::Setup(_) => "setup".to_owned(),
            CommandError::Io(_) => "io".to_owned(),
        }
    }

    fn message(&self) -> String {
        let message = match self {
            CommandError::Usage(error) => {
                let text = error.render().to_string();
                text.trim_start_matches("error: ").trim_end().to_owned()
            }
            CommandError::Tool(error) => error.message().to_owned(),
            CommandError::Catalog(diagnostics) => diagnostics.to_string(),
            CommandError::Other { message, .. } => message.clone(),
            CommandError::Setup(error) => error.to_string(),
            CommandError::Io(error) => error.to_string(),
        };
        without_os_codes(&message)
    }
}

fn write_tool_error(err: &mut impl Write, error: &ToolError) -> io::Result<()> {
    write!(err, "{} ", style::ERROR)?;
    if let Some(tool) = error.tool() {
        write!(err, "{}{tool}{}: ", style::BOLD, style::BOLD.clear())?;
    }
    for (idx, line) in printable(&without_os_codes(error.message())).lines().enumerate() {
        let indent = if idx == 0 { "" } else { "  " };
        match line.strip_prefix("- ").and_then(|line| line.split_once(' ')) {
            Some((place, rule)) => {
                writeln!(err, "{indent}- {}{place}{} {rule}", style::BOLD, style::BOLD.clear())?;
            }
            None => writeln!(err, "{indent}{line}")?,
        }
    }
    for block in error.content() {
        writeln!(err, "  {}", printable(&style::content_line(block)))?;
    }
    if let Some(cause) = cause(error) {
        writeln!(err, "{} {}", style::CAUSE, printable(&cause))?;
    }
    let variables = variables(error.missing());
    if !variables.is_empty() {
        writeln!(err, "{} required credentials are read from the environment: {}", style::NOTE, variables.join(", "))?;
    }
    if error.kind() == ErrorKind::UnknownTool {
        let list = format!("`{} list` lists all tools", program_name());
        writeln!(err, "{} {list}", style::NOTE)?;
    }
    Ok(())
}

/// Returns the sources of the error, which are shown to the user and hidden from a model. A source whose text is already part
/// of the message or of another source is left out.
fn cause(error: &ToolError) -> Option<String> {
    let mut cause = String::new();
    let mut next = error.source();
    while let Some(source) = next {
        let text = source.to_string();
        if !error.message().contains(&text) && !cause.contains(&text) {
            let separator = if cause.is_empty() { "" } else { ": " };
            cause.push_str(&format!("{separator}{text}"));
        }
        next = source.source();
    }
    (!cause.is_empty()).then(|| without_os_codes(&cause))
}

impl From<clap::Error> for CommandError {
    fn from(error: clap::Error) -> Self {
        // An option of a disabled feature rejects every value, so that its value is not what is wrong.
        match error.source().and_then(|source| source.downcast_ref::<MissingFeature>()) {
            Some(missing) => (*missing).into(),
            None => CommandError::Usage(error),
        }
    }
}

impl From<MissingFeature> for CommandError {
    fn from(missing: MissingFeature) -> Self {
        Self::Other { exit: Exit::Usage, kind: "missing_feature", message: missing.to_string() }
    }
}

impl From<ToolError> for CommandError {
    fn from(error: ToolError) -> Self {
        CommandError::Tool(error)
    }
}

impl From<Diagnostics> for CommandError {
    fn from(diagnostics: Diagnostics) -> Self {
        CommandError::Catalog(diagnostics)
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        CommandError::Io(error)
    }
}

/// The outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command succeeded.
    Success,
    /// The tool failed, its arguments are invalid, or the catalog has problems.
    Failed,
    /// The command line is invalid.
    Usage,
    /// The call was interrupted by Ctrl-C.
    Interrupted,
}

impl Exit {
    pub(crate) const fn code(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            // 128 plus the number of SIGINT, as in shells.
            Exit::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}
