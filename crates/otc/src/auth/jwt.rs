//! JSON Web Tokens (RFC 7519) that are signed with a shared secret (HS256; RFC 7518, 3.2).
//!
//! The crate `jsonwebtoken` would add the code of all signature algorithms, including RSA and elliptic curves.

use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Map, Value, json};
use sha2::Sha256;
use toolkit::call::SecretString;
use toolkit_runtime::{Jwt, check_header, check_times, one_or_several};

/// The minimum length of a secret, in bytes: the size of the hash (RFC 7518, 3.2).
pub(super) const MIN_SECRET: usize = 32;
/// The maximum lifetime of an accepted token, in seconds.
const MAX_LIFE: u64 = 15 * 60;
/// The lifetime of a created token, in seconds. It allows for a slow network and clock skew.
const LIFE: u64 = 5 * 60;
/// The tolerated clock skew, in seconds.
const LEEWAY: u64 = 30;

/// The secret and the expected claims of tokens.
#[derive(Clone)]
pub(super) struct JwtKey {
    pub(super) secret: SecretString,
    pub(super) audience: Option<String>,
    pub(super) issuer: Option<String>,
}

/// Computes a message authentication code (HMAC with SHA-256).
pub(super) fn mac(key: &[u8], text: &[u8]) -> Hmac<Sha256> {
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(key).expect("a key of any length will do");
    mac.update(text);
    mac
}

/// Creates a token that is valid from `now` on.
pub(super) fn signed(key: &JwtKey, now: u64) -> String {
    let encoded = |part: Value| BASE64URL_NOPAD.encode(part.to_string().as_bytes());
    let header = encoded(json!({ "alg": "HS256", "typ": "JWT" }));
    let mut claims = json!({ "iat": now, "exp": now + LIFE });
    for (name, value) in [("aud", &key.audience), ("iss", &key.issuer)] {
        if let Some(value) = value {
            claims[name] = json!(value);
        }
    }
    let claims = encoded(claims);
    let signature = mac(key.secret.expose().as_bytes(), format!("{header}.{claims}").as_bytes());
    format!("{header}.{claims}.{}", BASE64URL_NOPAD.encode(&signature.finalize().into_bytes()))
}

/// Validates the signature, the times, the audience and the issuer of a token.
///
/// # Errors
///
/// Returns the first rule that the token violates.
pub(super) fn check(key: &JwtKey, token: &str, now: u64) -> Result<(), &'static str> {
    let token = Jwt::parse(token)?;
    // The signature is checked before anything is read from the token, and with the one allowed algorithm.
    if mac(key.secret.expose().as_bytes(), token.signed.as_bytes()).verify_slice(&token.signature).is_err() {
        return Err("the signature of the token is wrong");
    }
    let header = token.header()?;
    if header.get("alg").and_then(Value::as_str) != Some("HS256") {
        return Err("the token must be signed with HS256");
    }
    check_header(&header, &["", "jwt", "at+jwt"])?;
    let claims = token.claims()?;
    let now = now as f64;
    let expires = check_times(&claims, now, LEEWAY as f64)?;
    if expires > now + (MAX_LIFE + LEEWAY) as f64 {
        return Err("the token must expire within 15 minutes");
    }
    check_parties(&claims, key)
}

fn check_parties(claims: &Map<String, Value>, key: &JwtKey) -> Result<(), &'static str> {
    // RFC 7519, 4.1.3: a token with an audience is rejected unless the server is identified as one.
    let audience = claims.get("aud");
    let is_ours = match &key.audience {
        Some(own) => audience.and_then(one_or_several).is_some_and(|audiences| audiences.contains(&own.as_str())),
        None => audience.is_none(),
    };
    if !is_ours {
        return Err("the token is for another audience (`aud`)");
    }
    if key.issuer.is_some() && claims.get("iss").and_then(Value::as_str) != key.issuer.as_deref() {
        return Err("the token is from another issuer (`iss`)");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_800_000_000;
    const SECRET: &str = "a secret of thirty-two bytes, or";

    fn key(secret: &str) -> JwtKey {
        JwtKey { secret: secret.to_owned().into(), audience: None, issuer: None }
    }

    /// Creates a token of these texts, even if they are invalid.
    fn token_of(header: &str, claims: &str) -> String {
        let encoded = |part: &str| BASE64URL_NOPAD.encode(part.as_bytes());
        let signed = format!("{}.{}", encoded(header), encoded(claims));
        let signature = mac(SECRET.as_bytes(), signed.as_bytes()).finalize().into_bytes();
        format!("{signed}.{}", BASE64URL_NOPAD.encode(&signature))
    }

    fn token(header: Value, claims: Value) -> String {
        token_of(&header.to_string(), &claims.to_string())
    }

    fn hs256() -> Value {
        json!({ "alg": "HS256" })
    }

    #[test]
    fn a_token_is_valid_for_its_time_and_with_its_secret_only() {
        let signed = signed(&key(SECRET), NOW);
        assert_eq!(check(&key(SECRET), &signed, NOW), Ok(()));
        assert_eq!(check(&key(SECRET), &signed, NOW + LIFE + LEEWAY - 1), Ok(()));
        assert_eq!(check(&key(SECRET), &signed, NOW + LIFE + LEEWAY), Err("the token has expired"));
        for (secret, token) in [("other", signed.as_str()), ("", &signed), (SECRET, &signed[1..])] {
            assert!(check(&key(secret), token, NOW).is_err());
        }
        for token in
            ["", ".", "..", "a.b.c", "a.b", &signed[..signed.len() - 1], &format!("{signed}."), &format!("{signed}=")]
        {
            assert!(check(&key(SECRET), token, NOW).is_err(), "{token}");
        }
    }

    #[test]
    fn times_are_numbers_and_have_leeway() {
        for (claims, expected) in [
            (json!({ "exp": NOW + 60 }), Ok(())),
            (json!({ "exp": NOW + 60, "nbf": NOW + 29, "iat": NOW - 5 }), Ok(())),
            (json!({ "exp": NOW as f64 + 0.5 }), Ok(())),
            (json!({ "exp": NOW - 29 }), Ok(())),
            (json!({ "exp": NOW - 30 }), Err("the token has expired")),
            (json!({ "exp": -1 }), Err("the token has expired")),
            (json!({ "exp": NOW + 3600 }), Err("the token must expire within 15 minutes")),
            (json!({ "exp": 1e300 }), Err("the token must expire within 15 minutes")),
            (json!({ "exp": NOW + 60, "nbf": NOW + 50 }), Err("the token is not valid yet")),
            (json!({ "exp": NOW + 60, "iat": NOW + 50 }), Err("the token is not valid yet")),
            (json!({}), Err("the token must have `exp`")),
        ] {
            assert_eq!(check(&key(SECRET), &token(hs256(), claims.clone()), NOW), expected, "{claims}");
        }
        for name in ["exp", "nbf", "iat"] {
            for value in [json!("soon"), json!(null), json!([NOW]), json!(true), json!((NOW + 60).to_string())] {
                let mut claims = json!({ "exp": NOW + 60 });
                claims[name] = value;
                assert!(check(&key(SECRET), &token(hs256(), claims.clone()), NOW).is_err(), "{claims}");
            }
        }
    }

    #[test]
    fn headers_of_other_algorithms_types_and_extensions_are_refused() {
        let soon = json!({ "exp": NOW + 60 });
        for header in
            [hs256(), json!({ "alg": "HS256", "typ": "jwt", "kid": "1" }), json!({ "alg": "HS256", "typ": "at+jwt" })]
        {
            assert_eq!(check(&key(SECRET), &token(header.clone(), soon.clone()), NOW), Ok(()), "{header}");
        }
        for header in [
            json!({}),
            json!({ "alg": "none" }),
            json!({ "alg": "hs256" }),
            json!({ "alg": "HS512" }),
            json!({ "alg": "RS256" }),
            json!({ "alg": ["HS256"] }),
            json!({ "alg": null }),
            json!({ "alg": "HS256", "crit": ["exp"], "exp": 1 }),
            json!({ "alg": "HS256", "crit": [] }),
            json!({ "alg": "HS256", "crit": null }),
            json!({ "alg": "HS256", "b64": false }),
            json!({ "alg": "HS256", "typ": "JOSE" }),
            json!({ "alg": "HS256", "typ": 1 }),
            json!(["HS256"]),
            json!("HS256"),
            json!([["alg", "HS256"]]),
            json!(null),
        ] {
            assert!(check(&key(SECRET), &token(header.clone(), soon.clone()), NOW).is_err(), "{header}");
        }
        for claims in [json!([NOW + 60]), json!([["exp", NOW + 60]]), json!(NOW + 60), json!(null)] {
            assert!(check(&key(SECRET), &token(hs256(), claims.clone()), NOW).is_err(), "{claims}");
        }
    }

    /// Parsers differ in which of two duplicate members they use.
    #[test]
    fn members_that_are_there_twice_are_refused() {
        let soon = format!(r#"{{"exp": {}}}"#, NOW + 60);
        assert_eq!(check(&key(SECRET), &token_of(r#"{"alg": "HS256"}"#, &soon), NOW), Ok(()));
        for (header, claims) in [
            (r#"{"alg": "none", "alg": "HS256"}"#, soon.clone()),
            (r#"{"alg": "HS256"}"#, format!(r#"{{"exp": 1, "exp": {}}}"#, NOW + 60)),
            (r#"{"alg": "HS256"}"#, format!(r#"{{"aud": "x", "\u0061ud": "y", "exp": {}}}"#, NOW + 60)),
            (r#"{"alg": "HS256"} {}"#, soon.clone()),
        ] {
            assert!(check(&key(SECRET), &token_of(header, &claims), NOW).is_err(), "{header} {claims}");
        }
    }

    #[test]
    fn audience_and_issuer_are_checked() {
        let named = JwtKey { audience: Some("tools".to_owned()), issuer: Some("host".to_owned()), ..key(SECRET) };
        assert_eq!(check(&named, &signed(&named, NOW), NOW), Ok(()));
        let (audience, issuer) =
            (Err("the token is for another audience (`aud`)"), Err("the token is from another issuer (`iss`)"));
        for (aud, iss, expected) in [
            (json!("tools"), json!("host"), Ok(())),
            (json!(["others", "tools"]), json!("host"), Ok(())),
            (json!("others"), json!("host"), audience),
            (json!(["others"]), json!("host"), audience),
            (json!(["tools", 1]), json!("host"), audience),
            (json!([]), json!("host"), audience),
            (json!(null), json!("host"), audience),
            (json!("tools"), json!("Host"), issuer),
            (json!("tools"), json!(["host"]), issuer),
            (json!("tools"), json!(null), issuer),
        ] {
            let claims = json!({ "exp": NOW + 60, "aud": aud, "iss": iss });
            assert_eq!(check(&named, &token(hs256(), claims.clone()), NOW), expected, "{claims}");
        }
        assert_eq!(check(&named, &signed(&key(SECRET), NOW), NOW), audience);
        assert_eq!(check(&key(SECRET), &signed(&named, NOW), NOW), audience);
        let any_issuer = token(hs256(), json!({ "exp": NOW + 60, "iss": "host" }));
        assert_eq!(check(&key(SECRET), &any_issuer, NOW), Ok(()));
    }

    #[test]
    fn the_signature_is_that_of_the_standard() {
        // RFC 7515, appendix A.1.
        let key = BASE64URL_NOPAD
            .decode(b"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow")
            .unwrap();
        let token = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.\
                     eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.\
                     dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let signature = BASE64URL_NOPAD.decode(signature.as_bytes()).unwrap();
        assert!(mac(&key, signed.as_bytes()).verify_slice(&signature).is_ok());
        assert_eq!(
            Jwt::parse(token).unwrap().header().unwrap(),
            *json!({ "typ": "JWT", "alg": "HS256" }).as_object().unwrap()
        );
    }
}
