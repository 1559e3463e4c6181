//! Seventh lesson, continued: nested conditions.

use std::collections::HashSet;

use csv::StringRecord;
use schemars::JsonSchema;
use serde::Deserialize;
use toolkit::ToolError;

use super::{Table, number};

/// A condition for rows. Numbers are compared as numbers, and a row without a number does not match.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Condition {
    /// The cell equals this text.
    Equals {
        /// The column.
        column: String,
        /// The text.
        text: String,
    },
    /// The cell contains this text, in upper or lower case.
    Contains {
        /// The column.
        column: String,
        /// The text.
        text: String,
    },
    /// The cell equals one of these texts.
    OneOf {
        /// The column.
        column: String,
        /// The texts.
        #[schemars(length(min = 1, max = 1000))]
        texts: Vec<String>,
    },
    /// The cell is a number from `least` to `most`, including both; an absent bound does not limit.
    Between {
        /// The column.
        column: String,
        /// The lower bound.
        least: Option<f64>,
        /// The upper bound.
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
    /// Counts the conditions that it consists of.
    pub(super) fn count(&self) -> usize {
        1 + match self {
            Self::Not { condition } => condition.count(),
            Self::Any { conditions } => conditions.iter().map(Self::count).sum(),
            _ => 0,
        }
    }

    /// Resolves its columns, and prepares the operands for comparison with every row.
    ///
    /// # Errors
    ///
    /// Returns an error if a column does not exist.
    pub(super) fn prepare(self, table: &Table) -> Result<Prepared, ToolError> {
        let test = |column: &str, test: Test| Ok::<_, ToolError>(Prepared::Cell(table.column(column)?, test));
        match self {
            Self::Equals { column, text } => test(&column, Test::Is([text].into())),
            Self::Contains { column, text } => test(&column, Test::Contains(text.to_lowercase())),
            Self::OneOf { column, texts } => test(&column, Test::Is(texts.into_iter().collect())),
            Self::Between { column, least, most } => test(&column, Test::Between(least, most)),
            Self::IsEmpty { column } => test(&column, Test::Is([String::new()].into())),
            Self::Not { condition } => Ok(Prepared::Not(Box::new(condition.prepare(table)?))),
            Self::Any { conditions } => {
                let conditions = conditions.into_iter().map(|condition| condition.prepare(table));
                Ok(Prepared::Any(conditions.collect::<Result<_, _>>()?))
            }
        }
    }
}

/// A condition for the rows of one table.
pub(super) enum Prepared {
    Cell(usize, Test),
    Not(Box<Prepared>),
    Any(Vec<Prepared>),
}

pub(super) enum Test {
    Is(HashSet<String>),
    /// The operand in lower case.
    Contains(String),
    Between(Option<f64>, Option<f64>),
}

impl Prepared {
    /// Returns true if a row matches the condition.
    pub(super) fn holds(&self, row: &StringRecord) -> bool {
        match self {
            Self::Cell(column, test) => test.passes(row[*column].trim()),
            Self::Not(condition) => !condition.holds(row),
            Self::Any(conditions) => conditions.iter().any(|condition| condition.holds(row)),
        }
    }
}

impl Test {
    fn passes(&self, cell: &str) -> bool {
        match self {
            Self::Is(texts) => texts.contains(cell),
            Self::Contains(text) => cell.to_lowercase().contains(text),
            Self::Between(least, most) => number(cell).is_some_and(|number| {
                least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most)
            }),
        }
    }
}
