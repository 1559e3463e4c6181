//! Parsers and placeholders of flag values.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use serde_json::{Number, Value};
use toolkit::schema::types::Types;
use toolkit::schema::view::{Constant, Shape, View};

/// Returns the parser of a value. A list takes one flag for each item.
pub(super) fn parser(view: &View<'_>) -> ValueParser {
    let shape = view.shape();
    if let Shape::Constants(constants) = &shape
        && let Some(choices) = choices(constants)
    {
        let values = choices.into_iter().map(|(text, description)| {
            let value = PossibleValue::new(text.to_owned());
            match description {
                Some(description) => value.help(description.to_owned()),
                None => value,
            }
        });
        return ValueParser::new(PossibleValuesParser::new(values).map(Value::String));
    }
    match shape {
        Shape::Boolean => {
            let words = PossibleValuesParser::new(["true", "false"]);
            ValueParser::new(words.map(|text| Value::Bool(text == "true")))
        }
        Shape::List(Some(items)) => item_parser(&items),
        _ => {
            let (syntax, nullable) = (Syntax::new(view), view.accepts_null());
            ValueParser::new(move |text: &str| match syntax.read(text) {
                Err(_) if nullable && text == "null" => Ok(Value::Null),
                read => read,
            })
        }
    }
}

/// Returns the texts of constants with their descriptions, if all are texts.
fn choices<'s>(constants: &[Constant<'s>]) -> Option<Vec<(&'s str, Option<&'s str>)>> {
    constants.iter().map(|constant| Some((constant.value.as_str()?, constant.description))).collect()
}

/// Returns the parser of a list item, which also accepts a JSON array of items if an array cannot be an item.
fn item_parser(items: &View<'_>) -> ValueParser {
    if !takes_whole_list(items) {
        return match items.shape() {
            Shape::List(_) => ValueParser::new(|text: &str| Syntax::Array.read(text)),
            _ => parser(items),
        };
    }
    let (syntax, nullable) = (Syntax::new(items), items.accepts_null());
    ValueParser::new(move |text: &str| match syntax.read(text) {
        Err(_) if text.trim_start().starts_with('[') => Syntax::Array.read(text),
        Err(_) if nullable && text == "null" => Ok(Value::Null),
        read => read,
    })
}

/// Returns true if items of this shape are never JSON arrays, so that an array is a list of items.
pub(super) fn takes_whole_list(items: &View<'_>) -> bool {
    matches!(items.shape(), Shape::Integer | Shape::Number | Shape::Object(_) | Shape::Map(_))
}

/// The syntax of a value.
#[derive(Clone, Copy, Debug)]
enum Syntax {
    Integer,
    Number,
    Text,
    Object,
    Array,
    Json,
    JsonOrText,
}

impl Syntax {
    fn new(view: &View<'_>) -> Self {
        if matches!(view.shape(), Shape::Object(_) | Shape::Map(_)) {
            return Syntax::Object;
        }
        match view.types().without(Types::NULL) {
            Types::INTEGER => Syntax::Integer,
            Types::NUMBER => Syntax::Number,
            Types::STRING => Syntax::Text,
            Types::ARRAY => Syntax::Array,
            types if types.meets(Types::STRING) => Syntax::JsonOrText,
            _ => Syntax::Json,
        }
    }

    fn read(self, text: &str) -> Result<Value, String> {
        match self {
            Syntax::Integer => integer(text),
            Syntax::Number => number(text),
            Syntax::Text => Ok(text.into()),
            Syntax::Object => json(text)
                .and_then(|value| if value.is_object() { Ok(value) } else { Err("expected a JSON object".to_owned()) }),
            Syntax::Array => json(text)
                .and_then(|value| if value.is_array() { Ok(value) } else { Err("expected a JSON array".to_owned()) }),
            Syntax::Json => json(text),
            // Text that starts like JSON must be valid JSON.
            Syntax::JsonOrText if text.trim_start().starts_with(['{', '[', '"']) => json(text),
            Syntax::JsonOrText => Ok(json(text).unwrap_or_else(|_| text.into())),
        }
    }
}

/// Returns the placeholder of the value in help.
pub(super) fn placeholder(view: &View<'_>) -> &'static str {
    match view.shape() {
        Shape::Boolean => "BOOL",
        Shape::Constants(constants) if choices(&constants).is_some() => "CHOICE",
        Shape::List(Some(items)) => match items.shape() {
            Shape::List(_) => "JSON",
            _ => placeholder(&items),
        },
        _ => match Syntax::new(view) {
            Syntax::Integer => "INTEGER",
            Syntax::Number => "NUMBER",
            Syntax::Text => "TEXT",
            Syntax::Object | Syntax::Array | Syntax::Json => "JSON",
            Syntax::JsonOrText => "JSON|TEXT",
        },
    }
}

fn integer(text: &str) -> Result<Value, String> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    if let Ok(small) = digits.parse::<i64>() {
        return Ok(small.into());
    }
    if let Ok(large) = digits.parse::<u64>() {
        return Ok(large.into());
    }
    Err("expected an integer of at most 64 bits".to_owned())
}

fn number(text: &str) -> Result<Value, String> {
    if let Ok(whole) = integer(text) {
        return Ok(whole);
    }
    let number = text.parse().ok().and_then(Number::from_f64);
    number.map(Value::Number).ok_or_else(|| "expected a number".to_owned())
}

fn json(text: &str) -> Result<Value, String> {
    // The parser of the dispatcher, which rejects duplicate keys.
    let read = toolkit::Arguments::from(text).to_value();
    read.map_err(|error| error.message().to_owned())
}
