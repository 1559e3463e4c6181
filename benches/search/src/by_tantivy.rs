//! The same texts in tantivy.

use std::collections::HashMap;
use std::error::Error;

use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions, Value};
use tantivy::{DocAddress, Index, TantivyDocument, Term};

use crate::corpus::Corpus;
use crate::rows::{LIMIT, Searcher};

/// One field, frequencies without positions, in memory.
pub(crate) struct ByTantivy {
    searcher: tantivy::Searcher,
    text: Field,
    number: Field,
    /// Terms, looked up beforehand.
    questions: Vec<Box<dyn Query>>,
}

impl ByTantivy {
    pub(crate) fn build(corpus: &Corpus) -> Result<Box<dyn Searcher>, Box<dyn Error>> {
        Ok(Box::new(Self::of(corpus)?))
    }

    pub(crate) fn of(corpus: &Corpus) -> tantivy::Result<Self> {
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("default")
            .set_index_option(IndexRecordOption::WithFreqs)
            .set_fieldnorms(true);
        let text = schema.add_text_field("text", TextOptions::default().set_indexing_options(indexing));
        let number = schema.add_u64_field("number", tantivy::schema::STORED);
        let index = Index::create_in_ram(schema.build());
        let mut writer = index.writer_with_num_threads(1, 200_000_000)?;
        for (place, of_tool) in corpus.texts.iter().enumerate() {
            let mut doc = TantivyDocument::default();
            doc.add_text(text, of_tool);
            doc.add_u64(number, place as u64);
            writer.add_document(doc)?;
        }
        writer.commit()?;
        let mut peer = Self { searcher: index.reader()?.searcher(), text, number, questions: Vec::new() };
        peer.questions = corpus.questions.iter().map(|question| peer.question(question)).collect();
        Ok(peer)
    }

    /// A disjunction of the words.
    fn question(&self, words: &str) -> Box<dyn Query> {
        let mut words: Vec<&str> = words.split(' ').collect();
        words.sort_unstable();
        words.dedup();
        let terms = words.into_iter().map(|word| {
            let term = Term::from_field_text(self.text, word);
            let query: Box<dyn Query> = Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
            (Occur::Should, query)
        });
        Box::new(BooleanQuery::new(terms.collect()))
    }

    fn found(&self, question: usize, limit: usize) -> tantivy::Result<Vec<(f32, DocAddress)>> {
        self.searcher.search(&*self.questions[question], &TopDocs::with_limit(limit).order_by_score())
    }

    /// Returns the score of each matching tool, by index.
    pub(crate) fn scores(&self, question: usize, limit: usize) -> tantivy::Result<HashMap<usize, f32>> {
        let found = self.found(question, limit)?;
        let scores = found.into_iter().map(|(score, address)| {
            let doc: TantivyDocument = self.searcher.doc(address)?;
            let number = doc.get_first(self.number).and_then(|number| number.as_u64()).unwrap_or_default();
            Ok((number as usize, score))
        });
        scores.collect()
    }
}

impl Searcher for ByTantivy {
    fn search(&self, question: usize) -> usize {
        self.found(question, LIMIT).map(|found| found.len()).unwrap_or(0)
    }

    /// A commit, which is meant for many changes at once.
    fn update(&self, _: &Corpus, _: usize) -> bool {
        false
    }
}
