//! Semantic search.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::json;
use test_support::ran;
use toolkit_search::{Embedder, EmbedderError, Fusion, Query, ScoreType, Semantic, SemanticError};

use super::{cases, ids, index, tool};

const TEXT: &str = include_str!("../../cases/search.json");

/// An embedder that knows a few synonyms, and counts the embedded texts.
#[derive(Default)]
struct Toy {
    n_texts: AtomicUsize,
}

const MEANINGS: [&[&str]; 3] = [&["car", "automobile", "vehicle"], &["mail", "letter", "post"], &["rain", "weather"]];

impl Embedder for Toy {
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        self.n_texts.fetch_add(texts.len(), Ordering::Relaxed);
        if texts.iter().any(|text| text.to_lowercase().contains("unspeakable")) {
            return Err("no answer".into());
        }
        let vector = |text: &&str| {
            let meant = MEANINGS.iter().map(|words| words.iter().filter(|word| text.contains(**word)).count() as f32);
            meant.collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

const TOOLS: [(&str, &str); 3] =
    [("garage:book", "Books a car."), ("office:send", "Sends a letter."), ("sky:look", "Tells the weather.")];

#[test]
fn a_query_matches_by_meaning() {
    let (index, toy) = (index(&TOOLS), Toy::default());
    let semantic = Semantic::new(&toy);
    let snapshot = index.snapshot();
    assert_eq!(semantic.update(&snapshot).unwrap(), 3);
    assert!(snapshot.search("automobile", 5).is_empty());
    let hits = semantic.search(&snapshot, "automobile", Fusion::Meaning, 1).unwrap();
    assert_eq!((ids(&hits), hits[0].score_type), (vec!["garage:book"], ScoreType::Embedding));
    assert!((hits[0].score - 1.0).abs() < 1e-6);
    for fusion in [Fusion::rrf(), Fusion::linear(0.5), Fusion::default()] {
        let hits = semantic.search(&snapshot, "automobile", fusion, 3).unwrap();
        assert_eq!((ids(&hits)[0], hits[0].score_type), ("garage:book", ScoreType::Hybrid));
        let of_office = Query::new("automobile").namespace("office");
        assert_eq!(ids(&semantic.search(&snapshot, of_office, fusion, 3).unwrap()), ["office:send"]);
    }
    let by_words = semantic.search(&snapshot, "letter", Fusion::Words, 5).unwrap();
    assert_eq!(by_words, snapshot.search("letter", 5));
}

#[test]
fn a_text_is_embedded_once_and_only_by_an_update() {
    let (index, toy) = (index(&TOOLS), Toy::default());
    let semantic = Semantic::new(&toy);
    semantic.update(&index.snapshot()).unwrap();
    assert_eq!(semantic.update(&index.snapshot()).unwrap(), 0);
    index.update(tool("sky:look", "Tells whether it will rain.")).unwrap();
    let n_texts = toy.n_texts.load(Ordering::Relaxed);
    semantic.search(&index.snapshot(), "rain", Fusion::linear(0.5), 5).unwrap();
    assert_eq!(toy.n_texts.load(Ordering::Relaxed), n_texts + 1, "the question alone");
    assert_eq!(semantic.update(&index.snapshot()).unwrap(), 1);
}

#[test]
fn a_tool_without_a_vector_is_found_by_words() {
    let (index, toy) = (index(&TOOLS), Toy::default());
    let semantic = Semantic::new(&toy);
    semantic.update(&index.snapshot()).unwrap();
    index.register(tool("zoo:feed", "Feeds the lions."), toolkit::tool::ToolBackend::local("x").unwrap()).unwrap();
    index.unregister_tool("sky:look").unwrap();
    let hits = semantic.search(&index.snapshot(), "lions", Fusion::linear(0.5), 5).unwrap();
    assert_eq!(ids(&hits), ["zoo:feed", "garage:book", "office:send"]);
}

#[test]
fn a_failed_update_changes_nothing() {
    let (index, toy) = (index(&TOOLS), Toy::default());
    let semantic = Semantic::new(&toy);
    semantic.update(&index.snapshot()).unwrap();
    index.update(tool("sky:look", "Unspeakable.")).unwrap();
    let error = semantic.update(&index.snapshot()).unwrap_err();
    assert_eq!(error.to_string(), "the embedder failed: no answer");
    let hits = semantic.search(&index.snapshot(), "rain", Fusion::Meaning, 1).unwrap();
    assert_eq!(ids(&hits), ["sky:look"]);
    assert!(semantic.search(&index.snapshot(), "unspeakable", Fusion::Meaning, 1).is_err());
}

#[test]
fn invalid_weights_of_a_fusion_are_errors() {
    let cases = cases(TEXT, "hybrid");
    let (index, toy) = (index(&TOOLS), Toy::default());
    let semantic = Semantic::new(&toy);
    let mut n_ran = 0;
    // The other case mixes scores that are not comparable, which this implementation does not do.
    for case in cases.iter().filter(|case| case["error"].is_string()) {
        let fusion = Fusion::linear(case["alpha"].as_f64().unwrap() as f32);
        let error = semantic.search(&index.snapshot(), "car", fusion, 1).unwrap_err();
        assert!(matches!(error, SemanticError::LinearWeight { .. }));
        n_ran += 1;
    }
    assert!(semantic.search(&index.snapshot(), "car", Fusion::linear(f32::NAN), 1).is_err());
    for worth in [-1.0, f32::NAN, f32::INFINITY] {
        let error = semantic.search(&index.snapshot(), "car", Fusion::additive(worth), 1).unwrap_err();
        assert!(
            matches!(error, SemanticError::AdditiveWeight { .. })
                && error.to_string().ends_with("it must be finite and at least 0")
        );
    }
    ran(n_ran);
}

#[test]
fn words_decide_if_many_match_and_embeddings_otherwise() {
    let tools = [
        ("garage:book", "Books a car."),
        ("office:scan", "Scans quarterly invoices, receipts and ledgers of a tenant."),
        ("sky:look", "Tells the weather."),
    ];
    let (index, toy) = (index(&tools), Toy::default());
    let semantic = Semantic::new(&toy);
    semantic.update(&index.snapshot()).unwrap();
    let first = |question: &str, worth: f32| {
        let hits = semantic.search(&index.snapshot(), question, Fusion::additive(worth), 1).unwrap();
        hits[0].summary.id.clone()
    };
    let (few, many) = ("vehicle of a tenant", "vehicle invoices, receipts and ledgers of a tenant");
    assert_eq!((first(few, 8.0), first(many, 8.0)), ("garage:book".to_owned(), "office:scan".to_owned()));
    assert_eq!((first(few, 0.0), first(many, 1000.0)), ("office:scan".to_owned(), "garage:book".to_owned()));
}

/// An embedder that records the texts.
#[derive(Default)]
struct Recording(Mutex<Vec<String>>);

impl Embedder for Recording {
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        self.0.lock().unwrap().extend(texts.iter().map(|text| (*text).to_owned()));
        Ok(vec![vec![1.0]; texts.len()])
    }
}

#[test]
fn the_embedded_text_contains_summary_and_arguments() {
    let record = json!({
        "name": "sendHTTPMail_v2",
        "namespace": "office-mail",
        "description": "Sends  a\nletter.\n\nNever call it twice.",
        "inputSchema": { "type": "object", "properties": { "replyTo": {}, "body": { "description": "The text." } } },
    });
    let long = json!({ "name": "größe", "description": "ß".repeat(5000), "inputSchema": { "type": "object" } });
    let tools = [record, long].map(|record| toolkit::Tool::from_json(record).unwrap());
    let recording = Arc::new(Recording::default());
    let semantic = Semantic::new(Arc::clone(&recording));
    semantic.update(&toolkit_search::Index::from_tools(&tools).snapshot()).unwrap();
    let texts = recording.0.lock().unwrap();
    assert!(texts.contains(&"office mail send HTTP Mail v2: Sends a letter. body, reply To".to_owned()), "{texts:?}");
    assert!(texts.iter().any(|text| text.starts_with("größe: ß") && text.len() > 2000 && text.len() <= 2048));
}

/// An embedder that returns preset vectors.
struct Fixed(Vec<(&'static str, Vec<f32>)>);

impl Embedder for Fixed {
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        let vector = |text: &&str| self.0.iter().find(|(known, _)| text.contains(known)).map(|(_, v)| v.clone());
        Ok(texts.iter().filter_map(vector).collect())
    }
}

#[test]
fn cosine_similarities_match_the_cases() {
    let numbers = |value: &serde_json::Value| -> Vec<f32> { serde_json::from_value(value.clone()).unwrap() };
    let (cases, mut n_ran) = (cases(TEXT, "cosine"), 0);
    for case in &cases {
        let (a, b) = (numbers(&case["a"]), numbers(&case["b"]));
        // Vectors of different lengths are an error, not a cosine similarity of 0.
        let is_same_length = a.len() == b.len();
        let semantic = Semantic::new(Fixed(vec![("tool", a), ("question", b)]));
        let snapshot = index(&[("tool", "")]).snapshot();
        semantic.update(&snapshot).unwrap();
        match semantic.search(&snapshot, "question", Fusion::Meaning, 1) {
            Ok(hits) => {
                assert!(is_same_length);
                assert_eq!(json!(hits[0].score), json!(case["expect"].as_f64().unwrap()));
            }
            Err(error) => assert!(matches!(error, SemanticError::Length { .. }) && !is_same_length),
        }
        n_ran += usize::from(is_same_length);
    }
    ran(n_ran);
}

/// An embedder that returns vectors with an extra dimension for texts with a word, until it is repaired.
struct Broken {
    word: &'static str,
    is_repaired: AtomicBool,
}

impl Embedder for Broken {
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        let is_wrong = |text: &&str| text.contains(self.word) && !self.is_repaired.load(Ordering::Relaxed);
        Ok(texts.iter().map(|text| vec![1.0; 1 + usize::from(is_wrong(text))]).collect())
    }
}

#[test]
fn a_repaired_model_is_used_again() {
    for word in ["garage", "office", "sky"] {
        let (index, model) = (index(&TOOLS), Broken { word, is_repaired: AtomicBool::new(false) });
        let semantic = Semantic::new(Box::new(&model) as Box<dyn Embedder + '_>);
        for _ in 0..2 {
            assert!(matches!(semantic.update(&index.snapshot()), Err(SemanticError::Length { .. })));
        }
        model.is_repaired.store(true, Ordering::Relaxed);
        semantic.update(&index.snapshot()).unwrap();
        assert_eq!(semantic.search(&index.snapshot(), "?", Fusion::Meaning, 5).unwrap().len(), 3);
    }
}

#[test]
fn wrong_numbers_of_vectors_or_dimensions_are_errors() {
    let snapshot = index(&[("tool", ""), ("other", "")]).snapshot();
    let semantic = Semantic::new(Fixed(vec![("tool", vec![1.0])]));
    let error = semantic.update(&snapshot).unwrap_err();
    assert_eq!(error.to_string(), "the embedder returned 1 vectors for 2 texts");
    let semantic = Semantic::new(Fixed(vec![("tool", vec![1.0]), ("other", vec![1.0, 2.0])]));
    assert!(matches!(semantic.update(&snapshot), Err(SemanticError::Length { .. })));
    let semantic =
        Semantic::new(Fixed(vec![("tool", vec![f32::NAN]), ("other", vec![f32::INFINITY]), ("q", vec![1.0])]));
    semantic.update(&snapshot).unwrap();
    let hits = semantic.search(&snapshot, "q", Fusion::Meaning, 2).unwrap();
    assert_eq!(hits.iter().map(|hit| hit.score).collect::<Vec<_>>(), [0.0, 0.0]);
}
