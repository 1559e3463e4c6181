//! Keys of tokens and the HMAC.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use toolkit::call::SecretString;

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
