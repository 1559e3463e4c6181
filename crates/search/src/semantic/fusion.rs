//! Fusion of the search by words and the semantic search.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::semantic_error::SemanticError;

/// The method that fuses the search by words and the semantic search.
///
/// The default is [`Fusion::additive`] with the weight 32. `benches/tables/semantic-search.md` documents how it was chosen, and its
/// quality.
///
/// ```
/// use toolkit_search::Fusion;
///
/// assert_eq!(Fusion::default(), Fusion::additive(32.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fusion {
    /// The search by words only; see [`Snapshot::search`](super::Snapshot::search).
    Words,
    /// The semantic search only: the cosine similarity of two vectors.
    Meaning,
    /// Reciprocal rank fusion (RRF): the sum of `1 / (60 + rank)`, independent of the scores.
    #[non_exhaustive]
    Rrf,
    /// The score of the search by words, plus the cosine similarity scaled to a range from 0 for the lowest to
    /// `meaning` for the highest.
    ///
    /// A score of the search by words is a sum of evidence: it grows with the number of matching words and with their
    /// rarity. Since it is not normalized here, the words decide if many of them match, and the embeddings decide if
    /// few do, separately for each query. The other methods give both searches a fixed weight, even if the best match
    /// of words is weak.
    #[non_exhaustive]
    Additive {
        /// The maximum contribution of the semantic search, on the scale of word scores; 0 and up.
        meaning: f32,
    },
    /// The weighted sum of normalized scores: word scores relative to the best one, and cosine similarities scaled to a
    /// range from 0 for the lowest to 1 for the highest.
    #[non_exhaustive]
    Linear {
        /// The weight of the search by words, from 0 to 1; the semantic search has the rest.
        words: f32,
    },
}

impl Default for Fusion {
    fn default() -> Self {
        Self::additive(32.0)
    }
}

impl Fusion {
    /// The maximum number of results that are fused.
    pub(super) const DEPTH: usize = 1000;

    /// The constant of RRF: the higher it is, the less the first ranks stand out. 60 is usual.
    const K: f32 = 60.0;

    /// Returns reciprocal rank fusion.
    #[must_use]
    pub const fn rrf() -> Self {
        Self::Rrf
    }

    /// Returns additive fusion, with the maximum contribution of the semantic search.
    #[must_use]
    pub const fn additive(meaning: f32) -> Self {
        Self::Additive { meaning }
    }

    /// Returns linear fusion, with the weight of the search by words; 0.5 is a neutral choice.
    #[must_use]
    pub const fn linear(words: f32) -> Self {
        Self::Linear { words }
    }

    pub(super) fn check(self) -> Result<(), SemanticError> {
        match self {
            Self::Linear { words } if !(0.0..=1.0).contains(&words) => Err(SemanticError::LinearWeight { words }),
            Self::Additive { meaning } if !(meaning >= 0.0 && meaning.is_finite()) => {
                Err(SemanticError::AdditiveWeight { meaning })
            }
            _ => Ok(()),
        }
    }

    /// Fuses two results, and returns the best tools first. `words` is sorted by score.
    pub(super) fn fuse<'t>(self, words: Vec<(&'t str, f32)>, mut meaning: Vec<(&'t str, f32)>) -> Vec<(&'t str, f32)> {
        let mut fused: BTreeMap<&'t str, f32> = BTreeMap::new();
        match self {
            Self::Words => fused.extend(words),
            Self::Meaning => fused.extend(meaning),
            Self::Rrf => {
                meaning.sort_by(best_first);
                meaning.truncate(Self::DEPTH);
                for answer in [words, meaning] {
                    for (rank, (id, _)) in answer.into_iter().enumerate() {
                        *fused.entry(id).or_default() += 1.0 / (Self::K + rank as f32 + 1.0);
                    }
                }
            }
            Self::Linear { words: share } => {
                let best = words.first().map_or(1.0, |(_, score)| score.max(f32::MIN_POSITIVE));
                fused.extend(words.into_iter().map(|(id, score)| (id, share * score / best)));
                add_scaled(&mut fused, meaning, 1.0 - share);
            }
            Self::Additive { meaning: worth } => {
                fused.extend(words);
                add_scaled(&mut fused, meaning, worth);
            }
        }
        let mut fused: Vec<(&str, f32)> = fused.into_iter().collect();
        fused.sort_by(best_first);
        fused
    }
}

/// Adds cosine similarities, scaled to a range from 0 for the lowest to `max_score` for the highest.
fn add_scaled<'t>(fused: &mut BTreeMap<&'t str, f32>, cosines: Vec<(&'t str, f32)>, max_score: f32) {
    let bound = |f: fn(f32, f32) -> f32| cosines.iter().map(|(_, cosine)| *cosine).reduce(f).unwrap_or(0.0);
    let (least, greatest) = (bound(f32::min), bound(f32::max));
    let range = (greatest - least).max(f32::MIN_POSITIVE);
    for (id, cosine) in cosines {
        *fused.entry(id).or_default() += max_score * ((cosine - least) / range);
    }
}

fn best_first(a: &(&str, f32), b: &(&str, f32)) -> Ordering {
    b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0))
}
