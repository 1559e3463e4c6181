//! The Model Context Protocol's `tools/call`, as bytes: what a server reads.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::Error as _;
use serde_json::value::RawValue;

use super::span;
use crate::call::Arguments;

/// The `params` of `tools/call` (`CallToolRequestParams` of both revisions), borrowed from the message.
#[derive(Clone, Debug)]
pub struct CallParams<'m> {
    name: Cow<'m, str>,
    arguments: Option<&'m [u8]>,
    meta: Option<&'m str>,
}

impl<'m> CallParams<'m> {
    /// Reads the `params`, and leaves the arguments and `_meta` in them as they are: the dispatcher reads those, and
    /// whoever needs it this.
    ///
    /// # Errors
    ///
    /// They are no JSON object with a `name`. What is wrong inside the arguments or `_meta` alone is found by who reads
    /// them.
    pub fn parse(json: &'m [u8]) -> Result<Self, serde_json::Error> {
        Self::usual(json).map_or_else(|| Self::any(json), Ok)
    }

    /// The tool's name on the wire; see [`WireNames::get`](crate::catalog::WireNames::get).
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments; none where the client sent none.
    #[must_use]
    pub fn arguments(&self) -> Arguments<'m> {
        self.arguments.map_or(Arguments::NONE, Arguments::from)
    }

    /// `_meta`, as the text of an object that nobody has read yet.
    #[must_use]
    pub fn meta(&self) -> Option<&'m str> {
        self.meta
    }

    /// The params as clients write them. Anything else is left to `serde_json`, and so is every mistake.
    fn usual(json: &'m [u8]) -> Option<Self> {
        let (mut name, mut arguments, mut meta) = (None, None, None);
        let mut rest = span::after_space(json).strip_prefix(b"{")?;
        loop {
            let (key, value) = span::key(rest)?;
            let (field, (found, after)) = match key {
                b"name" => (&mut name, span::string(value)?),
                b"arguments" => (&mut arguments, span::object(value)?),
                b"_meta" => (&mut meta, span::object(value)?),
                _ => return None,
            };
            if field.replace(found).is_some() {
                return None;
            }
            match span::after_space(after) {
                [b',', more @ ..] => rest = more,
                [b'}', end @ ..] if span::after_space(end).is_empty() => break,
                _ => return None,
            }
        }
        let text = |bytes| str::from_utf8(bytes).ok();
        let meta = match meta {
            Some(meta) => Some(text(meta)?),
            None => None,
        };
        Some(Self { name: text(name?)?.into(), arguments, meta })
    }

    fn any(json: &'m [u8]) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Params<'m> {
            #[serde(borrow)]
            name: Cow<'m, str>,
            #[serde(borrow)]
            arguments: Option<&'m RawValue>,
            #[serde(borrow, rename = "_meta")]
            meta: Option<&'m RawValue>,
        }

        // serde would take an array of the fields too, and repeat a text in full.
        if !json.trim_ascii_start().starts_with(b"{") {
            serde_json::from_slice::<&RawValue>(json)?;
            return Err(serde_json::Error::custom("the params are no JSON object"));
        }
        let Params { name, arguments, meta } = serde_json::from_slice(json)?;
        let arguments = arguments.map(|json| json.get().as_bytes());
        Ok(Self { name, arguments, meta: meta.map(RawValue::get) })
    }
}
