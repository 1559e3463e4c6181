//! The return type of a tool function.

use syn::Type;

use crate::report::Report;
use crate::scan::{Found, scan};

/// Reports the first part of a return type that no schema can be derived from.
pub(crate) fn check(ty: &Type, report: &mut Report) {
    for (found, at) in scan(ty) {
        let message = match found {
            Found::Reference { is_static: true } => continue,
            Found::Reference { is_static: false } | Found::Lifetime => {
                "a tool must return an owned value; clone what it borrows"
            }
            Found::ImplTrait => {
                "a tool must return a named type, since its schema is derived from the type; to stream items, return \
                 `toolkit::Chunks<Item>`"
            }
            Found::Infer => "a tool must return a named type, since its schema is derived from the type",
            Found::Never => "a tool must return a value; `!` has none",
        };
        report.error(at, message);
        return;
    }
}
