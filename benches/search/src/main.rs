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
    println!(
        "| tools | | build, CPU ms | memory (at most), MB | query p50, µs | of tantivy's | p99, µs | update of one, µs |"
    );
    println!("|---:|---|---:|---:|---:|---:|---:|---:|");
    let mut recorder = Recorder::new("cargo run --release -p toolkit-search-bench");
    let mut table = Table::new("search", &rows::COLUMNS);
    for size in sizes {
        let corpus = Corpus::of(size);
        let mut rows = [
            Row::of("tantivy 0.27.0", ByTantivy::build),
            Row::of("toolkit, BM25 alone", ByToolkit::plain),
            Row::of("toolkit", ByToolkit::usual),
            Row::of("toolkit, opened from a file", Opened::build),
            Row::of("bm25 2.3.2", ByBm25::build),
        ];
        rows::measure(&mut rows, &corpus)?;
        rows::print(&rows, size);
        rows::record(&mut table, &rows, size);
        by_bm25s::print(&corpus)?;
    }
    recorder.add(table);
    Ok(recorder.finish()?)
}
