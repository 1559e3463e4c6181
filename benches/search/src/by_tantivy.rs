//! The same texts in tantivy.

use std::collections::HashMap;

use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions, Value};
use tantivy::{DocAddress, Index, Searcher, TantivyDocument, Term};

/// One field, frequencies without positions, in memory.
pub(crate) struct Peer {
    searcher: Searcher,
    text: Field,
    number: Field,
}

impl Peer {
    pub(crate) fn of<'t>(texts: impl Iterator<Item = &'t str>) -> tantivy::Result<Self> {
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("default")
            .set_index_option(IndexRecordOption::WithFreqs)
            .set_fieldnorms(true);
        let text = schema.add_text_field("text", TextOptions::default().set_indexing_options(indexing));
        let number = schema.add_u64_field("number", tantivy::schema::STORED);
        let index = Index::create_in_ram(schema.build());
        let mut writer = index.writer_with_num_threads(1, 200_000_000)?;
        for (place, of_tool) in texts.enumerate() {
            let mut doc = TantivyDocument::default();
            doc.add_text(text, of_tool);
            doc.add_u64(number, place as u64);
            writer.add_document(doc)?;
        }
        writer.commit()?;
        Ok(Self { searcher: index.reader()?.searcher(), text, number })
    }

    /// Any of the words will do.
    pub(crate) fn question(&self, words: &str) -> Box<dyn Query> {
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

    pub(crate) fn search(&self, question: &dyn Query, limit: usize) -> tantivy::Result<Vec<(f32, DocAddress)>> {
        self.searcher.search(question, &TopDocs::with_limit(limit).order_by_score())
    }

    /// The score of each tool that has one, by its place.
    pub(crate) fn scores(&self, question: &dyn Query, limit: usize) -> tantivy::Result<HashMap<usize, f32>> {
        let found = self.search(question, limit)?;
        let scores = found.into_iter().map(|(score, address)| {
            let doc: TantivyDocument = self.searcher.doc(address)?;
            let number = doc.get_first(self.number).and_then(|number| number.as_u64()).unwrap_or_default();
            Ok((number as usize, score))
        });
        scores.collect()
    }
}
