//! The challenge with which a server rejects a token (RFC 6750, RFC 9728).

use std::iter::Peekable;
use std::str::Chars;

use super::scopes;

/// The maximum length of the header in bytes. A longer one is ignored.
const MAX_LEN: usize = 8 << 10;

/// The parameters of a `Bearer` challenge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Challenge {
    pub(super) resource_metadata: Option<String>,
    pub(super) scopes: Vec<String>,
    pub(super) error: Option<String>,
}

impl Challenge {
    /// Parses the values of `WWW-Authenticate` headers. Other schemes and malformed parts are ignored, and the first of
    /// several parameters with the same name counts.
    pub(super) fn parse(header: &str) -> Self {
        let mut challenge = Self::default();
        let mut is_bearer = false;
        let mut rest = if header.len() > MAX_LEN { "" } else { header }.chars().peekable();
        loop {
            skip(&mut rest, |c| c == ',' || c.is_ascii_whitespace());
            let name = token(&mut rest);
            if name.is_empty() {
                return challenge;
            }
            skip(&mut rest, |c| c == ' ' || c == '\t');
            if rest.next_if_eq(&'=').is_none() {
                is_bearer = name.eq_ignore_ascii_case("bearer");
                continue;
            }
            skip(&mut rest, |c| c == ' ' || c == '\t');
            let value = if rest.next_if_eq(&'"').is_some() { quoted(&mut rest) } else { unquoted(&mut rest) };
            if is_bearer {
                challenge.set(&name, value);
            }
        }
    }

    /// Returns true if the token lacks scopes.
    pub(super) fn is_insufficient_scope(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }

    fn set(&mut self, name: &str, value: String) {
        match name.to_ascii_lowercase().as_str() {
            "resource_metadata" if self.resource_metadata.is_none() => self.resource_metadata = Some(value),
            "scope" if self.scopes.is_empty() => self.scopes = scopes::parse(&value),
            "error" if self.error.is_none() => self.error = Some(value),
            _ => {}
        }
    }
}

fn skip(rest: &mut Peekable<Chars<'_>>, matches: impl Fn(char) -> bool) {
    while rest.next_if(|c| matches(*c)).is_some() {}
}

fn token(rest: &mut Peekable<Chars<'_>>) -> String {
    let mut token = String::new();
    while let Some(c) = rest.next_if(|c| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~/".contains(*c)) {
        token.push(c);
    }
    token
}

fn unquoted(rest: &mut Peekable<Chars<'_>>) -> String {
    let mut value = String::new();
    while let Some(c) = rest.next_if(|c| *c != ',' && !c.is_ascii_whitespace()) {
        value.push(c);
    }
    value
}

fn quoted(rest: &mut Peekable<Chars<'_>>) -> String {
    let mut value = String::new();
    while let Some(c) = rest.next() {
        match c {
            '"' => break,
            '\\' => value.extend(rest.next()),
            c => value.push(c),
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_the_bearer_scheme_are_read() {
        let header = r#"Basic realm="a, b", Bearer error="insufficient_scope" , scope="a b a",
            resource_metadata="https://x/\"y", SCOPE=c, DPoP scope="d", error=other"#;
        let challenge = Challenge::parse(header);
        assert_eq!(challenge.scopes, ["a", "b"]);
        assert_eq!(challenge.resource_metadata.as_deref(), Some("https://x/\"y"));
        assert!(challenge.is_insufficient_scope());
        assert_eq!(Challenge::parse("bearer scope=x").scopes, ["x"]);
    }

    #[test]
    fn malformed_challenges_are_ignored_where_they_are_malformed() {
        for header in ["", ",,,", "=", "Bearer", "Bearer =", "Negotiate abc==", "Bearer \u{fc}=1", "Basic scope=x"] {
            assert_eq!(Challenge::parse(header), Challenge::default(), "{header}");
        }
        assert_eq!(Challenge::parse("Bearer scope=\"a b").scopes, ["a", "b"]);
        assert_eq!(Challenge::parse("Bearer scope=\"a \u{7} \\\\ \u{e9}b c\"").scopes, ["a", "c"]);
        let long = format!("Bearer scope=\"{}\"", "a ".repeat(MAX_LEN));
        assert_eq!(Challenge::parse(&long), Challenge::default());
    }
}
