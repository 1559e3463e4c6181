//! Hits of a search, and their explanations.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::query::{ParsedQuery, Query};
use crate::ranking::Field;
use crate::search::{Found, UNIT};
use crate::segment::{Terms, length_of};
use crate::state::{Part, State, idf};
use crate::summary::Summary;
use crate::words::{each_word_at, each_word_of, halves, stem};

/// A tool that a search returned.
///
/// ```
/// use serde_json::json;
/// use toolkit::Tool;
/// use toolkit_search::Index;
///
/// let send = Tool::builder("send").namespace("mail").description("Sends an email.").build()?;
/// let hits = Index::from_tools(&[send]).search("email", 5);
/// assert_eq!(hits[0].summary.id, "mail:send");
/// assert!(hits[0].score > 0.0);
///
/// // As JSON, for a model or another program.
/// let json = serde_json::to_value(&hits)?;
/// assert_eq!(json[0]["summary"]["shortDescription"], "Sends an email.");
/// assert_eq!(json[0]["scoreType"], "bm25");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Hit {
    /// A summary of the tool.
    #[serde(serialize_with = "shared")]
    pub summary: Arc<Summary>,
    /// The score; higher is better. Scores are only comparable within one result.
    pub score: f32,
    /// The type of the score.
    pub score_type: ScoreType,
}

/// The type of a score.
///
/// ```
/// # use toolkit_search::{Embedder, EmbedderError};
/// # struct Model;
/// # impl Embedder for Model {
/// #     fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
/// #         Ok(texts.iter().map(|text| vec![text.len() as f32, 1.0]).collect())
/// #     }
/// # }
/// use toolkit::Tool;
/// use toolkit_search::{Fusion, Index, ScoreType, Semantic};
///
/// let snapshot = Index::from_tools(&[Tool::builder("send").build()?]).snapshot();
/// let semantic = Semantic::new(Model);
/// semantic.update(&snapshot)?;
/// let score_type = |fusion| semantic.search(&snapshot, "send", fusion, 1).map(|hits| hits[0].score_type);
/// assert_eq!(score_type(Fusion::Words)?, ScoreType::Bm25);
/// assert_eq!(score_type(Fusion::Meaning)?, ScoreType::Embedding);
/// assert_eq!(score_type(Fusion::default())?, ScoreType::Hybrid);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ScoreType {
    /// A word score; see [`Ranking`](super::Ranking).
    Bm25,
    /// The cosine similarity of two embeddings.
    Embedding,
    /// A combination of both.
    Hybrid,
}

impl Hit {
    pub(super) fn by_words(found: Found<'_>) -> Self {
        let score = found.score as f32 / UNIT;
        Self { summary: Arc::clone(found.record.summary()), score, score_type: ScoreType::Bm25 }
    }
}

fn shared<S: Serializer>(summary: &Arc<Summary>, serializer: S) -> Result<S::Ok, S::Error> {
    summary.serialize(serializer)
}

/// An explanation of a hit: the contributions to its score.
///
/// ```
/// use toolkit::Tool;
/// use toolkit_search::Index;
///
/// let index = Index::from_tools(&[Tool::builder("send_email").description("Sends an email.").build()?]);
/// let hit = index.search("send email", 1).remove(0);
/// let explanation = index.snapshot().explain("send email", &hit.summary.id).unwrap();
/// assert!((explanation.score - hit.score).abs() < 0.01);
/// for reason in &explanation.reasons {
///     println!("{:>6.2}  {} ({:?})", reason.score, reason.term, reason.kind);
/// }
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Explanation {
    /// The score of the tool for the query.
    pub score: f32,
    /// The contributions to the score, the largest first.
    pub reasons: Vec<Reason>,
}

/// A contribution to a score.
///
/// A misspelled word is matched through a similar word of a tool's name:
///
/// ```
/// use toolkit::Tool;
/// use toolkit_search::Index;
///
/// let index = Index::from_tools(&[Tool::builder("calendar").build()?]);
/// let explanation = index.snapshot().explain("calender", "calendar").unwrap();
/// let reason = &explanation.reasons[0];
/// assert_eq!(reason.instead_of.as_deref(), Some("calender"));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Reason {
    /// The matched word or stem.
    pub term: String,
    /// The word of the query that `term` replaces, since no tool contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<String>,
    /// The kind of match.
    pub kind: Match,
    /// The fields that contain the term, with the number of occurrences.
    pub fields: BTreeMap<Field, usize>,
    /// The contribution.
    pub score: f32,
}

/// The kind of a match.
///
/// ```
/// use toolkit::Tool;
/// use toolkit_search::{Index, Match};
///
/// let send = Tool::builder("send").description("Posts mails.").build()?;
/// let snapshot = Index::from_tools(&[send]).snapshot();
/// let kinds = |query: &str| -> Vec<Match> {
///     let explanation = snapshot.explain(query, "send");
///     explanation.into_iter().flat_map(|of| of.reasons).map(|reason| reason.kind).collect()
/// };
/// assert_eq!(kinds("posting"), [Match::Stem]);
/// assert!(kinds("posts").contains(&Match::Word));
/// assert!(kinds("sends").contains(&Match::Name));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Match {
    /// The word itself.
    Word,
    /// Another form of the word.
    Stem,
    /// A part of the name of the tool.
    Name,
}

/// Selects words or stems: their terms, and their number in a part.
type TermKind = fn(&Part) -> (&Terms, fn(&Part, u32) -> u32);

/// Explains the score of a tool; see [`Snapshot::explain`](crate::Snapshot::explain).
pub(crate) fn explain(state: &State, query: &Query<'_>, id: &str) -> Option<Explanation> {
    let record = state.record(id).filter(|record| query.filter.matches(record))?;
    let parsed = ParsedQuery::new(query.text(), state);
    let mut n_halves = 0_u32;
    let mut occurrences: Vec<(Field, String, String)> = Vec::new();
    each_word_of(&record.read_only_tool(), |field, word| {
        let weight = state.ranking.weights.get(field);
        if weight > 0 {
            n_halves = n_halves.saturating_add(u32::from(weight) * halves(word));
            occurrences.push((field, word.to_owned(), stem(word).into_owned()));
        }
    });

    let words: TermKind = |part| (&part.segment.words, Part::word_count);
    let stems: TermKind = |part| (&part.segment.stems, Part::stem_count);
    let worth = |of: TermKind, text: &str| idf(state.n_tools, count(state, of, text));
    let fields_of = |is_it: &dyn Fn(&str, &str) -> bool| {
        let mut fields = BTreeMap::new();
        let found = occurrences.iter().filter(|(_, word, stem)| is_it(word, stem));
        found.for_each(|(field, ..)| *fields.entry(*field).or_insert(0) += 1);
        fields
    };
    let norm = state.norm();
    let part_of = |fields: &BTreeMap<Field, usize>| {
        let weighted =
            fields.iter().map(|(field, n)| usize::from(state.ranking.weights.get(*field)) * n).sum::<usize>();
        norm.part(u16::try_from(weighted).unwrap_or(u16::MAX), length_of(n_halves))
    };
    let k1 = state.ranking.k1 + 1.0;

    let mut reasons = Vec::new();
    let mut add = |kind, term: &str, fields: BTreeMap<Field, usize>, score: f32| {
        let replacement =
            parsed.replacements.iter().find(|replacement| replacement.word == term || stem(&replacement.word) == term);
        let instead_of = replacement.map(|replacement| replacement.unknown.clone());
        if score > 0.0 && !fields.is_empty() {
            reasons.push(Reason { term: term.to_owned(), instead_of, kind, fields, score });
        }
    };
    for word in &parsed.words {
        let fields = fields_of(&|of_tool, _| of_tool == word.text);
        let score = word.factor * worth(words, &word.text) * k1 * part_of(&fields);
        add(Match::Word, &word.text, fields, score);
    }
    let mut name: Vec<&str> =
        occurrences.iter().filter(|(field, ..)| *field == Field::Name).map(|(_, _, stem)| &**stem).collect();
    name.sort_unstable();
    name.dedup();
    let whole: f32 = name.iter().map(|stem| worth(stems, stem)).sum();
    for (stem, factor) in parsed.stems() {
        let fields = fields_of(&|_, of_tool| of_tool == stem);
        let score = factor * state.ranking.stems * worth(stems, stem) * k1 * part_of(&fields);
        add(Match::Stem, stem, fields, score);
        if name.contains(&stem) {
            let share = if whole > 0.0 { worth(stems, stem) / whole } else { 0.0 };
            let fields = BTreeMap::from([(Field::Name, 1)]);
            add(Match::Name, stem, fields, factor * state.ranking.name_match * share);
        }
    }
    if reasons.is_empty() {
        return None;
    }
    reasons.sort_by(|a, b| b.score.total_cmp(&a.score));
    let score = reasons.iter().map(|reason| reason.score).sum();
    Some(Explanation { score, reasons })
}

/// Returns the matches in a text; see [`Snapshot::highlights`](crate::Snapshot::highlights).
pub(crate) fn highlights(state: &State, query: &Query<'_>, text: &str) -> Vec<Range<usize>> {
    let parsed = ParsedQuery::new(query.text(), state);
    let mut places: Vec<Range<usize>> = Vec::new();
    each_word_at(text, |place, word| {
        let is_match = parsed.words.iter().any(|of_query| of_query.text == word)
            || (state.ranking.stems > 0.0 && parsed.words.iter().any(|of_query| *of_query.stem == *stem(word)));
        if is_match && places.last().is_none_or(|last| last.end <= place.start) {
            places.push(place);
        }
    });
    places
}

/// Returns the number of tools with a word or stem.
fn count(state: &State, of: TermKind, text: &str) -> u32 {
    let counts = state.parts.iter().filter_map(|part| {
        let (terms, count) = of(part);
        Some(count(part, terms.find(text)?))
    });
    counts.max().unwrap_or(0)
}
