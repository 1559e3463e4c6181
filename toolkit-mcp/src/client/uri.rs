//! URIs that servers send.

/// The maximum length of a URI in bytes.
pub(super) const MAX_URI_LEN: usize = 8 << 10;

/// Returns true for a text that may be a URI: it starts with a scheme and has no control characters.
pub(super) fn is_uri(uri: &str) -> bool {
    uri.len() <= MAX_URI_LEN && uri.contains(':') && !uri.contains(char::is_control)
}
