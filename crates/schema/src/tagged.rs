//! Choices whose branch is determined by a tag.
//!
//! To validate a value, the validator visits one branch; to report violations, it visits all of them. For a recursive
//! enum the latter is exponential in the depth of the value. Therefore only the branch of the tag is visited if a value
//! is large.

#[cfg(feature = "jsonschema")]
mod rewrite;

use std::collections::HashSet;

use serde_json::Value;

#[cfg(feature = "jsonschema")]
pub(super) use self::rewrite::by_discriminator;

/// Returns the key whose constant string distinguishes all branches of a choice, and these strings.
///
/// At least three branches are required, since the validator tries both branches of two.
pub(super) fn tag(branches: &[Value]) -> Option<(&str, Vec<&str>)> {
    let first = branches.first().filter(|_| branches.len() > 2)?;
    let mut keys = first.get("properties")?.as_object()?.keys().map(String::as_str);
    keys.find_map(|key| {
        let texts: Vec<&str> = branches.iter().map(|branch| constant(branch, key)).collect::<Option<_>>()?;
        let mut seen = HashSet::new();
        texts.iter().all(|text| seen.insert(*text)).then_some((key, texts))
    })
}

fn constant<'s>(branch: &'s Value, key: &str) -> Option<&'s str> {
    let required = branch.get("required")?.as_array()?;
    let property = branch.get("properties")?.get(key)?;
    let only = property.get("const").or_else(|| match property.get("enum")?.as_array()?.as_slice() {
        [only] => Some(only),
        _ => None,
    })?;
    required.iter().any(|required| required == key).then(|| only.as_str())?
}
