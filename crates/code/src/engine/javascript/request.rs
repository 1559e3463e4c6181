//! Requests, read from the values of a program.

use rquickjs::{Ctx, Error, Exception, Value};
use serde_json::value::RawValue;

use super::super::Request;
use super::value::{self, Purpose, Reader, WriteError};

/// The longest pause of `sleep`, in milliseconds: a day.
const MAX_SLEEP: f64 = 86_400_000.0;

/// A reader of the arguments of the functions that make requests.
pub(super) struct RequestReader<'a, 'js> {
    pub(super) ctx: &'a Ctx<'js>,
    pub(super) reader: Reader<'js>,
    /// The maximum size of a request, in bytes.
    pub(super) limit: usize,
}

impl<'js> RequestReader<'_, 'js> {
    /// Returns a request and its size in bytes, or throws.
    pub(super) fn read(&self, kind: &str, first: &Value<'js>, second: &Value<'js>) -> Result<(Request, usize), Error> {
        let mut size = 0;
        let request = match kind {
            "tool" => Request::RunTool {
                id: self.text(first, &mut size)?,
                args: self.json(second, "the arguments", "{}", &mut size)?,
            },
            "chain" => Request::RunChain { steps: self.json(first, "the steps", "[]", &mut size)? },
            "search" => Request::SearchTools { query: self.text(first, &mut size)?, limit: count(second) },
            "namespaces" => Request::ListNamespaces,
            "describe" => {
                let mut ids = Vec::new();
                self.ids(first, 2, &mut ids, &mut size)?;
                Request::DescribeTool { ids }
            }
            "examples" => Request::ListToolExamples { id: self.text(first, &mut size)?, max: count(second) },
            _ => Request::Sleep { ms: milliseconds(first) },
        };
        Ok((request, size))
    }

    /// Returns a value as JSON.
    fn json(&self, value: &Value<'js>, what: &str, default: &str, size: &mut usize) -> Result<Box<RawValue>, Error> {
        if value.is_undefined() {
            return self.raw(default.to_owned());
        }
        match value::write(&self.reader, value, Purpose::Arguments, self.limit.saturating_sub(*size)) {
            Ok(text) => {
                *size += text.len();
                self.raw(text)
            }
            Err(WriteError::Thrown) => Err(Error::Exception),
            Err(WriteError::TooLarge) => Err(self.too_large()),
            Err(WriteError::Invalid(path, reason)) => {
                let place = if path.is_empty() { String::new() } else { format!(" at {path}") };
                Err(Exception::throw_type(self.ctx, &format!("{what}{place} cannot be sent: {reason}")))
            }
            Err(WriteError::Rejected(_)) => Err(Exception::throw_type(self.ctx, &format!("{what} cannot be sent"))),
        }
    }

    fn raw(&self, text: String) -> Result<Box<RawValue>, Error> {
        RawValue::from_string(text).map_err(|error| Exception::throw_type(self.ctx, &error.to_string()))
    }

    fn text(&self, value: &Value<'js>, size: &mut usize) -> Result<String, Error> {
        let text = value::string_of(&self.reader, value).map_err(|_| Error::Exception)?;
        *size += text.len();
        if *size > self.limit { Err(self.too_large()) } else { Ok(text) }
    }

    /// Collects the ids in a list, and in the lists inside it.
    fn ids(&self, value: &Value<'js>, depth: u8, ids: &mut Vec<String>, size: &mut usize) -> Result<(), Error> {
        if value.is_string() {
            // An empty id takes memory too.
            *size += 16;
            ids.push(self.text(value, size)?);
            return Ok(());
        }
        match value.as_array() {
            Some(list) if depth > 0 && !value.is_proxy() => {
                (0..list.len()).try_for_each(|idx| self.ids(&list.get(idx)?, depth - 1, ids, size))
            }
            _ => Err(Exception::throw_type(self.ctx, "describe takes the ids of tools, as strings")),
        }
    }

    fn too_large(&self) -> Error {
        let message = format!("a request exceeds {} bytes: send less, or in several calls", self.limit);
        Exception::throw_range(self.ctx, &message)
    }
}

fn count(value: &Value<'_>) -> Option<u32> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    value.as_number().filter(|number| *number >= 0.0).map(|number| number as u32)
}

fn milliseconds(value: &Value<'_>) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    value.as_number().map_or(0, |ms| ms.clamp(0.0, MAX_SLEEP) as u64)
}
