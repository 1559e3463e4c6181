//! Keywords that a type does not express: notes for its comment, and losses; and the types of values that a
//! schema accepts.

use serde_json::{Map, Value};

use super::ty::{Comment, Detail};
use crate::loss::{Effect, Loss, Side};
use toolkit_schema::types::Types;
use toolkit_schema::view::is_number_format;
use toolkit_schema::walk;

/// Returns the comment of a schema whose values are of these types.
pub(super) fn comment(keywords: &Map<String, Value>, types: Types) -> Comment {
    let mut notes = Vec::new();
    if is_integer(keywords) && Types::NUMBER.is_within(types) {
        notes.push("int".to_owned());
    }
    notes.extend(range(keywords));
    for (least, most, unit) in [
        ("minLength", "maxLength", "chars"),
        ("minItems", "maxItems", "items"),
        ("minProperties", "maxProperties", "properties"),
    ] {
        notes.extend(count(keywords.get(least), keywords.get(most)).map(|count| format!("{count} {unit}")));
    }
    notes.extend(keywords.get("multipleOf").map(|step| format!("multiple of {step}")));
    notes.extend((keywords.get("uniqueItems") == Some(&Value::Bool(true))).then(|| "unique".to_owned()));
    let text = |keyword: &str| keywords.get(keyword).and_then(Value::as_str);
    notes.extend(text("format").filter(|format| !is_number_format(format)).map(str::to_owned));
    notes.extend(text("contentEncoding").map(str::to_owned));
    notes.extend(text("contentMediaType").map(str::to_owned));
    notes.extend(text("pattern").map(|pattern| format!("/{pattern}/")));
    notes.extend(keywords.get("default").map(|default| format!("={default}")));
    if let Some(Value::Array(examples)) = keywords.get("examples")
        && !examples.is_empty()
    {
        let examples: Vec<String> = examples.iter().map(Value::to_string).collect();
        notes.push(format!("e.g. {}", examples.join(", ")));
    }
    notes.extend((keywords.get("deprecated") == Some(&Value::Bool(true))).then(|| "deprecated".to_owned()));
    Comment { notes, text: text("description").unwrap_or_default().trim().to_owned() }
}

fn is_integer(keywords: &Map<String, Value>) -> bool {
    match keywords.get("type") {
        Some(Value::String(name)) => name == "integer",
        Some(Value::Array(names)) => {
            names.iter().any(|name| name == "integer") && !names.iter().any(|name| name == "number")
        }
        _ => false,
    }
}

/// Returns the bounds of a number.
fn range(keywords: &Map<String, Value>) -> Option<String> {
    let bound = |keyword: &str| keywords.get(keyword).filter(|bound| bound.is_number());
    let (least, most) = (bound("minimum"), bound("maximum"));
    let (above, below) = (bound("exclusiveMinimum"), bound("exclusiveMaximum"));
    let bounds = [
        match (least, most) {
            (Some(least), Some(most)) => Some(format!("{least}..{most}")),
            (Some(least), None) => Some(format!(">={least}")),
            (None, Some(most)) => Some(format!("<={most}")),
            (None, None) => None,
        },
        above.map(|above| format!(">{above}")),
        below.map(|below| format!("<{below}")),
    ];
    let bounds: Vec<String> = bounds.into_iter().flatten().collect();
    (!bounds.is_empty()).then(|| bounds.join(" "))
}

fn count(least: Option<&Value>, most: Option<&Value>) -> Option<String> {
    let is_count = |value: &&Value| value.is_number();
    Some(match (least.filter(is_count), most.filter(is_count)) {
        (Some(least), Some(most)) if least == most => least.to_string(),
        (Some(least), Some(most)) => format!("{least}..{most}"),
        (Some(least), None) => format!(">={least}"),
        (None, Some(most)) => format!("<={most}"),
        (None, None) => return None,
    })
}

/// Returns the loss of a keyword that has no part in a type; `None` if nothing is lost.
pub(super) fn loss(keyword: &str, side: Side, at: &str, detail: Detail) -> Option<Loss> {
    let (effect, is_noted) = match keyword {
        "type"
        | "enum"
        | "const"
        | "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "items"
        | "prefixItems"
        | "allOf"
        | "anyOf"
        | "oneOf"
        | "$ref"
        | "$defs"
        | "definitions" => return None,
        "description" | "default" | "examples" | "deprecated" if detail == Detail::Full => return None,
        "contentEncoding" | "contentMediaType" if detail == Detail::Full => return None,
        "format" | "contentEncoding" | "contentMediaType" => (Effect::MetadataOnly, true),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" | "minLength" | "maxLength"
        | "pattern" | "minItems" | "maxItems" | "uniqueItems" | "minProperties" | "maxProperties" => {
            (Effect::Widened, true)
        }
        keyword if walk::is_annotation(keyword) => (Effect::MetadataOnly, false),
        "$schema" | "$id" | "$vocabulary" | "$anchor" | "$dynamicAnchor" => (Effect::MetadataOnly, false),
        _ => (Effect::Widened, false),
    };
    let reason = match (is_noted, detail) {
        (true, Detail::Full) => "is a comment",
        _ => "is not expressed",
    };
    Some(Loss::new(side, at, keyword, effect, reason))
}

/// Returns the types that the keyword `type` declares, with all numbers for integers.
pub(super) fn declared_types(keywords: &Map<String, Value>) -> Types {
    with_all_numbers(keywords.get("type").map_or(Types::ALL, Types::named))
}

/// Returns the type of a value, with all numbers for an integer.
pub(super) fn type_of(value: &Value) -> Types {
    with_all_numbers(Types::from_value(value))
}

/// TypeScript has one type for all numbers.
fn with_all_numbers(types: Types) -> Types {
    if types.meets(Types::NUMBER) { types.or(Types::NUMBER) } else { types }
}

/// Returns the types whose structure the keywords declare, without regard to `type`.
pub(super) fn structured_types(keywords: &Map<String, Value>) -> Types {
    let has = |names: &[&str]| {
        names.iter().any(|name| keywords.get(*name).is_some_and(|value| *value != true && *value != Value::Null))
    };
    let object = has(&["properties", "required", "additionalProperties", "patternProperties"]);
    let array = has(&["items", "prefixItems"]);
    let object = if object { Types::OBJECT } else { Types::NONE };
    object.or(if array { Types::ARRAY } else { Types::NONE })
}
