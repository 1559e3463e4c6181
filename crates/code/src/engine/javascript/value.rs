//! Values of a program as JSON.

use rquickjs::atom::{Atom, PredefinedAtom};
use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Error, Function, Object, Type, Value};

/// The depth of nested values, below that which readers of JSON accept.
const MAX_DEPTH: usize = 100;

/// The purpose of a value, which decides about the parts that are not JSON.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The arguments of a call.
    Arguments,
    /// The value of the program.
    Value,
    /// A line for people and models.
    Print,
}

/// The reason why a value cannot be written.
pub(super) enum WriteError<'js> {
    /// Reading it threw; the exception is pending.
    Thrown,
    /// A promise inside it was rejected.
    Rejected(Value<'js>),
    /// The location and the reason, for a value that is not JSON.
    Invalid(String, String),
    /// The text exceeds the limit.
    TooLarge,
}

impl From<Error> for WriteError<'_> {
    fn from(_: Error) -> Self {
        Self::Thrown
    }
}

/// The functions of the prelude that values need.
pub(super) struct ValueReader<'js> {
    pub(super) object_prototype: Object<'js>,
    pub(super) is_array: Function<'js>,
    pub(super) plain: Function<'js>,
    pub(super) well_formed: Function<'js>,
    pub(super) big_to_text: Function<'js>,
}

/// Writes a value as JSON of at most `limit` bytes.
pub(super) fn write<'js>(
    reader: &ValueReader<'js>,
    value: &Value<'js>,
    purpose: Purpose,
    limit: usize,
) -> Result<String, WriteError<'js>> {
    let mut writer = Writer { reader, purpose, limit, text: String::new(), parents: Vec::new(), path: Vec::new() };
    if !writer.value(value)? {
        match purpose {
            Purpose::Print => writer.text.push_str(&scalar_name(value)),
            _ if value.is_function() => {
                return Err(WriteError::Invalid(String::new(), "a function; call it".to_owned()));
            }
            _ if value.is_symbol() => return Err(WriteError::Invalid(String::new(), "a symbol".to_owned())),
            _ => writer.text.push_str("null"),
        }
    }
    Ok(writer.text)
}

/// Returns the text of a string, in which lone surrogates are replaced.
pub(super) fn string_of<'js>(reader: &ValueReader<'js>, value: &Value<'js>) -> Result<String, WriteError<'js>> {
    let string = value.as_string().ok_or(WriteError::Thrown)?;
    match string.to_string() {
        Err(Error::Utf8(_)) => Ok(reader.well_formed.call::<_, String>((string.clone(),))?),
        text => Ok(text?),
    }
}

struct Writer<'a, 'js> {
    reader: &'a ValueReader<'js>,
    purpose: Purpose,
    limit: usize,
    text: String,
    parents: Vec<Value<'js>>,
    path: Vec<String>,
}

impl<'js> Writer<'_, 'js> {
    fn ctx(&self) -> &Ctx<'js> {
        self.reader.plain.ctx()
    }

    /// Writes a value, or returns false if JSON has nothing for it.
    fn value(&mut self, value: &Value<'js>) -> Result<bool, WriteError<'js>> {
        match value.type_of() {
            Type::Uninitialized | Type::Undefined | Type::Symbol => return Ok(false),
            Type::Null => self.push("null")?,
            Type::Bool => self.push(if value.as_bool() == Some(true) { "true" } else { "false" })?,
            Type::Int | Type::Float => {
                let number = value.as_number().unwrap_or(f64::NAN);
                self.number(number)?;
            }
            Type::String => {
                let text = string_of(self.reader, value)?;
                self.string(&text)?;
            }
            Type::BigInt => self.big_int(value)?,
            _ => return self.object(value),
        }
        Ok(true)
    }

    fn object(&mut self, value: &Value<'js>) -> Result<bool, WriteError<'js>> {
        if value.is_promise() {
            return self.promise(value);
        }
        if value.is_function() {
            return Ok(false);
        }
        let Some(object) = value.as_object() else { return Ok(false) };
        if !self.enter(value)? {
            return Ok(true);
        }
        let written = self.members(value, object);
        self.parents.pop();
        written
    }

    /// Adds a value to the parents of what is written next. Returns false if a note was printed in place of a value that
    /// contains itself or is nested too deeply.
    fn enter(&mut self, value: &Value<'js>) -> Result<bool, WriteError<'js>> {
        let (reason, printed) = if self.parents.contains(value) {
            ("a part of itself: copy what you need".to_owned(), "\"[circular]\"")
        } else if self.parents.len() >= MAX_DEPTH {
            (format!("nested deeper than {MAX_DEPTH} levels"), "\"[deep]\"")
        } else {
            self.parents.push(value.clone());
            return Ok(true);
        };
        if self.purpose == Purpose::Print { self.push(printed).map(|()| false) } else { Err(self.invalid(&reason)) }
    }

    fn members(&mut self, value: &Value<'js>, object: &Object<'js>) -> Result<bool, WriteError<'js>> {
        if !self.is_ordinary(value, object)? {
            let key = self.path.last().cloned().unwrap_or_default();
            let plain: Value<'js> = self.reader.plain.call((value.clone(), key))?;
            if let Some(wrapped) = plain.as_array() {
                let replacement: Value<'js> = wrapped.get(0)?;
                return match replacement.as_object() {
                    // The result of `toJSON` is not asked for `toJSON`.
                    Some(object) if !replacement.is_function() && !replacement.is_promise() => {
                        self.parts(&replacement, object)
                    }
                    _ => self.value(&replacement),
                };
            }
        }
        self.parts(value, object)
    }

    /// Returns true if an object is an array or a record, as most are.
    fn is_ordinary(&self, value: &Value<'js>, object: &Object<'js>) -> Result<bool, WriteError<'js>> {
        if value.is_proxy() || object.get::<_, Value<'js>>(PredefinedAtom::ToJSON)?.is_function() {
            return Ok(false);
        }
        Ok(value.is_array() || object.get_prototype().is_none_or(|prototype| prototype == self.reader.object_prototype))
    }

    fn parts(&mut self, value: &Value<'js>, object: &Object<'js>) -> Result<bool, WriteError<'js>> {
        let is_array = value.is_array() || value.is_proxy() && self.reader.is_array.call((value.clone(),))?;
        if is_array {
            self.array(object)?;
        } else {
            self.record(object)?;
        }
        Ok(true)
    }

    fn array(&mut self, array: &Object<'js>) -> Result<(), WriteError<'js>> {
        let length: f64 = array.get("length")?;
        self.push("[")?;
        let mut idx = 0;
        while f64::from(idx) < length {
            if idx > 0 {
                self.push(",")?;
            }
            self.path.push(idx.to_string());
            let item: Value<'js> = array.get(idx)?;
            if !self.value(&item)? {
                self.push("null")?;
            }
            self.path.pop();
            idx += 1;
        }
        self.push("]")
    }

    fn record(&mut self, object: &Object<'js>) -> Result<(), WriteError<'js>> {
        self.push("{")?;
        let mut is_first = true;
        for key in object.keys::<Atom<'js>>() {
            let key = key?;
            let name = string_of(self.reader, &key.to_value()?)?;
            let value: Value<'js> = object.get(key)?;
            let before = self.text.len();
            if !is_first {
                self.push(",")?;
            }
            self.string(&name)?;
            self.push(":")?;
            self.path.push(name);
            if self.value(&value)? {
                is_first = false;
            } else {
                self.text.truncate(before);
            }
            self.path.pop();
        }
        self.push("}")
    }

    fn promise(&mut self, value: &Value<'js>) -> Result<bool, WriteError<'js>> {
        match self.purpose {
            Purpose::Print => return self.push("\"[Promise: await it]\"").map(|()| true),
            Purpose::Arguments => return Err(self.invalid("a Promise: await it first")),
            Purpose::Value => {}
        }
        let Some(promise) = value.as_promise() else { return Ok(false) };
        match promise.state() {
            PromiseState::Pending => Err(self.invalid("a Promise that nothing settles")),
            PromiseState::Resolved => match promise.result::<Value<'js>>() {
                Some(Ok(settled)) => self.nested(value, &settled),
                _ => Err(WriteError::Thrown),
            },
            PromiseState::Rejected => {
                let _ = promise.result::<Value<'js>>();
                Err(WriteError::Rejected(self.ctx().catch()))
            }
        }
    }

    /// Writes the value of a promise, which may contain the promise, or be another one.
    fn nested(&mut self, promise: &Value<'js>, settled: &Value<'js>) -> Result<bool, WriteError<'js>> {
        if !self.enter(promise)? {
            return Ok(true);
        }
        let written = self.value(settled);
        self.parents.pop();
        written
    }

    fn big_int(&mut self, value: &Value<'js>) -> Result<(), WriteError<'js>> {
        let text: String = self.reader.big_to_text.call((value.clone(),))?;
        self.push(&text)
    }

    fn number(&mut self, number: f64) -> Result<(), WriteError<'js>> {
        if number == 0.0 {
            return self.push("0");
        }
        if self.purpose != Purpose::Print && is_rounded(number) {
            let reason = "an integer above 2^53, which a number rounds: use a BigInt, such as `123n` or `BigInt(text)`";
            return Err(self.invalid(reason));
        }
        // As JavaScript writes it: without an exponent. An integer of 128 bits holds it exactly.
        if number.fract() == 0.0 && number.abs() < 1e21 {
            return self.push(&(number as i128).to_string());
        }
        match serde_json::Number::from_f64(number) {
            Some(number) => self.push(&number.to_string()),
            None if self.purpose == Purpose::Print => self.push(&number.to_string()),
            None => self.push("null"),
        }
    }

    fn string(&mut self, text: &str) -> Result<(), WriteError<'js>> {
        let json = serde_json::to_string(text).map_err(|_| WriteError::Thrown)?;
        self.push(&json)
    }

    fn push(&mut self, text: &str) -> Result<(), WriteError<'js>> {
        if self.text.len() + text.len() > self.limit {
            return Err(WriteError::TooLarge);
        }
        self.text.push_str(text);
        Ok(())
    }

    fn invalid(&self, reason: &str) -> WriteError<'js> {
        let path: String = self.path.iter().take(16).map(|part| format!("/{part}")).collect();
        WriteError::Invalid(path, reason.to_owned())
    }
}

/// Returns true if a JSON text may have integers that a number rounds: digits that have at least the length of 2^53.
pub(super) fn may_have_big_integers(json: &str) -> bool {
    json.as_bytes().split(|byte| !byte.is_ascii_digit()).any(|digits| digits.len() >= 16)
}

/// Returns true if a number is likely to be the rounded form of an integer above 2^53. One of up to 15 digits with zeros,
/// such as 1e18, is what the program or the tool has written.
fn is_rounded(number: f64) -> bool {
    const MAX_EXACT: f64 = 9_007_199_254_740_991.0;
    let is_big = number.fract() == 0.0 && number.abs() > MAX_EXACT && number.abs() < 1e21;
    is_big
        && format!("{number:e}").split('e').next().unwrap_or_default().matches(|c: char| c.is_ascii_digit()).count()
            > 15
}

fn scalar_name(value: &Value<'_>) -> String {
    if value.is_function() {
        "[function]".to_owned()
    } else if value.is_symbol() {
        "[symbol]".to_owned()
    } else {
        "undefined".to_owned()
    }
}
