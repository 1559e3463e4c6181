//! What can only be seen once schemas are built.

use super::Catalog;
use super::wire::{Naming, WireNames};
use crate::tool::check::{brief, check_meta, check_object, check_tool};
use crate::tool::{Diagnostic, DiagnosticKind, Diagnostics, Tool};

impl Catalog {
    /// Checks everything about every tool: that its id is one, that its schemas are sound and take an object, that its
    /// examples fit, that its `meta` is an object without [`META_KEY`](crate::tool::META_KEY), and that it gets a name of its own on the wire.
    ///
    /// It builds every schema, so it belongs into a test:
    ///
    /// ```
    /// #[test]
    /// fn the_catalogue_is_sound() {
    ///     toolkit::Catalog::linked().and_then(|catalog| catalog.check(Default::default())).unwrap();
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Every problem, each with the place of its tool.
    #[expect(clippy::test_attr_in_doctest, reason = "the example is a test, and stands where a user puts it")]
    pub fn check(&self, naming: Naming) -> Result<(), Diagnostics> {
        let mut diagnostics = Vec::new();
        for tool in self {
            check_tool(tool, &mut diagnostics);
        }
        WireNames::collect(self, naming, &mut diagnostics);
        Diagnostics::none_or(diagnostics)
    }

    /// What others may see: the highest version of every tool, under its name on the wire.
    ///
    /// # Errors
    ///
    /// What an adapter cannot pass over in silence, for every tool at once: a name that does not work, arguments that
    /// are no object, a `meta` that is none. Whether the schemas are sound is left to [`Catalog::check`], since it
    /// takes a validator for each.
    pub(crate) fn listed(&self, naming: Naming) -> Result<WireNames<'_>, Diagnostics> {
        let mut diagnostics = Vec::new();
        for tool in self.latest() {
            check_object(tool, &mut diagnostics);
            check_meta(tool, &mut diagnostics);
        }
        let names = WireNames::collect(self, naming, &mut diagnostics);
        Diagnostics::none_or(diagnostics).map(|()| names)
    }
}

/// What keeps two tools whose ids are neighbours from being two versions of one: no name would lead to one of them.
pub(super) fn versions_of_one(a: &Tool, b: &Tool) -> Option<Diagnostic> {
    let (one, other) = (a.id(), b.id());
    if (one.namespace(), one.name()) != (other.namespace(), other.name()) {
        return None;
    }
    let message = match (one.version(), other.version()) {
        (None, Some(_)) => {
            "one has no version, and its id means the highest version of the other; give both a version".to_owned()
        }
        (Some(written), Some(otherwise)) if one.semver().is_some() && one.semver() == other.semver() => {
            format!("`{}` and `{}` are one version; remove one, or give it another", brief(written), brief(otherwise))
        }
        _ => return None,
    };
    Some(Diagnostic::new(DiagnosticKind::DuplicateId, message, [a, b]))
}
