//! Tests of the tools for dates.

use serde_json::{Value, json};
use toolkit::call::ErrorKind;

use super::common::Host;

#[test]
fn reads_dates() {
    let host = Host::read_only();
    let date = |arguments: Value| host.call("parse_date", arguments);
    let read = date(json!({"text": "2024-05-06T07:08:09+02:00"}));
    let expected = json!({
        "date": "2024-05-06", "time": "07:08:09", "utc": "2024-05-06T05:08:09Z", "weekday": "monday",
        "iso_week": "2024-W19", "day_of_year": 127, "leap_year": true
    });
    assert_eq!(read, expected);
    assert_eq!(date(json!({"text": "Mon, 6 May 2024 07:08:09 +0200"})), expected);
    assert_eq!(date(json!({"text": "06.05.24", "format": "%d.%m.%y"}))["date"], "2024-05-06");
    assert!(date(json!({"text": "2024-12-30"})).get("time").is_none());
    assert_eq!(date(json!({"text": "2024-12-30"}))["iso_week"], "2025-W01");
    host.refused("parse_date", json!({"text": "tomorrow"}), "say its form with `format`");
    host.refused("parse_date", json!({"text": "2023-02-29"}), "no date that is understood");
    host.refused("parse_date", json!({"text": "6/5", "format": "%d.%m"}), "does not have the form");
    host.refused("parse_date", json!({"text": "6", "format": "%Q%"}), "does not have the form");
    host.misfit("parse_date", json!({"text": "1".repeat(10_000_000)}), "at most 100 characters");
}

#[test]
fn shifts_dates() {
    let host = Host::read_only();
    let shift = |start: &str, by: Value| host.call("shift_date", json!({"start": start, "by": by}));
    assert_eq!(shift("2024-01-31", json!({"months": 1})), "2024-02-29T00:00:00");
    assert_eq!(shift("2024-03-01T12:00", json!({"days": -1, "hours": 13})), "2024-03-01T01:00:00");
    assert_eq!(shift("2023-02-28", json!({"years": 1, "months": -12})), "2023-02-28T00:00:00");
    host.refused(
        "shift_date",
        json!({"start": "2024-01-01", "by": {"weeks": 500_000, "days": 5_000_000}}),
        "outside the years",
    );
    host.refused("shift_date", json!({"start": "9999-12-31", "by": {"days": 1}}), "outside the years");
    host.misfit(
        "shift_date",
        json!({"start": "2024-01-31", "by": {"fortnights": 1}}),
        "/by/fortnights is not an argument",
    );
    host.misfit("shift_date", json!({"start": "2024-01-31", "by": {"years": 1e9}}), "/by/years must be at most 10000");
    host.fails("shift_date", json!({"start": "2024-02-31", "by": {}}), ErrorKind::InvalidArguments, "start");
}

#[test]
fn measures_dates() {
    let host = Host::read_only();
    let apart =
        |from: &str, to: &str, unit: &str| host.call("date_difference", json!({"from": from, "to": to, "unit": unit}));
    assert_eq!(apart("2024-02-29", "2025-02-28", "years")["whole"], 0);
    assert_eq!(
        apart("2024-01-31", "2024-03-31", "months"),
        json!({"whole": 2, "unit": "months", "exact": 2.0, "days": 60})
    );
    assert_eq!(apart("2024-01-15", "2024-01-01", "weeks")["exact"], -2.0);
    assert_eq!(host.call("date_difference", json!({"from": "2024-01-01", "to": "2025-01-01"}))["whole"], 366);
    host.misfit(
        "date_difference",
        json!({"from": "2024-01-01", "to": "2024-01-02", "unit": "week"}),
        "did you mean `weeks`?",
    );
}

#[test]
fn counts_working_days() {
    let host = Host::read_only();
    let count = |arguments: Value| host.call("business_days", arguments);
    assert_eq!(count(json!({"from": "2024-05-01", "to": "2024-05-31"})), 23);
    assert_eq!(count(json!({"from": "2024-05-01", "to": "2024-05-31", "holidays": ["2024-05-01", "2024-05-04"]})), 22);
    assert_eq!(count(json!({"from": "2024-05-03", "to": "2024-05-05", "weekend": ["friday"]})), 2);
    assert_eq!(count(json!({"from": "2024-05-04", "to": "2024-05-04"})), 0);
    host.refused("business_days", json!({"from": "2024-05-02", "to": "2024-05-01"}), "swap them");
    host.refused("business_days", json!({"from": "0001-01-01", "to": "9999-12-31"}), "200 years");
    host.misfit(
        "business_days",
        json!({"from": "2024-05-01", "to": "2024-05-02", "weekend": ["caturday"]}),
        "did you mean `saturday`?",
    );
}

#[test]
fn converts_time_zones() {
    let host = Host::read_only();
    let convert =
        |at: &str, from: &str, to: &str| host.call("convert_time_zone", json!({"at": at, "from": from, "to": to}));
    let lima = json!({"local": "2024-07-01T02:00:00", "offset": "-05:00", "utc": "2024-07-01T07:00:00Z"});
    assert_eq!(convert("2024-07-01T09:00", "Europe/Berlin", "America/Lima"), lima);
    assert_eq!(convert("2024-01-01T09:00", "Europe/Berlin", "UTC")["local"], "2024-01-01T08:00:00");
    // The clocks changed from 2 to 3 that night.
    assert_eq!(convert("2024-03-31T02:30", "Europe/Berlin", "UTC")["local"], "2024-03-31T01:30:00");
    host.refused(
        "convert_time_zone",
        json!({"at": "2024-01-01", "from": "Mars/Base", "to": "UTC"}),
        "no time zone is named `Mars/Base`",
    );
    host.refused(
        "convert_time_zone",
        json!({"at": "2024-01-01", "from": "../../etc/passwd", "to": "UTC"}),
        "no time zone",
    );
}
