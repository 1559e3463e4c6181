//! Conflicts between the versions of one tool.

use crate::tool::check::brief;
use crate::tool::{Diagnostic, DiagnosticKind, Tool};

/// Reports two tools with adjacent ids that cannot be versions of one tool, because no name would resolve to one of
/// them.
pub(super) fn versions_of_one(a: &Tool, b: &Tool) -> Option<Diagnostic> {
    let (one, other) = (a.id(), b.id());
    if (one.namespace(), one.name()) != (other.namespace(), other.name()) {
        return None;
    }
    let message = match (one.version(), other.version()) {
        (None, Some(_)) => {
            "one has no version, so its id would resolve to the highest version of the other; give both a version"
                .to_owned()
        }
        (Some(written), Some(otherwise)) if one.semver().is_some() && one.semver() == other.semver() => {
            format!(
                "`{}` and `{}` are the same version; remove one or change its version",
                brief(written),
                brief(otherwise)
            )
        }
        _ => return None,
    };
    Some(Diagnostic::new(DiagnosticKind::DuplicateId, message, [a, b]))
}
