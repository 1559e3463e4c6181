//! Cost of search, compared to other search libraries over the same texts, and comparison of the scores with those of
//! tantivy.
//!
//! Run it with `cargo run --release -p toolkit-search-bench`, with numbers of tools as arguments instead of 1,000,
//! 10,000 and 100,000. The argument `tokens` counts the tokens for a model instead, see [`tokens`].

mod by_bm25;
mod by_bm25s;
mod by_tantivy;
mod by_toolkit;
mod corpus;
mod rows;
mod scores;
mod tokens;
mod words;

use std::error::Error;

use peak_alloc::PeakAlloc;
use toolkit_plot::results::{Recorder, Table};

use self::by_bm25::ByBm25;
use self::by_tantivy::ByTantivy;
use self::by_toolkit::{ByToolkit, Opened};
use self::corpus::Corpus;
use self::rows::Row;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "tokens") {
        return tokens::print();
    }
    let sizes: Vec<usize> = arguments.iter().map(|size| size.parse()).collect::<Result<_, _>>()?;
    let sizes = if sizes.is_empty() { vec![1_000, 10_000, 100_000] } else { sizes };
    println!("{} scores are those of tantivy\n", scores::compare(2_000)?);
    let mut recorder = Recorder::new("cargo run --release -p toolkit-search-bench");
    recorder.add(uniform(&sizes)?);
    recorder.add(varied(&sizes)?);
    Ok(recorder.finish()?)
}

/// Measures all libraries with tools and questions of equal lengths.
fn uniform(sizes: &[usize]) -> Result<Table, Box<dyn Error>> {
    rows::print_head("tools");
    let (mut table, mut files) = (Table::new("search", &rows::COLUMNS), Vec::new());
    for &size in sizes {
        let corpus = Corpus::uniform(size);
        let mut rows = indexes();
        rows.push(Row::of("bm25 2.3.2", ByBm25::build));
        rows::measure(&mut rows, &corpus)?;
        rows::print(&rows, size);
        rows::record(&mut table, &rows, size);
        by_bm25s::print(&corpus)?;
        files.push(file_of(&corpus, size)?);
    }
    println!("\n{}", files.join("\n"));
    Ok(table)
}

/// Measures the libraries with an index that prunes, with tools and questions of varied lengths.
fn varied(sizes: &[usize]) -> Result<Table, Box<dyn Error>> {
    println!();
    rows::print_head("varied tools");
    let (mut table, mut files) = (Table::new("search_varied", &rows::COLUMNS), Vec::new());
    for &size in sizes {
        let corpus = Corpus::varied(size);
        let mut rows = indexes();
        rows::measure(&mut rows, &corpus)?;
        rows::print(&rows, size);
        rows::record(&mut table, &rows, size);
        files.push(file_of(&corpus, size)?);
    }
    println!("\n{}", files.join("\n"));
    Ok(table)
}

/// Describes the file of a saved index, of which the tools themselves are a part.
fn file_of(corpus: &Corpus, size: usize) -> Result<String, Box<dyn Error>> {
    let n_json: usize = corpus.tools.iter().map(|tool| tool.to_json().to_string().len()).sum();
    let megabytes = |n_bytes: usize| n_bytes as f64 / 1e6;
    let saved = megabytes(corpus.file()?.len());
    Ok(format!("The saved index of {size} tools has {saved:.1} MB; the tools as JSON have {:.1}.", megabytes(n_json)))
}

/// tantivy first, since the others are compared with it.
fn indexes() -> Vec<Row> {
    vec![
        Row::of("tantivy 0.27.0", ByTantivy::build),
        Row::of("toolkit, BM25 alone", ByToolkit::plain),
        Row::of("toolkit", ByToolkit::usual),
        Row::of("toolkit, opened from a file", Opened::build),
    ]
}
