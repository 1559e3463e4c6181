//! Authentication of clients.

mod jwt;

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use hmac::Mac;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use toolkit::call::SecretString;

use self::jwt::{JwtKey, mac};
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
pub struct Auth(Kind);

#[derive(Clone, Default)]
enum Kind {
    #[default]
    None,
    ApiKey(SecretString),
    Jwt(JwtKey),
}

impl Auth {
    /// Requires no authentication.
    #[must_use]
    pub fn none() -> Self {
        Self(Kind::None)
    }

    /// Requires an API key in the header `OXP-API-Key`. A server with an empty key rejects all requests.
    #[must_use]
    pub fn api_key(key: impl Into<SecretString>) -> Self {
        Self(Kind::ApiKey(key.into()))
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
    /// # fn main() -> Result<(), toolkit_otc::WeakSecretError> {
    /// let secret = "0f1e2d3c4b5a69788796a5b4c3d2e1f0".to_owned();
    /// let auth = Auth::jwt(secret)?.with_audience("https://tools.example.org").with_issuer("host");
    /// assert!(Auth::jwt("s3cr3t".to_owned()).is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn jwt(secret: impl Into<SecretString>) -> Result<Self, WeakSecretError> {
        let secret = secret.into();
        match secret.expose().len() {
            jwt::MIN_SECRET.. => Ok(Self(Kind::Jwt(JwtKey { secret, audience: None, issuer: None }))),
            n_bytes => Err(WeakSecretError { n_bytes }),
        }
    }

    /// Requires and sends an audience in tokens (`aud`). Has no effect on other kinds than [`Auth::jwt`].
    #[must_use]
    pub fn with_audience(mut self, audience: impl Into<String>) -> Self {
        if let Kind::Jwt(key) = &mut self.0 {
            key.audience = Some(audience.into());
        }
        self
    }

    /// Requires and sends an issuer in tokens (`iss`). Has no effect on other kinds than [`Auth::jwt`].
    #[must_use]
    pub fn with_issuer(mut self, issuer: impl Into<String>) -> Self {
        if let Kind::Jwt(key) = &mut self.0 {
            key.issuer = Some(issuer.into());
        }
        self
    }

    /// Returns true if no authentication is required.
    #[must_use]
    pub fn is_none(&self) -> bool {
        matches!(self.0, Kind::None)
    }

    /// Returns the header that a client sends.
    ///
    /// # Errors
    ///
    /// Returns an error if the key has characters that are not allowed in a header.
    pub(crate) fn header(&self) -> Result<Option<(HeaderName, HeaderValue)>, http::header::InvalidHeaderValue> {
        let (name, value) = match &self.0 {
            Kind::None => return Ok(None),
            Kind::ApiKey(key) => (HeaderName::from_static(API_KEY), HeaderValue::from_str(key.expose())),
            Kind::Jwt(key) => {
                let token = jwt::signed(key, unix_now());
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
            Kind::None => Ok(()),
            Kind::ApiKey(key) => {
                let sent = only(headers, API_KEY)?.ok_or("send the API key in the header `OXP-API-Key`")?;
                let is_right = is_same(key.expose().as_bytes(), sent.as_bytes());
                is_right.then_some(()).ok_or("the API key is wrong")
            }
            Kind::Jwt(key) => {
                let sent = only(headers, AUTHORIZATION.as_str())?.and_then(|header| header.to_str().ok());
                let token = sent.and_then(|sent| sent.split_once(' '));
                let token = token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token);
                let token = token.ok_or("send a token as `Authorization: Bearer …`")?;
                jwt::check(key, token.trim(), unix_now())
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

/// The error for a secret that is too short for HS256.
///
/// # Examples
///
/// ```
/// use toolkit_otc::Auth;
///
/// let error = Auth::jwt("s3cr3t".to_owned()).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "the secret has 6 bytes, but HS256 requires at least 32; create one with `openssl rand -hex 32`"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeakSecretError {
    n_bytes: usize,
}

impl fmt::Display for WeakSecretError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (n_bytes, least) = (self.n_bytes, jwt::MIN_SECRET);
        write!(
            f,
            "the secret has {n_bytes} bytes, but HS256 requires at least {least}; create one with `openssl rand -hex 32`"
        )
    }
}

impl std::error::Error for WeakSecretError {}

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
            Kind::None => "Auth::none",
            Kind::ApiKey(_) => "Auth::api_key",
            Kind::Jwt(_) => "Auth::jwt",
        })
    }
}
