//! Paths and spans of generated code.

use proc_macro2::Span;
use syn::{Path, parse_quote};

use crate::attribute::Attribute;

/// Returns the path of `toolkit::__private`, which generated code uses.
pub(crate) fn krate(attribute: &Attribute) -> Path {
    match &attribute.krate {
        Some(path) => parse_quote!(#path::__private),
        None => parse_quote!(::toolkit::__private),
    }
}

/// Returns `span` with the hygiene of the macro call, so that generated variables resolve even if the author's tokens
/// come from another macro.
pub(crate) fn here(span: Span) -> Span {
    Span::call_site().located_at(span)
}

/// Returns the path located at `span`: rustc reports errors at the first token of a path.
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
