//! Parsers and placeholders of flag values.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use serde_json::{Number, Value};

use crate::shape::{Kind, Shape};

/// Returns the parser of a value of `kind`. A list takes one flag for each item.
pub(super) fn parser(kind: &Kind<'_>, nullable: bool) -> ValueParser {
    match kind {
        Kind::Boolean => {
            let words = PossibleValuesParser::new(["true", "false"]);
            ValueParser::new(words.map(|text| Value::Bool(text == "true")))
        }
        Kind::Choice(choices) => {
            let values = choices.iter().map(|choice| {
                let value = PossibleValue::new(choice.value.to_owned());
                match choice.description {
                    Some(description) => value.help(description.to_owned()),
                    None => value,
                }
            });
            ValueParser::new(PossibleValuesParser::new(values).map(Value::String))
        }
        Kind::List(items) => item_parser(items),
        kind => {
            let syntax = Syntax::new(kind);
            ValueParser::new(move |text: &str| match syntax.read(text) {
                Err(_) if nullable && text == "null" => Ok(Value::Null),
                read => read,
            })
        }
    }
}

/// Returns the parser of a list item, which also accepts a JSON array of items if an array cannot be an item.
fn item_parser(items: &Shape<'_>) -> ValueParser {
    let kind = items.kind();
    if !takes_whole_list(&kind) {
        return match kind {
            Kind::List(_) => ValueParser::new(|text: &str| Syntax::Array.read(text)),
            kind => parser(&kind, items.is_nullable()),
        };
    }
    let (syntax, nullable) = (Syntax::new(&kind), items.is_nullable());
    ValueParser::new(move |text: &str| match syntax.read(text) {
        Err(_) if text.trim_start().starts_with('[') => Syntax::Array.read(text),
        Err(_) if nullable && text == "null" => Ok(Value::Null),
        read => read,
    })
}

/// Returns true if items of this kind are never JSON arrays, so that an array is a list of items.
pub(super) fn takes_whole_list(items: &Kind<'_>) -> bool {
    matches!(items, Kind::Integer | Kind::Number | Kind::Object(_) | Kind::Map(_))
}

/// The syntax of a value: a [`Kind`] without a borrowed schema.
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
    fn new(kind: &Kind<'_>) -> Self {
        match kind {
            Kind::Integer => Syntax::Integer,
            Kind::Number => Syntax::Number,
            Kind::Text | Kind::Choice(_) => Syntax::Text,
            Kind::Object(_) | Kind::Map(_) => Syntax::Object,
            Kind::List(_) => Syntax::Array,
            Kind::Any(types) if types.is_empty() || types.contains(&"string") => Syntax::JsonOrText,
            Kind::Any(_) | Kind::Boolean => Syntax::Json,
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
pub(super) fn placeholder(kind: &Kind<'_>) -> &'static str {
    match kind {
        Kind::Boolean => "BOOL",
        Kind::Choice(_) => "CHOICE",
        Kind::List(items) => match items.kind() {
            Kind::List(_) => "JSON",
            kind => placeholder(&kind),
        },
        kind => match Syntax::new(kind) {
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
