//! What becomes of the parts of a schema when it is copied.

use serde_json::{Map, Value};

/// How a schema is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mode {
    /// Closed, and so is what it contains.
    Closed,
    /// Itself as it is, because others describe the same object; what it contains is closed.
    Open,
    /// [`Mode::Open`], without its own `additionalProperties: false`.
    Loose,
    /// As it is, without its own `additionalProperties: false`.
    LooseOnly,
    /// As it is, with all that it contains.
    Original,
}

impl Mode {
    /// The mode for the values inside one that is copied in this mode.
    pub(super) fn below(self) -> Self {
        match self {
            Self::Closed | Self::Open | Self::Loose => Self::Closed,
            Self::LooseOnly | Self::Original => Self::Original,
        }
    }

    pub(super) fn drops_refusals(self) -> bool {
        matches!(self, Self::Loose | Self::LooseOnly)
    }

    /// What tells a copy in this mode from the definition itself.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::Closed => "",
            Self::Open => "_open",
            Self::Loose | Self::LooseOnly => "_part",
            Self::Original => "_as_is",
        }
    }
}

/// The mode for the subschemas under `keyword`.
pub(super) fn of(keyword: &str, here: Mode, below: Mode) -> Mode {
    match keyword {
        _ if is_in_place(keyword) => here,
        // Where accepting less does not mean that the whole accepts less.
        "not" | "if" | "contains" | "propertyNames" => Mode::Original,
        _ => below,
    }
}

/// Whether `keyword` joins other schemas to the one it stands in, for the same value.
pub(super) fn is_in_place(keyword: &str) -> bool {
    matches!(keyword, "$ref" | "allOf" | "anyOf" | "oneOf" | "then" | "else" | "dependentSchemas" | "dependencies")
}

/// Whether `keyword` says which objects are accepted, so that it must be known where the object is closed.
pub(super) fn is_about_objects(keyword: &str) -> bool {
    matches!(
        keyword,
        "type" | "properties" | "patternProperties" | "required" | "additionalProperties" | "unevaluatedProperties"
    )
}

/// Whether a schema, by its own keywords, describes objects rather than anything at all.
pub(super) fn allows_objects(map: &Map<String, Value>) -> bool {
    match map.get("type") {
        Some(Value::String(one)) => one == "object",
        Some(Value::Array(several)) => several.iter().any(|one| one == "object"),
        _ => map.contains_key("properties") || map.contains_key("patternProperties"),
    }
}
