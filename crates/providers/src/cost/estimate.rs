//! An estimate of the number of tokens, without a tokenizer.

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

/// Estimates the number of tokens of a text in OpenAI's encoding `o200k_base`, without a tokenizer.
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
/// use toolkit_providers::cost::estimate;
///
/// assert_eq!(estimate("Adds two integers."), 4);
/// ```
#[must_use]
pub fn estimate(text: &str) -> usize {
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
