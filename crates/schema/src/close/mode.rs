//! The modes in which schemas are copied.

/// The mode in which a schema is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mode {
    /// The schema and everything in it is closed.
    Closed,
    /// The schema stays open because others describe the same object. The values inside are closed.
    Open,
    /// The same as [`Mode::Open`], without the schema's own `additionalProperties: false`.
    Loose,
    /// Unchanged, but without the schema's own `additionalProperties: false`.
    LooseOnly,
    /// Unchanged, including the values inside.
    Original,
}

impl Mode {
    /// Returns the mode for the values inside a schema that is copied in this mode.
    pub(super) fn below(self) -> Self {
        match self {
            Self::Closed | Self::Open | Self::Loose => Self::Closed,
            Self::LooseOnly | Self::Original => Self::Original,
        }
    }

    pub(super) fn drops_refusals(self) -> bool {
        matches!(self, Self::Loose | Self::LooseOnly)
    }

    /// Returns the suffix that distinguishes the name of a copy from that of the definition.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::Closed => "",
            Self::Open => "_open",
            Self::Loose | Self::LooseOnly => "_part",
            Self::Original => "_as_is",
        }
    }
}

/// Returns the mode for the subschemas of `keyword`.
pub(super) fn for_keyword(keyword: &str, here: Mode, below: Mode) -> Mode {
    match keyword {
        _ if is_in_place(keyword) => here,
        // Rejecting more in these keywords does not make the whole schema reject more.
        "not" | "if" | "contains" | "propertyNames" => Mode::Original,
        _ => below,
    }
}

/// Returns true if the subschemas of `keyword` apply to the same value.
pub(super) fn is_in_place(keyword: &str) -> bool {
    matches!(keyword, "$ref" | "allOf" | "anyOf" | "oneOf" | "then" | "else" | "dependentSchemas" | "dependencies")
}
