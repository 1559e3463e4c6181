//! Headers that must not be repeated.

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// Returns the value of a header that must not be repeated.
///
/// # Errors
///
/// Returns the name of the header if it is repeated, since a proxy in front of the server may read another one of the
/// values.
pub fn single(headers: &HeaderMap, name: HeaderName) -> Result<Option<&HeaderValue>, HeaderName> {
    let mut values = headers.get_all(&name).iter();
    match (values.next(), values.next()) {
        (value, None) => Ok(value),
        (_, Some(_)) => Err(name),
    }
}

/// Returns the token of `Authorization: Bearer …`, or `None` if the header is missing, repeated, or has another scheme.
///
/// # Examples
///
/// ```
/// use http::{HeaderMap, HeaderValue, header};
///
/// let mut headers = HeaderMap::new();
/// headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer secret"));
/// assert_eq!(toolkit_http::bearer(&headers), Some("secret"));
/// ```
#[must_use]
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = single(headers, header::AUTHORIZATION).ok()??.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
