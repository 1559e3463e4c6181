//! Fourth lesson, continued: lists with defaults, and a database that comes along.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Unit};
use schemars::JsonSchema;
use serde::Serialize;
use toolkit::tool;

use super::{DateError, Day};

/// Counts the working days from one date to another, both included.
#[tool(namespace = "dates", version = "1.0.0", category = "time", read_only, idempotent, open_world = false)]
pub fn business_days(
    /// The first day.
    from: Date,
    /// The last day; not before the first.
    to: Date,
    /// Days on which nobody works.
    #[schemars(length(max = 1000))]
    #[serde(default)]
    holidays: Vec<Date>,
    /// The days of the week on which nobody works.
    #[schemars(length(max = 6))]
    #[serde(default = "weekend")]
    weekend: Vec<Day>,
) -> Result<usize, DateError> {
    if to < from {
        return Err(DateError::Backwards);
    }
    if from.until((Unit::Day, to)).map_or(i32::MAX, |span| span.get_days()) > 73_100 {
        return Err(DateError::TooFarApart);
    }
    let days = from.series(Span::new().days(1)).take_while(|day| *day <= to);
    Ok(days.filter(|day| !weekend.contains(&day.weekday().into()) && !holidays.contains(day)).count())
}

fn weekend() -> Vec<Day> {
    vec![Day::Saturday, Day::Sunday]
}

/// A moment as the clocks in a place show it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LocalTime {
    /// The date and time there.
    pub local: DateTime,
    /// The offset from UTC there and then, as in `+02:00`.
    pub offset: String,
    /// The moment in UTC.
    pub utc: Timestamp,
}

/// Tells what the clocks in one time zone show when those in another show a given time.
///
/// A time that the clocks skip or show twice is read as they would be without the change.
#[tool(
    namespace = "dates",
    version = "1.0.0",
    tags = ["time-zone"],
    category = "time",
    read_only,
    idempotent,
    open_world = false,
    examples = [r#"{"at": "2024-07-01T09:00", "from": "Europe/Berlin", "to": "America/Lima"}"#]
)]
pub fn convert_time_zone(
    /// The date and time in the first zone, without an offset.
    at: DateTime,
    /// The first zone by its IANA name.
    #[schemars(length(min = 1, max = 64))]
    from: String,
    /// The second zone.
    #[schemars(length(min = 1, max = 64))]
    to: String,
) -> Result<LocalTime, DateError> {
    let zone = |name: String| TimeZone::get(&name).map_err(|_| DateError::UnknownZone(name));
    let zoned = at.to_zoned(zone(from)?).map_err(|_| DateError::OutOfRange)?;
    let there = zoned.with_time_zone(zone(to)?);
    Ok(LocalTime { local: there.datetime(), offset: there.strftime("%:z").to_string(), utc: there.timestamp() })
}
