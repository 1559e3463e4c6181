//! Fourth lesson, continued: lists with defaults, and a bundled database.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Unit};
use schemars::JsonSchema;
use serde::Serialize;
use toolkit::tool;

use super::{DateError, Day};

/// Counts the working days between two dates, including both.
#[tool(namespace = "dates", version = "1.0.0", category = "time", read_only, idempotent, open_world = false)]
pub fn business_days(
    /// The first day.
    from: Date,
    /// The last day, not before the first.
    to: Date,
    /// Days off, such as holidays.
    #[schemars(length(max = 1000))]
    #[serde(default)]
    holidays: Vec<Date>,
    /// Weekdays off.
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

/// A moment as local time in a zone.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LocalTime {
    /// The local date and time.
    pub local: DateTime,
    /// The offset from UTC at that moment, such as `+02:00`.
    pub offset: String,
    /// The moment in UTC.
    pub utc: Timestamp,
}

/// Converts a local time in one time zone to the local time in another.
///
/// A time that a clock change skips or repeats is interpreted with the offset before the change.
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
    /// The date and time in the source zone, without an offset.
    at: DateTime,
    /// The IANA name of the source zone.
    #[schemars(length(min = 1, max = 64))]
    from: String,
    /// The IANA name of the target zone.
    #[schemars(length(min = 1, max = 64))]
    to: String,
) -> Result<LocalTime, DateError> {
    let zone = |name: String| TimeZone::get(&name).map_err(|_| DateError::UnknownZone(name));
    let zoned = at.to_zoned(zone(from)?).map_err(|_| DateError::OutOfRange)?;
    let there = zoned.with_time_zone(zone(to)?);
    Ok(LocalTime { local: there.datetime(), offset: there.strftime("%:z").to_string(), utc: there.timestamp() })
}
