//! Percent-encoding (RFC 3986, section 2.1).

/// Decodes a part of a URI once. Returns `None` for an incomplete escape, or if the bytes are not UTF-8.
pub(super) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                let (high, low) = (digit()?, digit()?);
                bytes.push(high << 4 | low);
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok()
}

/// Returns true if a decoded path stays below the directory that it is relative to, on every operating system.
pub(super) fn is_relative_path(path: &str) -> bool {
    !path.contains(|c: char| c.is_control() || matches!(c, '\\' | ':'))
        && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::{decoded, is_relative_path};

    #[test]
    fn escapes_are_decoded_once() {
        assert_eq!(decoded("a%20b%252e").as_deref(), Some("a b%2e"));
        assert_eq!(decoded("%C3%A9").as_deref(), Some("é"));
        for malformed in ["%", "%2", "%2g", "%+1", "%ff", "%é"] {
            assert_eq!(decoded(malformed), None, "{malformed}");
        }
    }

    #[test]
    fn paths_that_lead_elsewhere_are_not_relative() {
        assert!(is_relative_path("a/b c/é.txt"));
        for path in ["", "/a", "a/", "a//b", ".", "..", "a/../b", "a/./b", "a\0", "a\\..\\b", "C:/a", "a\n"] {
            assert!(!is_relative_path(path), "{path:?}");
        }
    }
}
