//! Prompts.

use std::num::NonZeroI32;

use schemars::JsonSchema;
use serde::Deserialize;
use toolkit::prompt;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Style {
    #[serde(alias = "short")]
    Brief,
    Thorough,
}

/// Reviews a change.
#[prompt(namespace = "prompts")]
fn review(
    #[schemars(regex(pattern = r"\bfn\b"))] code: String,
    style: Option<Style>,
    #[serde(alias = "n")]
    #[arg(default)]
    remarks: Option<NonZeroI32>,
) -> String {
    let style = if let Some(Style::Thorough) = style { "Take your time." } else { "Be brief." };
    format!("{style} {remarks:?} {code}")
}
