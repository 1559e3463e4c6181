use std::time::{Duration, SystemTime};

use toolkit_runtime::{accepts, is_loopback, media_type, retry_after};

#[test]
fn delays_are_seconds_or_dates_and_at_most_a_day() {
    let day = Duration::from_secs(24 * 60 * 60);
    let in_an_hour = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(3600));
    for (value, expected) in [
        ("0", Some(Duration::ZERO)),
        (" 7 ", Some(Duration::from_secs(7))),
        ("86401", Some(day)),
        ("18446744073709551616", Some(day)),
        ("Sun, 06 Nov 1994 08:49:37 GMT", Some(Duration::ZERO)),
        ("Sunday, 06-Nov-94 08:49:37 GMT", Some(Duration::ZERO)),
        ("Fri, 31 Dec 9999 23:59:59 GMT", Some(day)),
        ("", None),
        ("-1", None),
        ("1.5", None),
        ("soon", None),
        ("2026-11-27T00:00:00Z", None),
    ] {
        assert_eq!(retry_after(value), expected, "{value:?}");
    }
    let left = retry_after(&in_an_hour).unwrap();
    assert!((3590..=3600).contains(&left.as_secs()) && left.subsec_nanos() == 0, "{left:?}");
}

#[test]
fn media_types_have_no_parameters() {
    for value in ["text/event-stream", " text/event-stream ; charset=utf-8", "text/event-stream;a=b;c=d"] {
        assert_eq!(media_type(value), "text/event-stream");
    }
    assert_eq!(media_type(""), "");
}

#[test]
fn a_media_type_is_accepted_by_its_whole_name_unless_its_weight_is_zero() {
    for value in ["text/csv", "TEXT/CSV", "a/b;q=0, text/csv ; header=present;q=0.001", "text/csv;q=1, */*;q=0"] {
        assert!(accepts(value, "text/csv"), "{value}");
    }
    for value in ["", "text/csvs", "x-text/csv", "text/*", "*/*", "text/csv;q=0", "text/csv; Q=0.000", "a/b;c=text/csv"]
    {
        assert!(!accepts(value, "text/csv"), "{value}");
    }
}

#[test]
fn only_this_machine_is_loopback() {
    for host in ["localhost", "LocalHost", "127.0.0.1", "127.255.0.1", "::1", "[::1]", "[::ffff:127.0.0.1]"] {
        assert!(is_loopback(host), "{host}");
    }
    // A resolver may return any address for a name below `localhost`.
    for host in
        ["", "[", "[]", "[127.0.0.1", "a.localhost", "localhost.", "localhost.evil", "0.0.0.0", "[::]", "10.0.0.1"]
    {
        assert!(!is_loopback(host), "{host}");
    }
}
