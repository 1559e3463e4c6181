//! Other names of properties, as serde's `alias` has them.

use serde_json::{Map, Value, json};

use super::example;

/// Adds the aliases of properties to a closed object schema: each is a property of its own, and of all names of one
/// property at most one may be sent.
///
/// serde reads an alias, and derived schemas do not have it, so that a closed schema would refuse it.
pub(crate) fn with_aliases(mut schema: Value, aliases: &[(&str, &[&str])]) -> Value {
    if let Value::Object(object) = &mut schema {
        for (name, aliases) in aliases {
            add(object, name, aliases);
        }
    }
    schema
}

fn add(object: &mut Map<String, Value>, name: &str, aliases: &[&str]) {
    let Some(Value::Object(properties)) = object.get_mut("properties") else {
        return;
    };
    let Some(property) = properties.get(name).cloned() else {
        return;
    };
    let aliases: Vec<&str> = aliases.iter().copied().filter(|alias| !properties.contains_key(*alias)).collect();
    for alias in &aliases {
        let mut copy = property.clone();
        if let Value::Object(copy) = &mut copy {
            copy.insert("description".to_owned(), format!("Alias of `{name}`.").into());
        }
        properties.insert((*alias).to_owned(), copy);
    }
    if aliases.is_empty() {
        return;
    }
    let is_required = match object.get_mut("required") {
        Some(Value::Array(required)) => {
            let n_before = required.len();
            required.retain(|other| other != name);
            required.len() < n_before
        }
        _ => false,
    };
    if object.get("required").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        object.remove("required");
    }
    let names: Vec<&str> = std::iter::once(name).chain(aliases).collect();
    let one_name = match is_required {
        true => vec![json!({ "oneOf": names.iter().map(|name| json!({ "required": [name] })).collect::<Vec<_>>() })],
        false => pairs(&names).map(|pair| json!({ "not": { "required": pair } })).collect(),
    };
    if let Value::Array(parts) = object.entry("allOf").or_insert_with(|| json!([])) {
        parts.extend(one_name);
    }
}

fn pairs<'n>(names: &'n [&'n str]) -> impl Iterator<Item = [&'n str; 2]> {
    names.iter().enumerate().flat_map(|(idx, a)| names[idx + 1..].iter().map(|b| [*a, *b]))
}

/// Finds out which of the names that serde reads are aliases of which property.
///
/// serde lists a field and its aliases side by side, and does not tell where one field ends; a field that the author
/// hid from the schema stands there too. So each guess is tried: an alias is read in place of its field, and not beside
/// it.
pub(crate) fn find<'f>(
    schema: &Value,
    fields: &[&'f str],
    fits: &dyn Fn(&Value) -> bool,
) -> Vec<(&'f str, Vec<&'f str>)> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    let is_declared = |field: &&&str| properties.contains_key(**field);
    if fields.iter().all(|field| is_declared(&field)) {
        return Vec::new();
    }
    let Some(Value::Object(least)) = example::minimal(schema) else {
        return Vec::new();
    };
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for (place, other) in fields.iter().enumerate().filter(|(_, field)| !is_declared(field)) {
        let before = fields[..place].iter().rev().find(is_declared);
        let after = fields[place..].iter().find(is_declared);
        for name in before.into_iter().chain(after) {
            let value = least.get(*name).cloned().or_else(|| example::within(schema, &properties[*name]));
            if !value.is_some_and(|value| is_alias(&least, name, other, &value, fits)) {
                continue;
            }
            match found.iter_mut().find(|(of, _)| of == name) {
                Some((_, aliases)) => aliases.push(other),
                None => found.push((name, vec![other])),
            }
            break;
        }
    }
    found
}

fn is_alias(least: &Map<String, Value>, name: &str, other: &str, value: &Value, fits: &dyn Fn(&Value) -> bool) -> bool {
    let with = |names: &[&str]| {
        let mut arguments = least.clone();
        arguments.remove(name);
        arguments.extend(names.iter().map(|name| ((*name).to_owned(), value.clone())));
        fits(&Value::Object(arguments))
    };
    with(&[name]) && with(&[other]) && !with(&[name, other])
}
