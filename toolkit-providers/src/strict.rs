//! Strict mode of a single tool.

use serde_json::Value;

use super::dialect::Dialect;
use super::loss::{Effect, Loss, Side};
use super::lower::{Lowered, lower};
use toolkit::tool::Tool;

/// An input schema, in strict mode where that is possible.
pub(super) struct StrictResult {
    pub(super) lowered: Lowered,
    pub(super) is_strict: bool,
    /// The reasons why strict mode was requested but is not possible.
    pub(super) not_strict: Vec<Loss>,
}

/// Returns the value of `field` in a tool that was read from a provider, or else `options`.
pub(super) fn is_requested(tool: &Tool, field: &str, options: bool) -> bool {
    tool.metadata().unknown.get(field).and_then(Value::as_bool).unwrap_or(options)
}

/// Lowers the input schema of `tool` to `strict`, if that dialect is given and expresses everything that the tool
/// accepts, or else to `fallback`.
pub(super) fn lower_strict(tool: &Tool, strict: Option<&Dialect>, fallback: &Dialect) -> StrictResult {
    let schema = tool.input().as_value();
    let tried = strict.map(|strict| lower(schema, strict, Side::Input));
    match tried {
        Some(lowered) if lowered.is_whole() => StrictResult { lowered, is_strict: true, not_strict: Vec::new() },
        tried => {
            let mut not_strict = tried.map(|lowered| lowered.losses).unwrap_or_default();
            not_strict.retain(|loss| loss.effect == Effect::Narrowed);
            StrictResult { lowered: lower(schema, fallback, Side::Input), is_strict: false, not_strict }
        }
    }
}
