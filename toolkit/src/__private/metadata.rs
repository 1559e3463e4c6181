//! Constructors of metadata for generated code.

use std::borrow::Cow;

use serde_json::Value;

use crate::tool::{Authorization, Icon, Literal, Requirements, Secret, Text};

/// Creates a text from a string literal.
#[must_use]
pub const fn text(text: &'static str) -> Text {
    Cow::Borrowed(text)
}

/// Creates texts from string literals.
#[must_use]
pub fn texts(texts: &[&'static str]) -> Vec<Text> {
    texts.iter().map(|text| Cow::Borrowed(*text)).collect()
}

/// Creates a JSON literal from its source text.
#[must_use]
pub const fn literal(json: &'static str) -> Literal {
    Literal::Text(json)
}

/// Creates the requirements of a tool.
#[must_use]
pub const fn requirements(
    authorization: Vec<Authorization>,
    secrets: Vec<Secret>,
    scopes: Vec<Text>,
    user_id: bool,
) -> Requirements {
    Requirements { authorization, secrets, scopes, user_id }
}

/// Creates an icon.
#[must_use]
pub fn icon(
    src: &'static str,
    mime_type: Option<&'static str>,
    sizes: &[&'static str],
    theme: Option<&'static str>,
) -> Icon {
    Icon { mime_type: mime_type.map(text), sizes: texts(sizes), theme: theme.map(text), ..Icon::new(text(src)) }
}

/// Adds aliases of arguments to an input schema.
#[must_use]
pub fn with_aliases(schema: Value, aliases: &[(&str, &[&str])]) -> Value {
    toolkit_schema::alias::with_aliases(schema, aliases)
}
