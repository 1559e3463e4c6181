//! Durations as people write them.

use std::time::Duration;

/// Parses a number with its unit, such as `500ms`, `1.5s`, `2m` or `2min`, `24h` and `7d`.
///
/// Returns `None` for other text, and for more seconds than 64 bits hold.
pub fn parse(text: &str) -> Option<Duration> {
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(unit_at);
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    let number: f64 = number.trim().parse().ok()?;
    Duration::try_from_secs_f64(number * seconds).ok()
}
