//! Fourth lesson: argument types of other crates, nested structs with defaults, and a custom error type.
//!
//! Any type that deserializes and has a schema can be an argument, such as jiff's dates. A schema cannot rule out 30
//! February; the type does. `From<DateError> for ToolError` determines the text that a model reads.

mod calendar;
mod shift;

use std::fmt;

use jiff::civil::{Date, DateTime, Weekday};
use jiff::fmt::rfc2822;
use jiff::{Timestamp, Zoned};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolkit::{ToolError, tool};

pub use self::calendar::{LocalTime, business_days, convert_time_zone};
pub use self::shift::{CalendarUnit, DateDifference, Duration, date_difference, shift_date};

/// Error of a date tool.
#[derive(Debug)]
pub enum DateError {
    /// The text is not a date in any supported format.
    Unreadable(String),
    /// The text does not match the given format.
    WrongForm(String, jiff::Error),
    /// There is no time zone with that name.
    UnknownZone(String),
    /// The result is outside of the years -9999 to 9999.
    OutOfRange,
    /// The last day is before the first.
    Backwards,
    /// The range between the two dates is too long to iterate over its days.
    TooFarApart,
}

impl fmt::Display for DateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(text) => write!(
                f,
                "`{text}` is no date that is understood; write it as in `2024-05-06`, `2024-05-06T07:08:09`, \
                 `2024-05-06T07:08:09+02:00` or `Mon, 6 May 2024 07:08:09 +0200`, or say its form with `format`"
            ),
            Self::WrongForm(text, error) => {
                write!(f, "`{text}` does not have the form of `format`: {error}")
            }
            Self::UnknownZone(name) => {
                write!(f, "no time zone is named `{name}`; use an IANA name such as `Europe/Berlin`, or `UTC`")
            }
            Self::OutOfRange => f.write_str("the result lies outside the years -9999 to 9999"),
            Self::Backwards => f.write_str("`to` is before `from`; swap them"),
            Self::TooFarApart => f.write_str("the dates are more than 200 years apart; ask for a shorter time"),
        }
    }
}

impl std::error::Error for DateError {}

impl From<DateError> for ToolError {
    fn from(error: DateError) -> Self {
        ToolError::failed(error.to_string())
    }
}

/// The parts of a date.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ParsedDate {
    /// The date, such as `2024-05-06`.
    pub date: Date,
    /// The time of day, if the text contains one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The moment in UTC, if the text contains an offset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utc: Option<Timestamp>,
    /// The day of the week.
    pub weekday: Day,
    /// The week of the year in ISO 8601, such as `2024-W19`.
    pub iso_week: String,
    /// The day of the year, from 1.
    pub day_of_year: i16,
    /// True if the year has 366 days.
    pub leap_year: bool,
}

/// Parses a date in a common format or in a given one, and returns its parts.
#[tool(namespace = "dates", version = "1.0.0", category = "time", read_only, idempotent, open_world = false)]
pub fn parse_date(
    /// The date as text: ISO 8601, RFC 3339 or RFC 2822, unless `format` is set.
    #[schemars(length(min = 1, max = 100))]
    text: String,
    /// The format of the text in the syntax of strptime, such as `%d.%m.%Y`.
    #[schemars(length(min = 1, max = 100))]
    format: Option<String>,
) -> Result<ParsedDate, DateError> {
    let (civil, has_time, utc) = match format {
        Some(form) => {
            let wrong = |error| DateError::WrongForm(text.clone(), error);
            let parts = jiff::fmt::strtime::parse(&form, &text).map_err(wrong)?;
            let date = parts.to_date().map_err(wrong)?;
            let time = parts.to_time().ok().filter(|_| parts.hour().is_some());
            let utc = parts.to_timestamp().ok();
            (date.to_datetime(time.unwrap_or_default()), time.is_some(), utc)
        }
        None => read(text.trim()).ok_or_else(|| DateError::Unreadable(text.clone()))?,
    };
    let week = civil.date().iso_week_date();
    Ok(ParsedDate {
        date: civil.date(),
        time: has_time.then(|| civil.time().to_string()),
        utc,
        weekday: civil.weekday().into(),
        iso_week: format!("{}-W{:02}", week.year(), week.week()),
        day_of_year: civil.day_of_year(),
        leap_year: civil.in_leap_year(),
    })
}

fn read(text: &str) -> Option<(DateTime, bool, Option<Timestamp>)> {
    if let Ok(zoned) = text.parse::<Zoned>().or_else(|_| rfc2822::parse(text)) {
        return Some((zoned.datetime(), true, Some(zoned.timestamp())));
    }
    if let Ok(pieces) = jiff::fmt::temporal::Pieces::parse(text) {
        let civil = pieces.date().to_datetime(pieces.time().unwrap_or_default());
        return Some((civil, pieces.time().is_some(), text.parse().ok()));
    }
    None
}

/// A day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it all")]
pub enum Day {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
}

impl From<Weekday> for Day {
    fn from(day: Weekday) -> Self {
        [Day::Monday, Day::Tuesday, Day::Wednesday, Day::Thursday, Day::Friday, Day::Saturday, Day::Sunday]
            [usize::from(day.to_monday_zero_offset().unsigned_abs())]
    }
}
