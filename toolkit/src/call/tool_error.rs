//! Errors of calls: the kind, the message for the model, the cause for the log, and the violations of arguments.

use std::error::Error;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use std::{fmt, io};

use serde_json::{Map, Value};

use super::BoxError;
use super::content::Content;
use super::kind::{ErrorKind, Stage};
use super::mcp_result::McpResult;
use super::show::is_shown;
use crate::tool::{Requirements, ToolBackend};
use crate::unwind::{shielded, with_sources};
use toolkit_schema::Violation;

/// The error of a call.
///
/// `Display` prints a text for the model. It never contains the text of an unexpected error or of a panic: these are
/// logged with `tracing`, and available to the host as the [`source`](std::error::Error::source).
///
/// The author of a tool chooses which errors the model can read:
///
/// | the tool | the model reads |
/// |---|---|
/// | returns or makes [`ToolError::failed`], a `String` or a `&str` | that text |
/// | returns an error that implements [`ShowError`](super::ShowError), or contains one as a source | the text of this error |
/// | returns an error that implements `Into<ToolError>` | the text that this chooses |
/// | converts with `.map_err(ToolError::shown)` | the text of the error |
/// | is marked `#[tool(show_errors)]` | the text of every error that it returns |
/// | returns a [`std::io::Error`] | its kind, such as "not found", without a path |
/// | returns any other error, or panics | that the tool failed |
///
/// # Examples
///
/// ```
/// use toolkit::call::{ErrorKind, ToolError};
/// use toolkit::{Dispatcher, catalog, tool};
///
/// /// Returns the stock of an article.
/// #[tool(namespace = "shop")]
/// fn stock(article: String) -> Result<u32, ToolError> {
///     match &*article {
///         "tea" => Ok(12),
///         _ => Err(ToolError::failed(format!("there is no article `{article}`"))),
///     }
/// }
///
/// let dispatcher = Dispatcher::new(catalog![stock]?)?;
/// let error = dispatcher.call_sync("stock", r#"{"article": "gold"}"#).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Failed);
/// assert_eq!(error.to_string(), "shop:stock: there is no article `gold`");
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
pub struct ToolError(Box<Repr>);

#[derive(Clone)]
struct Repr {
    kind: ErrorKind,
    tool: Option<String>,
    backend: Option<ToolBackend>,
    message: String,
    violations: Vec<Violation>,
    /// Read from the result of an MCP server when it is requested first.
    content: OnceLock<Vec<Content>>,
    missing: Requirements,
    retry: Option<Retry>,
    source: Option<Arc<dyn Error + Send + Sync>>,
    /// The result of an MCP server, if it is the error.
    mcp: Option<Box<McpResult>>,
    /// The data of the tool.
    data: Option<Value>,
    /// True if the text of the source is withheld because the author did not choose to show it.
    is_masked: bool,
}

// The source has a type of the tool, whose `Drop` may panic.
impl Drop for Repr {
    fn drop(&mut self) {
        if let Some(source) = self.source.take() {
            shielded("the cause of an error", || drop(source));
        }
    }
}

/// What the model reads of a masked error.
const INTERNAL: &str = "the tool failed with an internal error";

/// The advice to repeat the call.
#[derive(Clone, Copy)]
struct Retry {
    after: Option<Duration>,
}

impl ToolError {
    /// Creates a failure whose message is shown to the model.
    ///
    /// ```
    /// use toolkit::call::{ErrorKind, ToolError};
    ///
    /// let error = ToolError::failed("no such file");
    /// assert_eq!(error.kind(), ErrorKind::Failed);
    /// assert_eq!(error.message(), "no such file");
    /// ```
    #[must_use]
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Failed, message)
    }

    /// Creates a failure with the text of `error`, which the model reads.
    ///
    /// The text is what [`Display`](fmt::Display) prints of `error` itself. Its causes are kept as the
    /// [`source`](std::error::Error::source), for the host, because they often contain paths, addresses and queries.
    /// To show the causes of an `anyhow::Error` too, write `ToolError::failed(format!("{error:#}"))`.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::{ToolError, tool};
    ///
    /// /// Sums numbers.
    /// #[tool]
    /// fn sum(numbers: Vec<String>) -> Result<i64, ToolError> {
    ///     numbers.iter().map(|n| n.parse::<i64>().map_err(ToolError::shown)).sum()
    /// }
    ///
    /// let error = sum(vec!["1".to_owned(), "x".to_owned()]).unwrap_err();
    /// assert_eq!(error.message(), "invalid digit found in string");
    /// ```
    #[must_use]
    pub fn shown(error: impl Into<BoxError>) -> Self {
        match error.into().downcast::<ToolError>() {
            Ok(error) => *error,
            Err(error) => Self::failed(error.to_string()).caused_by(error),
        }
    }

    /// Creates the error of a tool that stopped because the call was cancelled.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "the call was cancelled")
    }

    /// Creates the error of a call that found no free permit among `n_calls`.
    pub(super) fn overloaded(n_calls: usize) -> Self {
        let message = format!("the concurrency limit of {n_calls} calls is reached; try again later");
        Self::new(ErrorKind::Overloaded, message)
    }

    /// Creates an unexpected error. The error is logged, and the model reads only that the tool failed.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::error::Error;
    ///
    /// use toolkit::ToolError;
    ///
    /// let error = ToolError::internal(std::io::Error::other("connection to 10.0.0.7 lost"));
    /// assert_eq!(error.to_string(), "the tool failed with an internal error");
    /// assert_eq!(error.source().unwrap().to_string(), "connection to 10.0.0.7 lost");
    /// ```
    #[must_use]
    pub fn internal(error: impl Into<BoxError>) -> Self {
        let error = error.into();
        match error.downcast::<ToolError>() {
            Ok(error) => *error,
            Err(error) => Self::new(ErrorKind::Internal, INTERNAL).caused_by(error),
        }
    }

    /// Creates an error of any kind, for a [`Backend`](crate::backend::Backend) that forwards the error of another
    /// program.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Repr {
            kind,
            tool: None,
            backend: None,
            message: message.into(),
            violations: Vec::new(),
            content: OnceLock::new(),
            missing: Requirements::NONE,
            retry: None,
            source: None,
            mcp: None,
            data: None,
            is_masked: false,
        }))
    }

    /// Adds content for the model beside the message, such as a screenshot of the failure.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::{Content, ToolError};
    ///
    /// let screenshot = Content::image(b"\x89PNG", "image/png");
    /// let error = ToolError::failed("the page has no such button").with_content([screenshot]);
    /// assert_eq!(error.content().len(), 1);
    /// ```
    #[must_use]
    pub fn with_content(mut self, content: impl IntoIterator<Item = Content>) -> Self {
        let n_before = self.content().len();
        let blocks = self.0.content.get_mut().expect("the content was read");
        blocks.extend(content);
        if let Some(mcp) = &mut self.0.mcp {
            **mcp = mcp.with_blocks(&blocks[n_before..]);
        }
        self
    }

    /// Adds data for the program and the model: `structuredContent` of a result of MCP with `isError`. The model reads it as
    /// JSON below the message.
    ///
    /// Data that cannot be serialized is an internal error, with the reason as its cause.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::ToolError;
    ///
    /// #[derive(serde::Serialize)]
    /// struct Conflict {
    ///     with: u32,
    /// }
    ///
    /// let error = ToolError::failed("the room is taken").with_data(Conflict { with: 7 });
    /// assert_eq!(error.data().unwrap()["with"], 7);
    /// ```
    #[must_use]
    pub fn with_data(self, data: impl serde::Serialize) -> Self {
        match serde_json::to_value(data) {
            Ok(data) => {
                let mut error = self.with_content([Content::Text { text: data.to_string() }]);
                error.0.data = Some(data);
                error
            }
            Err(error) => Self::internal(error),
        }
    }

    /// Returns the data that the tool added, or the `structuredContent` of the MCP server whose result is the error.
    #[must_use]
    pub fn data(&self) -> Option<&Value> {
        self.0.data.as_ref().or_else(|| self.mcp_result()?.get("structuredContent"))
    }

    /// Changes the URIs of the resources in the [content](Self::content), for a host that serves them under others; see
    /// [`RunResult::map_uris`](super::RunResult::map_uris).
    #[must_use]
    pub fn map_uris(mut self, mut change: impl FnMut(&str) -> String) -> Self {
        if let Some(changed) = self.0.mcp.as_ref().and_then(|mcp| mcp.with_uris(&mut change)) {
            self.0.mcp = Some(Box::new(changed));
        }
        for block in self.0.content.get_mut().into_iter().flatten() {
            block.map_uri(&mut change);
        }
        self
    }

    /// Sets the result of an MCP server that is the error. Its content contains the texts of the message too.
    pub(crate) fn with_mcp_result(mut self, result: McpResult) -> Self {
        self.0.mcp = Some(Box::new(result));
        self
    }

    /// Sets the cause of the error, for the host. The model never sees it.
    #[must_use]
    pub fn caused_by(mut self, error: impl Into<BoxError>) -> Self {
        self.0.source = Some(error.into().into());
        self
    }

    /// Marks the error as retryable: the same call may succeed later, after the given time if it is known.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use toolkit::ToolError;
    ///
    /// let error = ToolError::failed("the quota is used up").retryable(Duration::from_secs(30));
    /// assert!(error.is_retryable());
    /// assert_eq!(error.retry_after(), Some(Duration::from_secs(30)));
    /// ```
    #[must_use]
    pub fn retryable(mut self, after: impl Into<Option<Duration>>) -> Self {
        self.0.retry = Some(Retry { after: after.into() });
        self
    }

    /// Returns a copy without the source.
    fn without_source(&self) -> Self {
        let mut copy = self.0.clone();
        (copy.source, copy.is_masked) = (None, false);
        Self(copy)
    }

    /// Replaces the message with a part of it.
    pub(crate) fn with_message(mut self, part: impl FnOnce(&str) -> &str) -> Self {
        let kept = part(&self.0.message);
        if kept.len() != self.0.message.len() {
            self.0.message = kept.to_owned();
        }
        self
    }

    /// Replaces the text that the result of an MCP server starts with by a part of it.
    pub(crate) fn with_first_text(mut self, part: impl FnOnce(&str) -> &str) -> Self {
        if let Some(changed) = self.0.mcp.as_ref().and_then(|mcp| mcp.with_first_text(part)) {
            self.0.mcp = Some(Box::new(changed));
        }
        self
    }

    /// Sets the backend that ran the tool, unless it is set already.
    pub(crate) fn with_backend(mut self, backend: ToolBackend) -> Self {
        self.0.backend.get_or_insert(backend);
        self
    }

    /// Sets the violations of the input schema.
    #[must_use]
    pub fn with_violations(mut self, violations: Vec<Violation>) -> Self {
        self.0.violations = violations;
        self
    }

    /// Creates the error of a caller that lacks credentials required by the tool.
    #[must_use]
    pub fn missing_requirements(missing: Requirements) -> Self {
        let message = format!("the call lacks credentials that the tool requires: {missing}");
        let mut error = Self::new(ErrorKind::MissingRequirements, message);
        error.0.missing = missing;
        error
    }

    /// Sets the id of the tool, unless it is set already: the error of a nested call keeps the id of the inner tool.
    pub(crate) fn with_tool(mut self, tool: &str) -> Self {
        self.0.tool.get_or_insert_with(|| tool.to_owned());
        self
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the stage that rejected the call or failed.
    #[must_use]
    pub fn stage(&self) -> Stage {
        self.kind().stage()
    }

    /// Returns the id of the tool, if the tool was found.
    #[must_use]
    pub fn tool(&self) -> Option<&str> {
        self.0.tool.as_deref()
    }

    /// Returns the message for the model, without the id of the tool.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the violations of the input schema, at most the first 256.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.0.violations
    }

    /// Returns all requirements of the tool that the caller does not meet.
    pub fn missing(&self) -> &Requirements {
        &self.0.missing
    }

    /// Returns the content that the tool added for the model.
    pub fn content(&self) -> &[Content] {
        self.0.content.get_or_init(|| self.0.mcp.as_ref().map_or_else(Vec::new, |mcp| mcp.blocks_beside_text()))
    }

    /// Returns the fields of the result of the MCP server (`CallToolResult` with `isError`), if it is the error. They are
    /// parsed when they are requested first.
    #[must_use]
    pub fn mcp_result(&self) -> Option<&Map<String, Value>> {
        self.mcp().map(McpResult::tree)
    }

    pub(crate) fn mcp(&self) -> Option<&McpResult> {
        self.0.mcp.as_deref()
    }

    /// Returns the backend that ran or would have run the tool. For a function of this program that is
    /// [`ToolBackend::Local`] with the id of the function.
    #[must_use]
    pub fn backend(&self) -> Option<&ToolBackend> {
        self.0.backend.as_ref()
    }

    /// Returns true if the same call may succeed later.
    ///
    /// The call may have had effects nevertheless; see [`ErrorKind::may_have_started`].
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.0.retry.is_some()
            || matches!(self.kind(), ErrorKind::Overloaded | ErrorKind::TimedOut | ErrorKind::Unavailable)
    }

    /// Returns the time after which the same call may succeed, if it is known.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry?.after
    }

    /// Masks an error, unless the author chose to show it or one of its sources.
    pub(crate) fn masked(error: impl Into<BoxError>) -> Self {
        match error.into().downcast::<ToolError>() {
            Ok(error) => *error,
            Err(error) => Self::shown_source(&*error).unwrap_or_else(Self::hidden).caused_by(error),
        }
    }

    /// Masks the error inside of a type such as `anyhow::Error`. The box that `anyhow::Error` converts to does not reveal
    /// the type of the error.
    pub(crate) fn masked_inside<E>(error: E) -> Self
    where
        E: AsRef<dyn Error + Send + Sync> + Into<BoxError>,
    {
        Self::shown_source(error.as_ref()).unwrap_or_else(Self::hidden).caused_by(error)
    }

    fn hidden() -> Self {
        Self::new(ErrorKind::Internal, INTERNAL).mask()
    }

    /// Returns the first error among `error` and its sources that a model may read, without its source.
    fn shown_source(error: &(dyn Error + 'static)) -> Option<Self> {
        if let Some(kind) = error.downcast_ref::<io::Error>().and_then(|error| io_kind(error.kind())) {
            return Some(Self::failed(format!("input/output error: {kind}")).mask());
        }
        // The source of an `io::Error` is that of the error inside of it.
        let mut readable = with_sources(error).flat_map(|error| {
            let inside = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
            [Some(error), inside.map(|inside| inside as &(dyn Error + 'static))].into_iter().flatten()
        });
        readable.find_map(|error| match error.downcast_ref::<ToolError>() {
            Some(error) => Some(error.without_source()),
            None => is_shown(error).then(|| Self::failed(error.to_string()).mask()),
        })
    }

    /// Names the prompt instead of the tool in the text of a masked error.
    pub(crate) fn of_prompt(mut self) -> Self {
        if self.0.message == INTERNAL {
            self.0.message = "the prompt failed with an internal error".to_owned();
        }
        self
    }

    fn mask(mut self) -> Self {
        self.0.is_masked = true;
        self
    }

    /// Shows the text of an error created by [`masked`](Self::masked). Other errors are unchanged.
    pub(crate) fn unmask(mut self) -> Self {
        if self.0.is_masked
            && let Some(source) = &self.0.source
        {
            self.0.message = source.to_string();
            self.0.kind = ErrorKind::Failed;
            self.0.is_masked = false;
        }
        self
    }
}

/// Returns a text for the kinds that a model can act on, for example with another path or argument.
fn io_kind(kind: io::ErrorKind) -> Option<&'static str> {
    use std::io::ErrorKind;
    Some(match kind {
        ErrorKind::NotFound => "not found",
        ErrorKind::PermissionDenied => "permission denied",
        ErrorKind::AlreadyExists => "already exists",
        ErrorKind::IsADirectory => "is a directory",
        ErrorKind::NotADirectory => "not a directory",
        ErrorKind::DirectoryNotEmpty => "the directory is not empty",
        ErrorKind::InvalidInput => "invalid argument",
        ErrorKind::InvalidData => "invalid data",
        ErrorKind::InvalidFilename => "invalid file name",
        ErrorKind::FileTooLarge => "the file is too large",
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only",
        ErrorKind::StorageFull => "no space is left",
        ErrorKind::QuotaExceeded => "the quota is exceeded",
        _ => return None,
    })
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(tool) = &self.0.tool {
            write!(f, "{tool}: ")?;
        }
        f.write_str(&self.0.message)
    }
}

crate::debug_fields!(it, ToolError { kind: it.0.kind, tool: it.0.tool, message: it.0.message, source: it.0.source });

impl Error for ToolError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
