//! Names of arguments that a provider rejects: replaced when a schema is lowered, and restored in arguments.
//!
//! The new name contains a hash of the old one, so that the schema of a tool is enough to restore it, and no other
//! property has it by chance.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::lowering::Lowering;
use crate::dialect::{Rule, is_plain_name};
use crate::loss::Effect;
use toolkit_schema::merge::Keywords;
use toolkit_schema::{child, walk};

/// The number of characters of a new name before its hash.
const MAX_STEM: usize = 48;

/// Keywords of the root that refer to its properties by their names. With them, a name is not replaced.
const REFERRING: [&str; 9] = [
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "propertyNames",
    "patternProperties",
    "unevaluatedProperties",
];

/// Returns the name under which a rejected one is sent: `filter[status]` is `filter_status_` and a hash.
fn plain_name(name: &str) -> String {
    let stem = name.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-') { c } else { '_' });
    let stem: String = stem.take(MAX_STEM).collect();
    // FNV-1a: the same in every build.
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{}_{hash:08x}", stem.trim_end_matches('_'))
}

/// Replaces the names of arguments that the dialect rejects.
pub(super) fn rename_arguments(lowering: &mut Lowering<'_>, keywords: &mut Keywords) {
    if !lowering.requires(Rule::PropertyNames) {
        return;
    }
    let refers = REFERRING.into_iter().any(|keyword| keywords.contains_key(keyword));
    let is_open = keywords.get("additionalProperties") != Some(&Value::Bool(false));
    let provider = lowering.dialect.name;
    let Some(Value::Object(properties)) = keywords.get_mut("properties") else { return };
    let mut renamed: Vec<String> = properties.keys().filter(|name| !is_plain_name(name)).cloned().collect();
    renamed.sort_unstable();
    for name in renamed {
        let at = child("/properties", &name);
        let schema =
            keywords.get_mut("properties").and_then(|properties| properties.as_object_mut()?.shift_remove(&name));
        let required = keywords.get_mut("required").and_then(Value::as_array_mut);
        if refers {
            required.into_iter().for_each(|required| required.retain(|other| *other != *name));
            for effect in [Effect::Narrowed, Effect::Widened] {
                lowering.report(
                    &at,
                    "properties",
                    effect,
                    format!("has a name that {provider} rejects; it cannot be sent"),
                );
            }
            continue;
        }
        let plain = plain_name(&name);
        lowering.report(
            &at,
            "properties",
            Effect::MetadataOnly,
            format!("has a name that {provider} rejects; it is sent as `{plain}`"),
        );
        if is_open && !lowering.requires(Rule::Closed) {
            lowering.report(&at, "properties", Effect::Widened, "can also be sent under its own name, with any value");
        }
        required
            .into_iter()
            .flatten()
            .filter(|other| **other == *name)
            .for_each(|other| *other = plain.as_str().into());
        if let (Some(schema), Some(Value::Object(properties))) = (schema, keywords.get_mut("properties")) {
            properties.insert(plain, schema);
        }
    }
}

/// Returns the names in a schema that may have been replaced, by the new ones.
pub(crate) fn renamed(schema: &Value) -> BTreeMap<String, &str> {
    fn collect<'s>(schema: &'s Value, names: &mut BTreeMap<String, &'s str>) {
        let Value::Object(keywords) = schema else { return };
        let named = keywords.get("properties").and_then(Value::as_object);
        let rejected = named.into_iter().flatten().map(|(name, _)| name.as_str()).filter(|name| !is_plain_name(name));
        names.extend(rejected.map(|name| (plain_name(name), name)));
        walk::each(keywords, |_, sub| collect(sub, names));
    }
    let mut names = BTreeMap::new();
    collect(schema, &mut names);
    names
}

/// Restores the names of arguments, at any depth, since a schema may refer to itself.
pub(crate) fn restore_names(names: &BTreeMap<String, &str>, value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(|item| restore_names(names, item)).collect(),
        Value::Object(properties) => {
            let own = |name: String| names.get(&name).map_or(name, |own| (*own).to_owned());
            let restored = properties.into_iter().map(|(name, value)| (own(name), restore_names(names, value)));
            restored.collect::<Map<String, Value>>().into()
        }
        other => other,
    }
}

/// Replaces the names of arguments in an example.
pub(crate) fn replace_names(arguments: Value) -> Value {
    let Value::Object(properties) = arguments else { return arguments };
    let sent = |name: String| if is_plain_name(&name) { name } else { plain_name(&name) };
    properties.into_iter().map(|(name, value)| (sent(name), value)).collect::<Map<String, Value>>().into()
}
