//! Where generated code finds `toolkit`.

use proc_macro2::Span;
use syn::{Path, parse_quote};

use crate::attribute::Attribute;

/// The path that generated code starts from.
pub(crate) fn krate(attribute: &Attribute) -> Path {
    match &attribute.krate {
        Some(path) => parse_quote!(#path::__private),
        None => parse_quote!(::toolkit::__private),
    }
}

/// The place of `span`, in the scope of what the macro generates: variables of ours are found wherever the author's
/// tokens come from.
pub(crate) fn here(span: Span) -> Span {
    Span::call_site().located_at(span)
}

/// The same path, pointing elsewhere: rustc shows where the first token of a path is.
pub(crate) fn at(krate: &Path, span: Span) -> Path {
    let mut krate = krate.clone();
    for segment in &mut krate.segments {
        segment.ident.set_span(segment.ident.span().located_at(span));
    }
    if let Some(colons) = &mut krate.leading_colon {
        colons.spans = colons.spans.map(|colon| colon.located_at(span));
    }
    krate
}
