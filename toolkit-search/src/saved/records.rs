//! Serialization of records.

use std::sync::Arc;

use crate::bytes::{Bytes, put_number, put_text};
use crate::open_error::Damage;
use crate::record::{FileTool, Hints, LazyTool, Record};
use crate::summary::Summary;
use toolkit::tool::ToolBackend;

pub(super) fn put(out: &mut Vec<u8>, tools: &mut Vec<u8>, record: &Record, length: u16) {
    let Summary { id, name, namespace, short_description, category, input_modes, output_modes, security_summary, tags } =
        &*record.summary;
    [id, name, short_description].into_iter().for_each(|text| put_text(out, text));
    [namespace, category, security_summary].into_iter().for_each(|text| put_list(out, text.as_slice()));
    [input_modes, output_modes, tags].into_iter().for_each(|texts| put_list(out, texts));
    let Hints { read_only, destructive, idempotent, open_world } = record.hints;
    out.extend([read_only, destructive, idempotent, open_world].map(|hint| hint.map_or(2, u8::from)));
    put_number(out, record.backends.len() as u64);
    record.backends.iter().for_each(|backend| put_backend(out, backend));
    put_number(out, u64::from(length));
    let before = tools.len();
    record.tool.put_json(tools);
    put_number(out, (tools.len() - before) as u64);
}

fn put_list(out: &mut Vec<u8>, texts: &[String]) {
    put_number(out, texts.len() as u64);
    texts.iter().for_each(|text| put_text(out, text));
}

fn put_backend(out: &mut Vec<u8>, backend: &ToolBackend) {
    let (rank, names) = backend.ranked_names();
    out.push(rank);
    names.iter().for_each(|name| put_text(out, name));
}

/// Reads the records in the order of the ids, with their numbers of words.
pub(super) fn take(bytes: &mut Bytes<'_>, tools: &Arc<Vec<u8>>) -> Result<(Vec<Arc<Record>>, Vec<u16>), Damage> {
    let n_tools = bytes.count()?;
    let (mut records, mut lengths) = (Vec::new(), Vec::new());
    let mut start = 0;
    for _ in 0..n_tools {
        let record = take_one(bytes, tools, &mut start, &mut lengths)?;
        if records.last().is_some_and(|last: &Arc<Record>| last.id() >= record.id()) {
            return Err(Damage::Content);
        }
        records.push(Arc::new(record));
    }
    if start == tools.len() { Ok((records, lengths)) } else { Err(Damage::Content) }
}

fn take_one(
    bytes: &mut Bytes<'_>,
    tools: &Arc<Vec<u8>>,
    start: &mut usize,
    lengths: &mut Vec<u16>,
) -> Result<Record, Damage> {
    let mut text = || bytes.text().map(str::to_owned);
    let (id, name, short_description) = (text()?, text()?, text()?);
    let mut option = || match <[String; 1]>::try_from(take_list(bytes)?) {
        Ok([text]) => Ok(Some(text)),
        Err(none) if none.is_empty() => Ok(None),
        Err(_) => Err(Damage::Content),
    };
    let (namespace, category, security_summary) = (option()?, option()?, option()?);
    let (input_modes, output_modes, tags) = (take_list(bytes)?, take_list(bytes)?, take_list(bytes)?);
    let mut hint = || match bytes.array()? {
        [0] => Ok(Some(false)),
        [1] => Ok(Some(true)),
        [2] => Ok(None),
        _ => Err(Damage::Content),
    };
    let hints = Hints { read_only: hint()?, destructive: hint()?, idempotent: hint()?, open_world: hint()? };
    let n_backends = bytes.count()?;
    let backends: Vec<ToolBackend> = (0..n_backends).map(|_| take_backend(bytes)).collect::<Result<_, _>>()?;
    if backends.is_empty() {
        return Err(Damage::Content);
    }
    lengths.push(bytes.number_to(u16::MAX.into())? as u16);
    let end = *start + bytes.number_to(tools.len() - *start)?;
    let range = std::mem::replace(start, end)..end;
    let summary = Arc::new(Summary {
        id,
        name,
        namespace,
        short_description,
        category,
        input_modes,
        output_modes,
        security_summary,
        tags,
    });
    let tool = LazyTool::from_file(FileTool { file: Arc::clone(tools), range, summary: Arc::clone(&summary) });
    Ok(Record { tool, backends, summary, hints })
}

fn take_list(bytes: &mut Bytes<'_>) -> Result<Vec<String>, Damage> {
    (0..bytes.count()?).map(|_| bytes.text().map(str::to_owned)).collect()
}

fn take_backend(bytes: &mut Bytes<'_>) -> Result<ToolBackend, Damage> {
    let [kind] = bytes.array()?;
    let backend = match kind {
        0 => ToolBackend::local(bytes.text()?),
        1 => ToolBackend::provider(bytes.text()?, bytes.text()?),
        2 => ToolBackend::mcp(bytes.text()?),
        _ => return Err(Damage::Content),
    };
    backend.map_err(|_| Damage::Content)
}
