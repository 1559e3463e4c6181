//! The file format of an index.
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

mod fingerprint;
mod records;

use std::io::{self, Read, Write};

pub use self::fingerprint::Fingerprint;
use crate::bytes::{Bytes, Damage, FORMAT, OpenError, put_number, put_text};
use crate::ranking::{Ranking, Weights};
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
        records::put(&mut index, &mut tools, record, segment.order.length_of(tool));
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
    let (records, lengths) = records::take(&mut bytes, tools)?;
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
    let Ranking { k1, b, weights, stems, name_match, fuzzy, threshold } = ranking;
    for number in [k1, b, stems, name_match, fuzzy, threshold] {
        out.extend(number.to_le_bytes());
    }
    let Weights { name, namespace, tags, lead, description, arguments, argument_descriptions, choices } = *weights;
    out.extend([name, namespace, tags, lead, description, arguments, argument_descriptions, choices]);
}

fn take_ranking(bytes: &mut Bytes<'_>) -> Result<Ranking, Damage> {
    let mut number = || bytes.array().map(f32::from_le_bytes);
    let (k1, b, stems) = (number()?, number()?, number()?);
    let (name_match, fuzzy, threshold) = (number()?, number()?, number()?);
    let [name, namespace, tags, lead, description, arguments, argument_descriptions, choices] = bytes.array()?;
    let weights = Weights { name, namespace, tags, lead, description, arguments, argument_descriptions, choices };
    Ok(Ranking { k1, b, weights, stems, name_match, fuzzy, threshold }.clamped())
}
