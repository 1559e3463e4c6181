//! Third lesson, continued: an optional choice, and a list that is never longer than asked for.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolkit::tool;

/// What to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// Web addresses, with `http` or `https`.
    Links,
    /// E-mail addresses.
    Emails,
}

/// What was found in a text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Extracted {
    /// Web addresses, each once, in the order of the text.
    pub links: Vec<String>,
    /// E-mail addresses, each once, in the order of the text.
    pub emails: Vec<String>,
    /// Whether the limit left some out.
    pub truncated: bool,
}

static LINK: LazyLock<Regex> = LazyLock::new(|| pattern(r#"https?://[^\s<>"'`\\{}|^\[\]]+"#));
static EMAIL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is written here")
}

/// Finds the web addresses and e-mail addresses in a text.
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
    /// The text to look through.
    #[schemars(length(max = 1_000_000))]
    text: String,
    /// What to look for; both unless given.
    only: Option<Wanted>,
    /// The most addresses of each kind to give back.
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

/// What matches, each text once, and whether there is more.
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
    // How many brackets are closed and not opened. Counted once: an address may consist of nothing else.
    let mut unopened = address.matches(')').count().saturating_sub(address.matches('(').count());
    loop {
        address = address.trim_end_matches(['.', ',', ';', ':', '!', '?', '*']);
        // A bracket belongs to the address only if it was opened there.
        match address.strip_suffix(')') {
            Some(inner) if unopened > 0 => (address, unopened) = (inner, unopened - 1),
            _ => return address,
        }
    }
}

fn hundred() -> usize {
    100
}
