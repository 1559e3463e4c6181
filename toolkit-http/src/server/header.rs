//! Headers that must not be repeated.

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// Returns the only value of a header.
///
/// # Errors
///
/// The header is repeated. What stands before the server may look at another one of its values.
pub fn single(headers: &HeaderMap, name: HeaderName) -> Result<Option<&HeaderValue>, HeaderName> {
    let mut values = headers.get_all(&name).iter();
    match (values.next(), values.next()) {
        (value, None) => Ok(value),
        (_, Some(_)) => Err(name),
    }
}

/// Returns the token of `Authorization: Bearer …`; `None` if there is none, or more than one.
#[must_use]
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = single(headers, header::AUTHORIZATION).ok()??.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
