//! Aliases of properties and of variants, as declared by serde's `alias`.

use serde_json::{Map, Value, json};

use super::pointer::{child, last_token};
use super::walk::{self, Token};

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
            copy.insert("description".to_owned(), description(name).into());
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
        object.shift_remove("required");
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
    if let Some(name) = of_variant.shift_remove("const") {
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

/// A name of a tag that derived schemas lack.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OtherTag {
    /// The property that has the name.
    pub(crate) key: String,
    /// The alias. `None` for any name that no variant has.
    pub(crate) name: Option<String>,
    /// The variant of the alias, or all variants.
    pub(crate) names: Vec<String>,
}

/// Adds an object for another name of a tag, beside the branch at this location.
pub(crate) fn add_tag(schema: &mut Value, place: &str, other: &OtherTag) {
    let Some(branch) = schema.pointer(place).and_then(Value::as_object) else { return };
    let new = match &other.name {
        Some(alias) => retagged(branch, &other.key, &other.names[0], alias),
        None => any_other(&other.key, &other.names),
    };
    let branches = place.rsplit_once('/').and_then(|(branches, _)| schema.pointer_mut(branches));
    if let Some(Value::Array(branches)) = branches {
        // An alias is one of the names that are known.
        let excluded = child(&child("", "properties"), &other.key) + "/not/enum";
        let names = branches.iter_mut().filter_map(|branch| branch.pointer_mut(&excluded));
        if let Some(alias) = &other.name {
            names.filter_map(Value::as_array_mut).for_each(|names| names.push(alias.as_str().into()));
        }
        if !branches.contains(&new.clone().into()) {
            branches.push(new.into());
        }
    }
}

/// Returns the schema of a variant under another value of its tag.
fn retagged(branch: &Map<String, Value>, key: &str, name: &str, alias: &str) -> Map<String, Value> {
    let mut branch = branch.clone();
    let tag = branch.get_mut("properties").and_then(|properties| properties.get_mut(key)?.get_mut("const"));
    if let Some(tag) = tag.filter(|tag| *tag == name) {
        *tag = alias.into();
    }
    branch.insert("description".to_owned(), description(name).into());
    branch
}

const ANY_OTHER: &str = "Any other variant.";

fn is_any_other(schema: &Value) -> bool {
    schema.get("description").is_some_and(|text| text == ANY_OTHER)
}

/// Returns the schema of an object with any other value of a tag.
fn any_other(key: &str, names: &[String]) -> Map<String, Value> {
    let other = json!({
        "type": "object",
        "properties": { key: { "type": "string", "not": { "enum": names } } },
        "required": [key],
        "description": ANY_OTHER,
    });
    other.as_object().cloned().unwrap_or_default()
}

/// Returns the schema of an object with one property under another name.
fn renamed(object: &Map<String, Value>, name: &str, alias: &str) -> Map<String, Value> {
    let mut object = object.clone();
    if let Some(Value::Object(properties)) = object.get_mut("properties")
        && let Some(data) = properties.shift_remove(name)
    {
        properties.insert(alias.to_owned(), data);
    }
    if let Some(Value::Array(required)) = object.get_mut("required") {
        required.iter_mut().filter(|required| **required == name).for_each(|required| *required = alias.into());
    }
    object.insert("description".to_owned(), description(name).into());
    object
}

fn description(name: &str) -> String {
    format!("Alias of `{name}`.")
}

/// Returns the name that the schema of an alias is described with.
fn described_name(alias: &Value) -> Option<&str> {
    alias.get("description")?.as_str()?.strip_prefix("Alias of `")?.strip_suffix("`.")
}

/// An alias that [`remove`] has removed.
#[derive(Clone, Debug, PartialEq)]
pub struct RemovedAlias {
    /// The pointer of its property, or of its branch of a choice.
    pub pointer: String,
    /// The name of the property or variant. `None` if the branch accepts any name that no variant has.
    pub name: Option<String>,
}

/// Removes the aliases from a schema, at any depth, so that it describes each value once. A property that has aliases is
/// required again if one of its names was.
///
/// Validators accept aliases for the sake of old callers. A model would read each of them, and choose between them.
///
/// An alias is recognized by its description and by the rule that excludes it beside its name. Those of a variant
/// without data stay among the names.
///
/// ```
/// use serde_json::json;
/// use toolkit_schema::alias::{remove, with_aliases};
///
/// let plain = json!({ "properties": { "path": { "type": "string" } }, "required": ["path"] });
/// let mut schema = with_aliases(plain.clone(), &[("path", &["file"])]);
/// assert_ne!(schema, plain);
/// assert_eq!(remove(&mut schema)[0].pointer, "/properties/file");
/// assert_eq!(schema, plain);
/// ```
pub fn remove(schema: &mut Value) -> Vec<RemovedAlias> {
    let mut found = Vec::new();
    // Most schemas have no alias, and need no pointers.
    if !describes_alias(schema) {
        return found;
    }
    find(schema, "", &mut found);
    // From the end, so that the pointers of branches stay valid.
    for RemovedAlias { pointer, name } in found.iter().rev() {
        let token = last_token(pointer).unwrap_or_default();
        let mut above = pointer.rsplitn(3, '/').skip(1);
        let (keyword, object) = (above.next().unwrap_or_default(), above.next().unwrap_or_default());
        let Some(Value::Object(object)) = schema.pointer_mut(object) else { continue };
        match (object.get_mut(keyword), token.parse::<usize>()) {
            (Some(Value::Array(branches)), Ok(idx)) => drop(branches.remove(idx)),
            _ => remove_property(object, name.as_deref().unwrap_or_default(), &token),
        }
    }
    found
}

/// Returns true if a schema below this one may be that of an alias.
fn describes_alias(schema: &Value) -> bool {
    let mut is_found = false;
    if let Value::Object(keywords) = schema {
        walk::each(keywords, |_, sub| {
            is_found = is_found || described_name(sub).is_some() || is_any_other(sub) || describes_alias(sub);
        });
    }
    is_found
}

fn find(schema: &Value, at: &str, found: &mut Vec<RemovedAlias>) {
    let Value::Object(keywords) = schema else {
        return;
    };
    walk::each_at(keywords, |keyword, token, sub| {
        let pointer = token.below(child(at, keyword));
        let name = match token {
            Token::Index(_) if is_any_other(sub) => return found.push(RemovedAlias { pointer, name: None }),
            Token::Only => None,
            Token::Index(_) => {
                let branches = keywords[keyword].as_array().filter(|_| matches!(keyword, "anyOf" | "oneOf"));
                branches.and_then(|branches| variant_of(sub, branches))
            }
            Token::Name(alias) => {
                described_name(sub).filter(|name| keyword == "properties" && excludes(keywords, name, alias))
            }
        };
        match name {
            Some(name) => found.push(RemovedAlias { pointer, name: Some(name.to_owned()) }),
            None => find(sub, &pointer, found),
        }
    });
}

/// Returns the name of the variant of which a branch is an alias: another branch is the same under that name.
fn variant_of<'s>(branch: &'s Value, branches: &[Value]) -> Option<&'s str> {
    let name = described_name(branch)?;
    let properties = branch.get("properties")?.as_object()?;
    let alias = properties.keys().next()?;
    let tags = || properties.iter().filter_map(|(key, tag)| Some((key, tag.get("const")?.as_str()?)));
    let is_same = |other: &Value| {
        let (Some(branch), Some(other)) = (branch.as_object(), other.as_object()) else { return false };
        *branch == renamed(other, name, alias)
            || tags().any(|(key, alias)| *branch == retagged(other, key, name, alias))
    };
    branches.iter().filter(|other| *other != branch).any(is_same).then_some(name)
}

/// Returns true if a rule of the schema excludes two properties beside each other.
fn excludes(keywords: &Map<String, Value>, name: &str, alias: &str) -> bool {
    let has_both = |names: &Value| {
        names.as_array().is_some_and(|names| [name, alias].iter().all(|name| names.contains(&(*name).into())))
    };
    let parts = keywords.get("allOf").and_then(Value::as_array);
    parts.into_iter().flatten().any(|part| {
        part.pointer("/not/required").is_some_and(has_both)
            || part.get("oneOf").and_then(sole_names).is_some_and(|names| has_both(&names))
    })
}

/// Returns the names of a choice between single required properties.
fn sole_names(choice: &Value) -> Option<Value> {
    let name = |branch: &Value| match branch.get("required")?.as_array()?.as_slice() {
        [name] if branch.as_object()?.len() == 1 => Some(name.clone()),
        _ => None,
    };
    choice.as_array()?.iter().map(name).collect()
}

fn remove_property(object: &mut Map<String, Value>, name: &str, alias: &str) {
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.shift_remove(alias);
    }
    let mut is_required = false;
    if let Some(Value::Array(parts)) = object.get_mut("allOf") {
        parts.retain_mut(|part| {
            if part
                .pointer("/not/required")
                .and_then(Value::as_array)
                .is_some_and(|pair| pair.iter().any(|one| one == alias))
            {
                return false;
            }
            let Some(names) = part.get("oneOf").and_then(sole_names) else { return true };
            if let Some(Value::Array(branches)) = part.get_mut("oneOf") {
                branches.retain(|branch| branch["required"][0] != alias);
            }
            let is_left = names == json!([name, alias]) || names == json!([alias, name]);
            is_required |= is_left;
            !is_left
        });
        if parts.is_empty() {
            object.shift_remove("allOf");
        }
    }
    if is_required && let Value::Array(required) = object.entry("required").or_insert_with(|| json!([])) {
        required.push(name.into());
    }
}
