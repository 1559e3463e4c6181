//! The file format of an index, and fingerprints of tools.
//!
//! A file consists of a header, the index and the tools. The index contains the data for searching, and is fully
//! checked when the file is opened. The tools are JSON, and each one is parsed at its first use, which makes opening a
//! file fast.
//!
//! | bytes | |
//! |---|---|
//! | 8 | [`MAGIC`] |
//! | 4 | [`FORMAT`], little-endian like the next three numbers |
//! | 4 | CRC-32 of everything after it |
//! | 8 | the length of the index |
//! | 8 | the length of the tools |
//!
//! The index contains the label, the ranking, the record of each tool in the order of the ids, and each word with its
//! lists of tools in the order of the words. Stems and other derived data are recomputed. The tools are a sequence of
//! canonical JSON. The same tools have the same bytes, whatever the history of the index.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read, Write};
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};
use toolkit::tool::{Tool, ToolBackend};

use crate::bytes::{Bytes, Damage, FORMAT, OpenError, put_number, put_text};
use crate::ranking::{Ranking, Weights};
use crate::record::{FileTool, Hints, Record, SavedTools, put_summary, take_summary};
use crate::segment;
use crate::state::State;

/// The first bytes of a file.
const MAGIC: [u8; 8] = *b"toolkidx";

/// All positions fit into 32 bits.
const MAX_INDEX_LEN: u64 = u32::MAX as u64;

/// Writes a state; see [`Snapshot::save`](super::Snapshot::save).
pub(super) fn save(state: &State, label: &str, to: &mut impl Write) -> io::Result<()> {
    let segment = state.whole();
    let (mut index, mut tools) = (Vec::new(), Vec::new());
    put_text(&mut index, label);
    put_ranking(&mut index, &state.ranking);
    put_number(&mut index, segment.records.len() as u64);
    for (tool, record) in segment.records.iter().enumerate() {
        put(&mut index, &mut tools, record, segment.order.length_of(tool));
    }
    segment::put_words(&segment, &mut index);
    if index.len() as u64 > MAX_INDEX_LEN {
        return Err(io::ErrorKind::FileTooLarge.into());
    }

    let lengths = [index.len() as u64, tools.len() as u64].map(u64::to_le_bytes);
    to.write_all(&MAGIC)?;
    to.write_all(&FORMAT.to_le_bytes())?;
    to.write_all(&checksum([lengths.as_flattened(), &index, &tools]).to_le_bytes())?;
    to.write_all(lengths.as_flattened())?;
    to.write_all(&index)?;
    to.write_all(&tools)?;
    to.flush()
}

/// Reads a saved state; see [`Index::open`](super::Index::open).
pub(super) fn open(label: &str, from: &mut impl Read) -> Result<State, OpenError> {
    let (index, tools) = read_parts(from)?;
    let mut bytes = Bytes::new(&index);
    let found = bytes.text()?;
    if found != label {
        return Err(OpenError::Stale { found: found.chars().take(200).collect() });
    }
    let ranking = take_ranking(&mut bytes)?;
    let (records, lengths) = take(&mut bytes, tools)?;
    let segment = segment::take_words(&mut bytes, records, lengths)?;
    bytes.end()?;
    Ok(State::from_segment(segment, ranking))
}

/// Reads the index and the tools.
fn read_parts(from: &mut impl Read) -> Result<(Vec<u8>, Vec<u8>), OpenError> {
    let head = read(from, 32)?;
    let at = |start: usize| head.get(start..start + 8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
    if !head.starts_with(&MAGIC) {
        return Err(OpenError::NotAnIndex);
    }
    let (Some(format_and_sum), Some(index_len), Some(tools_len)) = (at(8), at(16), at(24)) else {
        return Err(Damage::TooShort.into());
    };
    let (format, sum) = (format_and_sum as u32, (format_and_sum >> 32) as u32);
    if format != FORMAT {
        return Err(OpenError::OtherFormat { found: format });
    }
    // No file is that long.
    if index_len > MAX_INDEX_LEN {
        return Err(Damage::TooShort.into());
    }
    let (index, tools) = (read(from, index_len)?, read(from, tools_len)?);
    if index.len() as u64 != index_len || tools.len() as u64 != tools_len {
        return Err(Damage::TooShort.into());
    }
    if !read(from, 1)?.is_empty() {
        return Err(Damage::TooLong.into());
    }
    if checksum([&head[16..], &index, &tools]) != sum {
        return Err(Damage::Checksum.into());
    }
    Ok((index, tools))
}

/// Reads up to `len` bytes.
fn read(from: &mut impl Read, len: u64) -> Result<Vec<u8>, OpenError> {
    /// The initial allocation, since the length may be wrong.
    const AT_ONCE: u64 = 1 << 20;
    let mut bytes = Vec::with_capacity(len.min(AT_ONCE) as usize);
    from.take(len).read_to_end(&mut bytes).map_err(OpenError::Io)?;
    bytes.shrink_to_fit();
    Ok(bytes)
}

fn checksum(parts: [&[u8]; 3]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    parts.into_iter().for_each(|part| hasher.update(part));
    hasher.finalize()
}

fn put_ranking(out: &mut Vec<u8>, ranking: &Ranking) {
    let Ranking { k1, b, weights, stems, name_match, fuzzy } = ranking;
    for number in [k1, b, stems, name_match, fuzzy] {
        out.extend(number.to_le_bytes());
    }
    let Weights { name, namespace, tags, lead, description, arguments, argument_descriptions, choices } = *weights;
    out.extend([name, namespace, tags, lead, description, arguments, argument_descriptions, choices]);
}

fn take_ranking(bytes: &mut Bytes<'_>) -> Result<Ranking, Damage> {
    let mut number = || bytes.array().map(f32::from_le_bytes);
    let (k1, b, stems, name_match, fuzzy) = (number()?, number()?, number()?, number()?, number()?);
    let [name, namespace, tags, lead, description, arguments, argument_descriptions, choices] = bytes.array()?;
    let weights = Weights { name, namespace, tags, lead, description, arguments, argument_descriptions, choices };
    Ok(Ranking { k1, b, weights, stems, name_match, fuzzy }.clamped())
}

// Serialization of records.

/// Writes a record and its number of words, and the tool.
fn put(out: &mut Vec<u8>, tools: &mut Vec<u8>, record: &Record, length: u16) {
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
fn take(bytes: &mut Bytes<'_>, tools: Vec<u8>) -> Result<(Vec<Arc<Record>>, Vec<u16>), Damage> {
    let n_tools = bytes.count()?;
    let (mut checked, mut lengths) = (Vec::new(), Vec::new());
    let (all, mut json_left) = (bytes.rest(), tools.len());
    let mut last_id: Option<String> = None;
    for _ in 0..n_tools {
        let start = all.len() - bytes.rest().len();
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
    let summaries = all[..all.len() - bytes.rest().len()].to_vec();
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

/// A hash of tools that changes with any change of their definitions.
///
/// It depends neither on the order of the tools or their tags nor on the machine. It is not cryptographic: lists of
/// tools with the same fingerprint can be created intentionally.
///
/// ```
/// # use toolkit::Tool;
/// # use toolkit_search::Fingerprint;
/// let send = Tool::builder("send").namespace("mail").description("Sends an email.").build()?;
/// let list = Tool::builder("list").namespace("mail").description("Lists mails.").build()?;
/// assert_eq!(Fingerprint::new([&send, &list]), Fingerprint::new([&list, &send]));
/// assert_ne!(Fingerprint::new([&send, &list]), Fingerprint::new([&send]));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Computes the fingerprint of tools, such as those of a catalog. Of several tools with the same id, only the last
    /// counts.
    pub fn new<'t>(tools: impl IntoIterator<Item = &'t Tool>) -> Self {
        let tools: BTreeMap<String, &Tool> = tools.into_iter().map(|tool| (tool.id().to_string(), tool)).collect();
        let mut hash = Fnv::default();
        for tool in tools.into_values() {
            // Cloned, so that the schemas of functions that are generated here are not kept in memory.
            let mut json = tool.clone().to_json();
            if let Some(fields) = json.as_object_mut() {
                // Missing and empty lists are equivalent.
                fields.retain(|_, value| !value.is_null() && *value != json!([]));
                if let Some(Value::Array(tags)) = fields.get_mut("tags") {
                    tags.sort_unstable_by(|a, b| a.as_str().cmp(&b.as_str()));
                }
            }
            json.sort_all_objects();
            // Writing to the hash cannot fail.
            let _ = writeln!(hash, "{json}");
        }
        Self(hash.0)
    }
}

/// Formats as sixteen hexadecimal digits.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

/// The 64-bit FNV-1a hash, which is stable in contrast to the hashers of maps.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Write for Fnv {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
