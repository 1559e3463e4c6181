//! JSON Pointers (RFC 6901), and those of references.

use std::borrow::Cow;

/// Returns the pointer of the part `token` of the value at `pointer`. The token is escaped.
pub fn child(pointer: &str, token: &str) -> String {
    let mut child = String::with_capacity(pointer.len() + token.len() + 1);
    child.push_str(pointer);
    push_child(&mut child, token);
    child
}

/// Appends an escaped token to a pointer.
pub fn push_child(pointer: &mut String, token: &str) {
    pointer.push('/');
    match token.bytes().any(|byte| matches!(byte, b'~' | b'/')) {
        true => pointer.push_str(&token.replace('~', "~0").replace('/', "~1")),
        false => pointer.push_str(token),
    }
}

/// Replaces the escape sequences of a token.
pub fn unescaped(token: &str) -> Cow<'_, str> {
    match token.contains('~') {
        true => Cow::Owned(token.replace("~1", "/").replace("~0", "~")),
        false => Cow::Borrowed(token),
    }
}

/// Splits a pointer into its unescaped tokens.
pub fn tokens(pointer: &str) -> impl DoubleEndedIterator<Item = Cow<'_, str>> + Clone {
    pointer.strip_prefix('/').into_iter().flat_map(|tokens| tokens.split('/')).map(unescaped)
}

/// Returns the last token of a pointer, unescaped, or `None` if it is empty.
pub fn last_token(pointer: &str) -> Option<Cow<'_, str>> {
    tokens(pointer).next_back().filter(|token| !token.is_empty())
}

/// Returns the JSON Pointer of a reference within its document: `/$defs/A B` for `#/$defs/A%20B`.
///
/// Returns `None` for an anchor and for a reference to another document.
pub fn pointer(reference: &str) -> Option<String> {
    let fragment = reference.strip_prefix('#')?;
    if !(fragment.is_empty() || fragment.starts_with('/')) {
        return None;
    }
    let mut decoded = Vec::with_capacity(fragment.len());
    let mut bytes = fragment.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let hex = [bytes.next()?, bytes.next()?];
            decoded.push(u8::from_str_radix(std::str::from_utf8(&hex).ok()?, 16).ok()?);
        } else {
            decoded.push(byte);
        }
    }
    String::from_utf8(decoded).ok()
}
