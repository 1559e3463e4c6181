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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::parse;

    #[test]
    fn a_duration_is_a_number_and_a_unit() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        for (text, expected) in [
            ("500ms", Some(Duration::from_millis(500))),
            ("1ms", Some(Duration::from_millis(1))),
            ("1.5s", Some(Duration::from_millis(1500))),
            ("30 s", seconds(30)),
            ("2m", seconds(120)),
            ("2min", seconds(120)),
            ("24h", seconds(86_400)),
            ("7d", seconds(604_800)),
            ("0s", seconds(0)),
            ("30", None),
            ("s", None),
            ("-1s", None),
            ("1e400s", None),
            ("inf s", None),
            ("1w", None),
            ("1S", None),
            ("1s ", None),
            ("", None),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }
}
