//! What makes one tool a better answer than another.

use serde::Serialize;

/// What makes one tool a better answer than another: Okapi BM25 over all that a tool says, and how much of its name was
/// asked for.
///
/// The default is one setting for every catalogue; how it was chosen, and what it is worth, is in `benches/README.md`.
///
/// For a tool *d* and the words *w* of a question, once as they are written and once as stems:
///
/// ```text
/// Σ idf(w) · (k1 + 1) · tf(w, d) / (tf(w, d) + k1 · (1 − b + b · len(d) / average len))
///     + name_match · Σ idf(w of the name that are asked for) / Σ idf(w of the name)
/// ```
///
/// `tf` counts a word as often as the weight of the field says that it stands in, and so does `len`. `idf` is
/// `ln(1 + (N − df + 0.5) / (df + 0.5))`, as Lucene and tantivy have it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ranking {
    /// How soon more of the same word stops to count; 0 and up.
    pub k1: f32,
    /// How much long tools are held back, 0 to 1.
    pub b: f32,
    /// How often a word counts, by where it stands.
    pub weights: Weights,
    /// What stems are worth beside words as they are written; 0 is without stems.
    pub stems: f32,
    /// What it is worth that the whole name was asked for.
    pub name_match: f32,
    /// What a word of a name is worth that was taken for one that no tool has, because that may be mistyped or not typed
    /// to its end; 0 is to take none.
    pub near: f32,
}

/// How often a word counts, by where it stands; 0 is not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Weights {
    /// The tool's name.
    pub name: u8,
    /// Its namespace.
    pub namespace: u8,
    /// Its tags, its category and its former names.
    pub tags: u8,
    /// Its title, and the first sentence of its description.
    pub lead: u8,
    /// The rest of the description.
    pub description: u8,
    /// The names of arguments, at any depth.
    pub arguments: u8,
    /// What is said of arguments.
    pub argument_descriptions: u8,
    /// The values that arguments can choose from.
    pub choices: u8,
}

/// Where a word stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Field {
    /// In the name.
    Name,
    /// In the namespace.
    Namespace,
    /// Among the tags, in the category or in a former name.
    Tags,
    /// In the title or the first sentence of the description.
    Lead,
    /// In the rest of the description.
    Description,
    /// In the name of an argument.
    Argument,
    /// In what is said of an argument.
    ArgumentDescription,
    /// In a value that an argument can have.
    Choice,
}

impl Ranking {
    /// Okapi BM25 alone: all fields alike, no stems, nothing extra for names, no word taken for another.
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
        Self { k1: 1.2, b: 0.75, weights, stems: 0.0, name_match: 0.0, near: 0.0 }
    }

    /// The same with numbers that the formula can take.
    pub(super) fn sound(self) -> Self {
        let within = |number: f32, most: f32| if number.is_finite() { number.clamp(0.0, most) } else { 0.0 };
        Self {
            k1: within(self.k1, 100.0),
            b: within(self.b, 1.0),
            stems: within(self.stems, 100.0),
            name_match: within(self.name_match, 1000.0),
            near: within(self.near, 1.0),
            ..self
        }
    }
}

impl Default for Ranking {
    fn default() -> Self {
        Self { k1: 1.2, b: 0.75, weights: Weights::default(), stems: 1.0, name_match: 16.0, near: 0.5 }
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
    pub(super) fn of(&self, field: Field) -> u8 {
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
