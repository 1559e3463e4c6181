//! Rust names for tools and types.

use proc_macro2::{Ident, Span};

/// Returns the function name of a tool in snake case: `create-issue`, `issues/create` and `createIssue` become
/// `create_issue`, `issues_create` and `create_issue`.
///
/// Characters other than ASCII letters and digits become `_`. A leading digit gets the prefix `_`, and a keyword the suffix
/// `_`.
pub(crate) fn function(name: &str) -> String {
    let mut snake = String::new();
    let mut last_is_lower = false;
    for c in name.chars() {
        let c = if c.is_ascii_alphanumeric() { c } else { '_' };
        if c.is_ascii_uppercase() && last_is_lower {
            snake.push('_');
        }
        last_is_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        snake.push(c.to_ascii_lowercase());
    }
    if !snake.contains(|c: char| c != '_') {
        snake = format!("tool{snake}");
    }
    if snake.starts_with(|c: char| c.is_ascii_digit()) {
        snake.insert(0, '_');
    }
    // `syn` does not treat this keyword of edition 2024 as one.
    if snake == "gen" || syn::parse_str::<Ident>(&snake).is_err() {
        snake.push('_');
    }
    snake
}

/// Returns the type name in camel case: `rich-text_request` becomes `RichTextRequest`.
pub(crate) fn type_name(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect()
}

pub(crate) fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}
