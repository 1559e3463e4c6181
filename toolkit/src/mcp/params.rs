//! The parameters of `tools/call`.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::Error as _;
use serde_json::value::RawValue;

use super::span;
use crate::call::Arguments;

/// The `params` of `tools/call` (`CallToolRequestParams` of both revisions), borrowed from the message.
///
/// ```
/// use toolkit::mcp::CallParams;
///
/// let params = CallParams::parse(br#"{"name": "add", "arguments": {"a": 1}}"#)?;
/// assert_eq!(params.name(), "add");
/// assert!(params.meta().is_none());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CallParams<'m> {
    name: Cow<'m, str>,
    arguments: Option<&'m [u8]>,
    meta: Option<&'m str>,
}

impl<'m> CallParams<'m> {
    /// Parses the `params` without parsing the arguments and `_meta`. The dispatcher parses the arguments.
    ///
    /// # Errors
    ///
    /// Returns an error if `json` is not an object with a `name`. Errors inside the arguments or `_meta` may be found
    /// only when these are parsed.
    pub fn parse(json: &'m [u8]) -> Result<Self, serde_json::Error> {
        Self::usual(json).map_or_else(|| Self::any(json), Ok)
    }

    /// Returns the wire name of the tool; see [`WireNames::get`](crate::catalog::WireNames::get).
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the arguments, or [`Arguments::NONE`] if the message has none.
    #[must_use]
    pub fn arguments(&self) -> Arguments<'m> {
        self.arguments.map_or(Arguments::NONE, Arguments::from)
    }

    /// Returns `_meta` as the unparsed text of an object.
    #[must_use]
    pub fn meta(&self) -> Option<&'m str> {
        self.meta
    }

    /// Parses params in the usual form. Returns `None` for others, including invalid ones, which are left to
    /// `serde_json`.
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

        // serde would also accept an array of the fields, and its error would repeat a string in full.
        if !json.trim_ascii_start().starts_with(b"{") {
            serde_json::from_slice::<&RawValue>(json)?;
            return Err(serde_json::Error::custom("the params must be a JSON object"));
        }
        let Params { name, arguments, meta } = serde_json::from_slice(json)?;
        let arguments = arguments.map(|json| json.get().as_bytes());
        Ok(Self { name, arguments, meta: meta.map(RawValue::get) })
    }
}
