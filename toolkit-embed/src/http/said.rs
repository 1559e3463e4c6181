//! What an endpoint says of an error, without what it was not told to repeat.

/// A message is cut at this many characters.
const MAX_CHARS: usize = 200;

/// As many characters of a text in a row are a quotation.
const QUOTED: usize = 16;

/// What no error may show.
pub(super) struct Secrets<'s> {
    pub(super) token: Option<&'s str>,
    /// That of the URL, where keys often stand.
    pub(super) query: &'s str,
    /// What was sent.
    pub(super) texts: &'s [&'s str],
}

/// The message on one line, not too long; `None` where it has something of the secrets in it.
pub(super) fn shown_message(message: &str, secrets: &Secrets<'_>) -> Option<String> {
    let shown: String = message.chars().take(MAX_CHARS).collect();
    if secrets.are_in(message) || secrets.are_quoted_in(&shown) {
        return None;
    }
    Some(shown.escape_debug().collect())
}

impl Secrets<'_> {
    fn are_in(&self, message: &str) -> bool {
        // Endpoints like to say which token they refuse, by its ends.
        let token = self.token.unwrap_or_default();
        let token = [Some(token), token.get(..8), token.get(token.len().saturating_sub(4)..)];
        let values = self.query.split('&').map(|pair| pair.split_once('=').map_or(pair, |(_, value)| value));
        let mut secrets = token.into_iter().flatten().chain(values).chain(self.texts.iter().copied());
        secrets.any(|secret| !secret.is_empty() && message.contains(secret))
    }

    /// Whether a part of a text is in the message.
    fn are_quoted_in(&self, message: &str) -> bool {
        let ends = message.char_indices().map(|(at, _)| at).chain([message.len()]);
        let mut parts = message.char_indices().zip(ends.skip(QUOTED)).map(|((start, _), end)| &message[start..end]);
        parts.any(|part| self.texts.iter().any(|text| text.contains(part)))
    }
}
