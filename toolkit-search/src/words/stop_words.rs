//! Stop words.

/// Returns true if a word is a stop word, or a single letter or digit.
pub(super) fn is_stop_word(word: &str) -> bool {
    match word.as_bytes() {
        [byte] => byte.is_ascii(),
        [first @ b'a'..=b'z', ..] => {
            let lengths = STOP_LENGTHS[usize::from(first - b'a')];
            word.len() < 16 && lengths & (1 << word.len()) != 0 && STOP_WORDS.binary_search(&word).is_ok()
        }
        _ => false,
    }
}

/// A bit set of the lengths of stop words for each first letter, which rules out most words without a search.
const STOP_LENGTHS: [u16; 26] = {
    let mut lengths = [0; 26];
    let mut at = 0;
    while at < STOP_WORDS.len() {
        let word = STOP_WORDS[at].as_bytes();
        lengths[(word[0] - b'a') as usize] |= 1 << word.len();
        at += 1;
    }
    lengths
};

/// Returns true if a word of a query is a stop word, or one that is only used to ask for something.
pub(super) fn is_stop_word_in_query(word: &str) -> bool {
    is_stop_word(word) || REQUEST_WORDS.contains(&word)
}

/// Words that are used to ask for something.
#[rustfmt::skip]
const REQUEST_WORDS: [&str; 27] = [
    "also", "dear", "hello", "help", "hey", "hi", "just", "kindly", "let", "like", "may", "might", "must", "need",
    "needed", "needs", "ok", "okay", "please", "really", "shall", "tell", "thank", "thanks", "want", "wanted", "will",
];

/// The English stop words of the Snowball project, in ascending order.
#[rustfmt::skip]
const STOP_WORDS: [&str; 175] = [
    "a", "about", "above", "after", "again", "against", "all", "am", "an", "and", "any", "are", "aren't", "as",
    "at", "be", "because", "been", "before", "being", "below", "between", "both", "but", "by", "can't", "cannot",
    "could", "couldn't", "did", "didn't", "do", "does", "doesn't", "doing", "don't", "down", "during", "each",
    "few", "for", "from", "further", "had", "hadn't", "has", "hasn't", "have", "haven't", "having", "he", "he'd",
    "he'll", "he's", "her", "here", "here's", "hers", "herself", "him", "himself", "his", "how", "how's", "i",
    "i'd", "i'll", "i'm", "i've", "if", "in", "into", "is", "isn't", "it", "it's", "its", "itself", "let's", "me",
    "more", "most", "mustn't", "my", "myself", "no", "nor", "not", "of", "off", "on", "once", "only", "or", "other",
    "ought", "our", "ours", "ourselves", "out", "over", "own", "same", "shan't", "she", "she'd", "she'll", "she's",
    "should", "shouldn't", "so", "some", "such", "than", "that", "that's", "the", "their", "theirs", "them",
    "themselves", "then", "there", "there's", "these", "they", "they'd", "they'll", "they're", "they've", "this",
    "those", "through", "to", "too", "under", "until", "up", "us", "very", "was", "wasn't", "we", "we'd", "we'll",
    "we're", "we've", "were", "weren't", "what", "what's", "when", "when's", "where", "where's", "which", "while",
    "who", "who's", "whom", "why", "why's", "with", "won't", "would", "wouldn't", "you", "you'd", "you'll",
    "you're", "you've", "your", "yours", "yourself", "yourselves",
];
