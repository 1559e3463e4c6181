//! Serialization of records.

use std::sync::{Arc, OnceLock};

use toolkit::tool::ToolBackend;

use crate::bytes::{Bytes, Damage, put_number, put_text};
use crate::record::{FileTool, Hints, Record, SavedTools, put_summary, take_summary};

/// Writes a record and its number of words, and the tool.
pub(super) fn put(out: &mut Vec<u8>, tools: &mut Vec<u8>, record: &Record, length: u16) {
    put_summary(out, &record.to_summary());
    let Hints { read_only, destructive, idempotent, open_world } = record.hints;
    out.extend([read_only, destructive, idempotent, open_world].map(|hint| hint.map_or(2, u8::from)));
    put_number(out, record.backends().len() as u64);
    record.backends().iter().for_each(|backend| put_backend(out, backend));
    put_number(out, u64::from(length));
    let before = tools.len();
    record.put_json(tools);
    put_number(out, (tools.len() - before) as u64);
}

fn put_backend(out: &mut Vec<u8>, backend: &ToolBackend) {
    let (rank, names) = backend.ranked_names();
    out.push(rank);
    names.iter().for_each(|name| put_text(out, name));
}

/// A record that was read and checked.
struct Checked {
    /// The start of the summary.
    summary: usize,
    hints: Hints,
    backends: Vec<ToolBackend>,
    json_len: usize,
}

/// Reads the records in the order of the ids, with their numbers of words.
pub(super) fn take(bytes: &mut Bytes<'_>, tools: Vec<u8>) -> Result<(Vec<Arc<Record>>, Vec<u16>), Damage> {
    let n_tools = bytes.count()?;
    let (mut checked, mut lengths) = (Vec::new(), Vec::new());
    let (all, mut json_left) = (bytes.rest, tools.len());
    let mut last_id: Option<String> = None;
    for _ in 0..n_tools {
        let start = all.len() - bytes.rest.len();
        let id = take_summary(bytes)?.id;
        if last_id.is_some_and(|last| last >= id) {
            return Err(Damage::Content);
        }
        last_id = Some(id);
        checked.push(take_one(bytes, start, &mut json_left, &mut lengths)?);
    }
    if json_left > 0 {
        return Err(Damage::Content);
    }
    let summaries = all[..all.len() - bytes.rest.len()].to_vec();
    let file = Arc::new(SavedTools { summaries, tools });
    let mut end = 0;
    let records = checked.into_iter().map(|Checked { summary, hints, backends, json_len }| {
        let json = end..end + json_len;
        end = json.end;
        let tool = FileTool { file: Arc::clone(&file), summary, json, tool: OnceLock::new() };
        Arc::new(Record::from_file(tool, hints, backends))
    });
    Ok((records.collect(), lengths))
}

/// Reads the record of a tool after its summary.
fn take_one(
    bytes: &mut Bytes<'_>,
    summary: usize,
    json_left: &mut usize,
    lengths: &mut Vec<u16>,
) -> Result<Checked, Damage> {
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
    let json_len = bytes.number_to(*json_left)?;
    *json_left -= json_len;
    Ok(Checked { summary, hints, backends, json_len })
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
