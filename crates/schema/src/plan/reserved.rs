//! The names that `serde_json` reserves.

/// The prefix of the names of structs and keys by which `serde_json` transfers numbers and raw JSON.
const PREFIX: &[u8] = b"$serde_json::private::";

/// Returns true if `serde_json` reserves a name. What it transfers under such a name would not be validated.
#[inline]
pub(super) fn is_reserved(name: &[u8]) -> bool {
    name.starts_with(PREFIX)
}
