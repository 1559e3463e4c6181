//! The access token of a caller, for backends that exchange it.

use super::credentials::SecretString;

/// The access token that a server has verified, in the context of a call. It is for that server: a backend never passes it on,
/// but may exchange it for a token of another server.
#[derive(Clone, Debug)]
pub struct CallerToken(pub SecretString);
