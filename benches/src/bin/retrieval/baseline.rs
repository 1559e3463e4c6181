//! The best lexical baseline that was published for these sets, where it is called L2.
//!
//! It shares no code with the index. Identifiers and prose are split at the boundaries of words, of case and of digits;
//! stop words and single characters are dropped; the name counts three times, the namespace twice, tags, description,
//! and names and descriptions of arguments once; the words of a question count once; a score is Okapi BM25 (k1 1.2, b
//! 0.75) over the words, plus half of that over their stems.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

use frostem::{Algorithm, Stemmer};
use serde_json::Value;
use toolkit::Tool;

const STOP_WORDS: &str = "a about above after again against all am an and any are as at be because been before being \
    below between both but by cannot could did do does doing down during each few for from further had has have having \
    he her here hers herself him himself his how i if in into is it its itself me more most my myself no nor not of off \
    on once only or other ought our ours ourselves out over own same she should so some such than that the their theirs \
    them themselves then there these they this those through to too under until up us very was we were what when where \
    which while who whom why with would you your yours yourself yourselves";

pub(crate) struct Baseline {
    exact: Bm25,
    stemmed: Bm25,
    ids: Vec<String>,
}

impl Baseline {
    pub(crate) fn of(tools: &[Tool]) -> Self {
        let words: Vec<Vec<(String, f64)>> = tools.iter().map(weighted_words).collect();
        let stems = words.iter().map(|words| words.iter().map(|(word, weight)| (stem(word), *weight)).collect());
        let stems: Vec<Vec<(String, f64)>> = stems.collect();
        let ids = tools.iter().map(|tool| tool.id().to_string()).collect();
        Self { exact: Bm25::of(&words), stemmed: Bm25::of(&stems), ids }
    }

    pub(crate) fn search(&self, question: &str, limit: usize) -> Vec<usize> {
        self.best(&self.scores(question), limit)
    }

    /// With cosines by rank: the sum of `1 / (60 + rank)`, the first rank being 1.
    #[cfg(feature = "model")]
    pub(crate) fn by_rank(&self, question: &str, cosines: &[f64], limit: usize) -> Vec<usize> {
        let mut mixed = vec![0.0; self.ids.len()];
        for scores in [self.scores(question), cosines.iter().map(|cosine| cosine + 2.0).collect()] {
            for (rank, tool) in self.best(&scores, scores.len()).into_iter().enumerate() {
                mixed[tool] += 1.0 / (61.0 + rank as f64);
            }
        }
        self.best(&mixed, limit)
    }

    /// With cosines by score: half the scores as fractions of the maximum, and half the cosines scaled from 0 to 1.
    #[cfg(feature = "model")]
    pub(crate) fn by_score(&self, question: &str, cosines: &[f64], limit: usize) -> Vec<usize> {
        let scores = self.scores(question);
        let best = scores.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let bound = |f: fn(f64, f64) -> f64| cosines.iter().copied().reduce(f).unwrap_or(0.0);
        let (least, range) = (bound(f64::min), (bound(f64::max) - bound(f64::min)).max(f64::MIN_POSITIVE));
        let mixed =
            scores.iter().zip(cosines).map(|(score, cosine)| 0.5 * score / best + 0.5 * (cosine - least) / range);
        self.best(&mixed.collect::<Vec<_>>(), limit)
    }

    fn scores(&self, question: &str) -> Vec<f64> {
        let words: BTreeSet<String> = words(question).into_iter().collect();
        let stems: BTreeSet<String> = words.iter().map(|word| stem(word)).collect();
        let mut scores = vec![0.0; self.ids.len()];
        self.exact.add(&words, 1.0, &mut scores);
        self.stemmed.add(&stems, 0.5, &mut scores);
        scores
    }

    fn best(&self, scores: &[f64], limit: usize) -> Vec<usize> {
        let mut found: Vec<usize> = (0..scores.len()).filter(|tool| scores[*tool] > 0.0).collect();
        let by_score = |a: &usize, b: &usize| scores[*b].partial_cmp(&scores[*a]).unwrap_or(Ordering::Equal);
        found.sort_by(|a, b| by_score(a, b).then_with(|| self.ids[*a].cmp(&self.ids[*b])));
        found.truncate(limit);
        found
    }
}

/// For each term, the tools that contain it, with their weights.
struct Bm25(HashMap<String, Vec<(usize, f64)>>);

impl Bm25 {
    fn of(docs: &[Vec<(String, f64)>]) -> Self {
        let lengths: Vec<f64> = docs.iter().map(|doc| doc.iter().map(|(_, weight)| weight).sum()).collect();
        let n = docs.len() as f64;
        let average = lengths.iter().sum::<f64>() / n;
        let mut postings: HashMap<String, Vec<(usize, f64)>> = HashMap::new();
        for (place, doc) in docs.iter().enumerate() {
            let mut frequencies: HashMap<&str, f64> = HashMap::new();
            doc.iter().for_each(|(term, weight)| *frequencies.entry(term).or_default() += weight);
            for (term, frequency) in frequencies {
                postings.entry(term.to_owned()).or_default().push((place, frequency));
            }
        }
        for postings in postings.values_mut() {
            let count = postings.len() as f64;
            let idf = (1.0 + (n - count + 0.5) / (count + 0.5)).ln();
            for (place, frequency) in postings {
                let norm = 1.2 * (0.25 + 0.75 * lengths[*place] / average);
                *frequency = idf * *frequency * 2.2 / (*frequency + norm);
            }
        }
        Self(postings)
    }

    fn add(&self, terms: &BTreeSet<String>, weight: f64, scores: &mut [f64]) {
        for (place, score) in terms.iter().filter_map(|term| self.0.get(term)).flatten() {
            scores[*place] += weight * score;
        }
    }
}

fn weighted_words(tool: &Tool) -> Vec<(String, f64)> {
    let mut weighted = Vec::new();
    let mut add = |text: &str, weight: f64| weighted.extend(words(text).into_iter().map(|word| (word, weight)));
    add(tool.name(), 3.0);
    add(tool.id().namespace().unwrap_or_default(), 2.0);
    tool.tags().iter().for_each(|tag| add(tag, 1.0));
    add(tool.description(), 1.0);
    each_argument(tool.input().as_value(), 0, &mut |text| add(text, 1.0));
    weighted
}

fn each_argument(schema: &Value, depth: usize, found: &mut impl FnMut(&str)) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|_| depth < 8) else {
        return;
    };
    for (name, property) in properties {
        found(name);
        found(property["description"].as_str().unwrap_or_default());
        each_argument(property, depth + 1, found);
        each_argument(&property["items"], depth + 1, found);
    }
}

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for run in text.split(|c: char| !c.is_alphanumeric()) {
        let chars: Vec<char> = run.chars().collect();
        let mut start = 0;
        for at in 1..=chars.len() {
            let is_border = at == chars.len() || {
                let (before, here) = (chars[at - 1], chars[at]);
                let next_is_lower = chars.get(at + 1).is_some_and(|next| next.is_lowercase());
                before.is_numeric() != here.is_numeric()
                    || (here.is_uppercase() && (!before.is_uppercase() || next_is_lower))
            };
            if is_border {
                let word: String = chars[start..at].iter().flat_map(|c| c.to_lowercase()).collect();
                if word.len() > 1 && STOP_WORDS.split_whitespace().all(|stop| stop != word) {
                    words.push(word);
                }
                start = at;
            }
        }
    }
    words
}

fn stem(word: &str) -> String {
    Stemmer::new(Algorithm::English).stem(word).into_owned()
}
