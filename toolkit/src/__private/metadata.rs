//! What the author of a tool wrote, as its metadata holds it.

use std::borrow::Cow;

use serde_json::Value;

use crate::tool::{Authorization, Icon, Literal, Requirements, Secret, Text};

/// A text of the program.
#[must_use]
pub const fn text(text: &'static str) -> Text {
    Cow::Borrowed(text)
}

/// Texts of the program.
#[must_use]
pub fn texts(texts: &[&'static str]) -> Vec<Text> {
    texts.iter().map(|text| Cow::Borrowed(*text)).collect()
}

/// JSON as its author wrote it.
#[must_use]
pub const fn literal(json: &'static str) -> Literal {
    Literal::Text(json)
}

/// What the host must hold.
#[must_use]
pub const fn requirements(authorization: Vec<Authorization>, secrets: Vec<Secret>, user_id: bool) -> Requirements {
    Requirements { authorization, secrets, user_id }
}

/// An icon, of which some parts may not be said.
#[must_use]
pub fn icon(
    src: &'static str,
    mime_type: Option<&'static str>,
    sizes: &[&'static str],
    theme: Option<&'static str>,
) -> Icon {
    Icon { mime_type: mime_type.map(text), sizes: texts(sizes), theme: theme.map(text), ..Icon::new(text(src)) }
}

/// The input schema of a tool some of whose arguments have aliases.
#[must_use]
pub fn with_aliases(schema: Value, aliases: &[(&str, &[&str])]) -> Value {
    toolkit_schema::alias::with_aliases(schema, aliases)
}
