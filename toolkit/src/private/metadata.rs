//! Constants that a tool's author wrote, as the record holds them.

use std::borrow::Cow;
use std::mem;
use std::time::Duration;

use crate::tool::{Annotations, Icon, Literal, Metadata, Requirements, Text};

/// A text of the program.
pub const fn text(text: &'static str) -> Text {
    Cow::Borrowed(text)
}

/// JSON as its author wrote it.
pub const fn literal(json: &'static str) -> Literal {
    Literal::Text(json)
}

/// A list of the program.
pub const fn list<T: Clone>(items: &'static [T]) -> Cow<'static, [T]> {
    Cow::Borrowed(items)
}

/// An icon, of which some parts may not be said.
pub const fn icon(
    src: &'static str,
    mime_type: Option<Text>,
    sizes: Cow<'static, [Text]>,
    theme: Option<Text>,
) -> Icon {
    let mut icon = Icon::new(text(src));
    set(&mut icon.mime_type, mime_type);
    set(&mut icon.sizes, sizes);
    set(&mut icon.theme, theme);
    icon
}

/// The hints of the attribute.
pub const fn hints(
    read_only: Option<bool>,
    destructive: Option<bool>,
    idempotent: Option<bool>,
    open_world: Option<bool>,
) -> Annotations {
    let mut annotations = Annotations::NONE;
    annotations.read_only = read_only;
    annotations.destructive = destructive;
    annotations.idempotent = idempotent;
    annotations.open_world = open_world;
    annotations
}

/// What is said of a tool, said one thing after the other: a tool that says little takes little to compile.
pub const fn described(description: &'static str) -> Metadata {
    let mut metadata = Metadata::NONE;
    set(&mut metadata.description, Some(text(description)));
    metadata
}

macro_rules! setters {
    ($($name:ident($($arg:ident: $type:ty),*) $value:expr;)*) => {
        impl Metadata {
            $(
                #[doc(hidden)]
                #[must_use]
                pub const fn $name(mut self, $($arg: $type),*) -> Self {
                    set(&mut self.$name, $value);
                    self
                }
            )*
        }
    };
}

setters! {
    title(title: &'static str) Some(text(title));
    category(category: &'static str) Some(text(category));
    tags(tags: &'static [Text]) list(tags);
    annotations(annotations: Annotations) annotations;
    aliases(aliases: &'static [Text]) list(aliases);
    deprecated(instead: &'static str) Some(text(instead));
    icons(icons: &'static [Icon]) list(icons);
    meta(json: &'static str) Some(literal(json));
    examples(examples: &'static [Literal]) list(examples);
    requirements(requirements: Requirements) requirements;
    timeout(millis: u64) Some(Duration::from_millis(millis));
}

// A constant cannot drop what has a destructor. What is replaced here owns nothing, so that nothing leaks.
const fn set<T>(field: &mut T, value: T) {
    mem::forget(mem::replace(field, value));
}
