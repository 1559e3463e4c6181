//! Sets of scopes, in the order in which they were added, and the challenge with which a server rejects a token and demands
//! them (RFC 6750, RFC 9728).

#[cfg(test)]
mod tests;

use std::iter::Peekable;
use std::str::Chars;

use super::scopes;

/// The maximum number of scopes in a set. Others are dropped.
const MAX_SCOPES: usize = 100;
/// The maximum length of a scope in bytes. Longer ones are dropped.
const MAX_LEN: usize = 256;

/// The maximum number of scopes in an error message.
const MAX_NAMES: usize = 10;
/// The maximum length of a scope in an error message in bytes.
const MAX_NAME_LEN: usize = 64;

/// Requests a refresh token from servers of OpenID Connect.
pub(super) const OFFLINE_ACCESS: &str = "offline_access";

/// Parses a list that is separated by spaces. Invalid scopes are dropped.
pub(super) fn parse(text: &str) -> Vec<String> {
    union([], text.split_ascii_whitespace())
}

/// Returns the scopes of both lists, each once.
pub(super) fn union<'s>(
    first: impl IntoIterator<Item = &'s str>,
    more: impl IntoIterator<Item = &'s str>,
) -> Vec<String> {
    let mut scopes: Vec<String> = Vec::new();
    for scope in first.into_iter().chain(more) {
        if scopes.len() < MAX_SCOPES && is_valid(scope) && !scopes.iter().any(|seen| seen == scope) {
            scopes.push(scope.to_owned());
        }
    }
    scopes
}

/// Returns true if all scopes of `wanted` are in `scopes`.
pub(super) fn covers(scopes: &[String], wanted: &[String]) -> bool {
    wanted.iter().all(|scope| scopes.contains(scope))
}

/// Scopes of a server in an error.
pub(super) struct Named {
    /// A list for the message, which models read.
    pub(super) list: String,
    /// The scopes that are not in the list, for the operator.
    pub(super) others: Option<String>,
}

/// Lists scopes for an error. A scope may be a sentence with instructions for the model, so that the message contains
/// only those that look like identifiers.
pub(super) fn named(scopes: &[String]) -> Named {
    let is_plain = |scope: &String| {
        scope.len() <= MAX_NAME_LEN && scope.bytes().all(|c| c.is_ascii_alphanumeric() || b":._/-".contains(&c))
    };
    let (plain, mut others): (Vec<_>, Vec<_>) = scopes.iter().partition(|scope| is_plain(scope));
    let listed = plain.len().min(MAX_NAMES);
    others.extend(&plain[listed..]);
    let quoted = |scopes: &[&String]| scopes.iter().map(|scope| format!("`{scope}`")).collect::<Vec<_>>().join(", ");
    let others = (!others.is_empty()).then(|| format!("the server also requires the scopes {}", quoted(&others)));
    let list = match (quoted(&plain[..listed]), &others) {
        (list, None) => list,
        (list, Some(_)) if list.is_empty() => "…".to_owned(),
        (list, Some(_)) => format!("{list}, …"),
    };
    Named { list, others }
}

/// Returns true if the text is a scope of RFC 6749.
fn is_valid(scope: &str) -> bool {
    !scope.is_empty()
        && scope.len() <= MAX_LEN
        && scope.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
}

/// The maximum length of the header in bytes. A longer one is ignored.
const MAX_CHALLENGE_LEN: usize = 8 << 10;

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
        let mut rest = if header.len() > MAX_CHALLENGE_LEN { "" } else { header }.chars().peekable();
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
