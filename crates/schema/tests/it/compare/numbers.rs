//! Bounds, closed and open.

use super::*;

/// Returns true if every value that `inner` accepts is proven to be accepted by `outer`.
fn covers(outer: Value, inner: Value) -> bool {
    verdict(&inputs(&inner, &outer)).is_none_or(|verdict| verdict < Verdict::Unknown)
}

#[test]
fn a_closed_bound_covers_the_open_one_at_the_same_number_and_no_open_bound_a_closed_one() {
    for (closed, open, farther) in [("minimum", "exclusiveMinimum", 2), ("maximum", "exclusiveMaximum", 4)] {
        for kind in ["number", "integer"] {
            let bound = |keyword: &str, n: Value| json!({ "type": kind, (keyword): n });
            assert!(covers(bound(closed, json!(3)), bound(open, json!(3))), "{kind} {closed}");
            assert!(!covers(bound(open, json!(3)), bound(closed, json!(3))), "{kind} {closed}");
            for keyword in [closed, open] {
                // The same bound in another notation.
                assert!(covers(bound(keyword, json!(3)), bound(keyword, json!(3.0))), "{kind} {keyword}");
                assert!(covers(bound(keyword, json!(farther)), bound(keyword, json!(3))), "{kind} {keyword}");
                assert!(!covers(bound(keyword, json!(3)), bound(keyword, json!(farther))), "{kind} {keyword}");
            }
            // Only among integers does an open bound reach the next number.
            assert!(covers(bound(open, json!(farther)), bound(closed, json!(3))), "{kind} {open}");
            assert_eq!(
                covers(bound(closed, json!(3)), bound(open, json!(farther))),
                kind == "integer",
                "{kind} {open}"
            );
        }
    }
}

#[test]
fn a_bound_breaks_with_a_value_that_it_excludes() {
    for (old, new, excluded) in [
        (json!({ "minimum": 3 }), json!({ "exclusiveMinimum": 3 }), json!(3)),
        (json!({ "maximum": 3 }), json!({ "exclusiveMaximum": 3 }), json!(3)),
        (json!({ "type": "integer", "maximum": 3 }), json!({ "type": "integer", "maximum": 2 }), json!(3)),
    ] {
        let differences = inputs(&old, &new);
        assert_eq!(verdict(&differences), Some(Verdict::Breaking), "{old} to {new}");
        let example = differences.iter().find_map(|difference| difference.example.as_ref());
        assert!(example.is_some_and(|example| *example == excluded), "{example:?}: {old} to {new}");
    }
}

#[test]
fn a_value_is_compared_with_each_limit_of_its_type_and_with_none_of_another() {
    let limits = [
        ("minimum", json!(2), [json!(2), json!(1.5)]),
        ("exclusiveMinimum", json!(2), [json!(2.5), json!(2)]),
        ("maximum", json!(2), [json!(2), json!(2.5)]),
        ("exclusiveMaximum", json!(2), [json!(1.5), json!(2)]),
        ("multipleOf", json!(2), [json!(4), json!(3)]),
        ("minLength", json!(2), [json!("ab"), json!("a")]),
        ("maxLength", json!(2), [json!("ab"), json!("abc")]),
        ("pattern", json!("^a+$"), [json!("aa"), json!("ab")]),
        ("minItems", json!(2), [json!([1, 1]), json!([1])]),
        ("maxItems", json!(2), [json!([1, 1]), json!([1, 1, 1])]),
        ("uniqueItems", json!(true), [json!([1, 2]), json!([1, 1])]),
        ("minProperties", json!(2), [json!({ "a": 1, "b": 1 }), json!({ "a": 1 })]),
        ("maxProperties", json!(1), [json!({ "a": 1 }), json!({ "a": 1, "b": 1 })]),
        ("required", json!(["a"]), [json!({ "a": 1 }), json!({ "b": 1 })]),
    ];
    for (keyword, limit, [within, beyond]) in &limits {
        for (_, _, values) in &limits {
            for value in values {
                let is_of_type = std::mem::discriminant(value) == std::mem::discriminant(within);
                let expected = value == within || !is_of_type;
                if expected || value == beyond {
                    let covered = covers(json!({ *keyword: limit }), json!({ "const": value }));
                    assert_eq!(covered, expected, "{keyword}: {value}");
                }
            }
        }
    }
}
