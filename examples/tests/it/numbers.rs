//! Tests of the tools for numbers and units.

use serde_json::json;

use super::common::Host;

#[test]
fn adds() {
    let host = Host::read_only();
    assert_eq!(host.call("add", json!({"a": 2, "b": -3})), -1);
    host.refused("add", json!({"a": i64::MAX, "b": 1}), "does not fit into 64 bits");
    host.misfit("add", json!({"a": "2", "b": 3}), "/a must be an integer");
    host.misfit("add", json!({"a": 2}), "/b is required");
    host.misfit("add", json!({"a": 2, "b": 3, "c": 4}), "/c is not an argument; expected `a`, `b`");
    host.misfit("add", json!({"a": 2, "b": 0.5}), "/b must be an integer");
}

#[test]
fn describes() {
    let host = Host::read_only();
    let numbers = json!({"numbers": [4, 1, 3, 2], "percentiles": [0, 25, 100]});
    let expected = json!({
        "count": 4, "sum": 10.0, "min": 1.0, "max": 4.0, "mean": 2.5, "median": 2.5,
        "standard_deviation": (5.0_f64 / 3.0).sqrt(), "percentiles": [1.0, 1.75, 4.0]
    });
    assert_eq!(host.call("describe_numbers", numbers), expected);
    assert!(host.call("describe_numbers", json!({"numbers": [7]})).get("standard_deviation").is_none());
    host.misfit("describe_numbers", json!({"numbers": []}), "at least 1 item");
    host.misfit(
        "describe_numbers",
        json!({"numbers": [1], "percentiles": [101]}),
        "/percentiles/0 must be at most 100",
    );
    host.misfit("describe_numbers", json!({"numbers": vec![1; 900_000]}), "at most 100000 items");
    host.refused("describe_numbers", json!({"numbers": [1e308, 1e308]}), "too large");
}

#[test]
fn converts() {
    let host = Host::read_only();
    let convert = |value: f64, from: &str, to: &str| {
        host.call("convert_units", json!({"value": value, "from": from, "to": to}))["value"].as_f64().unwrap()
    };
    for (value, from, to, expected) in [
        (1.0, "mi", "km", 1.609344),
        (100.0, "°C", "°F", 212.0),
        (-40.0, "°F", "°C", -40.0),
        (0.0, "K", "°C", -273.15),
        (1.0, "GiB", "MB", 1073.741824),
        (90.0, "km/h", "m/s", 25.0),
        (36.0, "h", "d", 1.5),
        (16.0, "oz", "lb", 1.0),
        (0.1, "m", "m", 0.1),
    ] {
        let converted = convert(value, from, to);
        assert!((converted - expected).abs() < 1e-9, "{value} {from} is {converted} {to}");
    }
    let says = "from `kg` it goes to `g`, `kg`, `t`, `oz`, `lb`";
    host.refused("convert_units", json!({"value": 1, "from": "kg", "to": "km"}), says);
    host.refused("convert_units", json!({"value": -300, "from": "°C", "to": "K"}), "below absolute zero");
    host.refused("convert_units", json!({"value": 1e308, "from": "GiB", "to": "B"}), "too large");
    host.misfit(
        "convert_units",
        json!({"value": 1, "from": "furlong", "to": "m"}),
        "/from must be one of \"mm\", \"cm\"",
    );
}
