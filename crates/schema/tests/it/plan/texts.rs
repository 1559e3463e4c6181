//! The plan reads numbers, strings and white space as `serde_json` does.

use std::fmt::Debug;

use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolkit_schema::plan::Plan;

use crate::plan::reading::plan;

/// Checks that `serde_json` reads whatever the plan reads. Returns true if the plan did.
#[track_caller]
fn agrees<T: DeserializeOwned + PartialEq + Debug>(any: &Plan, text: &str) -> bool {
    let read = any.decode::<T>(text.as_bytes());
    let serde = serde_json::from_str::<T>(text);
    if let Ok(read) = &read {
        assert_eq!(read, serde.as_ref().unwrap_or_else(|error| panic!("accepted {text}: {error}")), "{text}");
    }
    read.is_ok()
}

/// Checks both directions.
#[track_caller]
fn agrees_exactly<T: DeserializeOwned + PartialEq + Debug>(any: &Plan, text: &str) {
    assert_eq!(agrees::<T>(any, text), serde_json::from_str::<T>(text).is_ok(), "{text}");
}

#[track_caller]
fn check_number(any: &Plan, text: &str) {
    agrees_exactly::<Value>(any, text);
    agrees_exactly::<f64>(any, text);
    agrees_exactly::<f32>(any, text);
    agrees_exactly::<i64>(any, text);
    agrees_exactly::<u64>(any, text);
    agrees_exactly::<i8>(any, text);
    // Beyond 64 bits, the tree decides.
    agrees::<i128>(any, text);
    agrees::<u128>(any, text);
    if let Ok(float) = serde_json::from_str::<f64>(text) {
        let read = any.decode::<f64>(text.as_bytes()).expect("it was read before");
        assert_eq!(read.to_bits(), float.to_bits(), "{text}");
    }
}

#[test]
fn numbers_at_every_boundary_are_read_as_by_serde_json() {
    let any = plan(json!({}));
    for text in [
        "0",
        "-0",
        "-0.0",
        "0.0",
        "00",
        "-00",
        "01",
        "-01",
        "1.",
        ".5",
        "-",
        "+1",
        "1e",
        "1e+",
        "1E5",
        "1e-5",
        "-1.5e300",
        "1.0",
        "3.0e0",
        "127",
        "128",
        "-128",
        "-129",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "9999999999999999999",
        "10000000000000000000",
        "18446744073709551615",
        "18446744073709551616",
        "99999999999999999999",
        "123456789012345",
        "1234567890123456",
        "12345678901234.5",
        "123456789012345.6",
        "0.1",
        "0.30000000000000004",
        "0.000000000000001",
        "0.0000000000000001",
        "1e308",
        "1e309",
        "-1e400",
        "1e-400",
        "2.2250738585072011e-308",
        "179769313486231570000",
        "1.7976931348623157e308",
        "0x10",
        "1_000",
        "1 2",
        "NaN",
        "Infinity",
        "1.5.5",
        "--1",
        "1-1",
        "1e5e5",
    ] {
        check_number(&any, text);
    }
}

proptest! {
    #![proptest_config(test_support::random(3000))]

    #[test]
    fn a_number_is_read_as_by_serde_json(
        pieces in prop::collection::vec(prop::sample::select(
            &["0", "1", "9", "25", "0000", "123456789", "9007199254740993", ".", "-", "e", "E", "+", "e-", "30"][..],
        ), 1..7),
    ) {
        check_number(&plan(json!({})), &pieces.concat());
    }

    #[test]
    fn a_decimal_is_read_to_the_last_bit(whole in any::<u32>(), fraction in "[0-9]{1,12}", negative: bool) {
        let text = format!("{}{whole}.{fraction}", if negative { "-" } else { "" });
        check_number(&plan(json!({})), &text);
    }

    #[test]
    fn a_string_is_read_as_by_serde_json(
        pieces in prop::collection::vec(prop::sample::select(
            &[
                "a", "bcdefgh", "é", "😀", " ", "\\n", "\\\"", "\\\\", "\\/", "\\b", "\\f", "\\r", "\\t", "\\u0041", "\\u00E9",
                "\\ud83d", "\\ude00", "\\ud83d\\ude00", "\\u12", "\\uZZZZ", "\\x", "\\", "\"", "\n", "\t", "\u{7f}", "\0",
                "\u{1f}", "\\u+123",
            ][..],
        ), 0..9),
        spaces in prop::sample::select(&["", " ", "\n\t ", "\r", "\u{b}", "\u{a0}"][..]),
    ) {
        let any = plan(json!({}));
        let string = format!("\"{}\"", pieces.concat());
        let texts = [
            format!("{spaces}{string}{spaces}"),
            format!("[{string},{spaces}{string}{spaces}]"),
            format!("{{{spaces}{string}{spaces}:{spaces}{string}{spaces}}}"),
            // Long enough for validation of the whole text.
            format!("[{string},\"{}\"]", "x".repeat(80)),
        ];
        for text in &texts {
            agrees_exactly::<Value>(&any, text);
            agrees_exactly::<String>(&any, text);
            // As a declared and an undeclared key.
            let known = plan(json!({ "properties": { "a": {}, "bcdefgha": {}, "é": {}, "": {} } }));
            agrees_exactly::<Value>(&known, text);
        }
    }
}

#[test]
fn a_surrogate_is_read_only_as_the_half_of_a_pair() {
    let any = plan(json!({}));
    for (text, expected) in [
        (r#""\ud800\udc00""#, Some("\u{10000}")),
        (r#""\udbff\udfff""#, Some("\u{10ffff}")),
        (r#""\ud83d\ude00""#, Some("😀")),
        (r#""\ud7ff\ue000""#, Some("\u{d7ff}\u{e000}")),
        // The second unit is above or below those of a second half.
        (r#""\ud800\ue000""#, None),
        (r#""\ud800\udbff""#, None),
        (r#""\ud800\u0041""#, None),
        (r#""\ud800\n""#, None),
        (r#""\ud800""#, None),
        (r#""\udc00""#, None),
        (r#""\udc00\ud800""#, None),
    ] {
        assert_eq!(any.decode::<String>(text.as_bytes()).ok().as_deref(), expected, "{text}");
        agrees_exactly::<String>(&any, text);
    }
}
