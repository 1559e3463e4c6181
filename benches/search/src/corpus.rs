//! Made-up tools and questions: as many as are wanted, and the same on every run.

use serde_json::json;
use toolkit::Tool;

const VOCABULARY: usize = 20_000;
const WORDS_IN_DESCRIPTION: usize = 28;

/// Draws words, the first far more often than the last, as languages do.
pub(crate) struct Words {
    state: u64,
    /// For each word, the share of all draws that it or a more frequent one gets.
    shares: Vec<f64>,
}

impl Words {
    pub(crate) fn new(seed: u64) -> Self {
        let mut sum = 0.0;
        let sums: Vec<f64> = (1..=VOCABULARY)
            .map(|rank| {
                sum += 1.0 / rank as f64;
                sum
            })
            .collect();
        Self { state: seed | 1, shares: sums.iter().map(|up_to| up_to / sum).collect() }
    }

    pub(crate) fn draw(&mut self) -> String {
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

/// A word that nothing stems, and that is not in any list of stop words.
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

/// A tool, and all its words, once with those of its name and once without.
pub(crate) struct Made {
    pub(crate) tool: Tool,
    pub(crate) text: String,
}

pub(crate) fn tools(n: usize) -> Vec<Made> {
    let mut words = Words::new(1);
    let made = (0..n).map(|number| {
        let name = words.draw_many(2).join("_");
        let description = words.draw_many(WORDS_IN_DESCRIPTION).join(" ");
        let text = format!("{} {description}", name.replace('_', " "));
        let fields = json!({
            "name": name,
            // The numbers stay out of what is searched: a version is not.
            "namespace": "",
            "version": format!("{number:06}"),
            "description": description,
            "inputSchema": { "type": "object" },
        });
        Made { tool: Tool::from_json(fields).expect("the tool is one"), text }
    });
    made.collect()
}

/// Questions of three words.
pub(crate) fn questions(n: usize) -> Vec<String> {
    let mut words = Words::new(99);
    (0..n).map(|_| words.draw_many(3).join(" ")).collect()
}
