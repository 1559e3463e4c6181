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
