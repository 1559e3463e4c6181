//! Parsers and placeholders of flag values. A parser reads the syntax of a value alone: the schema rejects what is wrong with it,
//! in the same words as in JSON.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser, ValueParser};
use clap::{Arg, Command};
use serde_json::{Number, Value};
use toolkit::schema::types::Types;
use toolkit::schema::view::{Constant, Shape, View};

/// Returns the parser of a value. A list takes one flag for each item.
pub(super) fn parser(view: &View<'_>) -> ValueParser {
    match view.shape() {
        Shape::Constants(constants) => match choices(&constants) {
            Some(choices) => {
                let described = choices.into_iter().map(|(text, description)| {
                    let value = PossibleValue::new(text.to_owned());
                    match description {
                        Some(description) => value.help(description.to_owned()),
                        None => value,
                    }
                });
                ValueParser::new(Choice { values: described.collect(), syntax: Syntax::Text })
            }
            None => Syntax::new(view).parser(),
        },
        Shape::Boolean => {
            let values = ["true", "false"].map(PossibleValue::new).to_vec();
            ValueParser::new(Choice { values, syntax: Syntax::Json })
        }
        Shape::List(Some(items)) => item_parser(&items),
        _ => Syntax::new(view).parser(),
    }
}

/// A parser that names the possible values in help, and accepts others.
#[derive(Clone)]
struct Choice {
    values: Vec<PossibleValue>,
    syntax: Syntax,
}

impl TypedValueParser for Choice {
    type Value = Value;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, text: &OsStr) -> Result<Value, clap::Error> {
        let syntax = self.syntax;
        StringValueParser::new().try_map(move |text| syntax.read(&text)).parse_ref(command, arg, text)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.values.iter().cloned()))
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
            Shape::List(_) => Syntax::Json.parser(),
            _ => parser(items),
        };
    }
    let syntax = Syntax::new(items);
    ValueParser::new(move |text: &str| match text.trim_start().starts_with('[') {
        true => json(text),
        false => syntax.read(text),
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
    Json,
    JsonOrText,
}

impl Syntax {
    fn new(view: &View<'_>) -> Self {
        if matches!(view.shape(), Shape::Object(_) | Shape::Map(_)) {
            return Syntax::Json;
        }
        match view.types().without(Types::NULL) {
            Types::INTEGER => Syntax::Integer,
            Types::NUMBER => Syntax::Number,
            Types::STRING => Syntax::Text,
            types if types.meets(Types::STRING) => Syntax::JsonOrText,
            _ => Syntax::Json,
        }
    }

    fn parser(self) -> ValueParser {
        ValueParser::new(move |text: &str| self.read(text))
    }

    /// Reads a value. What is not in this syntax is a text, which the schema rejects.
    ///
    /// # Errors
    ///
    /// Returns an error if the text starts like JSON and is not valid JSON.
    fn read(self, text: &str) -> Result<Value, String> {
        match self {
            Syntax::Text => Ok(text.into()),
            Syntax::Integer | Syntax::Number => {
                Ok(number(text).or_else(|| json(text).ok()).unwrap_or_else(|| text.into()))
            }
            Syntax::Json | Syntax::JsonOrText if text.trim_start().starts_with(['{', '[', '"']) => json(text),
            // A text keeps the digits, such as those of an exact decimal.
            Syntax::JsonOrText => {
                Ok(json(text).ok().filter(|value| keeps_digits(value, text)).unwrap_or_else(|| text.into()))
            }
            Syntax::Json => Ok(json(text).unwrap_or_else(|_| text.into())),
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
            Syntax::Json => "JSON",
            Syntax::JsonOrText => "JSON|TEXT",
        },
    }
}

/// Returns true unless a value is a number with other digits than its text.
fn keeps_digits(value: &Value, text: &str) -> bool {
    value.as_number().is_none_or(|number| number.to_string() == text.trim())
}

/// Reads a number as in Rust, such as `+5` and `.5`, which are not JSON.
fn number(text: &str) -> Option<Value> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    let whole = digits.parse::<i64>().map(Number::from).or_else(|_| digits.parse::<u64>().map(Number::from));
    whole.ok().or_else(|| Number::from_f64(text.parse().ok()?)).map(Value::Number)
}

fn json(text: &str) -> Result<Value, String> {
    // The parser of the dispatcher, which rejects duplicate keys.
    let read = toolkit::Arguments::from(text).to_value();
    read.map_err(|error| error.message().to_owned())
}
