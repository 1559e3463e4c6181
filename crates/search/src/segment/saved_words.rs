//! Serialization of the words of a segment.

use std::sync::Arc;

use super::Segment;
use super::assemble::{WordLists, assemble};
use crate::bytes::{Bytes, Damage, put_number};
use crate::lists::{List, Lists, MAX_FREQUENCY, Order, Span, Terms, place};
use crate::record::Record;
use crate::words::stem;

/// The maximum length of a word in bytes. Due to the shared prefixes, a small file could otherwise expand to any number
/// of long words.
const MAX_WORD_LEN: usize = 128;

/// Writes the words with their lists, sorted by text.
///
/// A word is written as the length of the prefix that it shares with the previous one, the remaining text, and two
/// lists: the tools with the word in their names, and the others. A tool is written as the distance from the previous
/// one, and the number of occurrences.
pub(crate) fn put_words(segment: &Segment, out: &mut Vec<u8>) {
    let mut order: Vec<u32> = (0..place(segment.words.len())).collect();
    order.sort_unstable_by_key(|idx| segment.words.text(*idx));
    put_number(out, order.len() as u64);
    let mut before = "";
    for idx in order {
        let word = segment.words.text(idx);
        let n_same = shared(before, word);
        put_number(out, n_same as u64);
        put_number(out, (word.len() - n_same) as u64);
        out.extend(&word.as_bytes()[n_same..]);
        before = word;

        let word = segment.words.get(idx);
        put_list(segment.named.get(word.named), out);
        put_list(segment.others.get(word.others), out);
    }
}

/// Reads the output of [`put_words`] for the same tools.
pub(crate) fn take_words(
    bytes: &mut Bytes<'_>,
    records: Vec<Arc<Record>>,
    lengths: Vec<u16>,
) -> Result<Segment, Damage> {
    let n_words = bytes.count()?;
    let mut words = Terms::with_capacity(n_words.min(records.len().saturating_mul(4)));
    let mut lists = WordLists::default();
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

        let named = take_list(bytes, lengths.len(), &mut lists.named)?;
        let others = take_list(bytes, lengths.len(), &mut lists.others)?;
        if named.len() + others.len() == 0 {
            return Err(Damage::Content);
        }
        let term = &mut words.terms[idx as usize];
        (term.named, term.others) = (named, others);
    }
    Ok(assemble(records, Order::new(&lengths), words, lists, stem))
}

fn put_list(list: List<'_>, out: &mut Vec<u8>) {
    put_number(out, list.docs.len() as u64);
    let mut next = 0;
    for (doc, frequency) in list.iter() {
        put_number(out, u64::from(doc - next));
        put_number(out, u64::from(frequency));
        next = doc + 1;
    }
}

fn take_list(bytes: &mut Bytes<'_>, n_docs: usize, lists: &mut Lists) -> Result<Span, Damage> {
    let start = place(lists.len());
    let mut doc = 0;
    for _ in 0..bytes.count()? {
        doc += bytes.number_to(n_docs)?;
        let frequency = bytes.number_to(MAX_FREQUENCY.into())? as u16;
        if doc >= n_docs || frequency == 0 {
            return Err(Damage::Content);
        }
        lists.push(place(doc), frequency);
        doc += 1;
    }
    Ok(Span { start, end: place(lists.len()), block: 0 })
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
