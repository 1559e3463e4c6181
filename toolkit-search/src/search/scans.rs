//! The lists of a query.

use super::UNIT;
use super::scan::{Gain, Scan};
use crate::norm::Norm;
use crate::parsed_query::ParsedQuery;
use crate::part::{Part, idf};
use crate::segment::Term;
use crate::state::State;

/// Returns the nonempty lists of a query in a part: for each word and each stem, the tools with it in their names, and
/// the others.
pub(super) fn scans_of<'s>(state: &'s State, part: &'s Part, query: &ParsedQuery, norm: Norm<'s>) -> Vec<Scan<'s>> {
    let (segment, ranking) = (&*part.segment, &state.ranking);
    let worth = |count: u32| idf(state.n_tools, count) * UNIT;
    let units = |worth: f32| (worth * (ranking.k1 + 1.0)) as u64;
    let mut scans: Vec<Scan<'s>> = Vec::with_capacity(2 * query.words.len());
    let mut stems: Vec<u32> = Vec::with_capacity(query.words.len());
    let mut n_terms = 0;
    let mut add = |term: &Term, gain: Gain| {
        let (named, others) = (segment.named.get(term.named), segment.others.get(term.others));
        if !named.docs.is_empty() {
            let bounds = &part.share_bounds[term.named.blocks()];
            scans.push(Scan::new(named, n_terms, gain, norm, &part.name_shares, bounds));
        }
        if !others.docs.is_empty() && gain.has_text {
            scans.push(Scan::new(others, n_terms, Gain { bonus: 0.0, ..gain }, norm, &[], &[]));
        }
        n_terms += 1;
    };
    for word in &query.words {
        let found = segment.words.find(&word.text).map(|idx| (idx, segment.words.get(idx)));
        let stem = match found {
            Some((_, term)) => Some(term.partner),
            None => segment.stems.find(&word.stem),
        };
        let stem = stem.filter(|stem| {
            let is_new = !stems.contains(stem);
            stems.push(*stem);
            is_new && (ranking.stems > 0.0 || ranking.name_match > 0.0)
        });
        let mut of_word = found.map(|(idx, term)| {
            let word = units(word.factor * worth(part.word_count(idx)));
            (term, Gain { has_text: true, word, stem: 0, bonus: 0.0 })
        });
        if let Some(stem) = stem {
            let term = segment.stems.get(stem);
            let worth = word.factor * worth(part.stem_count(stem));
            let (units, bonus) = (units(ranking.stems * worth), ranking.name_match * worth);
            match &mut of_word {
                // A stem with a single form shares its lists, which are read once.
                Some((word, gain)) if word.named == term.named && word.others == term.others => {
                    (gain.stem, gain.bonus) = (units, bonus);
                }
                _ => add(term, Gain { has_text: units > 0, word: 0, stem: units, bonus }),
            }
        }
        if let Some((term, gain)) = of_word {
            add(term, gain);
        }
    }
    scans
}
