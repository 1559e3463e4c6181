//! A field of a form: the part of JSON Schema that clients can show.

use serde_json::{Map, Value, json};

type Object = Map<String, Value>;

/// The formats that clients know.
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

/// Words of a name whose field would contain a secret.
const SECRETS: [&str; 10] =
    ["password", "passwd", "passphrase", "passcode", "secret", "token", "apikey", "credential", "credentials", "cvv"];

/// Converts the schema of a property into a field.
///
/// # Errors
///
/// Returns a description of the property if it is not a field.
pub(super) fn field(property: &Value) -> Result<Value, String> {
    let property = without_null(property.as_object().ok_or("any value")?);
    let mut field = match choices(&property) {
        Some(choices) => text_of(choices),
        None => by_type(&property)?,
    };
    // The titles of choices in early revisions.
    if let (true, Some(names)) = (field.contains_key("enum"), property.get("enumNames")) {
        field.insert("enumNames".to_owned(), names.clone());
    }
    for key in ["title", "description", "default"] {
        if let Some(value) = property.get(key).filter(|value| !value.is_null()) {
            field.insert(key.to_owned(), value.clone());
        }
    }
    Ok(field.into())
}

/// Returns true if the name of a field is that of a secret.
pub(super) fn is_secret(name: &str) -> bool {
    let mut words = vec![String::new()];
    let mut last = None;
    for character in name.chars() {
        let starts_word = character.is_uppercase() && last.is_some_and(char::is_lowercase);
        if !character.is_alphanumeric() || starts_word {
            words.push(String::new());
        }
        if let (true, Some(word)) = (character.is_alphanumeric(), words.last_mut()) {
            word.extend(character.to_lowercase());
        }
        last = Some(character);
    }
    let names_key = |pair: &[String]| pair[1] == "key" && matches!(&*pair[0], "api" | "private" | "access");
    words.iter().any(|word| SECRETS.contains(&&**word)) || words.windows(2).any(names_key)
}

/// Removes `null` from the types and alternatives, which is how an optional value is described.
fn without_null(property: &Object) -> Object {
    let mut property = property.clone();
    if let Some(Value::Array(types)) = property.get_mut("type") {
        types.retain(|name| name != "null");
        if let [name] = &types[..] {
            let name = name.clone();
            property.insert("type".to_owned(), name);
        }
    }
    if let Some(Value::Array(values)) = property.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = property.get_mut(keyword) else { continue };
        branches.retain(|branch| branch["type"] != "null");
        // A single choice keeps its title.
        if let [Value::Object(branch)] = &branches[..]
            && !branch.contains_key("const")
        {
            let mut only = without_null(branch);
            property.shift_remove(keyword);
            // What the property states about itself takes precedence over its type.
            only.extend(property);
            return only;
        }
    }
    property
}

fn by_type(property: &Object) -> Result<Object, String> {
    match property.get("type").and_then(Value::as_str) {
        Some("string") => Ok(string(property)),
        Some(name @ ("integer" | "number")) => Ok(number(name, property)),
        Some("boolean") => Ok(object(json!({ "type": "boolean" }))),
        Some("array") => several(property),
        Some(name) => Err(format!("of type {name}")),
        None => Err("a value of several types".to_owned()),
    }
}

fn string(property: &Object) -> Object {
    let mut field = object(json!({ "type": "string" }));
    copy(property, &mut field, &["minLength", "maxLength"]);
    if let Some(format) = property.get("format").filter(|format| FORMATS.iter().any(|known| format == known)) {
        field.insert("format".to_owned(), format.clone());
    }
    field
}

/// Exclusive bounds, which forms lack, are checked when the answer is read.
fn number(name: &str, property: &Object) -> Object {
    let mut field = object(json!({ "type": name }));
    copy(property, &mut field, &["minimum", "maximum"]);
    field
}

fn several(property: &Object) -> Result<Object, String> {
    let items = property.get("items").and_then(Value::as_object).and_then(|items| choices(&without_null(items)));
    let items = items.ok_or("a list, which must be one of choices")?;
    let items = match items.iter().any(|choice| choice.title.is_some()) {
        true => json!({ "anyOf": titled(items) }),
        false => json!({ "type": "string", "enum": values(items) }),
    };
    let mut field = object(json!({ "type": "array", "items": items }));
    copy(property, &mut field, &["minItems", "maxItems"]);
    Ok(field)
}

/// A value to select, with the text to show instead of it.
struct Choice {
    value: String,
    title: Option<String>,
}

/// Returns the texts that a property allows, if it allows only certain ones.
fn choices(property: &Object) -> Option<Vec<Choice>> {
    let untitled = |value: &Value| Some(Choice { value: value.as_str()?.to_owned(), title: None });
    if let Some(Value::Array(values)) = property.get("enum") {
        return values.iter().map(untitled).collect();
    }
    if let Some(value) = property.get("const") {
        return Some(vec![untitled(value)?]);
    }
    let branches = property.get("oneOf").or_else(|| property.get("anyOf"))?.as_array()?;
    let mut choices = Vec::new();
    for branch in branches {
        let branch = branch.as_object()?;
        let title = branch.get("title").or_else(|| branch.get("description")).and_then(Value::as_str);
        let titled = self::choices(branch)?
            .into_iter()
            .map(|choice| Choice { title: choice.title.or_else(|| title.map(str::to_owned)), ..choice });
        choices.extend(titled);
    }
    Some(choices)
}

fn text_of(choices: Vec<Choice>) -> Object {
    object(match choices.iter().any(|choice| choice.title.is_some()) {
        true => json!({ "type": "string", "oneOf": titled(choices) }),
        false => json!({ "type": "string", "enum": values(choices) }),
    })
}

fn titled(choices: Vec<Choice>) -> Vec<Value> {
    let titled =
        |choice: Choice| json!({ "title": choice.title.as_ref().unwrap_or(&choice.value), "const": choice.value });
    choices.into_iter().map(titled).collect()
}

fn values(choices: Vec<Choice>) -> Vec<String> {
    choices.into_iter().map(|choice| choice.value).collect()
}

fn copy(from: &Object, to: &mut Object, keys: &[&str]) {
    for key in keys {
        if let Some(value) = from.get(*key) {
            to.insert((*key).to_owned(), value.clone());
        }
    }
}

fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}
