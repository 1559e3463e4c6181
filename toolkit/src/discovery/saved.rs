//! An index in a file.
//!
//! A file is a head and two parts. The index holds what searching reads, and all of it is checked when the file is
//! opened; the tools are JSON, and each is read when somebody asks for it. That is what makes opening fast.
//!
//! | bytes | |
//! |---|---|
//! | 8 | [`MAGIC`] |
//! | 4 | [`FORMAT`]; this number and the next three have their lowest byte first |
//! | 4 | CRC-32 of all that follows |
//! | 8 | the length of the index |
//! | 8 | the length of the tools |
//!
//! The index: what it is of, the ranking, what is said of each tool in the order of their ids, and each word with its
//! postings in the order of the words. Stems and all else that follows from them are worked out anew. The tools: their
//! canonical JSON, one after another. The same tools give the same bytes, whatever the history of the index is.

mod records;

use std::io::{self, Read, Write};
use std::sync::Arc;

use super::bytes::put_text;
pub(super) use super::bytes::{Bytes, put_number};
use super::damage::FORMAT;
pub use super::damage::{Damage, OpenError};
use super::index::Index;
use super::ranking::{Ranking, Weights};
use super::segment::Segment;
use super::snapshot::Snapshot;

/// What the file of an index begins with.
const MAGIC: [u8; 8] = *b"toolkidx";

/// Then no place in it is beyond 32 bits.
const MAX_INDEX_LEN: u64 = u32::MAX as u64;

impl Snapshot {
    /// Writes the index, so that [`Index::open`] has it back in a small part of the time that building it takes.
    ///
    /// `of` says what the index is of: the version of a catalogue, the hash of a manifest, or the
    /// [`Fingerprint`](super::Fingerprint) of the tools. Whoever opens the file says it too, and is refused if the file
    /// is of something else. A function of this program is written as what it says of itself.
    ///
    /// # Errors
    ///
    /// The writer's own; or the index has 4 GiB and more, which are many millions of tools.
    ///
    /// ```
    /// # use toolkit::{Tool, discovery::{Index, OpenError}};
    /// # let tools = [Tool::builder("send").namespace("mail").description("Sends an email.").build()?];
    /// let mut file = Vec::new();
    /// Index::of(&tools).snapshot().save("tools of 1.4.0", &mut file)?;
    ///
    /// let index = Index::open("tools of 1.4.0", &file[..])?;
    /// assert_eq!(index.search("email", 5)[0].summary.id, "mail:send");
    /// assert!(matches!(Index::open("tools of 1.5.0", &file[..]), Err(OpenError::Stale { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self, of: &str, mut to: impl Write) -> io::Result<()> {
        let segment = self.whole();
        let (mut index, mut tools) = (Vec::new(), Vec::new());
        put_text(&mut index, of);
        put_ranking(&mut index, &self.ranking);
        put_number(&mut index, segment.records.len() as u64);
        for (record, length) in segment.records.iter().zip(&segment.lengths) {
            records::put(&mut index, &mut tools, record, *length);
        }
        segment.put_words(&mut index);
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
}

impl Index {
    /// An index that was saved: it answers as one that is built anew from the same tools, and changes like one.
    ///
    /// What is read is checked, and takes memory in proportion to what there is to read; how much that may be is the
    /// reader's to limit. The checksum finds accidents. Whoever can write the file decides what it says, as with a list
    /// of tools, and can make it say of a tool what the tool does not.
    ///
    /// Tools that were functions are descriptions afterwards: call them by their ids.
    ///
    /// # Errors
    ///
    /// It is no index, or of another release; or it is not of what `of` says, or damaged; or the reader fails.
    pub fn open(of: &str, mut from: impl Read) -> Result<Self, OpenError> {
        let (index, tools) = read_parts(&mut from)?;
        let (tools, mut bytes) = (Arc::new(tools), Bytes::of(&index));
        let found = bytes.text()?;
        if found != of {
            return Err(OpenError::Stale { found: found.chars().take(200).collect() });
        }
        let ranking = take_ranking(&mut bytes)?;
        let (records, lengths) = records::take(&mut bytes, &tools)?;
        let segment = Segment::take_words(&mut bytes, records, lengths)?;
        bytes.end()?;
        Ok(Self::starting_with(Snapshot::of(segment, ranking)))
    }
}

/// The index and the tools.
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
    // No file goes on for so long.
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

/// At most so many bytes, as many as there are.
fn read(from: &mut impl Read, len: u64) -> Result<Vec<u8>, OpenError> {
    /// A length that is not true yet takes no more than this at once.
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
    let Ranking { k1, b, weights, stems, name_match, near } = ranking;
    for number in [k1, b, stems, name_match, near] {
        out.extend(number.to_le_bytes());
    }
    let Weights { name, namespace, tags, lead, description, arguments, argument_descriptions, choices } = *weights;
    out.extend([name, namespace, tags, lead, description, arguments, argument_descriptions, choices]);
}

fn take_ranking(bytes: &mut Bytes<'_>) -> Result<Ranking, Damage> {
    let mut number = || bytes.array().map(f32::from_le_bytes);
    let (k1, b, stems, name_match, near) = (number()?, number()?, number()?, number()?, number()?);
    let [name, namespace, tags, lead, description, arguments, argument_descriptions, choices] = bytes.array()?;
    let weights = Weights { name, namespace, tags, lead, description, arguments, argument_descriptions, choices };
    Ok(Ranking { k1, b, weights, stems, name_match, near }.sound())
}
