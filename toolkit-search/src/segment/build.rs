//! Creation of segments from tools.

use std::sync::Arc;

use super::{Posting, Segment, Terms, place};
use crate::fields::each_word_of;
use crate::ranking::{Field, Weights};
use crate::record::Record;
use crate::words::{halves, stem};

/// Indexes tools, which are unique and in the order of their ids.
pub(crate) fn build(records: Vec<Arc<Record>>, weights: &Weights) -> Segment {
    let mut builder = Builder::default();
    records.iter().for_each(|record| builder.add(record, weights));
    builder.finish(records)
}

#[derive(Default)]
struct Builder {
    words: Terms,
    /// The position of each word in `doc`, if the current tool has it.
    seen: Vec<Option<u32>>,
    /// The words of the current tool.
    doc: Vec<Entry>,
    /// The weighted length of the current tool, in halves of a word.
    halves: u32,
    /// The words of all tools, one tool after another.
    entries: Vec<Entry>,
    /// The end of the entries of each tool.
    ends: Vec<usize>,
    lengths: Vec<u16>,
}

/// An occurrence of a word in a tool.
#[derive(Clone, Copy)]
struct Entry {
    term: u32,
    frequency: u16,
    is_in_name: bool,
}

impl Builder {
    fn add(&mut self, record: &Record, weights: &Weights) {
        each_word_of(&record.tool.read_only(), |field, word| {
            let weight = u16::from(weights.get(field));
            if weight > 0 {
                self.add_word(word, weight, field == Field::Name);
            }
        });
        self.lengths.push(length_of(std::mem::take(&mut self.halves)));
        for entry in self.doc.drain(..) {
            self.seen[entry.term as usize] = None;
            self.words.terms[entry.term as usize].end += 1;
            self.entries.push(entry);
        }
        self.ends.push(self.entries.len());
    }

    fn add_word(&mut self, word: &str, weight: u16, is_in_name: bool) {
        let term = self.words.add(word);
        if term as usize == self.seen.len() {
            self.seen.push(None);
        }
        let seen = &mut self.seen[term as usize];
        let at = *seen.get_or_insert_with(|| {
            self.doc.push(Entry { term, frequency: 0, is_in_name: false });
            place(self.doc.len() - 1)
        });
        let entry = &mut self.doc[at as usize];
        entry.frequency = entry.frequency.saturating_add(weight);
        entry.is_in_name |= is_in_name;
        self.halves = self.halves.saturating_add(u32::from(weight) * halves(word));
    }

    fn finish(self, records: Vec<Arc<Record>>) -> Segment {
        let Self { mut words, entries, ends, lengths, .. } = self;
        let mut start = 0;
        for term in &mut words.terms {
            // `end` has counted the tools; adding them moves it to the end of the term's range.
            let n_docs = std::mem::replace(&mut term.end, start);
            term.start = start;
            start += n_docs;
        }
        // Followed by the postings of stems with several forms.
        let mut postings = Vec::with_capacity(entries.len() * 5 / 4);
        postings.resize(entries.len(), Posting::new(0, 0, false, 0));
        let mut first = 0;
        for (doc, (end, length)) in ends.into_iter().zip(&lengths).enumerate() {
            for Entry { term, frequency, is_in_name } in &entries[first..end] {
                let at = &mut words.terms[*term as usize].end;
                postings[*at as usize] = Posting::new(place(doc), *frequency, *is_in_name, *length);
                *at += 1;
            }
            first = end;
        }
        drop(entries);
        Segment::assemble(records, lengths, words, postings, stem)
    }
}

/// Converts halves of a word to words.
pub(crate) fn length_of(halves: u32) -> u16 {
    u16::try_from(halves.div_ceil(2)).unwrap_or(u16::MAX)
}
