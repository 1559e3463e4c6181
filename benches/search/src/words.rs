//! Generated words, the same in every run.

/// A source of words with a Zipf-like distribution, as in natural languages.
pub(crate) struct Words {
    state: u64,
    /// The cumulative probability of each word.
    shares: Vec<f64>,
}

impl Words {
    /// Creates a source of that many words; the same seed draws the same words.
    pub(crate) fn new(seed: u64, vocabulary: usize) -> Self {
        let mut sum = 0.0;
        let sums: Vec<f64> = (1..=vocabulary)
            .map(|rank| {
                sum += 1.0 / rank as f64;
                sum
            })
            .collect();
        Self { state: seed | 1, shares: sums.iter().map(|up_to| up_to / sum).collect() }
    }

    fn draw(&mut self) -> String {
        let share = self.random();
        word(self.shares.partition_point(|up_to| *up_to < share))
    }

    pub(crate) fn draw_many(&mut self, n: usize) -> Vec<String> {
        (0..n).map(|_| self.draw()).collect()
    }

    /// Draws a number of words between `least` and `most`.
    pub(crate) fn draw_between(&mut self, least: usize, most: usize) -> Vec<String> {
        let n = least + (self.random() * (most - least + 1) as f64) as usize;
        self.draw_many(n)
    }

    /// Returns a number between 0 and 1.
    fn random(&mut self) -> f64 {
        // xorshift64*
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1_u64 << 53) as f64
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
