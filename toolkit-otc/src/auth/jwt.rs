//! Tokens that are signed with a shared secret: JWT (RFC 7519) with HS256 (RFC 7518, 3.2) and nothing else.

use data_encoding::BASE64URL_NOPAD;
use hmac::Mac;
use serde::Deserialize;
use serde_json::json;

use super::mac;

/// How long a token may hold, in seconds.
const MAX_LIFE: u64 = 15 * 60;
/// How long ours hold: long enough for a slow network and a clock that is a little off.
const LIFE: u64 = 5 * 60;
/// How much the clocks of two machines may differ.
const LEEWAY: u64 = 30;

/// A token that holds from `now` on.
pub(super) fn signed(secret: &[u8], now: u64) -> String {
    let encoded = |part: serde_json::Value| BASE64URL_NOPAD.encode(part.to_string().as_bytes());
    let header = encoded(json!({ "alg": "HS256", "typ": "JWT" }));
    let claims = encoded(json!({ "iat": now, "exp": now + LIFE }));
    let signature = mac(secret, format!("{header}.{claims}").as_bytes()).finalize().into_bytes();
    format!("{header}.{claims}.{}", BASE64URL_NOPAD.encode(&signature))
}

/// Whether a token is signed with the secret and holds at `now`.
///
/// # Errors
///
/// It is not, or it does not, or it would hold for too long.
pub(super) fn check(secret: &[u8], token: &str, now: u64) -> Result<(), &'static str> {
    const MALFORMED: &str = "the token is no JWT";

    let (signed, signature) = token.rsplit_once('.').ok_or(MALFORMED)?;
    let (header, claims) = signed.split_once('.').ok_or(MALFORMED)?;
    let decoded = |part: &str| BASE64URL_NOPAD.decode(part.as_bytes()).map_err(|_| MALFORMED);
    // Nothing that the token says is believed before its signature is checked, and no other algorithm is tried.
    let signature = decoded(signature)?;
    if secret.is_empty() || mac(secret, signed.as_bytes()).verify_slice(&signature).is_err() {
        return Err("the token is not signed with the right secret");
    }
    let header: Header = serde_json::from_slice(&decoded(header)?).map_err(|_| MALFORMED)?;
    if header.alg != "HS256" {
        return Err("the token must be signed with HS256");
    }
    let claims: Claims =
        serde_json::from_slice(&decoded(claims)?).map_err(|_| "the token must have `exp`, in seconds")?;
    let now = now as f64;
    if claims.exp <= now - LEEWAY as f64 {
        return Err("the token has expired");
    }
    if claims.exp > now + (MAX_LIFE + LEEWAY) as f64 {
        return Err("the token must expire within 15 minutes");
    }
    if claims.nbf.is_some_and(|nbf| nbf > now + LEEWAY as f64) {
        return Err("the token does not hold yet");
    }
    Ok(())
}

#[derive(Deserialize)]
struct Header {
    alg: String,
}

#[derive(Deserialize)]
struct Claims {
    exp: f64,
    nbf: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_800_000_000;

    fn token(header: serde_json::Value, claims: serde_json::Value) -> String {
        let encoded = |part: serde_json::Value| BASE64URL_NOPAD.encode(part.to_string().as_bytes());
        let signed = format!("{}.{}", encoded(header), encoded(claims));
        let signature = mac(b"secret", signed.as_bytes()).finalize().into_bytes();
        format!("{signed}.{}", BASE64URL_NOPAD.encode(&signature))
    }

    #[test]
    fn a_token_holds_for_its_time_and_with_its_secret_only() {
        let signed = signed(b"secret", NOW);
        assert_eq!(check(b"secret", &signed, NOW), Ok(()));
        assert_eq!(check(b"secret", &signed, NOW + LIFE + LEEWAY), Err("the token has expired"));
        for (secret, token) in [(&b"other"[..], signed.as_str()), (b"", &signed), (b"secret", &signed[1..])] {
            assert!(check(secret, token, NOW).is_err());
        }
        for token in ["", ".", "..", "a.b.c", "a.b", &signed[..signed.len() - 1], &format!("{signed}.")] {
            assert!(check(b"secret", token, NOW).is_err(), "{token}");
        }
    }

    #[test]
    fn a_token_says_that_it_is_hs256_and_expires_soon() {
        let alg = |alg| json!({ "alg": alg });
        let soon = json!({ "exp": NOW + 60 });
        assert_eq!(check(b"secret", &token(alg("HS256"), soon.clone()), NOW), Ok(()));
        for (header, claims) in [
            (alg("none"), soon.clone()),
            (alg("HS512"), soon),
            (alg("HS256"), json!({})),
            (alg("HS256"), json!({ "exp": "soon" })),
            (alg("HS256"), json!({ "exp": NOW + 3600 })),
            (alg("HS256"), json!({ "exp": NOW - 3600 })),
            (alg("HS256"), json!({ "exp": NOW + 60, "nbf": NOW + 50 })),
        ] {
            assert!(check(b"secret", &token(header.clone(), claims.clone()), NOW).is_err(), "{header} {claims}");
        }
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
        assert_eq!(check(&key, token, 1_300_819_000), Ok(()));
    }
}
