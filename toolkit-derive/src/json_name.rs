//! The names of arguments in JSON, no two of which may be the same.

use std::collections::HashMap;

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;
use syn::{Attribute, LitStr};

use crate::parameter::Argument;
use crate::report::Report;

/// Reports each name that an earlier argument has.
///
/// serde would give the value to the first of them and never fill the second, and rustc has nothing to say about it.
pub(crate) fn check<'a>(arguments: impl Iterator<Item = &'a Argument>, report: &mut Report) {
    let mut first: HashMap<String, &Ident> = HashMap::new();
    for argument in arguments {
        for (name, span) in names(argument) {
            match first.get(&name) {
                None => drop(first.insert(name, &argument.ident)),
                Some(other) if **other == argument.ident => {}
                Some(other) => {
                    let message =
                        format!("`{other}` is called `{name}` in JSON already; give this argument another name");
                    report.push(syn::Error::new(span, message));
                }
            }
        }
    }
}

/// The name of the argument in JSON and its aliases, where it has any.
pub(crate) fn aliases(argument: &Argument) -> Option<(String, Vec<String>)> {
    let mut names = all(argument)?.into_iter();
    Some((names.next()?, names.collect())).filter(|(_, aliases): &(String, Vec<String>)| !aliases.is_empty())
}

/// All names of the argument in JSON; `None` where it has names of its own.
pub(crate) fn all(argument: &Argument) -> Option<Vec<String>> {
    let names: Vec<String> = names(argument).into_iter().map(|(name, _)| name).collect();
    (!names.is_empty()).then_some(names)
}

/// Under which names the argument is read, each where it is written.
fn names(argument: &Argument) -> Vec<(String, Span)> {
    let mut said = Said::default();
    for attr in argument.attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
        // Whatever is wrong in it, serde says.
        let _ = said.read(attr);
    }
    if said.is_unnamed {
        return Vec::new();
    }
    let own = said.rename.unwrap_or_else(|| (argument.ident.unraw().to_string(), argument.ident.span()));
    std::iter::once(own).chain(said.aliases).collect()
}

/// What serde's attributes say of a name.
#[derive(Default)]
struct Said {
    rename: Option<(String, Span)>,
    aliases: Vec<(String, Span)>,
    /// It is not read at all, or has names of its own.
    is_unnamed: bool,
}

impl Said {
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
