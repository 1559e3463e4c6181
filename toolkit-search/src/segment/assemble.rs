//! Derivation of stems and names from the words of a segment.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Blocks, Groups, Posting, Segment, Term, Terms, place};
use crate::record::Record;

impl Segment {
    /// Creates a segment from words and their postings.
    pub(crate) fn assemble(
        records: Vec<Arc<Record>>,
        lengths: Vec<u16>,
        mut words: Terms,
        mut postings: Vec<Posting>,
        stem_of: impl for<'w> Fn(&'w str) -> Cow<'w, str>,
    ) -> Self {
        let mut stems = Terms::default();
        for idx in 0..place(words.len()) {
            words.terms[idx as usize].partner = stems.add(&stem_of(words.text(idx)));
        }
        join_forms(&words, &mut stems, &mut postings);

        let in_names = |term: &Term| postings[term.start as usize..term.end as usize].iter().filter(|p| p.is_in_name());
        let mut name_words: Vec<u32> =
            (0..place(words.len())).filter(|idx| in_names(words.get(*idx)).next().is_some()).collect();
        name_words.sort_unstable_by_key(|idx| words.text(*idx));

        let mut named_pairs: Vec<(u32, u32)> = Vec::new();
        for (idx, stem) in stems.terms.iter().enumerate() {
            named_pairs.extend(in_names(stem).map(|posting| (place(idx), posting.doc)));
        }
        let by_name = named_pairs.iter().map(|&(stem, doc)| (doc, stem));
        let mut name_stems = Groups::from_pairs(records.len(), by_name);
        // The sum of a name's weights must not depend on the segment that the tool is in.
        name_stems.sort_by_key(|stem| stems.text(stem));
        Self {
            named: Groups::from_pairs(stems.len(), named_pairs.iter().copied()),
            name_stems,
            records: records.into(),
            lengths: lengths.into(),
            words,
            stems,
            blocks: Blocks::new(&postings),
            postings: postings.into(),
            name_words: name_words.into(),
        }
    }
}

/// Merges the postings of the forms of each stem. A stem with a single form shares those of the word.
fn join_forms(words: &Terms, stems: &mut Terms, postings: &mut Vec<Posting>) {
    let pairs = words.terms.iter().enumerate().map(|(idx, word)| (word.partner, place(idx)));
    let forms = Groups::from_pairs(stems.len(), pairs);
    let mut joined: Vec<Posting> = Vec::new();
    for (idx, stem) in stems.terms.iter_mut().enumerate() {
        if let [form] = *forms.get(place(idx)) {
            let Term { start, end, .. } = *words.get(form);
            (stem.start, stem.end) = (start, end);
            continue;
        }
        joined.clear();
        for form in forms.get(place(idx)) {
            let word = words.get(*form);
            joined.extend_from_slice(&postings[word.start as usize..word.end as usize]);
        }
        joined.sort_unstable_by_key(|posting| posting.doc);
        joined.dedup_by(|next, kept| {
            let is_same = next.doc == kept.doc;
            if is_same {
                kept.add(*next);
            }
            is_same
        });
        stem.start = place(postings.len());
        postings.extend_from_slice(&joined);
        stem.end = place(postings.len());
    }
}
