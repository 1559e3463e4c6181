//! Reading JSON Web Tokens (RFC 7519): their syntax and the rules for all of them. Keys and signatures stay with the
//! servers, of which one verifies HMACs and the other public keys.

use data_encoding::BASE64URL_NOPAD;
use serde_json::{Map, Value};
use toolkit_schema::json;

/// An error of a token whose parts cannot be read.
const MALFORMED: &str = "the token is not a signed JWT";

/// A signed token, of which nothing was checked.
///
/// # Examples
///
/// ```
/// use toolkit_runtime::Jwt;
///
/// // The header is `{"alg":"HS256"}`, and the claims are `{"exp":1}`.
/// let token = Jwt::parse("eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjF9.AA")?;
/// assert_eq!(token.signature, [0]);
/// assert_eq!(token.header()?["alg"], "HS256");
/// assert_eq!(toolkit_runtime::check_times(&token.claims()?, 100.0, 30.0), Err("the token has expired"));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
pub struct Jwt<'t> {
    /// The text that was signed.
    pub signed: &'t str,
    /// The signature.
    pub signature: Vec<u8>,
    header: &'t str,
    claims: &'t str,
}

impl<'t> Jwt<'t> {
    /// Splits a token into its parts.
    ///
    /// # Errors
    ///
    /// Returns an error if the text does not have the three parts of a token.
    pub fn parse(token: &'t str) -> Result<Self, &'static str> {
        let (signed, signature) = token.rsplit_once('.').ok_or(MALFORMED)?;
        let (header, claims) = signed.split_once('.').ok_or(MALFORMED)?;
        let signature = BASE64URL_NOPAD.decode(signature.as_bytes()).map_err(|_| MALFORMED)?;
        Ok(Self { signed, signature, header, claims })
    }

    /// Reads the header.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not a JSON object, or has duplicate members, of which parsers use different ones.
    pub fn header(&self) -> Result<Map<String, Value>, &'static str> {
        object(self.header)
    }

    /// Reads the claims. Verify the signature before.
    ///
    /// # Errors
    ///
    /// Returns an error if they are not a JSON object, or have duplicate members.
    pub fn claims(&self) -> Result<Map<String, Value>, &'static str> {
        object(self.claims)
    }
}

fn object(part: &str) -> Result<Map<String, Value>, &'static str> {
    let text = BASE64URL_NOPAD.decode(part.as_bytes()).map_err(|_| MALFORMED)?;
    match json::parse(&text) {
        Ok(Value::Object(object)) => Ok(object),
        _ => Err(MALFORMED),
    }
}

/// Checks that a header requires no extensions, and that its type is one of `types` (in lower case), or absent if
/// `types` contains an empty one.
///
/// # Errors
///
/// Returns the rule that the header violates.
pub fn check_header(header: &Map<String, Value>, types: &[&str]) -> Result<(), &'static str> {
    // RFC 7515, 4.1.11: an unknown critical extension must be rejected. `b64` changes what was signed (RFC 7797).
    if header.contains_key("crit") || header.contains_key("b64") {
        return Err("the token requires extensions (`crit`), which are not supported");
    }
    let typ = match header.get("typ") {
        Some(typ) => typ.as_str().ok_or("the type of the token (`typ`) must be a string")?.to_ascii_lowercase(),
        None => String::new(),
    };
    match types.contains(&typ.strip_prefix("application/").unwrap_or(&typ)) {
        true => Ok(()),
        false => Err("the type of the token (`typ`) is not that of an access token"),
    }
}

/// Checks the times of a token at `now`, in seconds since 1970, and returns when it expires.
///
/// # Errors
///
/// Returns an error if the token is not valid yet, has expired, or does not declare when it expires.
pub fn check_times(claims: &Map<String, Value>, now: f64, leeway: f64) -> Result<f64, &'static str> {
    let time = |name: &str| match claims.get(name) {
        Some(time) => time.as_f64().map(Some).ok_or("`exp`, `nbf` and `iat` of the token must be numbers"),
        None => Ok(None),
    };
    let expires = time("exp")?.ok_or("the token must have `exp`")?;
    if expires <= now - leeway {
        return Err("the token has expired");
    }
    if [time("nbf")?, time("iat")?].into_iter().flatten().any(|start| start > now + leeway) {
        return Err("the token is not valid yet");
    }
    Ok(expires)
}

/// Returns the texts of a claim such as `aud`: a string or a list of strings.
pub fn one_or_several(claim: &Value) -> Option<Vec<&str>> {
    match claim {
        Value::String(one) => Some(vec![one]),
        Value::Array(several) => several.iter().map(Value::as_str).collect(),
        _ => None,
    }
}
