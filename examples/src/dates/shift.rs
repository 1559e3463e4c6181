//! Fourth lesson, continued: nested structs whose fields have defaults.

use jiff::civil::{Date, DateTime};
use jiff::{Span, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolkit::tool;

use super::DateError;

/// A duration; each part may be negative.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Duration {
    /// Calendar years.
    #[schemars(range(min = -10_000, max = 10_000))]
    pub years: i32,
    /// Calendar months.
    #[schemars(range(min = -100_000, max = 100_000))]
    pub months: i32,
    /// Weeks.
    #[schemars(range(min = -500_000, max = 500_000))]
    pub weeks: i32,
    /// Days.
    #[schemars(range(min = -5_000_000, max = 5_000_000))]
    pub days: i32,
    /// Hours.
    #[schemars(range(min = -100_000_000, max = 100_000_000))]
    pub hours: i32,
    /// Minutes.
    #[schemars(range(min = -1_000_000_000, max = 1_000_000_000))]
    pub minutes: i32,
}

/// Adds a duration to a date and time.
///
/// Years and months are added first, and a day that does not exist in the month becomes its last day: 31 January plus
/// one month is the end of February.
#[tool(
    namespace = "dates",
    version = "1.0.0",
    category = "time",
    read_only,
    idempotent,
    open_world = false,
    examples = [r#"{"start": "2024-01-31", "by": {"months": 1}}"#]
)]
pub fn shift_date(
    /// A date, or a date and time, without an offset: `2024-01-31` or `2024-01-31T12:00`.
    start: DateTime,
    /// The duration to add.
    by: Duration,
) -> Result<DateTime, DateError> {
    // A jiff span has one sign for all parts, and these parts may have different signs; they are added in three steps.
    let (months, days) = (by.years * 12 + by.months, by.weeks * 7 + by.days);
    let minutes = i64::from(by.hours) * 60 + i64::from(by.minutes);
    let spans = [Span::new().try_months(months), Span::new().try_days(days), Span::new().try_minutes(minutes)];
    spans.into_iter().try_fold(start, |moment, span| {
        let moved = span.and_then(|span| moment.checked_add(span));
        moved.map_err(|_| DateError::OutOfRange)
    })
}

/// A calendar unit.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CalendarUnit {
    /// 24 hours.
    #[default]
    Days,
    /// Seven days.
    Weeks,
    /// Calendar months.
    Months,
    /// Calendar years.
    Years,
}

/// Difference between two dates.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DateDifference {
    /// The whole units between them; negative if the second date is earlier.
    pub whole: i32,
    /// The unit.
    pub unit: CalendarUnit,
    /// The exact difference in that unit, with its fraction.
    pub exact: f64,
    /// The days between them.
    pub days: i32,
}

/// Computes the difference between two dates, in the given unit.
#[tool(namespace = "dates", version = "1.0.0", category = "time", read_only, idempotent, open_world = false)]
pub fn date_difference(
    /// The first date, such as `2024-05-06`.
    from: Date,
    /// The second date.
    to: Date,
    /// The unit to count in.
    #[serde(default)]
    unit: CalendarUnit,
) -> Result<DateDifference, DateError> {
    let counted = match unit {
        CalendarUnit::Days => Unit::Day,
        CalendarUnit::Weeks => Unit::Week,
        CalendarUnit::Months => Unit::Month,
        CalendarUnit::Years => Unit::Year,
    };
    let out_of_range = |_| DateError::OutOfRange;
    let span = from.until((counted, to)).map_err(out_of_range)?;
    let exact = span.total((counted, from)).map_err(out_of_range)?;
    let days = from.until((Unit::Day, to)).map_err(out_of_range)?;
    Ok(DateDifference {
        whole: match unit {
            CalendarUnit::Days => span.get_days(),
            CalendarUnit::Weeks => span.get_weeks(),
            CalendarUnit::Months => span.get_months(),
            CalendarUnit::Years => span.get_years().into(),
        },
        unit,
        exact,
        days: days.get_days(),
    })
}
