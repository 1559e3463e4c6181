//! Authentication of clients, by a key or by JSON Web Tokens (RFC 7519) that are signed with a shared secret (HS256;
//! RFC 7518, 3.2).
//!
//! The crate `jsonwebtoken` would add the code of all signature algorithms, including RSA and elliptic curves.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};
use sha2::Sha256;
use toolkit::call::SecretString;
use toolkit_runtime::{Jwt, check_header, check_times, one_or_several};

use crate::error::{MIN_SECRET, OtcError};
use crate::wire::API_KEY;

/// The authentication between a client and a server. Both sides are configured with the same value.
///
/// # Examples
///
/// ```
/// use toolkit_otc::Auth;
///
/// assert!(Auth::none().is_none());
/// assert!(!Auth::api_key("s3cr3t").is_none());
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Auth(AuthKind);

#[derive(Clone, Default)]
enum AuthKind {
    #[default]
    None,
    ApiKey(SecretString),
    Jwt(JwtKey),
}

impl Auth {
    /// Requires no authentication.
    pub fn none() -> Self {
        Self(AuthKind::None)
    }

    /// Requires an API key in the header `OXP-API-Key`. A server with an empty key rejects all requests.
    pub fn api_key(key: impl Into<SecretString>) -> Self {
        Self(AuthKind::ApiKey(key.into()))
    }

    /// Requires a signed token (JWT with HS256) that expires within 15 minutes. The client signs a new token for each
    /// request.
    ///
    /// The signature only proves that the client has the secret, so the server cannot distinguish clients. A token with
    /// an audience is rejected unless the audience is set with [`Auth::with_audience`].
    ///
    /// # Errors
    ///
    /// Returns an error if the secret is shorter than 32 bytes, which RFC 7518 requires for HS256.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolkit_otc::Auth;
    /// # fn main() -> Result<(), toolkit_otc::OtcError> {
    /// let secret = "0f1e2d3c4b5a69788796a5b4c3d2e1f0".to_owned();
    /// let auth = Auth::jwt(secret)?.with_audience("https://tools.example.org").with_issuer("host");
    /// assert!(Auth::jwt("s3cr3t".to_owned()).is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn jwt(secret: impl Into<SecretString>) -> Result<Self, OtcError> {
        let secret = secret.into();
        match secret.expose().len() {
            MIN_SECRET.. => Ok(Self(AuthKind::Jwt(JwtKey { secret, audience: None, issuer: None }))),
            n_bytes => Err(OtcError::WeakSecret { n_bytes }),
        }
    }

    /// Requires and sends an audience in tokens (`aud`). Has no effect on other kinds than [`Auth::jwt`].
    pub fn with_audience(mut self, audience: impl Into<String>) -> Self {
        if let AuthKind::Jwt(key) = &mut self.0 {
            key.audience = Some(audience.into());
        }
        self
    }

    /// Requires and sends an issuer in tokens (`iss`). Has no effect on other kinds than [`Auth::jwt`].
    pub fn with_issuer(mut self, issuer: impl Into<String>) -> Self {
        if let AuthKind::Jwt(key) = &mut self.0 {
            key.issuer = Some(issuer.into());
        }
        self
    }

    /// Returns true if no authentication is required.
    #[must_use]
    pub fn is_none(&self) -> bool {
        matches!(self.0, AuthKind::None)
    }

    /// Returns the header that a client sends.
    ///
    /// # Errors
    ///
    /// Returns an error if the key has characters that are not allowed in a header.
    pub(crate) fn header(&self) -> Result<Option<(HeaderName, HeaderValue)>, http::header::InvalidHeaderValue> {
        let (name, value) = match &self.0 {
            AuthKind::None => return Ok(None),
            AuthKind::ApiKey(key) => (HeaderName::from_static(API_KEY), HeaderValue::from_str(key.expose())),
            AuthKind::Jwt(key) => {
                let token = signed(key, unix_now());
                (AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {token}")))
            }
        };
        let mut value = value?;
        value.set_sensitive(true);
        Ok(Some((name, value)))
    }

    /// Authenticates a request.
    ///
    /// # Errors
    ///
    /// Returns the reason for the rejection.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), &'static str> {
        match &self.0 {
            AuthKind::None => Ok(()),
            AuthKind::ApiKey(key) => {
                let sent = only(headers, API_KEY)?.ok_or("send the API key in the header `OXP-API-Key`")?;
                let is_right = is_same(key.expose().as_bytes(), sent.as_bytes());
                is_right.then_some(()).ok_or("the API key is wrong")
            }
            AuthKind::Jwt(key) => {
                let sent = only(headers, AUTHORIZATION.as_str())?.and_then(|header| header.to_str().ok());
                let token = sent.and_then(|sent| sent.split_once(' '));
                let token = token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token);
                let token = token.ok_or("send a token as `Authorization: Bearer …`")?;
                check(key, token.trim(), unix_now())
            }
        }
    }
}

/// Returns the value of a header that must not be repeated, since a proxy may read another one of the values.
fn only<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h HeaderValue>, &'static str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (value, None) => Ok(value),
        (_, Some(_)) => Err("send the header that authenticates you once"),
    }
}

/// Compares two texts in constant time. Returns false if `expected` is empty.
fn is_same(expected: &[u8], sent: &[u8]) -> bool {
    let tag = |text: &[u8]| mac(expected, text);
    !expected.is_empty() && tag(sent).verify_slice(&tag(expected).finalize().into_bytes()).is_ok()
}

/// Returns the number of seconds since 1970.
fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            AuthKind::None => "Auth::none",
            AuthKind::ApiKey(_) => "Auth::api_key",
            AuthKind::Jwt(_) => "Auth::jwt",
        })
    }
}

/// The maximum lifetime of an accepted token, in seconds.
const MAX_LIFE: u64 = 15 * 60;
/// The lifetime of a created token, in seconds. It allows for a slow network and clock skew.
const LIFE: u64 = 5 * 60;
/// The tolerated clock skew, in seconds.
const LEEWAY: u64 = 30;

/// The secret and the expected claims of tokens.
#[derive(Clone)]
struct JwtKey {
    secret: SecretString,
    audience: Option<String>,
    issuer: Option<String>,
}

/// Computes a message authentication code (HMAC with SHA-256).
fn mac(key: &[u8], text: &[u8]) -> Hmac<Sha256> {
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(key).expect("a key of any length will do");
    mac.update(text);
    mac
}

/// Creates a token that is valid from `now` on.
fn signed(key: &JwtKey, now: u64) -> String {
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
fn check(key: &JwtKey, token: &str, now: u64) -> Result<(), &'static str> {
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
