//! A segment of tools.

use std::sync::Arc;

use super::{Posting, Segment, Term, Terms, place};
use crate::discovery::fields::each_word_of;
use crate::discovery::ranking::{Field, Weights};
use crate::discovery::record::Record;
use crate::discovery::words::{halves, stem};

/// Indexes tools that are in the order of their ids, each once.
pub(in crate::discovery) fn build(records: Vec<Arc<Record>>, weights: &Weights) -> Segment {
    let mut builder = Builder::default();
    records.iter().for_each(|record| builder.add(record, weights));
    builder.finish(records)
}

#[derive(Default)]
struct Builder {
    words: Terms,
    stems: Terms,
    /// For each word, its place in `doc` if it is one of the tool at hand.
    seen: Vec<Option<u32>>,
    /// The words of the tool at hand.
    doc: Vec<Entry>,
    /// How many words it has, weighted, in halves.
    halves: u32,
    entries: Vec<Entry>,
    lengths: Vec<u16>,
}

/// A word of a tool.
#[derive(Clone, Copy)]
struct Entry {
    term: u32,
    doc: u32,
    frequency: u16,
    is_in_name: bool,
}

impl Builder {
    fn add(&mut self, record: &Record, weights: &Weights) {
        let doc = place(self.lengths.len());
        // A clone, so that what is built to be read here is not kept.
        each_word_of(&record.tool.clone(), |field, word| {
            let weight = u16::from(weights.of(field));
            if weight > 0 {
                self.add_word(doc, word, weight, field == Field::Name);
            }
        });
        self.lengths.push(length_of(std::mem::take(&mut self.halves)));
        for entry in self.doc.drain(..) {
            self.seen[entry.term as usize] = None;
            self.entries.push(entry);
        }
    }

    fn add_word(&mut self, doc: u32, word: &str, weight: u16, is_in_name: bool) {
        let (term, is_new) = self.words.add(word);
        if is_new {
            self.words.terms[term as usize].partner = self.stems.add(&stem(word)).0;
            self.seen.push(None);
        }
        let seen = &mut self.seen[term as usize];
        let at = *seen.get_or_insert_with(|| {
            self.doc.push(Entry { term, doc, frequency: 0, is_in_name: false });
            place(self.doc.len() - 1)
        });
        let entry = &mut self.doc[at as usize];
        entry.frequency = entry.frequency.saturating_add(weight);
        entry.is_in_name |= is_in_name;
        self.halves = self.halves.saturating_add(u32::from(weight) * halves(word));
    }

    fn finish(mut self, records: Vec<Arc<Record>>) -> Segment {
        let mut postings = Vec::with_capacity(self.entries.len() * 5 / 4);
        let posting = |entry: &Entry| {
            let length = self.lengths[entry.doc as usize];
            Posting::new(entry.doc, entry.frequency, entry.is_in_name, length)
        };
        let by_word = Sorted::of(&self.entries, self.words.len());
        for (term, entries) in self.words.terms.iter_mut().zip(by_word.groups()) {
            term.start = place(postings.len());
            postings.extend(entries.iter().map(posting));
            term.end = place(postings.len());
        }
        let forms = forms_of(&self.words.terms, self.stems.len());
        let mut merged: Vec<Entry> = Vec::new();
        for (stem, forms) in self.stems.terms.iter_mut().zip(&forms) {
            if let [form] = forms[..] {
                let Term { start, end, .. } = self.words.terms[form as usize];
                (stem.start, stem.end) = (start, end);
                continue;
            }
            merged.clear();
            forms.iter().for_each(|form| merged.extend(by_word.group(*form)));
            merged.sort_unstable_by_key(|entry| entry.doc);
            merged.dedup_by(|next, kept| {
                let is_same = next.doc == kept.doc;
                if is_same {
                    kept.frequency = kept.frequency.saturating_add(next.frequency);
                    kept.is_in_name |= next.is_in_name;
                }
                is_same
            });
            stem.start = place(postings.len());
            postings.extend(merged.iter().map(posting));
            stem.end = place(postings.len());
        }
        Segment::assemble(records, self.lengths, self.words, self.stems, postings)
    }
}

/// As many halves as words.
pub(in crate::discovery) fn length_of(halves: u32) -> u16 {
    u16::try_from(halves.div_ceil(2)).unwrap_or(u16::MAX)
}

/// For each stem, the words that have it.
pub(super) fn forms_of(words: &[Term], n_stems: usize) -> Vec<Vec<u32>> {
    let mut forms = vec![Vec::new(); n_stems];
    for (idx, word) in words.iter().enumerate() {
        forms[word.partner as usize].push(place(idx));
    }
    forms
}

/// Entries by word; those of a word in the order of the tools.
struct Sorted {
    entries: Vec<Entry>,
    ends: Vec<usize>,
}

impl Sorted {
    fn of(entries: &[Entry], n_terms: usize) -> Self {
        let mut ends = vec![0; n_terms];
        entries.iter().for_each(|entry| ends[entry.term as usize] += 1);
        let mut start = 0;
        for end in &mut ends {
            // For now where the group begins; adding its entries moves it to its end.
            start += std::mem::replace(end, start);
        }
        let mut sorted = entries.to_vec();
        for entry in entries {
            let end = &mut ends[entry.term as usize];
            sorted[*end] = *entry;
            *end += 1;
        }
        Self { entries: sorted, ends }
    }

    fn group(&self, term: u32) -> &[Entry] {
        let start = if term == 0 { 0 } else { self.ends[term as usize - 1] };
        &self.entries[start..self.ends[term as usize]]
    }

    fn groups(&self) -> impl Iterator<Item = &[Entry]> {
        (0..self.ends.len()).map(|term| self.group(place(term)))
    }
}

impl Segment {
    /// Adds what follows from the postings.
    pub(super) fn assemble(
        records: Vec<Arc<Record>>,
        lengths: Vec<u16>,
        words: Terms,
        stems: Terms,
        postings: Vec<Posting>,
    ) -> Self {
        let in_names = |term: &Term| postings[term.start as usize..term.end as usize].iter().filter(|p| p.is_in_name());
        let mut name_words: Vec<u32> =
            (0..place(words.len())).filter(|idx| in_names(words.get(*idx)).next().is_some()).collect();
        name_words.sort_unstable_by(|a, b| words.text(*a).cmp(words.text(*b)));

        let mut ends = vec![0_u32; records.len()];
        stems.terms.iter().flat_map(in_names).for_each(|posting| ends[posting.doc as usize] += 1);
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        let mut name_stems = vec![0; start as usize];
        for (idx, stem) in stems.terms.iter().enumerate() {
            for posting in in_names(stem) {
                let end = &mut ends[posting.doc as usize];
                name_stems[*end as usize] = place(idx);
                *end += 1;
            }
        }
        // The sum over a name must not depend on which segment the tool is in.
        for doc in 0..records.len() {
            let start = if doc == 0 { 0 } else { ends[doc - 1] as usize };
            name_stems[start..ends[doc] as usize].sort_unstable_by(|a, b| stems.text(*a).cmp(stems.text(*b)));
        }
        let mut named = Vec::with_capacity(name_stems.len());
        let mut named_ends = Vec::with_capacity(stems.len());
        for stem in &stems.terms {
            named.extend(in_names(stem).map(|posting| posting.doc));
            named_ends.push(place(named.len()));
        }
        Self {
            records: records.into(),
            lengths: lengths.into(),
            words,
            stems,
            postings: postings.into(),
            name_ends: ends.into(),
            name_stems: name_stems.into(),
            named_ends: named_ends.into(),
            named: named.into(),
            name_words: name_words.into(),
        }
    }
}
