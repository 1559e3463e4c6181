//! Redaction of endpoints' error messages.

/// The maximum length of a message in characters.
const MAX_CHARS: usize = 200;

/// The number of consecutive characters of a text that count as a quotation.
const QUOTED: usize = 16;

/// The values that an error must not contain.
pub(super) struct Secrets<'s> {
    pub(super) token: Option<&'s str>,
    /// The query of the URL, which often contains keys.
    pub(super) query: &'s str,
    /// The texts that were sent.
    pub(super) texts: &'s [&'s str],
}

/// Returns the message on one line, truncated; `None` if it contains any of the secrets.
pub(super) fn redacted_message(message: &str, secrets: &Secrets<'_>) -> Option<String> {
    let shown: String = message.chars().take(MAX_CHARS).collect();
    if secrets.are_in(message) || secrets.are_quoted_in(&shown) {
        return None;
    }
    Some(shown.escape_debug().collect())
}

impl Secrets<'_> {
    fn are_in(&self, message: &str) -> bool {
        // Endpoints often report the first or last characters of a rejected token.
        let token = self.token.unwrap_or_default();
        let token = [Some(token), token.get(..8), token.get(token.len().saturating_sub(4)..)];
        let values = self.query.split('&').map(|pair| pair.split_once('=').map_or(pair, |(_, value)| value));
        let mut secrets = token.into_iter().flatten().chain(values).chain(self.texts.iter().copied());
        secrets.any(|secret| !secret.is_empty() && message.contains(secret))
    }

    /// Returns true if the message contains a part of a text.
    fn are_quoted_in(&self, message: &str) -> bool {
        let ends = message.char_indices().map(|(at, _)| at).chain([message.len()]);
        let mut parts = message.char_indices().zip(ends.skip(QUOTED)).map(|((start, _), end)| &message[start..end]);
        parts.any(|part| self.texts.iter().any(|text| text.contains(part)))
    }
}
