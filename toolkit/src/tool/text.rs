//! Texts of tools.

use std::borrow::Cow;

/// The key of `_meta` under which the record of a tool is published by every adapter that supports `_meta`.
///
/// MCP requires a reverse-DNS prefix (`_meta` in the General fields of both revisions).
pub const META_KEY: &str = "rs.toolkit/tool";

/// A text of a tool: a string literal of the program, or a parsed string.
///
/// # Examples
///
/// ```
/// use std::borrow::Cow;
///
/// use toolkit::Tool;
/// use toolkit::tool::Text;
///
/// let title: Text = Cow::Owned(format!("Read {}", "files"));
/// let tool = Tool::builder("read").title(title).description("Reads a file.").build()?;
/// assert_eq!(tool.title(), Some("Read files"));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
pub type Text = Cow<'static, str>;
