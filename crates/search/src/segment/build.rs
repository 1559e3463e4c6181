//! Creation of segments from tools.

use std::sync::Arc;

use super::Segment;
use super::assemble::{WordLists, assemble};
use crate::lists::{Lists, Order, Terms, place};
use crate::ranking::{Field, Weights};
use crate::record::Record;
use crate::words::{each_word_of, halves, stem};

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
    /// The number of tools with each word in their names, and of the others with it.
    counts: Vec<[u32; 2]>,
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
            self.counts[entry.term as usize][usize::from(!entry.is_in_name)] += 1;
            self.entries.push(entry);
        }
        self.ends.push(self.entries.len());
    }

    fn add_word(&mut self, word: &str, weight: u16, is_in_name: bool) {
        let term = self.words.add(word);
        if term as usize == self.seen.len() {
            self.seen.push(None);
            self.counts.push([0; 2]);
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
        let Self { mut words, mut counts, entries, ends, lengths, .. } = self;
        let mut next = [0; 2];
        for (term, counts) in words.terms.iter_mut().zip(&mut counts) {
            for (nth, span) in [&mut term.named, &mut term.others].into_iter().enumerate() {
                span.start = next[nth];
                next[nth] += counts[nth];
                span.end = next[nth];
                // The next position in the list.
                counts[nth] = span.start;
            }
        }
        let order = Order::new(&lengths);
        let mut lists = next.map(|n_docs| Lists::zeroed(n_docs as usize));
        for (doc, tool) in (0..).zip(&order.tools) {
            let tool = *tool as usize;
            let start = if tool == 0 { 0 } else { ends[tool - 1] };
            for Entry { term, frequency, is_in_name } in &entries[start..ends[tool]] {
                let nth = usize::from(!is_in_name);
                let at = &mut counts[*term as usize][nth];
                lists[nth].set(*at, doc, *frequency);
                *at += 1;
            }
        }
        drop(entries);
        let [named, others] = lists;
        assemble(records, order, words, WordLists { named, others }, stem)
    }
}

/// Converts halves of a word to words.
pub(crate) fn length_of(halves: u32) -> u16 {
    u16::try_from(halves.div_ceil(2)).unwrap_or(u16::MAX)
}
