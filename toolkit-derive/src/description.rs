//! Doc comments as descriptions.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Path};

use crate::value::ungrouped;

/// Returns the doc comment as an expression of type `&'static str`, or `None` if it is absent or blank.
///
/// The value of `#[doc = include_str!("…")]` is unknown to a macro, so the expression is a `concat!` in this case.
pub(crate) fn from_attrs(attrs: &[Attribute], krate: &Path) -> Option<TokenStream> {
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

/// Returns the text of a doc literal without the space that follows `///`.
fn literal(doc: &Expr) -> Option<String> {
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = doc else {
        return None;
    };
    let text = text.value();
    // rustdoc also removes the leading stars of a block comment.
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
