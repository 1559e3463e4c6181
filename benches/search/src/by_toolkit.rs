//! An index, built and opened.

use std::error::Error;

use toolkit_search::{Index, Ranking};

use crate::corpus::Corpus;
use crate::rows::{LIMIT, Searcher};

/// An index built from the tools.
pub(crate) struct ByToolkit {
    index: Index,
    questions: Vec<String>,
}

impl ByToolkit {
    pub(crate) fn plain(corpus: &Corpus) -> Result<Box<dyn Searcher>, Box<dyn Error>> {
        Ok(Self::of(Index::with_ranking(&corpus.tools, Ranking::plain()), corpus))
    }

    pub(crate) fn usual(corpus: &Corpus) -> Result<Box<dyn Searcher>, Box<dyn Error>> {
        let index = Index::from_tools(&corpus.tools);
        Ok(Self::of(index, corpus))
    }

    fn of(index: Index, corpus: &Corpus) -> Box<dyn Searcher> {
        Box::new(Self { index, questions: corpus.questions.clone() })
    }
}

impl Searcher for ByToolkit {
    fn search(&self, question: usize) -> usize {
        self.index.search(&self.questions[question], LIMIT).len()
    }

    fn update(&self, corpus: &Corpus, place: usize) -> bool {
        self.index.update(corpus.tools[place].clone()).is_ok()
    }
}

/// The same index, opened. Building and saving it, and reading the bytes of the file, are not measured.
pub(crate) struct Opened;

impl Opened {
    pub(crate) fn build(corpus: &Corpus) -> Result<Box<dyn Searcher>, Box<dyn Error>> {
        let index = Index::open("the corpus", corpus.file()?)?;
        Ok(ByToolkit::of(index, corpus))
    }
}
