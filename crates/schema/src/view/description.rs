//! A shape in a few words, such as `list of integers`.

use std::collections::HashSet;
use std::fmt;

use serde_json::Value;

use super::{Constant, Shape, View};
use crate::pointer::last_token;
use crate::walk;

/// The maximum number of kinds that a description lists.
const MAX_KINDS: usize = 6;
/// The maximum number of schemas that a description describes, since nested references can grow exponentially.
const MAX_DESCRIBED: usize = 64;

/// The notation of what a description takes from the schema. The default is plain text.
pub trait Notation {
    /// Writes the values of an enumeration.
    fn constants(&self, constants: &[Constant<'_>]) -> String {
        let plain = |constant: &Constant<'_>| match constant.value {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        constants.iter().map(plain).collect::<Vec<_>>().join(" | ")
    }

    /// Writes the name of a recursive definition.
    fn name(&self, name: &str) -> String {
        name.to_owned()
    }
}

/// Plain text.
struct Plain;

impl Notation for Plain {}

/// Describes the shape as plain text, without `null`.
impl fmt::Display for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe(&Plain))
    }
}

/// Describes the shape in a few words, without `null`.
pub(super) fn describe(view: &View<'_>, notation: &impl Notation) -> String {
    Describer { notation, n_described: 0 }.shape(view)
}

/// Returns the name of the definition if it contains itview.
fn recursive_name(view: &View<'_>) -> Option<String> {
    let reference = view.reference?;
    let target = walk::resolve(view.document, reference)?;
    let mut visited = HashSet::new();
    let mut pending = vec![target];
    while let Some(schema) = pending.pop() {
        let Value::Object(keywords) = schema else { continue };
        if let Some(next) = keywords.get("$ref").and_then(Value::as_str)
            && let Some(next) = walk::resolve(view.document, next)
        {
            if std::ptr::eq(next, target) {
                let pointer = walk::pointer(reference).unwrap_or_default();
                let is_named = walk::CONTAINERS.iter().any(|name| pointer.starts_with(&format!("/{name}/")));
                let name = last_token(&pointer).filter(|_| is_named);
                return Some(name.unwrap_or("the same schema".into()).into_owned());
            }
            pending.extend(visited.insert(std::ptr::from_ref(next)).then_some(next));
        }
        walk::each(keywords, |_, sub| pending.push(sub));
    }
    None
}

struct Describer<'n, N> {
    notation: &'n N,
    n_described: usize,
}

impl<N: Notation> Describer<'_, N> {
    fn shape(&mut self, view: &View<'_>) -> String {
        self.n_described += 1;
        if self.n_described > MAX_DESCRIBED {
            return "anything".to_owned();
        }
        if let Some(name) = recursive_name(view) {
            return self.notation.name(&name);
        }
        match view.shape() {
            Shape::Constants(constants) => self.notation.constants(&constants),
            Shape::List(Some(items)) => format!("list of {}", self.several(&items)),
            Shape::Map(Some(values)) => format!("map of {}", self.several(&values)),
            Shape::Union(views) => {
                let mut seen = HashSet::new();
                let words = views.iter().map(|view| self.value(view)).filter(|words| seen.insert(words.clone()));
                let words: Vec<String> = words.collect();
                match words.len() {
                    ..=MAX_KINDS => words.join(" or "),
                    n => format!("one of {n} kinds"),
                }
            }
            shape => simple(&shape).to_owned(),
        }
    }

    fn value(&mut self, view: &View<'_>) -> String {
        let shape = self.shape(view);
        if view.accepts_null() { format!("{shape} or null") } else { shape }
    }

    fn several(&mut self, view: &View<'_>) -> String {
        let words = self.value(view);
        let is_word = words == simple(&view.shape()) && words != "anything";
        match words.split_once(" of ") {
            _ if is_word => format!("{words}s"),
            _ if words.contains(" or ") || words.contains(" | ") => format!("({words})"),
            Some((outer @ ("list" | "map"), inner)) => format!("{outer}s of {inner}"),
            _ => words,
        }
    }
}

/// Returns the word for a shape without parts that need words of their own.
fn simple(shape: &Shape<'_>) -> &'static str {
    match shape {
        Shape::Null => "null",
        Shape::Boolean => "boolean",
        Shape::Integer => "integer",
        Shape::Number => "number",
        Shape::Text => "string",
        Shape::List(_) | Shape::Tuple(_) => "list",
        Shape::Map(_) | Shape::Object(_) => "object",
        Shape::Constants(_) | Shape::Union(_) | Shape::Any => "anything",
    }
}
