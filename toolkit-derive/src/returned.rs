//! The type that a function returns.

use syn::visit::{self, Visit};
use syn::{Lifetime, Type, TypeReference};

use crate::report::Report;
use crate::value::ungrouped_type;

/// Says what keeps a schema from being derived from it.
pub(crate) fn check(ty: &Type, report: &mut Report) {
    if let Type::ImplTrait(ty) = ungrouped_type(ty) {
        report.error(ty, "name the type that the tool returns; its schema is derived from it");
        return;
    }
    let mut borrows = Borrows(None);
    borrows.visit_type(ty);
    if borrows.0.is_some() {
        report.error(ty, "a tool returns what it owns; clone what it borrows");
    }
}

/// Finds a lifetime that is not `'static`.
struct Borrows(Option<()>);

impl Visit<'_> for Borrows {
    fn visit_type_reference(&mut self, reference: &TypeReference) {
        if reference.lifetime.is_none() {
            self.0 = Some(());
        }
        visit::visit_type_reference(self, reference);
    }

    fn visit_lifetime(&mut self, lifetime: &Lifetime) {
        if lifetime.ident != "static" {
            self.0 = Some(());
        }
    }
}
