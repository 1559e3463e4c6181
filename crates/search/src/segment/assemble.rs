//! Derivation of stems and bounds from the words of a segment.

use std::borrow::Cow;
use std::sync::Arc;

use super::Segment;
use crate::lists::{Lists, Order, Span, Terms, place};
use crate::record::Record;
use crate::words::Shape;

/// The lists of a segment.
#[derive(Default)]
pub(super) struct WordLists {
    pub(super) named: Lists,
    pub(super) others: Lists,
}

/// Creates a segment from words and their lists. `records` are in the order of the ids.
pub(super) fn assemble(
    records: Vec<Arc<Record>>,
    order: Order,
    mut words: Terms,
    lists: WordLists,
    stem_of: impl for<'w> Fn(&'w str) -> Cow<'w, str>,
) -> Segment {
    let WordLists { mut named, mut others } = lists;
    for word in &mut words.terms {
        named.bound(&mut word.named, &order.lengths);
        others.bound(&mut word.others, &order.lengths);
    }
    let mut stems = Terms::default();
    for idx in 0..place(words.len()) {
        words.terms[idx as usize].partner = stems.add(&stem_of(words.text(idx)));
    }
    let mut lists = WordLists { named, others };
    join_forms(&words, &mut stems, &mut lists, &order);
    lists.named.shrink();
    lists.others.shrink();
    words.shrink();
    stems.shrink();
    let name_words = words.in_names();
    Segment {
        name_shapes: name_words.iter().map(|word| Shape::new(words.text(*word))).collect(),
        name_words,
        name_stems: stems.in_names(),
        records: records.into(),
        order,
        words,
        stems,
        named: lists.named,
        others: lists.others,
    }
}

/// Merges the lists of the forms of each stem. A stem with a single form shares those of the word.
fn join_forms(words: &Terms, stems: &mut Terms, lists: &mut WordLists, order: &Order) {
    // The form of each stem, and the words that have another form.
    let mut forms: Vec<Option<u32>> = vec![None; stems.len()];
    let mut more: Vec<(u32, u32)> = Vec::new();
    for (idx, word) in words.terms.iter().enumerate() {
        let form = &mut forms[word.partner as usize];
        match form {
            None => *form = Some(place(idx)),
            Some(_) => more.push((word.partner, place(idx))),
        }
    }
    for (stem, form) in stems.terms.iter_mut().zip(&forms) {
        if let Some(form) = form {
            let word = words.get(*form);
            (stem.named, stem.others) = (word.named, word.others);
        }
    }
    more.sort_unstable();
    let mut joined: Vec<(u32, u16, bool)> = Vec::new();
    for of_stem in more.chunk_by(|a, b| a.0 == b.0) {
        let stem = of_stem[0].0 as usize;
        joined.clear();
        for form in forms[stem].into_iter().chain(of_stem.iter().map(|(_, form)| *form)) {
            let word = words.get(form);
            joined.extend(lists.named.get(word.named).iter().map(|(doc, frequency)| (doc, frequency, true)));
            joined.extend(lists.others.get(word.others).iter().map(|(doc, frequency)| (doc, frequency, false)));
        }
        joined.sort_unstable_by_key(|(doc, ..)| *doc);
        joined.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                *kept = (kept.0, kept.1.saturating_add(next.1), kept.2 || next.2);
            }
            is_same
        });
        let WordLists { named, others } = lists;
        let (named_start, others_start) = (place(named.len()), place(others.len()));
        for &(doc, frequency, is_in_name) in &joined {
            if is_in_name { &mut *named } else { &mut *others }.push(doc, frequency);
        }
        let stem = &mut stems.terms[stem];
        stem.named = Span { start: named_start, end: place(named.len()), block: 0 };
        stem.others = Span { start: others_start, end: place(others.len()), block: 0 };
        named.bound(&mut stem.named, &order.lengths);
        others.bound(&mut stem.others, &order.lengths);
    }
}
