//! Strict mode, tool by tool.

use serde_json::Value;

use super::dialect::Dialect;
use super::loss::{Effect, Loss, Side};
use super::lower::{Lowered, lower};
use crate::tool::Tool;

/// An input schema, held to strictly where that is possible.
pub(super) struct Strictly {
    pub(super) lowered: Lowered,
    pub(super) is_strict: bool,
    /// Where strict mode was asked for and is not possible: why.
    pub(super) not_strict: Vec<Loss>,
}

/// What a tool itself asks for, where it was read from a provider with `field`: true or false; otherwise `options`.
pub(super) fn wanted(tool: &Tool, field: &str, options: bool) -> bool {
    tool.metadata().unknown.get(field).and_then(Value::as_bool).unwrap_or(options)
}

/// The input schema of `tool` in the dialect of strict mode, if that is asked for and can say all that the tool takes;
/// otherwise in the other dialect.
pub(super) fn strictly(tool: &Tool, strict: Option<&Dialect>, otherwise: &Dialect) -> Strictly {
    let schema = tool.input().as_value();
    let tried = strict.map(|strict| lower(schema, strict, Side::Input));
    match tried {
        Some(lowered) if lowered.is_whole() => Strictly { lowered, is_strict: true, not_strict: Vec::new() },
        tried => {
            let mut not_strict = tried.map(|lowered| lowered.losses).unwrap_or_default();
            not_strict.retain(|loss| loss.effect == Effect::Narrowed);
            Strictly { lowered: lower(schema, otherwise, Side::Input), is_strict: false, not_strict }
        }
    }
}
