//! The value of a flag: how it is read, and how help describes it.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use serde_json::{Number, Value};

use crate::shape::{Kind, Shape};

/// What reads one value of `kind`; a list is its items, one flag each.
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
            let form = Form::of(kind);
            ValueParser::new(move |text: &str| match form.read(text) {
                Err(_) if nullable && text == "null" => Ok(Value::Null),
                read => read,
            })
        }
    }
}

/// What reads an item of a list, or several as a JSON array, where no item could be meant by that.
fn item_parser(items: &Shape<'_>) -> ValueParser {
    let kind = items.kind();
    if !takes_whole_list(&kind) {
        return match kind {
            Kind::List(_) => ValueParser::new(|text: &str| Form::Array.read(text)),
            kind => parser(&kind, items.is_nullable()),
        };
    }
    let (form, nullable) = (Form::of(&kind), items.is_nullable());
    ValueParser::new(move |text: &str| match form.read(text) {
        Err(_) if text.trim_start().starts_with('[') => Form::Array.read(text),
        Err(_) if nullable && text == "null" => Ok(Value::Null),
        read => read,
    })
}

/// Whether a JSON array that is given for an item of this kind can only be meant as several items.
pub(super) fn takes_whole_list(items: &Kind<'_>) -> bool {
    matches!(items, Kind::Integer | Kind::Number | Kind::Object(_) | Kind::Map(_))
}

/// How a text becomes a value: a [`Kind`] without the schema that it borrows.
#[derive(Clone, Copy, Debug)]
enum Form {
    Integer,
    Number,
    Text,
    Object,
    Array,
    Json,
    JsonOrText,
}

impl Form {
    fn of(kind: &Kind<'_>) -> Self {
        match kind {
            Kind::Integer => Form::Integer,
            Kind::Number => Form::Number,
            Kind::Text | Kind::Choice(_) => Form::Text,
            Kind::Object(_) | Kind::Map(_) => Form::Object,
            Kind::List(_) => Form::Array,
            Kind::Any(types) if types.is_empty() || types.contains(&"string") => Form::JsonOrText,
            Kind::Any(_) | Kind::Boolean => Form::Json,
        }
    }

    fn read(self, text: &str) -> Result<Value, String> {
        match self {
            Form::Integer => integer(text),
            Form::Number => number(text),
            Form::Text => Ok(text.into()),
            Form::Object => json(text)
                .and_then(|value| if value.is_object() { Ok(value) } else { Err("it takes a JSON object".to_owned()) }),
            Form::Array => json(text)
                .and_then(|value| if value.is_array() { Ok(value) } else { Err("it takes a JSON array".to_owned()) }),
            Form::Json => json(text),
            // What begins as JSON was meant as JSON.
            Form::JsonOrText if text.trim_start().starts_with(['{', '[', '"']) => json(text),
            Form::JsonOrText => Ok(json(text).unwrap_or_else(|_| text.into())),
        }
    }
}

/// What stands for the value in help.
pub(super) fn placeholder(kind: &Kind<'_>) -> &'static str {
    match kind {
        Kind::Boolean => "BOOL",
        Kind::Choice(_) => "CHOICE",
        Kind::List(items) => match items.kind() {
            Kind::List(_) => "JSON",
            kind => placeholder(&kind),
        },
        kind => match Form::of(kind) {
            Form::Integer => "INTEGER",
            Form::Number => "NUMBER",
            Form::Text => "TEXT",
            Form::Object | Form::Array | Form::Json => "JSON",
            Form::JsonOrText => "JSON|TEXT",
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
    Err("it takes a whole number of at most 64 bits".to_owned())
}

fn number(text: &str) -> Result<Value, String> {
    if let Ok(whole) = integer(text) {
        return Ok(whole);
    }
    let number = text.parse().ok().and_then(Number::from_f64);
    number.map(Value::Number).ok_or_else(|| "it takes a number".to_owned())
}

fn json(text: &str) -> Result<Value, String> {
    // The dispatcher's own reader, which refuses a key that stands twice.
    let read = toolkit::Arguments::from(text).to_value();
    read.map_err(|error| error.message().to_owned())
}
