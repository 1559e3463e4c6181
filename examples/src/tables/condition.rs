//! Seventh lesson, continued: conditions that hold conditions.

use csv::StringRecord;
use schemars::JsonSchema;
use serde::Deserialize;
use toolkit::ToolError;

use super::{Table, number};

/// What a row must fulfil. Numbers are compared as numbers, and rows without one fulfil nothing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Condition {
    /// The cell is this text.
    Equals {
        /// The column.
        column: String,
        /// The text.
        text: String,
    },
    /// The cell holds this text, in upper or lower case.
    Contains {
        /// The column.
        column: String,
        /// The text.
        text: String,
    },
    /// The cell is one of these texts.
    OneOf {
        /// The column.
        column: String,
        /// The texts.
        #[schemars(length(min = 1, max = 1000))]
        texts: Vec<String>,
    },
    /// The cell is a number from `least` to `most`, both included; a limit that is left out limits nothing.
    Between {
        /// The column.
        column: String,
        /// The least number.
        least: Option<f64>,
        /// The greatest number.
        most: Option<f64>,
    },
    /// The cell is empty.
    IsEmpty {
        /// The column.
        column: String,
    },
    /// The condition does not hold.
    Not {
        /// The condition.
        condition: Box<Condition>,
    },
    /// At least one of the conditions holds.
    Any {
        /// The conditions.
        #[schemars(length(min = 1, max = 20))]
        conditions: Vec<Condition>,
    },
}

impl Condition {
    /// How many conditions it is made of.
    pub(super) fn count(&self) -> usize {
        1 + match self {
            Self::Not { condition } => condition.count(),
            Self::Any { conditions } => conditions.iter().map(Self::count).sum(),
            _ => 0,
        }
    }

    /// Whether a row fulfils it; an error where it names a column that is not there.
    pub(super) fn holds(&self, table: &Table, row: &StringRecord) -> Result<bool, ToolError> {
        let cell = |column: &str| Ok::<_, ToolError>(row[table.column(column)?].trim());
        Ok(match self {
            Self::Equals { column, text } => cell(column)? == text,
            Self::Contains { column, text } => cell(column)?.to_lowercase().contains(&text.to_lowercase()),
            Self::OneOf { column, texts } => {
                let cell = cell(column)?;
                texts.iter().any(|text| text == cell)
            }
            Self::Between { column, least, most } => number(cell(column)?).is_some_and(|number| {
                least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most)
            }),
            Self::IsEmpty { column } => cell(column)?.is_empty(),
            Self::Not { condition } => !condition.holds(table, row)?,
            Self::Any { conditions } => {
                let mut any = false;
                for condition in conditions {
                    any |= condition.holds(table, row)?;
                }
                any
            }
        })
    }
}
