//! Merging of two segments without their removed tools.

use std::sync::Arc;

use super::Segment;
use super::assemble::{WordLists, assemble};
use crate::lists::{Lists, Order, Span, Term, Terms, place};
use crate::words::stem;

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
    let mut lists = WordLists::default();
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
