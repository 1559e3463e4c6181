//! Searches among 100,000 tools.
//!
//! Building the index would take most of the time of a count, so it is built once, and the counted process opens it from
//! a file.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, BufWriter};
use std::path::PathBuf;

use toolkit::Tool;
use toolkit_search::Index;

const TOOLS: u32 = 100_000;
const WORDS: u32 = 20_000;
const LIMIT: usize = 10;
/// The number of different queries. A row makes a multiple of it as calls, so that each run has the same queries.
pub(crate) const QUERIES: u64 = 100;

/// Builds the index and writes it next to this program.
///
/// # Errors
///
/// Returns an error if the file cannot be written.
pub(crate) fn save() -> io::Result<()> {
    let mut words = Words(1);
    let tools = (0..TOOLS).map(|number| {
        let name = words.draw(2, "_");
        let tool = Tool::builder(name).namespace(format!("n{number}")).description(words.draw(8, " "));
        tool.build().expect("the tool is valid")
    });
    let tools: Vec<Tool> = tools.collect();
    Index::from_tools(&tools).snapshot().save("gate", BufWriter::new(File::create(path()?)?))
}

fn path() -> io::Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name("toolkit-gate.index"))
}

/// The index and the queries, of one to five words.
pub(crate) struct Searches {
    index: Index,
    queries: Vec<String>,
}

impl Searches {
    pub(crate) fn new() -> Self {
        let file = fs::read(path().expect("this program has a path")).or_else(|_| {
            save()?;
            fs::read(path()?)
        });
        let index = Index::open("gate", &file.expect("the index can be written")[..]).expect("the index is valid");
        let mut words = Words(99);
        Self { index, queries: (0..QUERIES).map(|nth| words.draw(1 + nth as u32 % 5, " ")).collect() }
    }

    pub(crate) fn repeat(&self, n_calls: usize) {
        for query in self.queries.iter().cycle().take(n_calls) {
            black_box(self.index.search(query, LIMIT));
        }
    }
}

/// Selects the best of as many scores as there are tools.
pub(crate) fn floor() -> Vec<Reverse<u32>> {
    let mut best = BinaryHeap::with_capacity(LIMIT + 1);
    let mut state = 1_u32;
    for _ in 0..TOOLS {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if best.len() < LIMIT {
            best.push(Reverse(state));
        } else if best.peek().is_some_and(|Reverse(least)| state > *least) {
            best.pop();
            best.push(Reverse(state));
        }
    }
    best.into_sorted_vec()
}

/// A source of words, the same in every run.
struct Words(u64);

impl Words {
    /// Draws words with a Zipf-like distribution.
    fn draw(&mut self, n_words: u32, separator: &str) -> String {
        let words: Vec<String> = (0..n_words).map(|_| word(self.rank())).collect();
        words.join(separator)
    }

    fn rank(&mut self) -> u32 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let share = (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1_u64 << 53) as f64;
        // The inverse of the harmonic sum, which is nearly a logarithm.
        f64::from(WORDS).powf(share) as u32
    }
}

/// Creates a word that stemming does not change.
fn word(mut rank: u32) -> String {
    let mut word = String::new();
    while rank > 0 {
        word.push(char::from(b"bdfgkmnprtvz"[rank as usize % 12]));
        word.push(char::from(b"aou"[rank as usize / 12 % 3]));
        rank /= 36;
    }
    word + "k"
}
