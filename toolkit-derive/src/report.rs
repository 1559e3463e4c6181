//! Collects mistakes, so that one build shows them all.

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Report(Option<syn::Error>);

impl Report {
    /// Notes a mistake at exactly these tokens.
    pub(crate) fn error(&mut self, at: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(at, message));
    }

    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// The mistakes as `compile_error!`s, if there are any.
    pub(crate) fn into_errors(self) -> Option<TokenStream> {
        self.0.map(|errors| errors.to_compile_error())
    }
}

/// The candidate nearest to `typed`, if it is near enough to be a typing error of it.
pub(crate) fn suggest<'a>(typed: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let distance = |candidate: &&&str| strsim::osa_distance(typed, candidate);
    let nearest = candidates.iter().min_by_key(distance)?;
    (distance(&nearest) <= nearest.len() / 3 + 1).then_some(nearest)
}

/// Returns the message about an argument that the attribute does not have.
pub(crate) fn unknown(attribute: &str, key: &str, keys: &[&str]) -> String {
    match suggest(key, keys) {
        Some(near) => format!("unknown `{attribute}` argument `{key}`; did you mean `{near}`?"),
        None => format!("unknown `{attribute}` argument `{key}`; expected one of `{}`", keys.join("`, `")),
    }
}
