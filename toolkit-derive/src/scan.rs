//! Finds the parts of a type that no schema can be derived from, and rejects them in the return type of a tool.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Lifetime, Type, TypeImplTrait, TypeInfer, TypeNever, TypeReference};

use crate::value::Report;

/// A part of a type that no schema can be derived from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnsupportedPart {
    /// `&T`.
    Reference { is_static: bool },
    /// `'a` or `'_`.
    Lifetime,
    /// `impl Trait`.
    ImplTrait,
    /// `_`.
    Infer,
    /// `!`.
    Never,
}

/// Returns all such parts of a type with their tokens, outermost first.
pub(crate) fn scan(ty: &Type) -> Vec<(UnsupportedPart, TokenStream)> {
    let mut scan = Scan(Vec::new());
    scan.visit_type(ty);
    scan.0
}

struct Scan(Vec<(UnsupportedPart, TokenStream)>);

impl Visit<'_> for Scan {
    fn visit_type_reference(&mut self, reference: &TypeReference) {
        let is_static = reference.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static");
        self.0.push((UnsupportedPart::Reference { is_static }, reference.and_token.to_token_stream()));
        visit::visit_type_reference(self, reference);
    }

    fn visit_lifetime(&mut self, lifetime: &Lifetime) {
        if lifetime.ident != "static" {
            self.0.push((UnsupportedPart::Lifetime, lifetime.to_token_stream()));
        }
    }

    fn visit_type_impl_trait(&mut self, ty: &TypeImplTrait) {
        self.0.push((UnsupportedPart::ImplTrait, ty.to_token_stream()));
    }

    fn visit_type_infer(&mut self, ty: &TypeInfer) {
        self.0.push((UnsupportedPart::Infer, ty.to_token_stream()));
    }

    fn visit_type_never(&mut self, ty: &TypeNever) {
        self.0.push((UnsupportedPart::Never, ty.to_token_stream()));
    }
}

/// Reports the first part of a return type that no schema can be derived from.
pub(crate) fn check_output(ty: &Type, report: &mut Report) {
    for (found, at) in scan(ty) {
        let message = match found {
            UnsupportedPart::Reference { is_static: true } => continue,
            UnsupportedPart::Reference { is_static: false } | UnsupportedPart::Lifetime => {
                "a tool must return an owned value; clone what it borrows"
            }
            UnsupportedPart::ImplTrait => {
                "a tool must return a named type, since its schema is derived from the type; for a future, \
                 write `async fn`, and to stream items, return `toolkit::Chunks<Item>`"
            }
            UnsupportedPart::Infer => "a tool must return a named type, since its schema is derived from the type",
            UnsupportedPart::Never => "a tool must return a value; `!` has none",
        };
        report.error(at, message);
        return;
    }
}
