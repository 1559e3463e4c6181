//! Collects errors, so that one build shows them all, and words those that several parsers report.

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;

/// The errors found so far.
#[derive(Default)]
pub(crate) struct Report(Option<syn::Error>);

impl Report {
    /// Adds an error that points to these tokens.
    pub(crate) fn error(&mut self, at: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(at, message));
    }

    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Returns the errors as `compile_error!` invocations, if there are any.
    pub(crate) fn into_errors(self) -> Option<TokenStream> {
        self.0.map(|errors| errors.to_compile_error())
    }
}

/// Returns the candidate most similar to `typed`, if it is similar enough to be a typo.
pub(crate) fn suggest<'a>(typed: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let distance = |candidate: &&&str| strsim::osa_distance(typed, candidate);
    let nearest = candidates.iter().min_by_key(distance)?;
    (distance(&nearest) <= nearest.len() / 3 + 1).then_some(nearest)
}

/// Returns the message for an unknown argument of an attribute.
pub(crate) fn unknown(attribute: &str, key: &str, keys: &[&str]) -> String {
    match suggest(key, keys) {
        Some(near) => format!("unknown `{attribute}` argument `{key}`; did you mean `{near}`?"),
        None => format!("unknown `{attribute}` argument `{key}`; expected one of `{}`", keys.join("`, `")),
    }
}
