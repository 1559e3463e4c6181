//! The compatibility matrix: the cases, and additional ones.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolkit::version::{Version, parse};
use toolkit_contract::matrix::{Entry, Matrix, Verdict};

fn cases(list: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(include_str!("../cases/matrix.json")).expect("the cases are JSON");
    let cases = document[list].as_array().expect("the cases are a list").clone();
    test_support::ran(cases.len());
    cases
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn version(value: &Value) -> Version {
    parse(text(value)).unwrap()
}

/// The cases print a `v` before every version; this crate prints versions as SemVer does.
fn without_v(printed: &Value) -> &str {
    text(printed).strip_prefix('v').expect("the cases print a `v`")
}

/// Creates the matrix of a case from the JSON that users would write.
fn matrix(case: &Value) -> Matrix {
    let mut entries = case["entries"].clone();
    for entry in entries.as_array_mut().expect("a list") {
        let entry = entry.as_object_mut().expect("an entry");
        for (recorded, ours) in [("min", "minimum"), ("max", "maximum")] {
            if let Some(bound) = entry.shift_remove(recorded) {
                entry.insert(ours.to_owned(), bound);
            }
        }
    }
    serde_json::from_value(entries).unwrap()
}

#[test]
fn a_matrix_judges_as_in_the_cases() {
    let printed_without_v = ("version v0.5.0 is below minimum v1.0.0", "version 0.5.0 is below minimum 1.0.0");
    let mut n_printed = 0;
    for case in cases("matrix_check") {
        let (matrix, offered, expect) = (matrix(&case), version(&case["version"]), &case["expect"]);
        let verdict = matrix.check(text(&case["component"]), &offered);
        assert_eq!(verdict.is_compatible(), expect["compatible"].as_bool().unwrap(), "{case}");
        match expect.get("message").map(text) {
            Some("") => assert_eq!(verdict, Verdict::Compatible),
            Some(message) if message == printed_without_v.0 => {
                assert_eq!(verdict.to_string(), printed_without_v.1);
                n_printed += 1;
            }
            Some(message) => assert_eq!(verdict, Verdict::Deprecated { message }),
            None => assert!(matches!(verdict, Verdict::BelowMinimum { version, .. } if *version == offered)),
        }
    }
    assert_eq!(n_printed, 1);
}

#[test]
fn the_greatest_compatible_version_is_negotiated_as_in_the_cases() {
    for case in cases("negotiate") {
        let available: Vec<_> = case["available"].as_array().unwrap().iter().map(version).collect();
        match matrix(&case).negotiate(text(&case["component"]), &available) {
            Ok(chosen) => assert_eq!(chosen.to_string(), without_v(&case["expect"])),
            Err(error) => {
                assert!(case["expect"].is_null(), "{case}");
                assert!(error.to_string().contains(text(&case["error"])), "{error}");
            }
        }
    }
}

#[test]
fn the_first_of_versions_that_differ_in_build_metadata_only_is_chosen() {
    let available = ["0.9.0", "1.0.0+b", "1.0.0+c", "1.0.0+a"].map(|version| parse(version).unwrap());
    assert_eq!(Matrix::new().negotiate("any", &available).unwrap(), &available[1]);
}

#[test]
fn bounds_include_themselves_whatever_the_build_metadata() {
    let bounds = Entry::new("test", parse("1.0.0+b").unwrap()).up_to(parse("2.0.0").unwrap());
    let matrix: Matrix = [bounds].into_iter().collect();
    let expect = [
        ("1.0.0-rc.1", "version 1.0.0-rc.1 is below minimum 1.0.0+b"),
        ("1.0.0+a", "compatible"),
        ("2.0.0-rc.1", "compatible"),
        ("2.0.0+later", "compatible"),
        ("2.0.1-rc.1", "version 2.0.1-rc.1 exceeds maximum 2.0.0"),
    ];
    for (version, verdict) in expect {
        assert_eq!(matrix.check("test", &parse(version).unwrap()).to_string(), verdict);
    }
    assert_eq!(matrix.check("Test", &parse("9.0.0").unwrap()), Verdict::Compatible, "another component");
}

#[test]
fn the_first_entry_that_does_not_match_is_reported() {
    let [one, two, three] = ["1.0.0", "2.0.0", "3.0.0"].map(|version| parse(version).unwrap());
    let mut matrix = Matrix::new();
    matrix.add(Entry::new("test", one.clone()));
    matrix.add(Entry::new("other", three.clone()));
    matrix.add(Entry::new("test", three.clone()).deprecated(""));
    matrix.add(Entry::new("test", one.clone()).up_to(one));
    assert_eq!(matrix.check("test", &two), Verdict::BelowMinimum { version: &two, minimum: &three });
    assert_eq!(matrix.check("test", &three).to_string(), "deprecated");
    assert_eq!(
        matrix.negotiate("test", [&two]).unwrap_err().to_string(),
        "no compatible version of `test`: the one offered is not supported"
    );
}

#[test]
fn an_entry_is_json_with_versions_as_texts() {
    let written = json!([
        {"component": "test", "minimum": "1.0.0"},
        {"component": "test", "minimum": "1.0.0", "maximum": "2.0.0-a+b", "deprecated": true, "message": "old"},
    ]);
    let matrix: Matrix = serde_json::from_value(written.clone()).unwrap();
    assert_eq!(serde_json::to_value(&matrix).unwrap(), written);
    assert_eq!(matrix.entries().len(), 2);

    let prefixed = json!({"component": "test", "minimum": "v1.0.0", "maximum": null, "message": ""});
    assert_eq!(serde_json::from_value::<Entry>(prefixed).unwrap(), matrix.entries()[0]);

    for (entry, reason) in [
        (json!({"component": "test", "minimum": "1.0"}), "`1.0` is not a version"),
        (json!({"component": "test", "minimum": "1.0.0", "maximum": "2"}), "`2` is not a version"),
        (json!({"component": "test", "minimum": "1.0.0", "maximun": "2.0.0"}), "unknown field `maximun`"),
        (json!({"component": "test"}), "missing field `minimum`"),
    ] {
        let error = serde_json::from_value::<Entry>(entry).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn a_matrix_is_shared_between_threads_as_it_is() {
    fn is_shared<T: Send + Sync + 'static>() {}
    is_shared::<Matrix>();
}

/// Versions from few values, so that ties and near misses are common.
fn versions() -> impl Strategy<Value = Version> {
    let (number, pre, build) = (0..3_u64, "|-[0-9a]|-rc\\.[0-9]", "|\\+[0-9a]");
    (number.clone(), number.clone(), number, pre, build)
        .prop_map(|(major, minor, patch, pre, build)| parse(&format!("{major}.{minor}.{patch}{pre}{build}")).unwrap())
}

proptest! {
    #[test]
    fn negotiation_selects_the_first_of_the_highest_compatible_versions(
        bounds in prop::collection::vec((versions(), prop::option::of(versions()), any::<bool>()), 0..3),
        available in prop::collection::vec(versions(), 0..8),
    ) {
        let entries = bounds.into_iter().map(|(minimum, maximum, deprecated)| {
            let entry = maximum.into_iter().fold(Entry::new("test", minimum), Entry::up_to);
            if deprecated { entry.deprecated("") } else { entry }
        });
        let matrix: Matrix = entries.collect();
        let compatible = |version: &Version| matrix.check("test", version).is_compatible();
        match matrix.negotiate("test", &available) {
            Ok(chosen) => {
                let at = available.iter().position(|version| std::ptr::eq(version, chosen));
                prop_assert!(compatible(chosen) && at.is_some());
                for (idx, other) in available.iter().enumerate().filter(|(_, other)| compatible(other)) {
                    let order = other.cmp_precedence(chosen);
                    prop_assert!(order.is_lt() || order.is_eq() && idx >= at.unwrap(), "{other} before {chosen}");
                }
            }
            Err(_) => prop_assert!(!available.iter().any(compatible)),
        }
    }
}
