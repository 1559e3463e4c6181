//! Serialization of the words of a segment.

use std::sync::Arc;

use super::{Posting, Segment, Terms, place};
use crate::record::Record;
use crate::saved::{Bytes, Damage, put_number};
use crate::words::stem;

/// The maximum length of a word in bytes. Due to the shared prefixes, a small file could otherwise expand to any number
/// of long words.
const MAX_WORD_LEN: usize = 128;

impl Segment {
    /// Writes the words with their postings, sorted by text.
    ///
    /// A word is written as the length of the prefix that it shares with the previous one, and the remaining text. A
    /// posting is written as the distance from the previous tool, and twice the number of occurrences, plus one if the
    /// word is in the name.
    pub(crate) fn put_words(&self, out: &mut Vec<u8>) {
        let mut order: Vec<u32> = (0..place(self.words.len())).collect();
        order.sort_unstable_by_key(|idx| self.words.text(*idx));
        put_number(out, order.len() as u64);
        let mut before = "";
        for idx in order {
            let word = self.words.text(idx);
            let n_same = shared(before, word);
            put_number(out, n_same as u64);
            put_number(out, (word.len() - n_same) as u64);
            out.extend(&word.as_bytes()[n_same..]);
            before = word;

            let postings = self.postings(self.words.get(idx));
            put_number(out, postings.len() as u64);
            let mut next = 0;
            for posting in postings {
                put_number(out, u64::from(posting.doc - next));
                put_number(out, u64::from(posting.frequency()) << 1 | u64::from(posting.is_in_name()));
                next = posting.doc + 1;
            }
        }
    }

    /// Reads the output of [`Segment::put_words`] for the same tools.
    pub(crate) fn take_words(
        bytes: &mut Bytes<'_>,
        records: Vec<Arc<Record>>,
        lengths: Vec<u16>,
    ) -> Result<Self, Damage> {
        let n_words = bytes.count()?;
        let mut words = Terms::with_capacity(n_words.min(records.len().saturating_mul(4)));
        let mut postings = Vec::new();
        let (mut word, mut text_len) = (String::new(), 0_usize);
        for nth in 0..n_words {
            let n_same = bytes.number_to(word.len())?;
            let rest = bytes.text()?;
            let is_behind = word.is_char_boundary(n_same) && (nth == 0 || word[n_same..] < *rest);
            if !is_behind {
                return Err(Damage::Content);
            }
            word.truncate(n_same);
            word.push_str(rest);
            text_len += word.len();
            if word.len() > MAX_WORD_LEN || text_len > u32::MAX as usize {
                return Err(Damage::Content);
            }
            let idx = words.add(&word);

            let start = place(postings.len());
            let mut doc = 0;
            for _ in 0..bytes.count()? {
                doc += bytes.number_to(lengths.len())?;
                let length = *lengths.get(doc).ok_or(Damage::Content)?;
                let frequency = bytes.number_to(u16::MAX.into())? as u16;
                let (frequency, is_in_name) = (frequency >> 1, frequency & 1 == 1);
                if frequency == 0 {
                    return Err(Damage::Content);
                }
                postings.push(Posting::new(place(doc), frequency, is_in_name, length));
                doc += 1;
            }
            let term = &mut words.terms[idx as usize];
            (term.start, term.end) = (start, place(postings.len()));
            if start == term.end {
                return Err(Damage::Content);
            }
        }
        Ok(Self::assemble(records, lengths, words, postings, stem))
    }
}

/// Returns the length of the common prefix of two words, rounded down to a character boundary.
fn shared(a: &str, b: &str) -> usize {
    let n_same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    b.floor_char_boundary(n_same)
}

#[cfg(test)]
mod tests {
    use super::shared;

    #[test]
    fn a_shared_prefix_ends_between_characters() {
        for (a, b, expected) in [
            ("", "add", 0),
            ("add", "add", 3),
            ("add", "adding", 3),
            ("größe", "gröber", 4),
            ("ä", "ö", 0),
            ("aä", "aö", 1),
        ] {
            assert_eq!(shared(a, b), expected, "{a} and {b}");
        }
    }
}
