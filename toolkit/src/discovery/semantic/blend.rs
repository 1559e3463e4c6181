//! Words and meaning together.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::SemanticError;

/// How words and meaning are put together.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Blend {
    /// Words alone, as [`Snapshot::search`](super::super::Snapshot::search).
    Words,
    /// Meaning alone: the cosine of two vectors.
    Meaning,
    /// The sum of `1 / (k + rank)`, whatever the scores are: tools that are near the top by either come first.
    #[non_exhaustive]
    Ranks {
        /// The higher, the less the very first ranks stand out; 60 is usual.
        k: f32,
    },
    /// The weighted sum of scores that are made comparable: those of words as shares of the best, and cosines from 0 for
    /// the least to 1 for the greatest.
    #[non_exhaustive]
    Scores {
        /// The share of words, from 0 to 1; the rest is that of meaning.
        words: f32,
    },
}

impl Blend {
    /// So many tools are taken from the answer by words.
    pub(super) const DEPTH: usize = 1000;

    /// By reciprocal rank, as usual.
    #[must_use]
    pub const fn ranks() -> Self {
        Self::Ranks { k: 60.0 }
    }

    /// By scores, with this share for words; 0.5 where nothing is known of the tools.
    #[must_use]
    pub const fn scores(words: f32) -> Self {
        Self::Scores { words }
    }

    pub(super) fn check(self) -> Result<(), SemanticError> {
        match self {
            Self::Scores { words } if !(0.0..=1.0).contains(&words) => Err(SemanticError::Share { words }),
            _ => Ok(()),
        }
    }

    /// The tools of two answers, from the best to the worst. The answer by words is in the order of its scores.
    pub(super) fn mix<'t>(self, words: Vec<(&'t str, f32)>, mut meaning: Vec<(&'t str, f32)>) -> Vec<(&'t str, f32)> {
        let mut mixed: BTreeMap<&'t str, f32> = BTreeMap::new();
        match self {
            Self::Words => mixed.extend(words),
            Self::Meaning => mixed.extend(meaning),
            Self::Ranks { k } => {
                meaning.sort_by(best_first);
                meaning.truncate(Self::DEPTH);
                for answer in [words, meaning] {
                    for (rank, (id, _)) in answer.into_iter().enumerate() {
                        *mixed.entry(id).or_default() += 1.0 / (k.max(0.0) + rank as f32 + 1.0);
                    }
                }
            }
            Self::Scores { words: share } => {
                let best = words.first().map_or(1.0, |(_, score)| score.max(f32::MIN_POSITIVE));
                let bounds =
                    |f: fn(f32, f32) -> f32| meaning.iter().map(|(_, cosine)| *cosine).reduce(f).unwrap_or(0.0);
                let (least, greatest) = (bounds(f32::min), bounds(f32::max));
                let range = (greatest - least).max(f32::MIN_POSITIVE);
                mixed.extend(words.into_iter().map(|(id, score)| (id, share * score / best)));
                for (id, cosine) in meaning {
                    *mixed.entry(id).or_default() += (1.0 - share) * (cosine - least) / range;
                }
            }
        }
        let mut mixed: Vec<(&str, f32)> = mixed.into_iter().collect();
        mixed.sort_by(best_first);
        mixed
    }
}

fn best_first(a: &(&str, f32), b: &(&str, f32)) -> Ordering {
    b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0))
}
