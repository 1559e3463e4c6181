//! Texts of tools.

use std::borrow::Cow;

/// The key of `_meta` under which the record of a tool is published by every adapter that supports `_meta`.
///
/// MCP requires a reverse-DNS prefix (`_meta` in the General fields of both revisions).
pub const META_KEY: &str = "rs.toolkit/tool";

/// A text of a tool: a string literal of the program, or a parsed string.
pub type Text = Cow<'static, str>;
