//! A doc comment as text.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Path};

use crate::value::ungrouped;

/// The doc comment as an expression of type `&'static str`, or `None` where there is none or it is blank.
///
/// `#[doc = include_str!("…")]` is text that only the compiler can read, so then the expression is a `concat!`.
pub(crate) fn of(attrs: &[Attribute], krate: &Path) -> Option<TokenStream> {
    let docs: Vec<&Expr> = attrs.iter().filter_map(doc).collect();
    let lines: Vec<Option<String>> = docs.iter().map(|doc| literal(doc)).collect();
    if lines.iter().all(Option::is_some) {
        let text = lines.into_iter().flatten().collect::<Vec<_>>().join("\n");
        let text = text.trim();
        return (!text.is_empty()).then(|| quote!(#text));
    }
    let parts = docs.iter().zip(&lines).map(|(doc, line)| match line {
        Some(line) => quote!(#line, "\n"),
        None => quote!(#doc, "\n"),
    });
    Some(quote!(#krate::concat!(#(#parts),*)))
}

pub(crate) fn is_doc(attr: &Attribute) -> bool {
    doc(attr).is_some()
}

fn doc(attr: &Attribute) -> Option<&Expr> {
    match &attr.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => Some(ungrouped(&pair.value)),
        _ => None,
    }
}

/// The lines of a literal, each without the one space that follows `///`.
fn literal(doc: &Expr) -> Option<String> {
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = doc else {
        return None;
    };
    let text = text.value();
    // The stars that a block comment has in front of its lines, as rustdoc drops them.
    let is_starred = |line: &str| line.trim_start().starts_with('*') || line.trim().is_empty();
    let stars = text.lines().count() > 1 && text.lines().skip(1).all(is_starred);
    let bare = |line: &'_ str| match stars {
        true => line.trim_start().trim_start_matches('*').to_owned(),
        false => line.to_owned(),
    };
    let text: String = text.lines().map(bare).collect::<Vec<_>>().join("\n");
    let lines = text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
    Some(lines.collect::<Vec<_>>().join("\n"))
}
