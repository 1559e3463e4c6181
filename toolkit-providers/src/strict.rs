//! Strict mode of a single tool.

use serde_json::Value;

use super::dialect::{Dialect, Limits};
use super::loss::{Effect, Loss, Side};
use super::lower::{Lowered, lower_normal, normalize};
use toolkit::tool::Tool;

/// An input schema, in strict mode where that is possible.
pub(super) struct StrictResult {
    pub(super) lowered: Lowered,
    pub(super) is_strict: bool,
    /// The size of the strict schema, even if it does not express the tool; `None` if strict mode was not requested.
    pub(super) strict_size: Option<Limits>,
    /// The reasons why strict mode was requested but is not possible.
    pub(super) not_strict: Vec<Loss>,
}

/// Returns the value of `field` in a tool that was read from a provider, or else `options`.
pub(super) fn is_requested(tool: &Tool, field: &str, options: bool) -> bool {
    tool.metadata().unknown.get(field).and_then(Value::as_bool).unwrap_or(options)
}

/// Lowers the input schema of `tool` to `strict`, if that dialect is given and expresses everything that the tool
/// accepts, or else to `fallback`. The keys of the result are not sorted.
pub(super) fn lower_strict(tool: &Tool, strict: Option<&Dialect>, fallback: &Dialect) -> StrictResult {
    let normal = normalize(tool.input().as_value(), fallback, Side::Input);
    let Some(strict) = strict else {
        let lowered = lower_normal(normal, fallback, Side::Input);
        return StrictResult { lowered, is_strict: false, strict_size: None, not_strict: Vec::new() };
    };
    debug_assert_eq!(strict.root_choice, fallback.root_choice, "both dialects have the same normal form");
    let lowered = lower_normal(normal.clone(), strict, Side::Input);
    let strict_size = Some(Limits::taken_by(&lowered.schema));
    if lowered.is_whole() {
        return StrictResult { lowered, is_strict: true, strict_size, not_strict: Vec::new() };
    }
    let mut not_strict = lowered.losses;
    not_strict.retain(|loss| loss.effect == Effect::Narrowed);
    let lowered = lower_normal(normal, fallback, Side::Input);
    StrictResult { lowered, is_strict: false, strict_size, not_strict }
}
