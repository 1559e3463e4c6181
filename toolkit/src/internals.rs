//! What the other crates of this workspace share with this one. Not public API.

pub use crate::backend::changes::Changes;
pub use crate::call::decode::typed_arguments;
pub use crate::call::unwind::caught_future;
pub use crate::unwind::shielded;

use crate::tool::Tool;

/// Cuts the texts of a tool to the limits of tools of other programs.
///
/// # Errors
///
/// Returns a description of the part that is too long and cannot be cut.
pub fn bounded(tool: &Tool) -> Result<Tool, String> {
    tool.bounded()
}
