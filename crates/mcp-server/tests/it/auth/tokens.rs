//! Tokens that are rejected, each beside its accepted counterpart.

use std::error::Error;
use std::time::Duration;

use serde_json::{Value, json};
use toolkit_mcp_server::{Algorithm, Jwks, Jwt, TokenError};

use super::signer::{Signer, hs256, unsigned};
use super::{AUDIENCE, ISSUER, claims, jwks, jwt, key_set, now, verify};

#[track_caller]
fn assert_rejected(jwt: &Jwt, token: &str, what: &str) {
    assert_eq!(verify(jwt, token).map(|_| ()), Err(TokenError::Invalid), "{what}");
}

#[track_caller]
fn assert_accepted(jwt: &Jwt, token: &str, what: &str) {
    assert!(verify(jwt, token).is_ok(), "{what}");
}

/// Returns valid claims with one of them changed.
fn with(name: &str, value: Value) -> Value {
    let mut claims = claims();
    claims[name] = value;
    claims
}

fn without(name: &str) -> Value {
    let mut claims = claims();
    claims.as_object_mut().unwrap().shift_remove(name);
    claims
}

#[test]
fn a_token_is_accepted_with_each_default_algorithm() {
    let signers = [Signer::rsa("r"), Signer::p256("e"), Signer::ed25519("o")];
    let jwt = jwt(&signers);
    for signer in &signers {
        let caller = verify(&jwt, &signer.token(&claims())).unwrap();
        assert_eq!(caller.subject(), Some("ada"));
        assert_eq!((caller.issuer(), caller.client_id()), (Some(ISSUER), Some("app")));
        assert_eq!(caller.scopes(), ["files:read", "files:write"]);
        assert_eq!(caller.claim("jti"), Some(&json!("1")));
    }
}

#[test]
fn only_listed_algorithms_are_accepted() {
    let (rsa, p384) = (Signer::rsa("r"), Signer::p384("e"));
    use Algorithm::{ES384, PS256, PS384, PS512, RS256, RS384, RS512};
    for (name, algorithm, signer) in [
        ("RS384", RS384, &rsa),
        ("RS512", RS512, &rsa),
        ("PS256", PS256, &rsa),
        ("PS384", PS384, &rsa),
        ("PS512", PS512, &rsa),
        ("ES384", ES384, &p384),
    ] {
        let mut header = signer.header();
        header["alg"] = json!(name);
        let token = signer.sign(&header, &claims());
        assert_rejected(&jwt([signer]), &token, name);
        assert_accepted(&jwt([signer]).algorithms([algorithm]), &token, name);
        assert_rejected(
            &jwt([signer]).algorithms([RS256, ES384].into_iter().filter(|it| *it != algorithm)),
            &token,
            name,
        );
    }
    let token = rsa.token(&claims());
    assert_accepted(&jwt([&rsa]), &token, "RS256");
    assert_rejected(&jwt([&rsa]).algorithms([]), &token, "no algorithm");
}

#[test]
fn a_token_without_the_signature_of_the_issuer_is_rejected() {
    for signer in [Signer::rsa("k"), Signer::p256("k"), Signer::ed25519("k")] {
        let jwt = jwt([&signer]);
        let good = signer.token(&claims());
        assert_accepted(&jwt, &good, "the valid token");
        let (signed, signature) = good.rsplit_once('.').unwrap();
        let mut none = signer.header();
        for alg in ["none", "None", "NONE", "nOnE", ""] {
            none["alg"] = json!(alg);
            let signed = unsigned(&none.to_string(), &claims().to_string());
            for signature in ["", signature] {
                assert_rejected(&jwt, &format!("{signed}.{signature}"), alg);
            }
        }
        assert_rejected(&jwt, &format!("{signed}."), "an empty signature");
        assert_rejected(&jwt, &unsigned(&signer.header().to_string(), &claims().to_string()), "two parts");
        // The attack on verifiers that choose by the header: a public key as the secret.
        let jwk = signer.jwk().to_string();
        for secret in
            [&signer.public_bytes(), jwk.as_bytes(), signer.jwk()["x"].as_str().unwrap_or("n").as_bytes(), b""]
        {
            for alg in ["HS256", signer.algorithm()] {
                let mut header = signer.header();
                header["alg"] = json!(alg);
                assert_rejected(&jwt, &hs256(secret, &header, &claims()), alg);
            }
        }
        // The claims of another token of the same issuer.
        let other = signer.token(&with("sub", json!("eve")));
        let [header, _, _] = good.split('.').collect::<Vec<_>>()[..] else { panic!() };
        let [_, payload, _] = other.split('.').collect::<Vec<_>>()[..] else { panic!() };
        assert_rejected(&jwt, &format!("{header}.{payload}.{signature}"), "spliced claims");
    }
}

#[test]
fn a_changed_byte_anywhere_invalidates_a_token() {
    let signer = Signer::p256("k");
    let (jwt, token) = (jwt([&signer]), signer.token(&claims()));
    assert_accepted(&jwt, &token, "unchanged");
    for at in 0..token.len() {
        for other in ['A', '_', '.', '=', '%'] {
            let mut changed: Vec<char> = token.chars().collect();
            if changed[at] != other {
                changed[at] = other;
                assert_rejected(&jwt, &changed.iter().collect::<String>(), &format!("{other} at {at}"));
            }
        }
        assert_rejected(&jwt, &token[..at], &format!("cut at {at}"));
    }
    for (what, changed) in [
        ("padding", format!("{token}=")),
        ("a fourth part", format!("{token}.e30")),
        ("a JWE", format!("{token}.e30.e30")),
        ("white space", format!("{token} ")),
        ("a line break", format!("{token}\n")),
        ("nothing", String::new()),
        ("dots", "..".to_owned()),
        ("text", "secret".to_owned()),
        ("other letters", "ä.ö.ü".to_owned()),
    ] {
        assert_rejected(&jwt, &changed, what);
    }
}

#[test]
fn the_key_must_be_in_the_set_of_the_issuer() {
    let (ours, theirs) = (Signer::p256("k"), Signer::p256("k"));
    let token = theirs.token(&claims());
    assert_rejected(&jwt([&ours]), &token, "another key with the same id");
    assert_accepted(&jwt([&theirs]), &token, "the same key");
    // The sender of a token chooses what its header has.
    let hints = json!({
        "jwk": theirs.jwk(),
        "jku": "https://evil.example/keys",
        "x5u": "https://evil.example/certificate",
        "x5c": ["MIIB"],
        "kid": "k",
    });
    for (name, value) in hints.as_object().unwrap() {
        let mut header = theirs.header();
        header[name] = value.clone();
        let token = theirs.sign(&header, &claims());
        assert_rejected(&jwt([&ours]), &token, name);
        assert_accepted(&jwt([&theirs]), &token, name);
    }
    let long = "k".repeat(100_000);
    for id in ["", "K", "../k", "/etc/passwd", "k\0", "k' OR '1'='1", "https://evil.example/keys", &long[..1024], &long]
    {
        let mut header = ours.header();
        header["kid"] = json!(id);
        assert_rejected(&jwt([&ours]), &ours.sign(&header, &claims()), &id[..id.len().min(40)]);
    }
    for id in [json!(1), json!(null), json!(["k"]), json!({ "k": "k" })] {
        let mut header = ours.header();
        header["kid"] = id;
        assert_rejected(&jwt([&ours]), &ours.sign(&header, &claims()), "an id that is not a string");
    }
    let mut header = ours.header();
    header.as_object_mut().unwrap().shift_remove("kid");
    let token = ours.sign(&header, &claims());
    assert_accepted(&jwt([&theirs, &Signer::rsa("r"), &ours]), &token, "without an id, all keys are tried");
    assert_rejected(&jwt([&theirs, &Signer::rsa("r")]), &token, "without an id, no key matches");
}

#[test]
fn a_key_is_used_for_its_declared_purpose_only() {
    let signer = Signer::p256("k");
    let token = signer.token(&claims());
    let decoy = Signer::ed25519("other");
    let set = |change: &dyn Fn(&mut Value)| {
        let mut keys = key_set([&decoy, &signer]);
        change(&mut keys["keys"][1]);
        Jwt::with_keys(ISSUER, Jwks::from_json(&keys.to_string()).unwrap()).audience(AUDIENCE)
    };
    for (name, good, bad) in [
        ("use", json!("sig"), json!("enc")),
        ("key_ops", json!(["verify"]), json!(["encrypt"])),
        ("alg", json!("ES256"), json!("ES384")),
        ("alg", json!("ES256"), json!("RS256")),
        ("alg", json!("ES256"), json!("HS256")),
        ("crv", json!("P-256"), json!("P-384")),
        ("kty", json!("EC"), json!("oct")),
        ("kid", json!("k"), json!("k2")),
    ] {
        assert_accepted(&set(&|key| key[name] = good.clone()), &token, name);
        assert_rejected(&set(&|key| key[name] = bad.clone()), &token, &format!("{name} {bad}"));
    }
    assert_rejected(&set(&|key| key["d"] = json!("AAAA")), &token, "a private key");
    // The verifier accepts both algorithms, and the key is for one of them.
    let rsa = Signer::rsa("k");
    for (alg, is_accepted) in [("RS256", true), ("PS256", false)] {
        let mut keys = key_set([&rsa]);
        keys["keys"][0]["alg"] = json!(alg);
        let jwt = Jwt::with_keys(ISSUER, Jwks::from_json(&keys.to_string()).unwrap()).audience(AUDIENCE);
        let jwt = jwt.algorithms([Algorithm::RS256, Algorithm::PS256]);
        assert_eq!(verify(&jwt, &rsa.token(&claims())).is_ok(), is_accepted, "{alg}");
    }
}

#[test]
fn a_token_for_another_audience_is_rejected() {
    let signer = Signer::p256("k");
    let other = jwt([&signer]).audience("https://other.example/mcp");
    for aud in [
        json!("https://other.example/mcp"),
        json!(["https://other.example/mcp"]),
        json!(["https://third.example", "https://other.example/mcp"]),
    ] {
        let token = signer.token(&with("aud", aud.clone()));
        assert_rejected(&jwt([&signer]), &token, &aud.to_string());
        assert_accepted(&other, &token, &aud.to_string());
    }
    for aud in [json!(AUDIENCE), json!([AUDIENCE]), json!(["x", AUDIENCE])] {
        assert_accepted(&jwt([&signer]), &signer.token(&with("aud", aud)), "our audience");
    }
    for aud in [
        json!("https://mcp.example.com"),
        json!("https://mcp.example.com/mcp/"),
        json!("https://MCP.example.com/mcp"),
        json!("https://mcp.example.com/mcp https://other.example"),
        json!(""),
        json!([]),
        json!([[AUDIENCE]]),
        json!([AUDIENCE, 1]),
        json!({ AUDIENCE: true }),
        json!(null),
        json!(true),
    ] {
        assert_rejected(&jwt([&signer]), &signer.token(&with("aud", aud.clone())), &aud.to_string());
    }
}

#[test]
fn a_token_of_another_issuer_is_rejected() {
    let signer = Signer::p256("k");
    for issuer in ["https://evil.example", "https://as.example/", "https://AS.example", "http://as.example", ""] {
        let token = signer.token(&with("iss", json!(issuer)));
        assert_rejected(&jwt([&signer]), &token, issuer);
        assert_accepted(&Jwt::with_keys(issuer, jwks([&signer])).audience(AUDIENCE), &token, issuer);
    }
    for issuer in [json!([ISSUER]), json!(null), json!({ "iss": ISSUER }), json!(1)] {
        assert_rejected(&jwt([&signer]), &signer.token(&with("iss", issuer.clone())), &issuer.to_string());
    }
    assert_accepted(&jwt([&signer]), &signer.token(&claims()), "our issuer");
}

#[test]
fn a_token_is_valid_for_its_time_only() {
    let signer = Signer::p256("k");
    let (strict, lenient) = (jwt([&signer]), jwt([&signer]).leeway(Duration::from_secs(3600)));
    for (name, value) in [
        ("exp", json!(now() - 61)),
        ("exp", json!((now() - 61) as f64 + 0.5)),
        ("exp", json!(now() - 3000)),
        ("nbf", json!(now() + 90)),
        ("nbf", json!(now() + 3000)),
        ("iat", json!(now() + 3000)),
    ] {
        let token = signer.token(&with(name, value.clone()));
        assert_rejected(&strict, &token, &format!("{name} {value}"));
        assert_accepted(&lenient, &token, &format!("{name} {value}"));
    }
    for (name, value) in [
        ("exp", json!(now() - 30)),
        ("exp", json!(1e300)),
        ("nbf", json!(now() + 30)),
        ("nbf", json!(now() - 30)),
        ("iat", json!(now() + 30)),
    ] {
        let token = signer.token(&with(name, value.clone()));
        assert_accepted(&strict, &token, &format!("{name} {value}"));
    }
    let expired = signer.token(&with("exp", json!(now() - 30)));
    assert_rejected(&jwt([&signer]).leeway(Duration::ZERO), &expired, "without leeway");
    for value in [json!(0), json!(-1), json!(-1e300)] {
        assert_rejected(&lenient, &signer.token(&with("exp", value.clone())), &value.to_string());
    }
}

#[test]
fn claims_are_required_and_have_their_types() {
    let signer = Signer::p256("k");
    let jwt = jwt([&signer]);
    assert_accepted(&jwt, &signer.token(&claims()), "all claims");
    for name in ["iss", "aud", "exp", "sub"] {
        assert_rejected(&jwt, &signer.token(&without(name)), name);
    }
    for name in ["nbf", "iat", "jti", "client_id", "scope"] {
        assert_accepted(&jwt, &signer.token(&without(name)), name);
    }
    let soon = (now() + 300).to_string();
    let wrong = [json!(null), json!(true), json!([]), json!({}), json!([1])];
    for name in ["exp", "nbf", "iat"] {
        let times = [json!(soon), json!([now() + 300]), json!("2030-01-01T00:00:00Z")];
        for value in wrong.iter().chain(&times) {
            assert_rejected(&jwt, &signer.token(&with(name, value.clone())), &format!("{name} {value}"));
        }
    }
    for name in ["sub", "client_id"] {
        for value in wrong.iter().chain(&[json!(1), json!(["ada"])]) {
            assert_rejected(&jwt, &signer.token(&with(name, value.clone())), &format!("{name} {value}"));
        }
    }
    assert_rejected(&jwt, &signer.token(&with("sub", json!(""))), "an empty subject");
    for value in [json!(1), json!(null), json!({ "files:read": true }), json!([1]), json!([["files:read"]])] {
        for name in ["scope", "scp"] {
            let mut claims = without("scope");
            claims[name] = value.clone();
            assert_rejected(&jwt, &signer.token(&claims), &format!("{name} {value}"));
        }
    }
    for claims in ["[]", "null", "1", "\"ada\"", "", "{}", "{", "\u{feff}{}"] {
        assert_rejected(&jwt, &signer.sign_text(&signer.header().to_string(), claims), claims);
    }
}

#[test]
fn scopes_are_read_from_both_claims() {
    let signer = Signer::p256("k");
    for (name, value, expected) in [
        ("scope", json!("a b"), &["a", "b"][..]),
        ("scope", json!("  a   b "), &["a", "b"]),
        ("scope", json!(""), &[]),
        ("scope", json!(["a", "b"]), &["a", "b"]),
        ("scp", json!(["a", "b"]), &["a", "b"]),
        ("scp", json!("a b"), &["a", "b"]),
        ("roles", json!(["a"]), &[]),
    ] {
        let mut claims = without("scope");
        claims[name] = value;
        assert_eq!(verify(&jwt([&signer]), &signer.token(&claims)).unwrap().scopes(), expected, "{claims}");
    }
}

#[test]
fn headers_of_other_types_and_extensions_are_rejected() {
    let signer = Signer::p256("k");
    let jwt_of = || jwt([&signer]);
    let header = |name: &str, value: Value| {
        let mut header = signer.header();
        header[name] = value;
        signer.sign(&header, &claims())
    };
    for typ in ["at+jwt", "AT+JWT", "application/at+jwt"] {
        assert_accepted(&jwt_of(), &header("typ", json!(typ)), typ);
        assert_accepted(&jwt_of().at_jwt_only(), &header("typ", json!(typ)), typ);
    }
    for typ in ["JWT", "jwt"] {
        assert_accepted(&jwt_of(), &header("typ", json!(typ)), typ);
        assert_rejected(&jwt_of().at_jwt_only(), &header("typ", json!(typ)), typ);
    }
    for typ in
        [json!("dpop+jwt"), json!("logout+jwt"), json!("JOSE"), json!("JWE"), json!(null), json!(1), json!(["JWT"])]
    {
        assert_rejected(&jwt_of(), &header("typ", typ.clone()), &typ.to_string());
    }
    for (name, value) in [
        ("crit", json!(["exp"])),
        ("crit", json!([])),
        ("crit", json!(null)),
        ("b64", json!(false)),
        ("b64", json!(true)),
        ("alg", json!(["ES256"])),
        ("alg", json!(null)),
        ("alg", json!("es256")),
        ("alg", json!("ES256 ")),
        ("alg", json!("ES256K")),
        ("alg", json!("RS256")),
        ("alg", json!("EdDSA")),
    ] {
        assert_rejected(&jwt_of(), &header(name, value.clone()), &format!("{name} {value}"));
    }
    let mut nameless = signer.header();
    nameless.as_object_mut().unwrap().shift_remove("alg");
    assert_rejected(&jwt_of(), &signer.sign(&nameless, &claims()), "no algorithm");
    assert_accepted(&jwt_of(), &header("unknown", json!(1)), "unknown members are ignored");
}

/// Parsers differ in which of two duplicate members they use.
#[test]
fn repeated_members_are_rejected() {
    let signer = Signer::p256("k");
    let (header, claims) = (signer.header().to_string(), claims().to_string());
    assert_accepted(&jwt([&signer]), &signer.sign_text(&header, &claims), "once");
    let repeated = |text: &str, member: &str| format!("{{{member},{}", &text[1..]);
    for member in [r#""alg":"none""#, r#""alg":"ES256""#, r#""kid":"x""#, r#""\u0061lg":"none""#] {
        assert_rejected(&jwt([&signer]), &signer.sign_text(&repeated(&header, member), &claims), member);
    }
    for member in [r#""sub":"eve""#, r#""aud":"x""#, r#""exp":1"#, r#""\u0073ub":"eve""#, r#""x":{"y":1,"y":2}"#] {
        assert_rejected(&jwt([&signer]), &signer.sign_text(&header, &repeated(&claims, member)), member);
    }
    assert_accepted(&jwt([&signer]), &signer.sign_text(&header, &repeated(&claims, r#""x":1"#)), "another member");
}

#[test]
fn a_huge_or_deep_token_is_rejected() {
    let signer = Signer::p256("k");
    let padded = |n_bytes: usize| signer.token(&with("padding", json!("x".repeat(n_bytes))));
    assert_accepted(&jwt([&signer]), &padded(8 << 10), "8 KiB");
    assert_rejected(&jwt([&signer]), &padded(16 << 10), "more than 16 KiB");
    let deep =
        |n: usize| format!(r#"{}"x":{}{}}}"#, &claims().to_string().replace('}', ","), "[".repeat(n), "]".repeat(n));
    let header = signer.header().to_string();
    assert_accepted(&jwt([&signer]), &signer.sign_text(&header, &deep(10)), "10 levels");
    assert_rejected(&jwt([&signer]), &signer.sign_text(&header, &deep(1000)), "1000 levels");
}

#[test]
fn a_key_set_without_a_usable_key_is_an_error() {
    for (text, message) in [
        ("", "not valid JSON: the text is empty; use `{}` for an empty object"),
        ("[]", "a key set must be an object with a list of `keys`"),
        (r#"{"keys": {}}"#, "a key set must be an object with a list of `keys`"),
        (r#"{"keys": []}"#, "no key can be used: the list is empty"),
        (r#"{"keys": [1]}"#, "no key can be used: it is not an object"),
        (r#"{"keys": [{"kty": "oct", "k": "AAAA"}]}"#, "no key can be used: the key type (`kty`) is not supported"),
        (r#"{"keys": [{"kty": "RSA", "e": "AQAB"}]}"#, "no key can be used: a parameter is missing"),
        (
            r#"{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "AA=="}]}"#,
            "no key can be used: a parameter is not encoded as Base64url",
        ),
        (
            r#"{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "AA"}]}"#,
            "no key can be used: a coordinate has the wrong length",
        ),
    ] {
        assert_eq!(Jwks::from_json(text).unwrap_err().to_string(), message, "{text}");
    }
    let many = json!({ "keys": vec![Signer::ed25519("k").jwk(); 65] }).to_string();
    assert_eq!(Jwks::from_json(&many).unwrap_err().to_string(), "the set has 65 keys, more than the limit of 64");
    let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let error = Jwks::from_url("https://as.example/keys").unwrap().trust(pem).unwrap_err();
    let cause = error.source().and_then(Error::source);
    assert!(error.to_string().ends_with(&cause.expect("the defect of the certificate").to_string()), "{error:?}");
}
