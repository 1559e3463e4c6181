//! JSON Pointers of the parts of a value.

/// Returns the pointer of the part `token` of the value at `pointer`. The token is escaped.
#[doc(hidden)]
pub fn child(pointer: &str, token: &str) -> String {
    let mut child = String::with_capacity(pointer.len() + token.len() + 1);
    child.push_str(pointer);
    push_child(&mut child, token);
    child
}

/// Appends an escaped token to a pointer.
pub(crate) fn push_child(pointer: &mut String, token: &str) {
    pointer.push('/');
    match token.bytes().any(|byte| matches!(byte, b'~' | b'/')) {
        true => pointer.push_str(&token.replace('~', "~0").replace('/', "~1")),
        false => pointer.push_str(token),
    }
}
