//! Checks that need the schemas.

use super::Catalog;
use super::wire::{Naming, WireNames};
use crate::tool::Diagnostics;
use crate::tool::check::{check_meta, check_object, check_tool};

impl Catalog {
    /// Validates all tools: ids, schemas, examples, `meta` (an object without the key
    /// [`META_KEY`](crate::tool::META_KEY)), and unique wire names.
    ///
    /// This builds every schema, so call it in a test:
    ///
    /// ```standalone_crate
    /// #[test]
    /// fn the_catalogue_is_sound() {
    ///     toolkit::Catalog::linked().and_then(|catalog| catalog.check(Default::default())).unwrap();
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns every defect, with the location of its tool.
    #[expect(clippy::test_attr_in_doctest, reason = "the example is a test, and stands where a user puts it")]
    pub fn check(&self, naming: Naming) -> Result<(), Diagnostics> {
        let mut diagnostics = Vec::new();
        for tool in self {
            check_tool(tool, &mut diagnostics);
        }
        WireNames::collect(self, naming, &mut diagnostics);
        Diagnostics::none_or(diagnostics)
    }

    /// Returns the tools to publish: the latest version of every tool, under its wire name.
    ///
    /// # Errors
    ///
    /// Returns the defects that no adapter can represent, for all tools: an invalid wire name, an input schema that
    /// does not describe an object, a `meta` that is not an object. [`Catalog::check`] validates the schemas, which
    /// takes a validator for each.
    #[doc(hidden)]
    pub fn listed(&self, naming: Naming) -> Result<WireNames<'_>, Diagnostics> {
        let mut diagnostics = Vec::new();
        for tool in self.latest() {
            check_object(tool, &mut diagnostics);
            check_meta(tool, &mut diagnostics);
        }
        let names = WireNames::collect(self, naming, &mut diagnostics);
        Diagnostics::none_or(diagnostics).map(|()| names)
    }
}
