//! JSON Pointers (RFC 6901) of references.

/// Returns true if `text` is a JSON Pointer (RFC 6901, section 3).
pub(super) fn is_pointer(text: &str) -> bool {
    let escapes = text.split('~').skip(1);
    (text.is_empty() || text.starts_with('/')) && escapes.into_iter().all(|rest| rest.starts_with(['0', '1']))
}

/// Returns the first token of a pointer.
pub(super) fn first_token(pointer: &str) -> Option<String> {
    pointer.split('/').nth(1).map(unescaped)
}

/// Replaces the escape sequences of a token.
pub(super) fn unescaped(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}
