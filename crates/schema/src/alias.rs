//! Aliases of properties and of variants, as declared by serde's `alias`.

use serde_json::{Map, Value, json};

/// Adds the aliases of properties to a closed object schema. Each alias becomes a property, and at most one of the
/// names of a property may be present.
///
/// serde reads aliases, but derived schemas do not contain them, so a closed schema would reject them.
pub fn with_aliases(mut schema: Value, aliases: &[(&str, &[&str])]) -> Value {
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

/// Adds aliases of the variant at this location: names beside its name, or objects beside the one with its data.
pub(crate) fn add_to_variant(schema: &mut Value, place: &str, variant: &str, aliases: &[&str]) {
    let Some(Value::Object(of_variant)) = schema.pointer_mut(place) else { return };
    if let Some(name) = of_variant.remove("const") {
        of_variant.insert("enum".to_owned(), Value::Array(vec![name]));
    }
    if let Some(Value::Array(names)) = of_variant.get_mut("enum") {
        let place = names.iter().position(|name| name == variant).map_or(names.len(), |place| place + 1);
        let new = aliases.iter().map(|alias| Value::from(*alias)).filter(|alias| !names.contains(alias));
        let new: Vec<Value> = new.collect();
        names.splice(place..place, new).for_each(drop);
        return;
    }
    let of_variant = of_variant.clone();
    let branches =
        place.rsplit_once('/').and_then(|(branches, _)| schema.pointer_mut(branches)).map(Value::as_array_mut);
    match branches {
        Some(Some(branches)) => {
            let new = aliases.iter().map(|alias| Value::Object(renamed(&of_variant, variant, alias)));
            let new: Vec<Value> = new.filter(|branch| !branches.contains(branch)).collect();
            branches.extend(new);
        }
        _ => {
            if let Some(of_variant) = schema.pointer_mut(place) {
                *of_variant = with_aliases(std::mem::take(of_variant), &[(variant, aliases)]);
            }
        }
    }
}

/// Returns the schema of an object with one property under another name.
fn renamed(object: &Map<String, Value>, name: &str, alias: &str) -> Map<String, Value> {
    let mut object = object.clone();
    if let Some(Value::Object(properties)) = object.get_mut("properties")
        && let Some(data) = properties.remove(name)
    {
        properties.insert(alias.to_owned(), data);
    }
    if let Some(Value::Array(required)) = object.get_mut("required") {
        required.iter_mut().filter(|required| **required == name).for_each(|required| *required = alias.into());
    }
    object.insert("description".to_owned(), format!("Alias of `{name}`.").into());
    object
}
