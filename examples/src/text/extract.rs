//! Third lesson, continued: an optional choice, and a list of limited length.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolkit::tool;

/// Type of link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// Web addresses, with `http` or `https`.
    Links,
    /// Email addresses.
    Emails,
}

/// Links in a text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Extracted {
    /// Web addresses without duplicates, in text order.
    pub links: Vec<String>,
    /// Email addresses without duplicates, in text order.
    pub emails: Vec<String>,
    /// True if the limit excluded further addresses.
    pub truncated: bool,
}

static LINK: LazyLock<Regex> = LazyLock::new(|| pattern(r#"https?://[^\s<>"'`\\{}|^\[\]]+"#));
static EMAIL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is written here")
}

/// Finds the web and email addresses in a text.
#[tool(
    namespace = "text",
    version = "1.0.0",
    tags = ["regex"],
    category = "text",
    read_only,
    idempotent,
    open_world = false,
    examples = [r#"{"text": "See https://example.org/a or write to ann@example.org.", "only": "emails"}"#]
)]
pub fn extract_links(
    /// The text to search.
    #[schemars(length(max = 1_000_000))]
    text: String,
    /// The type of link to find; both by default.
    only: Option<Wanted>,
    /// The maximum number of addresses of each type to return.
    #[schemars(range(min = 1, max = 10_000))]
    #[serde(default = "hundred")]
    limit: usize,
) -> Extracted {
    let (links, more_links) = match only {
        Some(Wanted::Emails) => Default::default(),
        _ => find(&LINK, &text, limit),
    };
    let (emails, more_emails) = match only {
        Some(Wanted::Links) => Default::default(),
        _ => find(&EMAIL, &text, limit),
    };
    Extracted { links, emails, truncated: more_links || more_emails }
}

/// Returns the distinct matches, and true if there are more.
fn find(pattern: &Regex, text: &str, limit: usize) -> (Vec<String>, bool) {
    let mut seen = std::collections::HashSet::new();
    let found = pattern.find_iter(text).map(|found| closed(found.as_str()));
    let mut found = found.filter(|address| seen.insert(*address));
    let first = found.by_ref().take(limit).map(str::to_owned).collect();
    (first, found.next().is_some())
}

/// Returns the address without the punctuation of the sentence around it.
fn closed(address: &str) -> &str {
    let mut address = address;
    // The number of closing brackets without an opening one, counted once: an address may consist of brackets only.
    let mut unopened = address.matches(')').count().saturating_sub(address.matches('(').count());
    loop {
        address = address.trim_end_matches(['.', ',', ';', ':', '!', '?', '*']);
        // A bracket is part of the address only if it was opened there.
        match address.strip_suffix(')') {
            Some(inner) if unopened > 0 => (address, unopened) = (inner, unopened - 1),
            _ => return address,
        }
    }
}

fn hundred() -> usize {
    100
}
