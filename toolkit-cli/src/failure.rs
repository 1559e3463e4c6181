//! Why a command did not do what it was asked for, and how it says so.

use std::error::Error as _;
use std::io;
use std::io::Write;

use serde_json::json;
use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit::catalog::Diagnostics;

use crate::credentials::variables;
use crate::exit::Exit;
use crate::options::program_name;
use crate::report::{problems_as_json, snake_case, write_problems};
use crate::style::{self, printable};

/// Any error that keeps a host from configuring its program. It is printed, and the exit code is 1.
pub type SetupError = Box<dyn std::error::Error + Send + Sync>;

/// Why a command did not do what it was asked for.
#[derive(Debug)]
pub(crate) enum Failure {
    /// clap refuses the command line, or answers it with help.
    Usage(clap::Error),
    /// The dispatcher or the tool.
    Tool(ToolError),
    /// The catalogue, for every command but `check`, whose answer this is.
    Catalog(Diagnostics),
    /// The host could not set up its dispatcher.
    Setup(SetupError),
    /// Something that this program found out itself.
    Own { exit: Exit, kind: &'static str, message: String },
    /// Nobody reads what is written, or the disk is full.
    Io(io::Error),
}

impl Failure {
    /// Says so to a person, on stderr.
    pub(crate) fn report(self) -> Exit {
        let exit = self.exit();
        let mut err = anstream::stderr();
        // Where stderr is gone too, there is nobody left to tell.
        let _ = match &self {
            Failure::Usage(error) => error.print(),
            Failure::Io(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Failure::Tool(error) => write_tool_error(&mut err, error),
            Failure::Catalog(problems) => write_problems(&mut err, problems),
            Failure::Setup(_) | Failure::Own { .. } | Failure::Io(_) => {
                writeln!(err, "{} {}", style::ERROR, printable(&self.message()))
            }
        };
        exit
    }

    /// Says so to a program, on stdout.
    pub(crate) fn report_as_json(self) -> Exit {
        let is_help = matches!(&self, Failure::Usage(error) if !error.use_stderr());
        let is_broken_pipe = matches!(&self, Failure::Io(error) if error.kind() == io::ErrorKind::BrokenPipe);
        if is_help || is_broken_pipe {
            return self.report();
        }
        let mut error = json!({ "kind": self.kind(), "message": self.message() });
        match &self {
            Failure::Tool(tool_error) => {
                error["tool"] = json!(tool_error.tool());
                error["violations"] = json!(tool_error.violations());
                if !tool_error.missing().is_empty() {
                    error["missing"] = json!(tool_error.missing());
                }
                if !tool_error.content().is_empty() {
                    error["content"] = json!(tool_error.content());
                }
                if let Some(cause) = cause(tool_error) {
                    let _ = writeln!(anstream::stderr(), "{} {}", style::CAUSE, printable(&cause));
                }
            }
            Failure::Catalog(problems) => error["problems"] = problems_as_json(problems),
            _ => {}
        }
        match style::write_json(&json!({ "error": error })) {
            Ok(()) => self.exit(),
            Err(error) => Failure::Io(error).report(),
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Failure::Usage(error) if error.use_stderr() => Exit::Usage,
            Failure::Usage(_) => Exit::Success,
            Failure::Tool(error) => match error.kind() {
                ErrorKind::UnknownTool | ErrorKind::AmbiguousTool => Exit::Usage,
                _ => Exit::Failed,
            },
            Failure::Catalog(_) => Exit::Failed,
            Failure::Own { exit, .. } => *exit,
            // `list | head -1` did what was asked of it.
            Failure::Io(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Success,
            Failure::Setup(_) | Failure::Io(_) => Exit::Failed,
        }
    }

    fn kind(&self) -> String {
        match self {
            Failure::Usage(_) => "usage".to_owned(),
            Failure::Tool(error) => snake_case(&format!("{:?}", error.kind())),
            Failure::Catalog(_) => "invalid_catalog".to_owned(),
            Failure::Own { kind, .. } => (*kind).to_owned(),
            Failure::Setup(_) => "setup".to_owned(),
            Failure::Io(_) => "io".to_owned(),
        }
    }

    fn message(&self) -> String {
        match self {
            Failure::Usage(error) => {
                let text = error.render().to_string();
                text.trim_start_matches("error: ").trim_end().to_owned()
            }
            Failure::Tool(error) => error.message().to_owned(),
            Failure::Catalog(problems) => problems.to_string(),
            Failure::Own { message, .. } => message.clone(),
            Failure::Setup(error) => error.to_string(),
            Failure::Io(error) => error.to_string(),
        }
    }
}

fn write_tool_error(err: &mut impl Write, error: &ToolError) -> io::Result<()> {
    write!(err, "{} ", style::ERROR)?;
    if let Some(tool) = error.tool() {
        write!(err, "{}{tool}{}: ", style::STRONG, style::STRONG.clear())?;
    }
    for (idx, line) in printable(error.message()).lines().enumerate() {
        let indent = if idx == 0 { "" } else { "  " };
        match line.strip_prefix("- ").and_then(|line| line.split_once(' ')) {
            Some((place, rule)) => {
                writeln!(err, "{indent}- {}{place}{} {rule}", style::STRONG, style::STRONG.clear())?;
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
        writeln!(err, "{} it is taken from the environment: {}", style::NOTE, variables.join(", "))?;
    }
    if error.kind() == ErrorKind::UnknownTool {
        let list = format!("`{} list` has them all", program_name());
        writeln!(err, "{} {list}", style::NOTE)?;
    }
    Ok(())
}

/// What a model must not read, and whoever runs the program must.
fn cause(error: &ToolError) -> Option<String> {
    let mut texts = Vec::new();
    let mut next = error.source();
    while let Some(error) = next {
        texts.push(error.to_string());
        next = error.source();
    }
    (!texts.is_empty()).then(|| texts.join(": "))
}

impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Self {
        Failure::Usage(error)
    }
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Self {
        Failure::Tool(error)
    }
}

impl From<Diagnostics> for Failure {
    fn from(problems: Diagnostics) -> Self {
        Failure::Catalog(problems)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Io(error)
    }
}
