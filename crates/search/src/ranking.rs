//! The ranking of search results: the weights of fields with their defaults, and the parameters and length normalization of
//! BM25.

use std::sync::OnceLock;

use serde::Serialize;

/// The parameters of the ranking: Okapi BM25 over all fields of a tool, with a bonus for matches of its name.
///
/// The default is a single setting for all catalogs. `benches/tables/search-quality.md` documents how it was chosen, and its quality.
///
/// The score of a tool *d* is a sum over the words *w* of a query, both as they are written and as stems:
///
/// ```text
/// Σ idf(w) · (k1 + 1) · tf(w, d) / (tf(w, d) + k1 · (1 − b + b · len(d) / average len))
///     + name_match · Σ idf(w of the name that match) / Σ idf(w of the name)
/// ```
///
/// `tf` is the number of occurrences of a word, weighted by field, and `len` the weighted number of all words. `idf` is
/// `ln(1 + (N − df + 0.5) / (df + 0.5))`, as in Lucene and tantivy.
///
/// ```
/// use toolkit::Tool;
/// use toolkit_search::{Index, Ranking};
///
/// let calendar = Tool::builder("calendar").build()?;
/// let index = Index::from_tools([&calendar]);
/// assert_eq!(index.search("calender", 5).len(), 1, "similar words of names match");
///
/// let mut ranking = Ranking::default();
/// ranking.fuzzy = 0.0;
/// let exact = Index::with_ranking([&calendar], ranking);
/// assert_eq!(exact.search("calender", 5).len(), 0);
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ranking {
    /// The saturation of repeated words; 0 and up.
    pub k1: f32,
    /// The penalty of long tools, 0 to 1.
    pub b: f32,
    /// The weights of the fields.
    pub weights: Weights,
    /// The factor of stems relative to words; 0 disables stems.
    pub stems: f32,
    /// The bonus for a match of the whole name.
    pub name_match: f32,
    /// The factor of similar words of tool names, which replace unknown words of a query; 0 disables them.
    pub fuzzy: f32,
    /// The minimum evidence that a query has an answer, on the scale of scores; 0 returns every match.
    ///
    /// The evidence is the score of a tool, in which words that requests of any kind contain, such as "find", "create"
    /// and "information", count a quarter. The result is empty if none of the five best tools has that much, or contains
    /// half of the query.
    ///
    /// In an index of fewer than 200 tools, the other words alone need only a part of the threshold, in proportion to the
    /// number of tools.
    pub threshold: f32,
}

/// The weights of occurrences in each field; 0 excludes the field.
///
/// ```
/// use toolkit::Tool;
/// use toolkit_search::{Index, Ranking};
///
/// let tool = Tool::builder("send").description("Sends an email. Supports attachments.").build()?;
/// let mut ranking = Ranking::default();
/// ranking.weights.description = 0;
/// let index = Index::with_ranking([&tool], ranking);
/// assert_eq!(index.search("email", 5).len(), 1);
/// assert_eq!(index.search("attachments", 5).len(), 0);
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Weights {
    /// The name of the tool.
    pub name: u8,
    /// The namespace.
    pub namespace: u8,
    /// The tags, the category and the aliases.
    pub tags: u8,
    /// The title and the first sentence of the description.
    pub lead: u8,
    /// The rest of the description.
    pub description: u8,
    /// The names of arguments, at any depth.
    pub arguments: u8,
    /// The descriptions of arguments.
    pub argument_descriptions: u8,
    /// The values of enumerations.
    pub choices: u8,
}

/// A searched field of a tool.
///
/// ```
/// use toolkit::Tool;
/// use toolkit_search::{Field, Index};
///
/// let send = Tool::builder("send").description("Sends an email. The email is sent later.").build()?;
/// let explanation = Index::from_tools(&[send]).snapshot().explain("email", "send").unwrap();
/// let fields = &explanation.reasons[0].fields;
/// assert_eq!((fields[&Field::Lead], fields[&Field::Description]), (1, 1));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Field {
    /// The name.
    Name,
    /// The namespace.
    Namespace,
    /// The tags, the category and the aliases.
    Tags,
    /// The title and the first sentence of the description.
    Lead,
    /// The rest of the description.
    Description,
    /// The names of arguments.
    Argument,
    /// The descriptions of arguments.
    ArgumentDescription,
    /// The values of enumerations.
    Choice,
}

impl Ranking {
    /// Returns the parameters of plain Okapi BM25, with equal weights and without stems, a bonus for names, similar words,
    /// or a threshold.
    #[must_use]
    pub fn plain() -> Self {
        let weights = Weights {
            name: 1,
            namespace: 1,
            tags: 1,
            lead: 1,
            description: 1,
            arguments: 1,
            argument_descriptions: 1,
            choices: 1,
        };
        Self { k1: 1.2, b: 0.75, weights, stems: 0.0, name_match: 0.0, fuzzy: 0.0, threshold: 0.0 }
    }

    /// Returns a copy with all parameters in their valid ranges.
    pub(super) fn clamped(self) -> Self {
        let within = |number: f32, most: f32| if number.is_finite() { number.clamp(0.0, most) } else { 0.0 };
        Self {
            k1: within(self.k1, 100.0),
            b: within(self.b, 1.0),
            stems: within(self.stems, 100.0),
            name_match: within(self.name_match, 1000.0),
            fuzzy: within(self.fuzzy, 1.0),
            threshold: within(self.threshold, 1000.0),
            ..self
        }
    }
}

impl Default for Ranking {
    fn default() -> Self {
        Self { k1: 1.2, b: 0.75, weights: Weights::default(), stems: 1.0, name_match: 16.0, fuzzy: 0.5, threshold: 9.0 }
    }
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            name: 3,
            namespace: 2,
            tags: 1,
            lead: 2,
            description: 1,
            arguments: 1,
            argument_descriptions: 1,
            choices: 1,
        }
    }
}

impl Weights {
    pub(super) fn get(&self, field: Field) -> u8 {
        match field {
            Field::Name => self.name,
            Field::Namespace => self.namespace,
            Field::Tags => self.tags,
            Field::Lead => self.lead,
            Field::Description => self.description,
            Field::Argument => self.arguments,
            Field::ArgumentDescription => self.argument_descriptions,
            Field::Choice => self.choices,
        }
    }
}

/// The binary places of fixed-point fractions; a float is not more precise.
pub(crate) const ONE: u32 = 24;

/// The frequencies and lengths whose fractions are stored.
const FREQUENCIES: u16 = 16;
const LENGTHS: u16 = 256;
const LEN: usize = FREQUENCIES as usize * LENGTHS as usize;

/// The fractions of common frequencies and lengths in a snapshot, since the first search. A division takes as long as the
/// rest of the work for a posting.
pub(crate) type Fractions = OnceLock<Box<[u32; LEN]>>;

/// The length normalization.
#[derive(Clone, Copy)]
pub(crate) struct Norm<'s> {
    base: f32,
    per_word: f32,
    fractions: &'s [u32; LEN],
}

impl<'s> Norm<'s> {
    /// Normalizes by the average number of words of a tool. `fractions` belongs to this ranking and average.
    pub(crate) fn new(ranking: &Ranking, average: f32, fractions: &'s Fractions) -> Self {
        let per_word = if average > 0.0 { ranking.k1 * ranking.b / average } else { 0.0 };
        let norm = Self { base: ranking.k1 * (1.0 - ranking.b), per_word, fractions: &[0; LEN] };
        let fractions = fractions.get_or_init(|| {
            let mut fractions = Box::new([0; LEN]);
            for (at, fraction) in (0..).zip(&mut *fractions) {
                *fraction = norm.computed(at / LENGTHS, at % LENGTHS);
            }
            fractions
        });
        Self { fractions, ..norm }
    }

    /// Returns the fraction of the maximum score that a tool has for a frequency.
    #[inline]
    pub(crate) fn part(self, frequency: u16, length: u16) -> f32 {
        let frequency = f32::from(frequency);
        frequency / (frequency + (self.base + self.per_word * f32::from(length)))
    }

    /// Returns the same as a fixed-point number.
    #[inline]
    pub(crate) fn fixed(self, frequency: u16, length: u16) -> u64 {
        let fraction = match frequency < FREQUENCIES && length < LENGTHS {
            true => self.fractions[usize::from(frequency) * usize::from(LENGTHS) + usize::from(length)],
            false => self.computed(frequency, length),
        };
        u64::from(fraction)
    }

    fn computed(self, frequency: u16, length: u16) -> u32 {
        (self.part(frequency, length) * (1 << ONE) as f32) as u32
    }
}
