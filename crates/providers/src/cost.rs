//! The number of tokens that a tool adds to a prompt, by a tokenizer or by an estimate.

use std::iter::Sum;
use std::ops::Add;

use serde::Serialize;
use serde_json::Value;

/// Counts the tokens of a text.
///
/// Every function from a text to a number implements it, so that the tokenizer of any crate fits: `|text: &str|
/// bpe.count(text)`.
///
/// # Examples
///
/// A counter with state, for a context without a tokenizer:
///
/// ```
/// use toolkit::Tool;
/// use toolkit_providers::cost::{Cost, TokenCounter};
///
/// /// Assumes a fixed number of bytes per token.
/// struct Average {
///     bytes_per_token: usize,
/// }
///
/// impl TokenCounter for Average {
///     fn count(&self, text: &str) -> usize {
///         text.len().div_ceil(self.bytes_per_token)
///     }
/// }
///
/// let tool = Tool::builder("add").description("Adds two integers.").build()?;
/// let cost = Cost::new(&tool.to_mcp_json(), &Average { bytes_per_token: 4 });
/// assert_eq!(cost.description, 5);
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
pub trait TokenCounter {
    /// Returns the number of tokens of `text`.
    fn count(&self, text: &str) -> usize;
}

impl<F: Fn(&str) -> usize> TokenCounter for F {
    fn count(&self, text: &str) -> usize {
        self(text)
    }
}

/// The number of tokens that a tool adds to a prompt. Costs can be added.
///
/// The counted text is the JSON that is sent, without spaces. Providers convert it to an unpublished form for the
/// model, which is shorter by some of the punctuation, and an MCP client omits fields that it does not show to the
/// model. The numbers therefore show which tools cost most and what a change saves, but not the exact number of billed
/// tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct Cost {
    /// The tokens of the whole tool.
    pub total: usize,
    /// The tokens of its description.
    pub description: usize,
    /// The tokens of its input schema.
    pub input: usize,
    /// The tokens of its output schema.
    pub output: usize,
}

impl Cost {
    /// Counts the tokens of a tool in any format that this crate writes.
    ///
    /// ```
    /// # use toolkit_providers::cost::{Cost, Estimate};
    /// # use toolkit_providers::openai::{Options, describe};
    /// # use toolkit::Tool;
    /// # fn main() -> Result<(), toolkit::catalog::Diagnostics> {
    /// let tool = Tool::builder("add").description("Adds two integers.").build()?;
    /// let cost = Cost::new(&describe(&tool, "add", Options::responses()).json, &Estimate);
    /// assert!(cost.description < cost.total);
    ///
    /// // Any function is a counter.
    /// let cost = Cost::new(&tool.to_mcp_json(), &|text: &str| text.len());
    /// assert_eq!(cost.description, r#""Adds two integers.""#.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn new(tool: &Value, counter: &dyn TokenCounter) -> Self {
        // Chat Completions nests all fields under `function`, Bedrock under `toolSpec`, Open Tool Calling the schema under
        // `input`.
        let places = ["function", "toolSpec", "input"].map(|name| tool.get(name));
        let part = |names: &[&str]| {
            let found = std::iter::once(tool)
                .chain(places.into_iter().flatten())
                .find_map(|place| names.iter().find_map(|name| place.get(name)));
            found.map_or(0, |part| counter.count(&part.to_string()))
        };
        Self {
            total: counter.count(&tool.to_string()),
            description: part(&["description"]),
            input: part(&["inputSchema", "input_schema", "parameters", "parametersJsonSchema"]),
            output: part(&["outputSchema", "output_schema", "response", "responseJsonSchema", "output"]),
        }
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            total: self.total + other.total,
            description: self.description + other.description,
            input: self.input + other.input,
            output: self.output + other.output,
        }
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), Self::add)
    }
}

// A token counter without a tokenizer.

/// An estimate of the number of tokens in OpenAI's encoding `o200k_base`, without a tokenizer.
///
/// It splits a text where that encoding does, at words, numbers and runs of punctuation, and weights each piece by its
/// length. For the JSON of 564 tools of real servers, its mean error is 2.2 %, its maximum error 20.9 %, and its error
/// for all of them together 1.1 %; for the examples of this repository it counts 10 % too many tokens. This measures
/// it:
///
/// ```sh
/// cargo test -p toolkit-providers --test it -- --nocapture the_estimate_is_close
/// ```
///
/// Other encodings differ. Those of Anthropic and Google are not published.
///
/// ```
/// use toolkit_providers::cost::{Estimate, TokenCounter};
///
/// assert_eq!(Estimate.count("Adds two integers."), 4);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate;

/// The kind of a piece of text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Piece {
    /// Lowercase letters, with a leading capital.
    Word,
    Capitals,
    Digits,
    Signs,
    Spaces,
    Lines,
    Other,
}

impl Piece {
    fn from_char(c: char) -> Self {
        match c {
            'a'..='z' => Piece::Word,
            'A'..='Z' => Piece::Capitals,
            '0'..='9' => Piece::Digits,
            ' ' => Piece::Spaces,
            c if c.is_whitespace() => Piece::Lines,
            c if c.is_ascii() => Piece::Signs,
            _ => Piece::Other,
        }
    }

    fn is_letters(self) -> bool {
        matches!(self, Piece::Word | Piece::Capitals)
    }

    /// Returns the cost of a run of `n` such characters in hundredths of a token; `next` is the piece after it.
    ///
    /// The numbers are a least-squares fit to the tools of real servers.
    fn hundredths(self, n: usize, next: Option<Self>) -> usize {
        let is_before_letters = next.is_some_and(Self::is_letters);
        match self {
            Piece::Word => 95 + 5 * n.saturating_sub(6),
            Piece::Capitals => 140 + 33 * n.saturating_sub(3),
            Piece::Digits => 145 * n.div_ceil(3),
            // A single punctuation character or space is part of the next word.
            Piece::Signs if n == 1 => {
                if is_before_letters {
                    50
                } else {
                    105
                }
            }
            // `":"`, `"},{"` and similar runs are single tokens.
            Piece::Signs => 115 + 5 * (n - 2),
            Piece::Spaces if n == 1 && (is_before_letters || next == Some(Piece::Signs)) => 0,
            Piece::Spaces => 65,
            Piece::Lines => 42,
            Piece::Other => 65 * n,
        }
    }
}

impl TokenCounter for Estimate {
    fn count(&self, text: &str) -> usize {
        let mut hundredths = 0;
        let mut run: Option<(Piece, usize)> = None;
        for c in text.chars() {
            let piece = Piece::from_char(c);
            run = Some(match run {
                Some((before, n)) if before == piece => (piece, n + 1),
                Some((Piece::Capitals, 1)) if piece == Piece::Word => (Piece::Word, 2),
                Some((before, n)) => {
                    hundredths += before.hundredths(n, Some(piece));
                    (piece, 1)
                }
                None => (piece, 1),
            });
        }
        hundredths += run.map_or(0, |(piece, n)| piece.hundredths(n, None));
        hundredths.div_ceil(100)
    }
}
