//! Durations as people write them.

use std::time::Duration;

use toolkit::internals::parse_duration;

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
        assert_eq!(parse_duration(text), expected, "{text}");
    }
}
