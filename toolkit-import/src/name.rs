//! From the names of tools and fields to those of Rust.

use proc_macro2::{Ident, Span};

/// The function of a tool: `create-issue`, `issues/create` and `createIssue` become `create_issue`, `issues_create` and
/// `create_issue`. All but letters and digits of ASCII becomes `_`, a word begins where lower case ends, a digit in
/// front gets an `_`, and so does a keyword at its end.
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
    // `syn` does not know the keyword of edition 2024.
    if snake == "gen" || syn::parse_str::<Ident>(&snake).is_err() {
        snake.push('_');
    }
    snake
}

/// A type: `rich-text_request` becomes `RichTextRequest`.
pub(crate) fn of_type(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect()
}

pub(crate) fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}
