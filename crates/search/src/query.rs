//! Queries with filters, and parsed ones, with fuzzy matching of misspelled or incomplete words with words of tool names.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use toolkit::tool::{ToolBackend, normalize_tag};
use toolkit_schema::suggest::Typo;

use crate::record::Record;
use crate::segment::Segment;
use crate::state::{Part, State};
use crate::words::{Shape, each_word_of_query, stem};

/// A query with filters.
///
/// A text converts to a query without filters.
///
/// ```
/// use toolkit::Tool;
/// use toolkit_search::{Index, Query};
///
/// let mail = Tool::builder("send").namespace("mail").tags(["outgoing"]).build()?;
/// let chat = Tool::builder("send").namespace("chat").tags(["outgoing"]).build()?;
/// let index = Index::from_tools(&[mail, chat]);
/// assert_eq!(index.search("send", 5).len(), 2);
/// let hits = index.search(Query::new("send").namespace("mail").tag("outgoing"), 5);
/// assert_eq!((hits.len(), &*hits[0].summary.id), (1, "mail:send"));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct Query<'q> {
    text: Cow<'q, str>,
    pub(super) filter: Filter,
}

/// A behavior hint of a tool (MCP `ToolAnnotations`).
///
/// A filter by a hint only matches tools that declare it; a tool without a hint is neither read-only nor modifying.
///
/// ```
/// use toolkit::Tool;
/// use toolkit_search::{BehaviorHint, Index, Query};
///
/// let index = Index::from_tools(&[
///     Tool::builder("read_file").read_only(true).build()?,
///     Tool::builder("delete_file").read_only(false).build()?,
///     Tool::builder("copy_file").build()?,
/// ]);
/// let hits = index.search(Query::new("file").hint(BehaviorHint::ReadOnly, true), 5);
/// assert_eq!((hits.len(), &*hits[0].summary.name), (1, "read_file"));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BehaviorHint {
    /// The tool does not modify its environment.
    ReadOnly,
    /// The tool may perform destructive updates.
    Destructive,
    /// Repeated calls with the same arguments have no additional effect.
    Idempotent,
    /// The tool interacts with an open world of external entities.
    OpenWorld,
}

/// The filters of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Filter {
    namespaces: Vec<String>,
    tags: Vec<String>,
    categories: Vec<String>,
    hints: Vec<(BehaviorHint, bool)>,
    backends: Vec<ToolBackend>,
}

impl<'q> Query<'q> {
    /// Creates a query without filters. An empty text matches all tools, in the order of their ids.
    pub fn new(text: impl Into<Cow<'q, str>>) -> Self {
        Self { text: text.into(), filter: Filter::default() }
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Restricts the result to a namespace. Several namespaces are alternatives. The empty one contains the tools
    /// without one.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.filter.namespaces.push(namespace.into());
        self
    }

    /// Restricts the result to tools with a tag. Several tags are alternatives. Tags are compared in their normalized
    /// form.
    pub fn tag(mut self, tag: &str) -> Self {
        // No tool has an empty tag.
        self.filter.tags.push(normalize_tag(tag).unwrap_or_default());
        self
    }

    /// Restricts the result to a category, case-insensitively. Several categories are alternatives.
    pub fn category(mut self, category: &str) -> Self {
        self.filter.categories.push(category.trim().to_lowercase());
        self
    }

    /// Restricts the result to tools with this value of a hint. Tools without the hint are excluded, whatever its
    /// default in MCP.
    pub fn hint(mut self, hint: BehaviorHint, value: bool) -> Self {
        self.filter.hints.push((hint, value));
        self
    }

    /// Restricts the result to tools of a backend. Several backends are alternatives.
    pub fn backend(mut self, backend: ToolBackend) -> Self {
        self.filter.backends.push(backend);
        self
    }
}

impl<'q> From<&'q str> for Query<'q> {
    fn from(text: &'q str) -> Self {
        Self::new(text)
    }
}

impl<'q> From<&'q String> for Query<'q> {
    fn from(text: &'q String) -> Self {
        Self::new(text.as_str())
    }
}

impl Hash for Query<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Filter { namespaces, tags, categories, hints, backends } = &self.filter;
        (&self.text, namespaces, tags, categories, hints, backends).hash(state);
    }
}

impl Filter {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn matches(&self, record: &Record) -> bool {
        let Self { namespaces, tags, categories, hints, backends } = self;
        let category = || record.category().map(|category| category.trim().to_lowercase());
        let value_of = |hint| match hint {
            BehaviorHint::ReadOnly => record.hints.read_only,
            BehaviorHint::Destructive => record.hints.destructive,
            BehaviorHint::Idempotent => record.hints.idempotent,
            BehaviorHint::OpenWorld => record.hints.open_world,
        };
        (namespaces.is_empty() || namespaces.iter().any(|wanted| wanted == record.namespace()))
            && (tags.is_empty() || record.has_tag(|tag| tags.iter().any(|wanted| wanted == tag)))
            && (categories.is_empty() || category().is_some_and(|category| categories.contains(&category)))
            && hints.iter().all(|&(hint, value)| value_of(hint) == Some(value))
            && (backends.is_empty() || record.backends().iter().any(|backend| backends.contains(backend)))
    }
}

/// The number of bytes of a query that are parsed.
const MAX_TEXT_LEN: usize = 1 << 14;
/// The maximum number of distinct words.
const MAX_WORDS: usize = 256;
/// The maximum number of unknown words for which similar ones are searched.
const MAX_UNKNOWN: usize = 8;

/// The distinct words of a query.
#[derive(Debug, Default)]
pub(crate) struct ParsedQuery {
    pub(crate) words: Vec<Word>,
    /// Words that no tool contains.
    pub(crate) unknown: Vec<String>,
    /// Similar words that replace unknown words.
    pub(crate) replacements: Vec<Replacement>,
}

/// A word, its stem and the factor of its score.
#[derive(Debug)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) stem: String,
    pub(crate) factor: f32,
}

impl ParsedQuery {
    /// Parses `text`.
    ///
    /// A word that no tool contains is assumed to be misspelled or incomplete, and replaced by similar words of tool
    /// names.
    pub(crate) fn new(text: &str, state: &State) -> Self {
        let mut query = Self::default();
        let head = &text[..text.floor_char_boundary(MAX_TEXT_LEN)];
        each_word_of_query(head, |word| {
            let unknown = &mut query.unknown;
            if query.words.len() + unknown.len() == MAX_WORDS || query.words.iter().any(|known| known.text == word) {
                return;
            }
            if let Some(stem) = state.stem_of_known(word) {
                query.words.push(Word { text: word.to_owned(), stem, factor: 1.0 });
            } else if unknown.len() < MAX_UNKNOWN && unknown.iter().all(|known| known != word) {
                unknown.push(word.to_owned());
            }
        });
        if state.ranking.fuzzy == 0.0 {
            return query;
        }
        let found = query.unknown.iter().flat_map(|word| replacements(state, word));
        for replacement in found.collect::<Vec<_>>() {
            if query.words.iter().all(|known| known.text != replacement.word) {
                let (text, stem) = (replacement.word.clone(), stem(&replacement.word).into_owned());
                query.words.push(Word { text, stem, factor: state.ranking.fuzzy });
            }
            query.replacements.push(replacement);
        }
        query
    }

    /// Returns the distinct stems; of several words with the same stem, the first determines the factor.
    pub(crate) fn stems(&self) -> impl Iterator<Item = (&str, f32)> {
        let words = self.words.iter().enumerate();
        let firsts = words.filter(|(at, word)| self.words[..*at].iter().all(|before| before.stem != word.stem));
        firsts.map(|(_, word)| (&*word.stem, word.factor))
    }
}

/// A word of a tool name that replaces an unknown word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Replacement {
    pub(crate) unknown: String,
    pub(crate) word: String,
}

/// The minimum length of an incomplete word in characters.
const MIN_PREFIX: usize = 3;
/// The maximum number of replacements of a word.
const MAX_FOUND: usize = 4;

/// Returns the words of tool names that are similar to `unknown`, the most similar first.
///
/// An incomplete word is completed. A word of four or more characters may have one wrong character, a word of eight or
/// more two; the first character has to be right. A transposition counts as one wrong character.
pub(crate) fn replacements(state: &State, unknown: &str) -> Vec<Replacement> {
    let Some(first) = unknown.chars().next() else {
        return Vec::new();
    };
    let shape = Shape::new(unknown);
    let n_chars = usize::from(shape.n_chars);
    let max_distance = match n_chars {
        ..4 => 0,
        4..8 => 1,
        8.. => 2,
    };
    if n_chars < MIN_PREFIX {
        return Vec::new();
    }
    let typo = Typo::new(unknown);
    let mut found: Vec<(usize, &str)> = Vec::new();
    for part in &state.parts {
        let Segment { words, name_words, name_shapes, .. } = &*part.segment;
        let start = name_words.partition_point(|idx| words.text(*idx).chars().next() < Some(first));
        let n_words = name_words[start..].partition_point(|idx| words.text(*idx).starts_with(first));
        for (idx, of_word) in name_words[start..][..n_words].iter().zip(&name_shapes[start..]) {
            let (is_near, is_longer) = (shape.is_near(*of_word, max_distance), shape.may_start(*of_word));
            if !is_near && !is_longer {
                continue;
            }
            let word = words.text(*idx);
            let distance = if is_longer && word.starts_with(unknown) {
                // Ranked after every misspelled word; shorter completions are better.
                max_distance + usize::from(of_word.n_chars) - n_chars
            } else {
                match typo.as_ref().filter(|_| is_near).and_then(|typo| typo.distance_to(word, max_distance)) {
                    Some(distance) => distance,
                    None => continue,
                }
            };
            if !found.contains(&(distance, word)) && is_in_a_name(part, *idx) {
                found.push((distance, word));
            }
        }
    }
    found.sort_unstable();
    found.truncate(MAX_FOUND);
    found.into_iter().map(|(_, word)| Replacement { unknown: unknown.to_owned(), word: word.to_owned() }).collect()
}

/// Returns true if a live tool has the word in its name.
fn is_in_a_name(part: &Part, word: u32) -> bool {
    let segment = &part.segment;
    let named = segment.named.get(segment.words.get(word).named);
    named.docs.iter().any(|doc| part.is_live(segment.order.tools[*doc as usize] as usize))
}
