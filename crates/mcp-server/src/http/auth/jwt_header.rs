//! The header of a JWT.

use serde_json::{Map, Value};
use toolkit_runtime::check_header;

use super::algorithm::Algorithm;

/// The maximum length of the id of a key in bytes.
const MAX_KEY_ID_BYTES: usize = 1024;

/// The part of a header that selects the key.
pub(super) struct Header {
    pub(super) algorithm: Algorithm,
    pub(super) key_id: Option<String>,
}

impl Header {
    /// Reads a header. Keys and links to keys in it (`jwk`, `jku`, `x5c`, `x5u`) are ignored: the sender of the token
    /// chooses them.
    ///
    /// # Errors
    ///
    /// Returns the rule that the header violates.
    pub(super) fn read(
        header: &Map<String, Value>,
        algorithms: &[Algorithm],
        at_jwt_only: bool,
    ) -> Result<Self, &'static str> {
        let algorithm = header.get("alg").and_then(Value::as_str).and_then(Algorithm::of_header);
        let algorithm = algorithm.filter(|algorithm| algorithms.contains(algorithm));
        let algorithm = algorithm.ok_or("the algorithm of the token (`alg`) is not in the list of the server")?;
        check_header(header, if at_jwt_only { &["at+jwt"] } else { &["", "jwt", "at+jwt"] })?;
        let key_id = match header.get("kid") {
            Some(Value::String(id)) if id.len() <= MAX_KEY_ID_BYTES => Some(id.clone()),
            Some(_) => return Err("the id of the key (`kid`) must be a short string"),
            None => None,
        };
        Ok(Self { algorithm, key_id })
    }
}
