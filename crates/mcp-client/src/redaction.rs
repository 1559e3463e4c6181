//! The secrets that a server knows, which it must not have written into a log by repeating them.

use std::path::Path;

/// The secrets of one server.
#[derive(Clone, Debug, Default)]
pub(super) struct Redaction(Vec<String>);

/// The length in bytes from which on a value is a secret. A shorter one is a part of many words.
const MIN_SECRET: usize = 8;

impl Redaction {
    /// Keeps the values that may be secrets. Errors are about paths, and those name what the host has configured.
    pub(super) fn new(values: impl IntoIterator<Item = String>) -> Self {
        let is_secret = |value: &String| value.len() >= MIN_SECRET && !Path::new(value).is_absolute();
        Self(values.into_iter().filter(is_secret).collect())
    }

    /// Replaces the secrets in a text.
    pub(super) fn apply(&self, text: &mut String) {
        for secret in &self.0 {
            if text.contains(&**secret) {
                *text = text.replace(&**secret, "***");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Redaction;

    #[test]
    fn secrets_of_eight_bytes_are_replaced_wherever_they_occur() {
        let secrets = ["12345678", "1234567", "/etc/passwd", "relative/path", "ÄÖÜß"].map(str::to_owned);
        let redaction = Redaction::new(secrets);
        for (text, expected) in [
            ("a 12345678 b 12345678", "a *** b ***"),
            ("1234567", "1234567"),
            // A path is no secret, and programs print it.
            ("/etc/passwd relative/path", "/etc/passwd ***"),
            ("ÄÖÜß", "***"),
            ("", ""),
        ] {
            let mut redacted = text.to_owned();
            redaction.apply(&mut redacted);
            assert_eq!(redacted, expected, "{text}");
        }
        let mut text = "12345678".to_owned();
        Redaction::default().apply(&mut text);
        assert_eq!(text, "12345678");
    }
}
