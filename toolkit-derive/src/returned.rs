//! The type that a function returns.

use syn::Type;

use crate::report::Report;
use crate::scan::{Found, scan};

/// Says what keeps a schema from being derived from it.
pub(crate) fn check(ty: &Type, report: &mut Report) {
    for (found, at) in scan(ty) {
        let message = match found {
            Found::Reference { is_static: true } => continue,
            Found::Reference { is_static: false } | Found::Lifetime => {
                "a tool returns what it owns; clone what it borrows"
            }
            Found::ImplTrait => {
                "name the type that the tool returns, since its schema is derived from it; a stream of items is \
                 `toolkit::Chunks<Item>`"
            }
            Found::Infer => "name the type that the tool returns; its schema is derived from it",
            Found::Never => "a tool returns; a model waits for its result",
        };
        report.error(at, message);
        return;
    }
}
