//! Generated tools and questions, in any number, and the same in every run.

use std::cell::OnceCell;
use std::io;

use serde_json::json;
use toolkit::Tool;
use toolkit_search::Index;

const VOCABULARY: usize = 20_000;
const WORDS_IN_DESCRIPTION: usize = 28;
const QUESTIONS: usize = 300;

/// A source of words with a Zipf-like distribution, as in natural languages.
struct Words {
    state: u64,
    /// The cumulative probability of each word.
    shares: Vec<f64>,
}

impl Words {
    fn new(seed: u64) -> Self {
        let mut sum = 0.0;
        let sums: Vec<f64> = (1..=VOCABULARY)
            .map(|rank| {
                sum += 1.0 / rank as f64;
                sum
            })
            .collect();
        Self { state: seed | 1, shares: sums.iter().map(|up_to| up_to / sum).collect() }
    }

    fn draw(&mut self) -> String {
        // xorshift64*
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        let share = (self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1_u64 << 53) as f64;
        word(self.shares.partition_point(|up_to| *up_to < share))
    }

    fn draw_many(&mut self, n: usize) -> Vec<String> {
        (0..n).map(|_| self.draw()).collect()
    }
}

/// Creates a word that stemming does not change, and that is not a stop word.
fn word(mut rank: usize) -> String {
    let mut word = String::new();
    loop {
        word.push(b"bdfgkmnprtvz"[rank % 12] as char);
        word.push(b"aou"[rank / 12 % 3] as char);
        rank /= 36;
        if rank == 0 {
            word.push('k');
            return word;
        }
    }
}

/// Tools, and questions of three words.
pub(crate) struct Corpus {
    pub(crate) tools: Vec<Tool>,
    /// All words of each tool, once with those of its name and once without.
    pub(crate) texts: Vec<String>,
    pub(crate) questions: Vec<String>,
    /// The saved index of the tools.
    file: OnceCell<Vec<u8>>,
}

impl Corpus {
    pub(crate) fn of(n_tools: usize) -> Self {
        let mut words = Words::new(1);
        let (tools, texts) = (0..n_tools).map(|number| tool(number, &mut words)).unzip();
        let mut words = Words::new(99);
        let questions = (0..QUESTIONS).map(|_| words.draw_many(3).join(" ")).collect();
        Self { tools, texts, questions, file: OnceCell::new() }
    }

    /// Saves the index of the tools.
    pub(crate) fn file(&self) -> io::Result<&[u8]> {
        if self.file.get().is_none() {
            let mut file = Vec::new();
            Index::from_tools(&self.tools).snapshot().save("the corpus", &mut file)?;
            file.shrink_to_fit();
            let _ = self.file.set(file);
        }
        Ok(self.file.get().map(Vec::as_slice).unwrap_or_default())
    }
}

fn tool(number: usize, words: &mut Words) -> (Tool, String) {
    let name = words.draw_many(2).join("_");
    let description = words.draw_many(WORDS_IN_DESCRIPTION).join(" ");
    let text = format!("{} {description}", name.replace('_', " "));
    let fields = json!({
        "name": name,
        // The numbers are in the version, which is not searched.
        "namespace": "",
        "version": format!("{number:06}"),
        "description": description,
        "inputSchema": { "type": "object" },
    });
    (Tool::from_json(fields).expect("the tool is one"), text)
}
