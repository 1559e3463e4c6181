//! Shapes of words, which rule out most words without a comparison of their texts.

/// The length and the letters of a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// A bit set of the letters.
    letters: u32,
    /// The number of characters.
    pub(super) n_chars: u16,
}

impl Shape {
    pub(super) fn new(word: &str) -> Self {
        let letters = word.chars().fold(0, |letters, letter| letters | 1 << (letter as u32 % 32));
        Self { letters, n_chars: u16::try_from(word.chars().count()).unwrap_or(u16::MAX) }
    }

    /// Returns false for words with more than `max_distance` wrong characters. A wrong character changes at most two
    /// bits of the set.
    #[inline]
    pub(super) fn is_near(self, other: Self, max_distance: usize) -> bool {
        usize::from(self.n_chars.abs_diff(other.n_chars)) <= max_distance
            && (self.letters ^ other.letters).count_ones() as usize <= 2 * max_distance
    }

    /// Returns false for words that do not start with a word of this shape.
    #[inline]
    pub(super) fn may_start(self, other: Self) -> bool {
        self.n_chars <= other.n_chars && self.letters & !other.letters == 0
    }
}

#[cfg(test)]
mod tests {
    use super::Shape;

    #[test]
    fn shapes_rule_out_neither_near_words_nor_completions() {
        let words = [
            "create", "crate", "craete", "creates", "reate", "cre4te", "delete", "größe", "grosse", "gröser", "größer",
            "検索", "c", "gr",
        ];
        for a in words {
            for b in words {
                let (distance, shapes) = (strsim::osa_distance(a, b), [a, b].map(Shape::new));
                assert!(shapes[0].is_near(shapes[1], distance), "{a} and {b} have the distance {distance}");
                assert!(!b.starts_with(a) || shapes[0].may_start(shapes[1]), "{b} starts with {a}");
            }
        }
        assert!(!Shape::new("create").is_near(Shape::new("delete"), 1));
        assert!(!Shape::new("create").may_start(Shape::new("crate")));
    }
}
