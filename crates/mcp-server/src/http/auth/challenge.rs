//! Challenges: the responses to a request whose token does not suffice (RFC 6750, 3).

#[cfg(test)]
mod tests;

use http::{HeaderValue, StatusCode, header};
use toolkit_mcp::Code;

use super::TokenError;
use crate::http::rejection::Rejection;
use crate::metrics::RejectReason;

/// The time after which a client may try again if its token cannot be verified, in seconds.
const RETRY_AFTER: u16 = 5;

/// The contents of a challenge.
#[derive(Default)]
pub(super) struct Challenge<'c> {
    /// The code of RFC 6750. Absent if the request has no token.
    pub(super) error: Option<&'static str>,
    /// All scopes that the request needs.
    pub(super) scopes: &'c [String],
    pub(super) metadata_url: Option<&'c str>,
    pub(super) description: Option<&'c str>,
}

impl Challenge<'_> {
    /// Creates the rejection of a request.
    pub(super) fn reject(&self, error: TokenError) -> Rejection {
        let (status, message) = match error {
            TokenError::Invalid => (StatusCode::UNAUTHORIZED, "a valid token is required (`Authorization: Bearer …`)"),
            TokenError::InsufficientScope => (StatusCode::FORBIDDEN, "the token does not grant the required scope"),
            TokenError::Unavailable => {
                let message = "the token cannot be verified at the moment; try again later";
                let rejection = Rejection::new(RejectReason::Unauthorized, StatusCode::SERVICE_UNAVAILABLE, message);
                return rejection
                    .with_code(Code::Internal)
                    .with_header(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER));
            }
        };
        let message = self.description.map_or_else(|| message.to_owned(), str::to_owned);
        let rejection = Rejection::new(RejectReason::Unauthorized, status, message);
        match HeaderValue::from_str(&self.header()) {
            Ok(value) => rejection.with_header(header::WWW_AUTHENTICATE, value),
            Err(_) => rejection,
        }
    }

    /// Returns the value of `WWW-Authenticate`.
    fn header(&self) -> String {
        // A scope that OAuth does not allow cannot be granted, and could add parameters to the challenge.
        let scopes: Vec<&str> = self.scopes.iter().map(String::as_str).filter(|scope| is_scope(scope)).collect();
        let scopes = scopes.join(" ");
        let description = self.description.map(quotable);
        let params = [
            ("error", self.error),
            ("scope", (!scopes.is_empty()).then_some(&*scopes)),
            ("resource_metadata", self.metadata_url),
            ("error_description", description.as_deref()),
        ];
        let params = params.iter().filter_map(|(name, value)| Some(format!("{name}=\"{}\"", (*value)?)));
        format!("Bearer {}", params.collect::<Vec<_>>().join(", ")).trim_end().to_owned()
    }
}

/// Returns true for a scope of RFC 6749, 3.3.
fn is_scope(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x5B | 0x5D..=0x7E))
}

/// Replaces the characters that RFC 6750 does not allow in a description.
fn quotable(text: &str) -> String {
    text.chars().map(|c| if matches!(c, ' '..='!' | '#'..='[' | ']'..='~') { c } else { '?' }).collect()
}
