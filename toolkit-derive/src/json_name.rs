//! The JSON names of arguments, which must be unique.

use std::collections::HashMap;

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;
use syn::{Attribute, LitStr};

use crate::parameter::Argument;
use crate::report::Report;

/// Reports each name that an earlier argument already has.
///
/// serde would give the value to the first argument and never fill the second, and rustc does not warn.
pub(crate) fn check<'a>(arguments: impl Iterator<Item = &'a Argument>, report: &mut Report) {
    let mut first: HashMap<String, &Ident> = HashMap::new();
    for argument in arguments {
        for (name, span) in names(argument) {
            match first.get(&name) {
                None => drop(first.insert(name, &argument.ident)),
                Some(other) if **other == argument.ident => {}
                Some(other) => {
                    let message =
                        format!("the argument `{other}` already has the JSON name `{name}`; rename this argument");
                    report.push(syn::Error::new(span, message));
                }
            }
        }
    }
}

/// Returns the JSON name of the argument and its aliases, or `None` if it has no aliases.
pub(crate) fn aliases(argument: &Argument) -> Option<(String, Vec<String>)> {
    let mut names = all(argument)?.into_iter();
    Some((names.next()?, names.collect())).filter(|(_, aliases): &(String, Vec<String>)| !aliases.is_empty())
}

/// Returns the JSON name of the argument, then its aliases; `None` if it is flattened or skipped.
pub(crate) fn all(argument: &Argument) -> Option<Vec<String>> {
    let names: Vec<String> = names(argument).into_iter().map(|(name, _)| name).collect();
    (!names.is_empty()).then_some(names)
}

/// Returns the JSON name of the argument, then its aliases, each with its span.
fn names(argument: &Argument) -> Vec<(String, Span)> {
    let mut names = SerdeNames::default();
    for attr in argument.attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
        // `field` reports a malformed attribute.
        let _ = names.read(attr);
    }
    if names.is_unnamed {
        return Vec::new();
    }
    let own = names.rename.unwrap_or_else(|| (argument.ident.unraw().to_string(), argument.ident.span()));
    std::iter::once(own).chain(names.aliases).collect()
}

/// The names in the serde attributes of an argument.
#[derive(Default)]
struct SerdeNames {
    rename: Option<(String, Span)>,
    aliases: Vec<(String, Span)>,
    /// True if the argument is skipped, or flattened into the names of its fields.
    is_unnamed: bool,
}

impl SerdeNames {
    fn read(&mut self, attr: &Attribute) -> syn::Result<()> {
        attr.parse_nested_meta(|meta| {
            if meta.path.is_ident("rename") && meta.input.peek(syn::Token![=]) {
                self.rename = Some(text(&meta)?);
            } else if meta.path.is_ident("rename") {
                meta.parse_nested_meta(|meta| {
                    let name = text(&meta)?;
                    if meta.path.is_ident("deserialize") {
                        self.rename = Some(name);
                    }
                    Ok(())
                })?;
            } else if meta.path.is_ident("alias") {
                self.aliases.push(text(&meta)?);
            } else if ["skip", "skip_deserializing", "flatten"].iter().any(|word| meta.path.is_ident(word)) {
                self.is_unnamed = true;
            } else if meta.input.peek(syn::Token![=]) {
                meta.value()?.parse::<syn::Expr>()?;
            } else if meta.input.peek(syn::token::Paren) {
                let content;
                syn::parenthesized!(content in meta.input);
                content.parse::<proc_macro2::TokenStream>()?;
            }
            Ok(())
        })
    }
}

fn text(meta: &syn::meta::ParseNestedMeta<'_>) -> syn::Result<(String, Span)> {
    let text: LitStr = meta.value()?.parse()?;
    Ok((text.value(), text.span()))
}
