//! Versions and requirements: the cases of the systems that this crate replaces, and the decisions that differ.
//!
//! Those systems parse and compare versions by rules of their own, and this crate follows SemVer 2.0.0 and Cargo. Each
//! case with a different outcome is listed with the decision, and the actual outcome is asserted.

mod laws;

use serde_json::{Value, json};
use toolkit::ToolId;
use toolkit::version::{Version, is_compatible, parse, parse_req};

fn cases(list: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(include_str!("../cases/versions.json")).expect("the cases are JSON");
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

/// Creates a version from its parts, without the code under test.
fn spelled(parts: &Value) -> String {
    let [major, minor, patch] = ["major", "minor", "patch"].map(|part| parts[part].as_u64().unwrap());
    let mut spelled = format!("{major}.{minor}.{patch}");
    for (sign, part) in [('-', "prerelease"), ('+', "build")] {
        if !text(&parts[part]).is_empty() {
            spelled.push(sign);
            spelled.push_str(text(&parts[part]));
        }
    }
    spelled
}

#[test]
fn versions_are_read_as_in_the_cases() {
    // SemVer 2.0.0 has no leading zeros, and a number that does not fit is an error and not another number.
    let refused = [
        ("01.02.03", "invalid leading zero in major version number"),
        ("99999999999999999999.0.0", "value of major version number exceeds u64::MAX"),
    ];
    let mut n_refused = 0;
    for case in cases("parse") {
        let input = text(&case["input"]);
        let parsed = parse(input);
        if let Some((_, reason)) = refused.iter().find(|(refused, _)| *refused == input) {
            let message = parsed.unwrap_err().to_string();
            assert!(message.contains(reason), "{message}");
            n_refused += 1;
            continue;
        }
        assert_eq!(parsed.is_ok(), !case["expect"].is_null(), "{input:?}");
        if let Ok(version) = parsed {
            let parts = json!({
                "major": version.major, "minor": version.minor, "patch": version.patch,
                "prerelease": version.pre.as_str(), "build": version.build.as_str(),
            });
            assert_eq!(parts, case["expect"]);
            assert_eq!(version.to_string(), without_v(&case["string"]));
        }
    }
    assert_eq!(n_refused, refused.len());
}

#[test]
fn versions_are_printed_as_in_the_cases_without_the_v() {
    for case in cases("string") {
        assert_eq!(parse(&spelled(&case["version"])).unwrap().to_string(), without_v(&case["expect"]));
    }
}

#[test]
fn versions_are_ordered_as_semver_says() {
    // The cases compare pre-releases as texts, so that the tenth precedes the second.
    let mut differing = Vec::new();
    for case in cases("compare") {
        let (a, b) = (version(&case["a"]), version(&case["b"]));
        let order = a.cmp_precedence(&b) as i64;
        assert_eq!(order, case["semver2"].as_i64().unwrap(), "{a} and {b}");
        if order != case["expect"].as_i64().unwrap() {
            differing.push(format!("{a} {b}"));
        }
    }
    assert_eq!(differing, ["1.0.0-alpha.2 1.0.0-alpha.10"]);
}

#[test]
fn compatible_is_what_the_cases_say_from_the_first_release_on() {
    for case in cases("compatible") {
        let (a, b) = (version(&case["a"]), version(&case["b"]));
        assert_eq!(is_compatible(&a, &b), case["expect"].as_bool().unwrap(), "{a} for {b}");
    }
    // The cases leave these open. Their rule (the same first number and not older) accepts all of them; Cargo is
    // stricter before the first release, and accepts no pre-release in place of a release.
    for (a, b, expect) in [
        ("0.9.0", "0.2.3", false),
        ("0.0.4", "0.0.3", false),
        ("1.1.0-rc.1", "1.0.0", false),
        ("0.2.9", "0.2.3", true),
        ("1.0.0-rc.2", "1.0.0-rc.1", true),
        ("1.0.0+a", "1.0.0+b", true),
    ] {
        assert_eq!(is_compatible(&parse(a).unwrap(), &parse(b).unwrap()), expect, "{a} for {b}");
    }
}

#[test]
fn requirements_are_met_as_in_the_cases() {
    let decided = [
        // Before the first release, a change of the second number breaks.
        ("^0.2.3", "0.9.0", false),
        // A requirement for versions before 2.0.0 does not accept a candidate of 2.0.0.
        ("<2.0.0", "2.0.0-alpha", false),
    ];
    let mut n_decided = 0;
    for case in cases("constraint_check") {
        let (req, offered) = (text(&case["constraint"]), text(&case["version"]));
        let recorded = case["expect"].as_bool().unwrap();
        let decision = decided.iter().find(|(r, v, _)| (*r, *v) == (req, offered));
        n_decided += decision.iter().count();
        let expect = decision.map_or(recorded, |&(_, _, expect)| {
            assert_ne!(expect, recorded, "{req} and {offered} need no decision");
            expect
        });
        assert_eq!(parse_req(req).unwrap().matches(&parse(offered).unwrap()), expect, "{req} and {offered}");
    }
    assert_eq!(n_decided, decided.len());
}

#[test]
fn requirements_are_printed_as_in_the_cases_without_the_v() {
    for case in cases("constraint_string") {
        let input = text(&case["input"]);
        let expect = match input {
            // A version without an operator means `^` to Cargo, so the operator is kept.
            "=1.0.0" => "=1.0.0".to_owned(),
            _ => text(&case["expect"]).replacen('v', "", 1),
        };
        assert_eq!(parse_req(input).unwrap().to_string(), expect);
    }
}

#[test]
fn requirements_are_rejected_as_in_the_cases_or_accepted_as_by_cargo() {
    // Versions with omitted parts, lists and wildcards: their text, and the versions that match and do not match.
    let accepted = [
        ("1.0", "^1.0", "1.9.0", "2.0.0"),
        (">=1.0.0,<2.0.0", ">=1.0.0, <2.0.0", "1.9.0", "2.0.0"),
        ("1.x", "1.*", "1.9.0", "2.0.0"),
        ("*", "*", "2.0.0", "2.0.0-rc.1"),
    ];
    let mut n_accepted = 0;
    for case in cases("constraint_invalid") {
        let input = text(&case["input"]);
        let parsed = parse_req(input);
        let Some((_, printed, meets, fails)) = accepted.iter().find(|(accepted, ..)| *accepted == input) else {
            assert!(parsed.is_err(), "{input:?}");
            continue;
        };
        let req = parsed.unwrap();
        assert_eq!(req.to_string(), *printed);
        assert!(req.matches(&parse(meets).unwrap()) && !req.matches(&parse(fails).unwrap()), "{input:?}");
        n_accepted += 1;
    }
    assert_eq!(n_accepted, accepted.len());
}

#[test]
fn each_operator_takes_what_it_takes_in_cargo() {
    let offered = ["1.2.2", "1.2.3", "1.2.4", "1.3.0", "2.0.0"].map(|version| parse(version).unwrap());
    let operators = [
        // In the cases, no operator means `=`; to Cargo it means `^`.
        ("", [false, true, true, true, false]),
        ("=", [false, true, false, false, false]),
        (">", [false, false, true, true, true]),
        (">=", [false, true, true, true, true]),
        ("<", [true, false, false, false, false]),
        ("<=", [true, true, false, false, false]),
        ("^", [false, true, true, true, false]),
        ("~", [false, true, true, false, false]),
    ];
    assert_eq!(cases("constraint_operators"), operators.map(|(operator, _)| Value::from(operator)));
    for (operator, expect) in operators {
        for spelling in [format!("{operator}1.2.3"), format!("{operator}v1.2.3"), format!(" {operator} v1.2.3 ")] {
            let req = parse_req(&spelling).unwrap();
            assert_eq!(offered.each_ref().map(|version| req.matches(version)), expect, "{spelling}");
        }
    }
}

#[test]
fn an_unknown_operator_is_a_parse_error() {
    // In the cases it is valid, and no version matches it.
    let document: Value = serde_json::from_str(include_str!("../cases/versions.json")).unwrap();
    assert_eq!(document["unknown_operator"], "Check returns false");
    test_support::ran(1);
    for text in ["!1.0.0", "!=1.0.0", "==1.0.0", "=>1.0.0", "~>1.0.0", "≥1.0.0", ">=1.0.0 <2.0.0", ">=1.0.0 || 3"] {
        assert!(parse_req(text).is_err(), "{text}");
    }
}

#[test]
fn one_v_in_lower_case_is_dropped_and_only_before_a_version() {
    for text in ["vv1.0.0", "V1.0.0", " v1.0.0", "v 1.0.0", "v", "", "1.0.0-", "1.0.0-a..b", "1.0.0-01"] {
        assert!(parse(text).is_err(), "{text:?}");
    }
    for text in ["v", "^v", "v*", "vx", "^vv1", "V1", "v>=1", ">=1, v", ">=1,", " ", "\t"] {
        assert!(parse_req(text).is_err(), "{text:?}");
    }
    assert_eq!(parse_req(" >=v1 , < v2.1,v1.x").unwrap().to_string(), ">=1, <2.1, 1.*");
    assert_eq!("weather:forecast:v1.2.0".parse::<ToolId>().unwrap().semver(), parse("1.2.0").ok());
}

#[test]
fn an_error_shows_the_text_bounded_and_escaped() {
    for (text, message) in [
        ("v", "`v` is not a version: it has no number; write three numbers, as in `1.2.3`"),
        (
            "1.0.0\n\u{202e}",
            "`1.0.0\\n\\u{202e}` is not a version: unexpected character '\\n' after patch version number; \
             write three numbers, as in `1.2.3`",
        ),
    ] {
        assert_eq!(parse(text).unwrap_err().to_string(), message);
    }
    assert_eq!(
        parse_req(" ").unwrap_err().to_string(),
        "` ` is not a version requirement: it is empty; write it as for Cargo, as in `^1.2` or `>=1.2, <3`"
    );
    let long = "9".repeat(1 << 20);
    for message in [parse(&long).unwrap_err().to_string(), parse_req(&long).unwrap_err().to_string()] {
        assert!(message.starts_with(&format!("`{}…` is not", "9".repeat(120))) && message.len() < 350, "{message}");
    }
}
