//! The parts of tokens, and the rules for all of them.

use data_encoding::BASE64URL_NOPAD;
use serde_json::{Map, Value, json};
use toolkit_runtime::{Jwt, check_header, check_times, one_or_several};

fn object(value: Value) -> Map<String, Value> {
    serde_json::from_value(value).unwrap()
}

fn encoded(text: &str) -> String {
    BASE64URL_NOPAD.encode(text.as_bytes())
}

#[test]
fn a_token_has_three_parts_of_which_two_are_objects() {
    let (header, claims) = (encoded(r#"{"alg":"none"}"#), encoded(r#"{"sub":"a"}"#));
    let token = format!("{header}.{claims}.AAE");
    let jwt = Jwt::parse(&token).unwrap();
    assert_eq!((jwt.signed, &jwt.signature[..]), (&*format!("{header}.{claims}"), &[0, 1][..]));
    assert_eq!(jwt.header(), Ok(object(json!({"alg": "none"}))));
    assert_eq!(jwt.claims(), Ok(object(json!({"sub": "a"}))));
    for token in ["", "a", "a.b", "a.b.=", &format!("{header}.{claims}.A+")] {
        assert_eq!(Jwt::parse(token).unwrap_err(), "the token is not a signed JWT", "{token}");
    }
    for part in ["[]", "{", r#"{"a":1,"a":2}"#, ""] {
        let token = format!("{0}.{0}.AA", encoded(part));
        let jwt = Jwt::parse(&token).unwrap();
        assert!(jwt.header().is_err() && jwt.claims().is_err(), "{part}");
    }
}

#[test]
fn headers_have_an_expected_type_and_no_extensions() {
    const EXTENSIONS: &str = "the token requires extensions (`crit`), which are not supported";
    const OTHER: &str = "the type of the token (`typ`) is not that of an access token";
    for (header, expected) in [
        (json!({}), Ok(())),
        (json!({"typ": "JWT"}), Ok(())),
        (json!({"typ": "Application/At+JWT"}), Ok(())),
        (json!({"typ": "id"}), Err(OTHER)),
        (json!({"typ": "application/"}), Ok(())),
        (json!({"typ": 1}), Err("the type of the token (`typ`) must be a string")),
        (json!({"crit": []}), Err(EXTENSIONS)),
        (json!({"b64": true}), Err(EXTENSIONS)),
    ] {
        assert_eq!(check_header(&object(header.clone()), &["", "jwt", "at+jwt"]), expected, "{header}");
    }
    assert_eq!(check_header(&Map::new(), &["jwt"]), Err(OTHER));
}

#[test]
fn tokens_are_valid_within_their_times_and_a_leeway() {
    const NUMBERS: &str = "`exp`, `nbf` and `iat` of the token must be numbers";
    for (claims, expected) in [
        (json!({"exp": 200}), Ok(200.0)),
        (json!({"exp": 91}), Ok(91.0)),
        (json!({"exp": 90}), Err("the token has expired")),
        (json!({"exp": 200, "nbf": 110, "iat": 110}), Ok(200.0)),
        (json!({"exp": 200, "nbf": 111}), Err("the token is not valid yet")),
        (json!({"exp": 200, "iat": 110.5}), Err("the token is not valid yet")),
        (json!({}), Err("the token must have `exp`")),
        (json!({"exp": "200"}), Err(NUMBERS)),
        (json!({"exp": 200, "nbf": null}), Err(NUMBERS)),
        (json!({"exp": 200, "iat": "1"}), Err(NUMBERS)),
    ] {
        assert_eq!(check_times(&object(claims.clone()), 100.0, 10.0), expected, "{claims}");
    }
}

#[test]
fn a_claim_has_one_text_or_several() {
    for (claim, expected) in [
        (json!("a"), Some(vec!["a"])),
        (json!(["a", "b"]), Some(vec!["a", "b"])),
        (json!([]), Some(vec![])),
        (json!(["a", 1]), None),
        (json!(1), None),
    ] {
        assert_eq!(one_or_several(&claim), expected, "{claim}");
    }
}
