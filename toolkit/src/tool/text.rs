//! Text of tools.

use std::borrow::Cow;

/// The key of `_meta` under which a tool's own record is published, by every adapter that has room for one.
///
/// MCP asks for reverse DNS before the slash (`_meta` in the General fields of both revisions).
pub const META_KEY: &str = "rs.toolkit/tool";

/// A text of a tool's record: part of the program, or read.
pub type Text = Cow<'static, str>;
