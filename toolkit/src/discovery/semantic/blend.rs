//! Words and meaning together.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::SemanticError;

/// How words and meaning are put together.
///
/// The default is [`Blend::evidence`] with 32 for meaning; how that was chosen, and what it is worth, is in
/// `benches/README.md`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Blend {
    /// Words alone, as [`Snapshot::search`](super::super::Snapshot::search).
    Words,
    /// Meaning alone: the cosine of two vectors.
    Meaning,
    /// The sum of `1 / (60 + rank)`, whatever the scores are: tools that are near the top by either come first.
    #[non_exhaustive]
    Ranks,
    /// The score by words as it is, and the cosine, from 0 for the least to `meaning` for the greatest.
    ///
    /// A score by words is a sum over the words that were found, and higher where more of them were and where they are
    /// rarer. Here it stays one: where many words agree they decide, and where few are found meaning does, question by
    /// question. The other blends give both the same say, however little the best answer by words has in common with
    /// the question.
    #[non_exhaustive]
    Evidence {
        /// What the nearest tool is worth, as a score by words; 0 and up.
        meaning: f32,
    },
    /// The weighted sum of scores that are made comparable: those of words as shares of the best, and cosines from 0 for
    /// the least to 1 for the greatest.
    #[non_exhaustive]
    Scores {
        /// The share of words, from 0 to 1; the rest is that of meaning.
        words: f32,
    },
}

impl Default for Blend {
    fn default() -> Self {
        Self::evidence(32.0)
    }
}

impl Blend {
    /// So many tools are taken from the answer by words.
    pub(super) const DEPTH: usize = 1000;

    /// What is added to a rank: the higher, the less the very first ones stand out. 60 is usual.
    const K: f32 = 60.0;

    /// By reciprocal rank, as usual.
    #[must_use]
    pub const fn ranks() -> Self {
        Self::Ranks
    }

    /// By the sum of evidence, with this worth of the nearest tool.
    #[must_use]
    pub const fn evidence(meaning: f32) -> Self {
        Self::Evidence { meaning }
    }

    /// By scores, with this share for words; 0.5 where nothing is known of the tools.
    #[must_use]
    pub const fn scores(words: f32) -> Self {
        Self::Scores { words }
    }

    pub(super) fn check(self) -> Result<(), SemanticError> {
        match self {
            Self::Scores { words } if !(0.0..=1.0).contains(&words) => Err(SemanticError::Share { words }),
            Self::Evidence { meaning } if !(meaning >= 0.0 && meaning.is_finite()) => {
                Err(SemanticError::Worth { meaning })
            }
            _ => Ok(()),
        }
    }

    /// The tools of two answers, from the best to the worst. The answer by words is in the order of its scores.
    pub(super) fn mix<'t>(self, words: Vec<(&'t str, f32)>, mut meaning: Vec<(&'t str, f32)>) -> Vec<(&'t str, f32)> {
        let mut mixed: BTreeMap<&'t str, f32> = BTreeMap::new();
        match self {
            Self::Words => mixed.extend(words),
            Self::Meaning => mixed.extend(meaning),
            Self::Ranks => {
                meaning.sort_by(best_first);
                meaning.truncate(Self::DEPTH);
                for answer in [words, meaning] {
                    for (rank, (id, _)) in answer.into_iter().enumerate() {
                        *mixed.entry(id).or_default() += 1.0 / (Self::K + rank as f32 + 1.0);
                    }
                }
            }
            Self::Scores { words: share } => {
                let best = words.first().map_or(1.0, |(_, score)| score.max(f32::MIN_POSITIVE));
                mixed.extend(words.into_iter().map(|(id, score)| (id, share * score / best)));
                add_scaled(&mut mixed, meaning, 1.0 - share);
            }
            Self::Evidence { meaning: worth } => {
                mixed.extend(words);
                add_scaled(&mut mixed, meaning, worth);
            }
        }
        let mut mixed: Vec<(&str, f32)> = mixed.into_iter().collect();
        mixed.sort_by(best_first);
        mixed
    }
}

/// Adds cosines, from 0 for the least to `greatest_worth` for the greatest.
fn add_scaled<'t>(mixed: &mut BTreeMap<&'t str, f32>, cosines: Vec<(&'t str, f32)>, greatest_worth: f32) {
    let bound = |f: fn(f32, f32) -> f32| cosines.iter().map(|(_, cosine)| *cosine).reduce(f).unwrap_or(0.0);
    let (least, greatest) = (bound(f32::min), bound(f32::max));
    let range = (greatest - least).max(f32::MIN_POSITIVE);
    for (id, cosine) in cosines {
        *mixed.entry(id).or_default() += greatest_worth * ((cosine - least) / range);
    }
}

fn best_first(a: &(&str, f32), b: &(&str, f32)) -> Ordering {
    b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0))
}
