//! Creation of segments from tools.

use std::sync::Arc;

use super::assemble::Both;
use super::place::place;
use super::{Lists, Order, Segment, Terms};
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
        each_word_of(&record.read_only_tool(), |field, word| {
            let weight = u16::from(weights.get(field));
            if weight > 0 {
                self.add_word(word, weight, field == Field::Name);
            }
        });
        self.lengths.push(length_of(std::mem::take(&mut self.halves)));
        for entry in self.doc.drain(..) {
            self.seen[entry.term as usize] = None;
            let term = &mut self.words.terms[entry.term as usize];
            // Counts the tools.
            if entry.is_in_name { &mut term.named } else { &mut term.others }.end += 1;
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
        let (mut n_named, mut n_others) = (0, 0);
        for term in &mut words.terms {
            for (span, n_before) in [(&mut term.named, &mut n_named), (&mut term.others, &mut n_others)] {
                // `end` has counted the tools; adding them moves it to the end of the list.
                let n_docs = std::mem::replace(&mut span.end, *n_before);
                span.start = *n_before;
                *n_before += n_docs;
            }
        }
        let order = Order::new(&lengths);
        let (mut named, mut others) = (Lists::zeroed(n_named as usize), Lists::zeroed(n_others as usize));
        for (doc, tool) in order.tools.iter().enumerate() {
            let tool = *tool as usize;
            let start = if tool == 0 { 0 } else { ends[tool - 1] };
            for Entry { term, frequency, is_in_name } in &entries[start..ends[tool]] {
                let term = &mut words.terms[*term as usize];
                let (lists, span) =
                    if *is_in_name { (&mut named, &mut term.named) } else { (&mut others, &mut term.others) };
                lists.set(span.end, place(doc), *frequency);
                span.end += 1;
            }
        }
        drop(entries);
        Segment::assemble(records, order, words, Both { named, others }, stem)
    }
}

/// Converts halves of a word to words.
pub(crate) fn length_of(halves: u32) -> u16 {
    u16::try_from(halves.div_ceil(2)).unwrap_or(u16::MAX)
}
