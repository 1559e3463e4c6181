//! Patterns with every kind of character, escape and group.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolkit::tool;

/// Takes punctuation.
#[tool(namespace = "patterns")]
fn punctuation(
    #[schemars(regex(pattern = r#"^['"&|<>`]+$"#))] marks: String,
    #[schemars(regex(pattern = "^it's <b>a & b</b> \\| \"c\"$"))] text: Option<String>,
    #[schemars(regex(pattern = "^[!-/:-@\\[-`{-~]$"))] any: Option<String>,
) -> usize {
    marks.len() + text.map_or(0, |text| text.len()) + any.map_or(0, |any| any.len())
}

/// Takes letters of other alphabets.
#[tool(namespace = "patterns")]
fn letters(
    #[schemars(regex(pattern = "^Straße in (?:Köln|[À-ÿ]+)$"))] street: String,
    #[schemars(regex(pattern = "^[😀-🙏]{1,3}$"))] mood: Option<String>,
    #[schemars(regex(pattern = r"^\u{4e2d}[\u4e00-\u9fff]*$"))] name: Option<String>,
    #[schemars(regex(pattern = r"^\p{Lu}[\p{L}\p{M}' -]*$"))] person: Option<String>,
    #[schemars(regex(pattern = r"^\p{Script=Greek}+\P{L}$"))] greek: Option<String>,
) -> usize {
    street.len() + [mood, name, person, greek].into_iter().flatten().map(|text| text.len()).sum::<usize>()
}

/// Takes what only some engines know.
#[tool(namespace = "patterns")]
fn groups(
    #[schemars(regex(pattern = r"(?i)^select\b"))] query: String,
    #[schemars(regex(pattern = r"^(?<year>\d{4})-(?P<month>\d{2})$"))] month: Option<String>,
    #[schemars(regex(pattern = r"\A\w+(?s:.)\S\z"))] line: Option<String>,
    #[schemars(regex(pattern = r"^\t[^\r\n\f\v\x00-\x1f]*$"))] tabbed: Option<String>,
) -> usize {
    query.len() + [month, line, tabbed].into_iter().flatten().map(|text| text.len()).sum::<usize>()
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Headers {
    #[schemars(extend("propertyNames" = { "pattern": "^[A-Za-z'&-]+$" }))]
    values: BTreeMap<String, String>,
    #[schemars(inner(regex(pattern = r"^\p{Ll}+$")))]
    tags: Vec<String>,
}

/// Takes keys and items with patterns, and returns them.
#[tool(namespace = "patterns")]
fn keys(headers: Option<Headers>) -> Option<Headers> {
    headers
}
