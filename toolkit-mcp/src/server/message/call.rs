//! Calls in the form that clients usually send, read in one pass.

use serde_json::value::RawValue;

use super::scan::Scan;
use crate::server::json_text::{JsonText, is_id};
use crate::server::meta::Meta;

/// A request for `tools/call`.
#[derive(Debug)]
pub(in crate::server) struct CallRequest<'m> {
    pub(in crate::server) name: &'m str,
    /// The text of a JSON object.
    pub(in crate::server) arguments: Option<&'m str>,
    pub(in crate::server) meta: Meta<'m>,
}

impl<'m> CallRequest<'m> {
    /// Reads a call and the id of its request. Returns `None` for a message of another form, including an invalid one.
    pub(super) fn read(json: &'m [u8]) -> Option<(&'m RawValue, Self)> {
        let text = str::from_utf8(json).ok()?;
        let (mut version, mut id, mut method, mut params) = (None, None, None, None);
        let mut scan = Scan::new(text);
        scan.object(|scan, name| match name {
            "jsonrpc" => once(&mut version, scan.string()?),
            "id" => once(&mut id, scan.value()?),
            "method" => once(&mut method, scan.string().filter(|method| *method == "tools/call")?),
            "params" => once(&mut params, Self::params(scan)?),
            _ => None,
        })?;
        if version != Some("2.0") || method.is_none() || !scan.is_at_end() {
            return None;
        }
        let id = id.filter(|id| is_id(id))?;
        Some((serde_json::from_str(id).ok()?, params?))
    }

    fn params(scan: &mut Scan<'m>) -> Option<Self> {
        let (mut name, mut arguments, mut meta) = (None, None, None);
        scan.object(|scan, field| match field {
            "name" => once(&mut name, scan.string()?),
            "arguments" => once(&mut arguments, scan.value().filter(|value| value.starts_with('{'))?),
            "_meta" => once(&mut meta, Self::meta(scan)?),
            _ => None,
        })?;
        Some(Self { name: name?, arguments, meta: meta.unwrap_or_default() })
    }

    fn meta(scan: &mut Scan<'m>) -> Option<Meta<'m>> {
        let mut meta = Meta::default();
        scan.object(|scan, field| {
            let value = JsonText::new(scan.value()?);
            match meta.field(field) {
                // `null` stands for an absent field.
                Some(_) if value.get() == "null" => None,
                Some(place) => once(place, value),
                None => Some(()),
            }
        })?;
        Some(meta)
    }
}

/// Stores a value, unless there is one already.
fn once<T>(place: &mut Option<T>, value: T) -> Option<()> {
    if place.is_some() {
        return None;
    }
    *place = Some(value);
    Some(())
}
