//! The same texts in the crate bm25, with its defaults: English stop words and stemming.

use std::cell::RefCell;
use std::error::Error;

use bm25::{Document, Language, SearchEngine, SearchEngineBuilder};

use crate::corpus::Corpus;
use crate::rows::{LIMIT, Searcher};

pub(crate) struct ByBm25 {
    engine: RefCell<SearchEngine<u32>>,
    questions: Vec<String>,
}

impl ByBm25 {
    pub(crate) fn build(corpus: &Corpus) -> Result<Box<dyn Searcher>, Box<dyn Error>> {
        let engine = SearchEngineBuilder::<u32>::with_corpus(Language::English, &corpus.texts).build();
        Ok(Box::new(Self { engine: RefCell::new(engine), questions: corpus.questions.clone() }))
    }
}

impl Searcher for ByBm25 {
    fn search(&self, question: usize) -> usize {
        self.engine.borrow().search(&self.questions[question], LIMIT).len()
    }

    fn update(&self, corpus: &Corpus, place: usize) -> bool {
        self.engine.borrow_mut().upsert(Document::new(place as u32, &*corpus.texts[place]));
        true
    }
}
