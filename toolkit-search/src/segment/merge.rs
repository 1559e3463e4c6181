//! Merging of two segments without their removed tools.

use std::sync::Arc;

use super::{Posting, Segment, Terms, place};
use crate::words::stem;

/// One of the merged segments.
struct Side<'s> {
    segment: &'s Segment,
    /// The position of each tool in the result; `None` if it is removed. The order is preserved.
    places: Vec<Option<u32>>,
}

/// Merges two segments. `is_live` returns true for the segment and position of each tool that is not removed.
pub(crate) fn merge(segments: [&Segment; 2], is_live: impl Fn(usize, usize) -> bool) -> Segment {
    let [a, b] = segments;
    let mut places = [vec![None; a.records.len()], vec![None; b.records.len()]];
    let (mut records, mut lengths) = (Vec::new(), Vec::new());
    let (mut next_a, mut next_b) = (0, 0);
    while next_a < a.records.len() || next_b < b.records.len() {
        let side = match (a.records.get(next_a), b.records.get(next_b)) {
            (Some(of_a), Some(of_b)) => usize::from(of_a.id() > of_b.id()),
            (Some(_), None) => 0,
            _ => 1,
        };
        let next = if side == 0 { &mut next_a } else { &mut next_b };
        if is_live(side, *next) {
            places[side][*next] = Some(place(records.len()));
            records.push(Arc::clone(&segments[side].records[*next]));
            lengths.push(segments[side].lengths[*next]);
        }
        *next += 1;
    }
    let [places_a, places_b] = places;
    let sides = [Side { segment: a, places: places_a }, Side { segment: b, places: places_b }];

    let mut words = Terms::default();
    let mut postings = Vec::new();
    for side in &sides {
        for (text, _) in side.segment.words.iter() {
            if words.find(text).is_some() {
                continue;
            }
            let start = postings.len();
            join_postings(&sides, text, &mut postings);
            if postings.len() > start {
                let idx = words.add(text);
                let term = &mut words.terms[idx as usize];
                (term.start, term.end) = (place(start), place(postings.len()));
            }
        }
    }
    let stem_of = |word: &str| {
        let found = segments.iter().find_map(|side| Some((side, side.words.find(word)?)));
        found.map(|(side, idx)| side.stems.text(side.words.get(idx).partner).to_owned())
    };
    Segment::assemble(records, lengths, words, postings, |word| stem_of(word).map_or_else(|| stem(word), Into::into))
}

fn join_postings(sides: &[Side<'_>; 2], text: &str, postings: &mut Vec<Posting>) {
    let [mut a, mut b] = [&sides[0], &sides[1]].map(|side| {
        let words = &side.segment.words;
        let of_side = words.find(text).map_or(&[][..], |idx| side.segment.postings(words.get(idx)));
        let moved = of_side
            .iter()
            .filter_map(|posting| side.places[posting.doc as usize].map(|doc| Posting { doc, ..*posting }));
        moved.peekable()
    });
    loop {
        let next = match (a.peek(), b.peek()) {
            (Some(of_a), Some(of_b)) if of_a.doc < of_b.doc => a.next(),
            (Some(_), None) => a.next(),
            _ => b.next(),
        };
        match next {
            Some(posting) => postings.push(posting),
            None => return,
        }
    }
}
