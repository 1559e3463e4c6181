//! An immutable inverted index of some tools, built from tools or merged from two segments, and its serialization.

use std::borrow::Cow;
use std::sync::Arc;

use crate::bytes::{Bytes, Damage, put_number};
pub(super) use crate::lists::{BLOCK_LEN, Block, List, Order, Term, Terms};
use crate::lists::{Lists, MAX_FREQUENCY, Span, place};
use crate::ranking::{Field, Weights};
use crate::record::Record;
use crate::words::{Shape, each_word_of, halves, stem};

/// Tools with their words.
pub(super) struct Segment {
    /// The tools in the order of their ids.
    pub(super) records: Box<[Arc<Record>]>,
    /// The order of the tools in the lists.
    pub(super) order: Order,
    /// Words as they are written; `partner` is the stem.
    pub(super) words: Terms,
    /// Stems. A stem with a single form shares the lists of its word.
    pub(super) stems: Terms,
    /// The tools with each word in their names.
    pub(super) named: Lists,
    /// The other tools with each word.
    pub(super) others: Lists,
    /// The words in names, sorted by text.
    pub(super) name_words: Box<[u32]>,
    pub(super) name_shapes: Box<[Shape]>,
    /// The stems in names, sorted by text.
    pub(super) name_stems: Box<[u32]>,
}

impl Segment {
    /// Returns the tool with an id, whether it is live or not.
    pub(super) fn find(&self, id: &str) -> Option<usize> {
        self.records.binary_search_by(|record| record.cmp_id(id)).ok()
    }
}

// Creation of segments from tools.

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
        assemble(records, order, words, Both { named, others }, stem)
    }
}

/// Converts halves of a word to words.
pub(crate) fn length_of(halves: u32) -> u16 {
    u16::try_from(halves.div_ceil(2)).unwrap_or(u16::MAX)
}

// Derivation of stems and bounds from the words of a segment.

/// The lists of a segment.
#[derive(Default)]
struct Both {
    named: Lists,
    others: Lists,
}

/// Creates a segment from words and their lists. `records` are in the order of the ids.
fn assemble(
    records: Vec<Arc<Record>>,
    order: Order,
    mut words: Terms,
    lists: Both,
    stem_of: impl for<'w> Fn(&'w str) -> Cow<'w, str>,
) -> Segment {
    let Both { mut named, mut others } = lists;
    for word in &mut words.terms {
        named.bound(&mut word.named, &order.lengths);
        others.bound(&mut word.others, &order.lengths);
    }
    let mut stems = Terms::default();
    for idx in 0..place(words.len()) {
        words.terms[idx as usize].partner = stems.add(&stem_of(words.text(idx)));
    }
    let mut lists = Both { named, others };
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
fn join_forms(words: &Terms, stems: &mut Terms, lists: &mut Both, order: &Order) {
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
        let Both { named, others } = lists;
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

// Merging of two segments without their removed tools.

/// One of the merged segments.
struct Side<'s> {
    segment: &'s Segment,
    /// The position of each tool in the lists of the result, by its position in those of the segment; `None` if it is
    /// removed. The order is preserved.
    docs: Vec<Option<u32>>,
}

/// Merges two segments. `is_live` returns true for the segment and position of each tool that is not removed.
pub(crate) fn merge(segments: [&Segment; 2], is_live: impl Fn(usize, usize) -> bool) -> Segment {
    let [a, b] = segments;
    // The positions in the order of the ids.
    let mut places = [vec![None; a.records.len()], vec![None; b.records.len()]];
    let (mut records, mut lengths) = (Vec::new(), Vec::new());
    let (mut next_a, mut next_b) = (0, 0);
    while next_a < a.records.len() || next_b < b.records.len() {
        let side = match (a.records.get(next_a), b.records.get(next_b)) {
            (Some(of_a), Some(of_b)) => usize::from(of_a.cmp_by_id(of_b).is_gt()),
            (Some(_), None) => 0,
            _ => 1,
        };
        let next = if side == 0 { &mut next_a } else { &mut next_b };
        if is_live(side, *next) {
            places[side][*next] = Some(place(records.len()));
            records.push(Arc::clone(&segments[side].records[*next]));
            lengths.push(segments[side].order.length_of(*next));
        }
        *next += 1;
    }
    let order = Order::new(&lengths);
    let sides: [Side<'_>; 2] = std::array::from_fn(|side| {
        let place_of = |tool: &u32| places[side][*tool as usize].map(|place: u32| order.docs[place as usize]);
        Side { segment: segments[side], docs: segments[side].order.tools.iter().map(place_of).collect() }
    });

    let mut words = Terms::default();
    let mut lists = Both::default();
    for side in &sides {
        for (text, _) in side.segment.words.iter() {
            if words.find(text).is_some() {
                continue;
            }
            let named = join(&sides, text, |segment| (&segment.named, |term| term.named), &mut lists.named);
            let others = join(&sides, text, |segment| (&segment.others, |term| term.others), &mut lists.others);
            if named.len() + others.len() > 0 {
                let idx = words.add(text);
                let term = &mut words.terms[idx as usize];
                (term.named, term.others) = (named, others);
            }
        }
    }
    let stem_of = |word: &str| {
        let found = segments.iter().find_map(|side| Some((side, side.words.find(word)?)));
        found.map(|(side, idx)| side.stems.text(side.words.get(idx).partner).to_owned())
    };
    assemble(records, order, words, lists, |word| stem_of(word).map_or_else(|| stem(word), Into::into))
}

/// Selects the lists of names or the others, and the list of a word.
type ListsOf = fn(&Segment) -> (&Lists, fn(&Term) -> Span);

/// Appends the tools of both segments with a word.
fn join(sides: &[Side<'_>; 2], text: &str, of: ListsOf, joined: &mut Lists) -> Span {
    let [mut a, mut b] = [&sides[0], &sides[1]].map(|side| {
        let (lists, span) = of(side.segment);
        let words = &side.segment.words;
        let span = words.find(text).map(|idx| span(words.get(idx))).unwrap_or_default();
        let moved = lists.get(span).iter().filter_map(|(doc, frequency)| Some((side.docs[doc as usize]?, frequency)));
        moved.peekable()
    });
    let start = place(joined.len());
    loop {
        let next = match (a.peek(), b.peek()) {
            (Some((of_a, _)), Some((of_b, _))) if of_a < of_b => a.next(),
            (Some(_), None) => a.next(),
            _ => b.next(),
        };
        match next {
            Some((doc, frequency)) => joined.push(doc, frequency),
            None => return Span { start, end: place(joined.len()), block: 0 },
        }
    }
}

/// The maximum length of a word in bytes. Due to the shared prefixes, a small file could otherwise expand to any number
/// of long words.
const MAX_WORD_LEN: usize = 128;

/// Writes the words with their lists, sorted by text.
///
/// A word is written as the length of the prefix that it shares with the previous one, the remaining text, and two
/// lists: the tools with the word in their names, and the others. A tool is written as the distance from the previous
/// one, and the number of occurrences.
pub(super) fn put_words(segment: &Segment, out: &mut Vec<u8>) {
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
pub(super) fn take_words(
    bytes: &mut Bytes<'_>,
    records: Vec<Arc<Record>>,
    lengths: Vec<u16>,
) -> Result<Segment, Damage> {
    let n_words = bytes.count()?;
    let mut words = Terms::with_capacity(n_words.min(records.len().saturating_mul(4)));
    let mut lists = Both::default();
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
