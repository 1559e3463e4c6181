//! Two segments as one, without the tools that are gone.

use std::sync::Arc;

use super::build::forms_of;
use super::{Posting, Segment, Terms, place};

/// One of two segments to be merged.
struct Side<'s> {
    segment: &'s Segment,
    /// For each tool its place in the result, unless it is gone. The order stays.
    places: Vec<Option<u32>>,
}

/// One segment of the tools of two that `is_live` says of each, by its side and place, are still there.
pub(in crate::discovery) fn merge(segments: [&Segment; 2], is_live: impl Fn(usize, usize) -> bool) -> Segment {
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

    let mut postings = Vec::new();
    let mut words = Terms::default();
    let mut stems = Terms::default();
    join(&sides, |segment| &segment.words, &mut words, &mut postings);
    for idx in 0..place(words.len()) {
        let word = words.text(idx);
        let found = sides.iter().find_map(|side| side.segment.words.find(word).map(|idx| (side.segment, idx)));
        let (segment, found) = found.expect("a word comes from one of the sides");
        let stem = segment.stems.text(segment.words.get(found).partner);
        words.terms[idx as usize].partner = stems.add(stem).0;
    }
    let forms = forms_of(&words.terms, stems.len());
    for (idx, forms) in forms.iter().enumerate() {
        let (start, end) = match forms[..] {
            [form] => (words.get(form).start, words.get(form).end),
            _ => {
                let start = postings.len();
                let stem = stems.text(place(idx));
                join_postings(&sides, |segment| &segment.stems, stem, &mut postings);
                (place(start), place(postings.len()))
            }
        };
        let stem = &mut stems.terms[idx];
        (stem.start, stem.end) = (start, end);
    }
    Segment::assemble(records, lengths, words, stems, postings)
}

/// The terms of both sides that some tool still has, with their postings.
fn join(sides: &[Side<'_>; 2], of: fn(&Segment) -> &Terms, joined: &mut Terms, postings: &mut Vec<Posting>) {
    for side in sides {
        for (text, _) in of(side.segment).iter() {
            if joined.find(text).is_some() {
                continue;
            }
            let start = postings.len();
            join_postings(sides, of, text, postings);
            if postings.len() > start {
                let (idx, _) = joined.add(text);
                let term = &mut joined.terms[idx as usize];
                (term.start, term.end) = (place(start), place(postings.len()));
            }
        }
    }
}

fn join_postings(sides: &[Side<'_>; 2], of: fn(&Segment) -> &Terms, text: &str, postings: &mut Vec<Posting>) {
    let [mut a, mut b] = [&sides[0], &sides[1]].map(|side| {
        let terms = of(side.segment);
        let of_side = terms.find(text).map_or(&[][..], |idx| side.segment.postings(terms.get(idx)));
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
