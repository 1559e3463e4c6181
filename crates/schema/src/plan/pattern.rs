//! The patterns that match in linear time, translated for the Rust engine.
//!
//! The patterns of a schema are those of ECMAScript, and Rust authors write those of the crate `regex`. Both are accepted
//! where they do not contradict each other: `\d`, `\w`, `\s`, `\b`, `.` and classes have the meaning of ECMAScript, and
//! flags such as `(?i)`, named groups, `\A` and `\z` that of Rust. Look-around and back references have no linear engine.

mod steps;

use std::fmt::Write;

use regex::{Regex, RegexBuilder};

/// A compiled pattern, which matches anywhere in a string as JSON Schema requires.
pub(crate) enum Pattern {
    /// A simple pattern such as `^[a-z]{2}$`, which needs no search.
    Steps(Steps),
    Search(Regex),
}

impl Pattern {
    /// Compiles a pattern into at most `max_bytes` bytes.
    ///
    /// # Errors
    ///
    /// Returns the reason why there is no compiled pattern.
    pub(crate) fn compile(pattern: &str, max_bytes: usize) -> Result<Pattern, PatternError> {
        let translated = translate(pattern)?;
        let parsed = regex_syntax::parse(&translated).map_err(|_| PatternError::Invalid)?;
        if let Some(steps) = Steps::from_hir(&parsed) {
            return Ok(Pattern::Steps(steps));
        }
        let regex = RegexBuilder::new(&translated).size_limit(max_bytes).build();
        regex.map(Pattern::Search).map_err(|_| PatternError::Invalid)
    }

    /// Returns true if a pattern needs no other engine, although it may be invalid.
    pub(crate) fn is_supported(pattern: &str) -> bool {
        translate(pattern) != Err(PatternError::Unsupported)
    }

    #[inline]
    pub(crate) fn is_match(&self, text: &str) -> bool {
        match self {
            Pattern::Steps(steps) => steps.is_match(text),
            Pattern::Search(regex) => regex.is_match(text),
        }
    }
}

/// The reason why a pattern does not compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatternError {
    /// It is not a pattern, or too large.
    Invalid,
    /// It has a construct that only `jsonschema` supports, or that engines disagree about.
    Unsupported,
}

pub(crate) use self::steps::Steps;
use PatternError::{Invalid, Unsupported};

const DIGIT: &str = "0-9";
const WORD: &str = "A-Za-z0-9_";
const SPACE: &str = r"\x{9}-\x{D} \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}";

/// The characters that `.` matches in ECMAScript. Those of the Rust engine are all except `\n`.
const NO_LINE_END: &str = r"[^\n\r\x{2028}\x{2029}]";

/// A group that is open.
struct Group {
    /// True if it consumes a character. Only some engines allow to repeat a group that does not.
    consumes: bool,
    /// The flags in front of the group, which continue after it.
    flags: Flags,
}

/// The flags that change what is written for `^`, `$` and `.`.
#[derive(Clone, Copy, Default)]
struct Flags {
    /// `m`: `^` and `$` match at line ends too.
    is_multi_line: bool,
    /// `s`: `.` matches every character.
    dot_matches_all: bool,
}

/// Translates a pattern for the Rust engine.
fn translate(pattern: &str) -> Result<String, PatternError> {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut rest = pattern.chars().peekable();
    // True if a quantifier may follow.
    let mut atom = false;
    let mut flags = Flags::default();
    let mut groups = vec![Group { consumes: false, flags }];
    while let Some(c) = rest.next() {
        match c {
            '^' | '|' => {
                out.push(c);
                atom = false;
            }
            '$' => {
                // `\z` is the end of the text in every mode, unlike `$`.
                out.push_str(if flags.is_multi_line { "$" } else { r"\z" });
                atom = false;
            }
            '(' => {
                let outer = flags;
                if open(&mut rest, &mut flags, &mut out)? {
                    groups.push(Group { consumes: false, flags: outer });
                }
                atom = false;
            }
            ')' => {
                let group = groups.pop().ok_or(Invalid)?;
                out.push(')');
                flags = group.flags;
                atom = group.consumes;
                if !atom && rest.peek().is_some_and(|next| "*+?{".contains(*next)) {
                    return Err(Unsupported);
                }
            }
            '*' | '+' | '?' | '{' => {
                if !std::mem::take(&mut atom) {
                    // A possessive quantifier, which gives nothing back.
                    let is_possessive = c == '+' && out.ends_with(['*', '+', '?', '}']);
                    return Err(if is_possessive { Unsupported } else { Invalid });
                }
                out.push(c);
                if c == '{' {
                    counts(&mut rest, &mut out)?;
                }
                if rest.next_if_eq(&'?').is_some() {
                    out.push('?');
                }
            }
            '.' => {
                out.push_str(if flags.dot_matches_all { "." } else { NO_LINE_END });
                atom = true;
            }
            '[' => {
                class(&mut rest, &mut out)?;
                atom = true;
            }
            '\\' => match escaped(&mut rest, false)? {
                Escaped::Char(c) => {
                    literal(c, &mut out);
                    atom = true;
                }
                Escaped::Set(set) => {
                    out.push_str(&set);
                    atom = true;
                }
                Escaped::Position(position) => {
                    out.push_str(position);
                    atom = false;
                }
            },
            c => {
                literal(c, &mut out);
                atom = true;
            }
        }
        if atom {
            groups.last_mut().ok_or(Invalid)?.consumes = true;
        }
    }
    if groups.len() == 1 { Ok(out) } else { Err(Invalid) }
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Translates the rest of `(`, `(?:`, `(?<name>`, `(?P<name>`, `(?i)` or `(?i:`. Returns false if it opens no group.
fn open(rest: &mut Rest<'_>, flags: &mut Flags, out: &mut String) -> Result<bool, PatternError> {
    if rest.next_if_eq(&'?').is_none() {
        out.push_str("(?:");
        return Ok(true);
    }
    let is_rust_name = rest.next_if_eq(&'P').is_some();
    if rest.next_if_eq(&'<').is_some() {
        let name: String = std::iter::from_fn(|| rest.next_if(|c| c.is_alphanumeric() || *c == '_')).collect();
        if name.is_empty() {
            // `(?<=` and `(?<!`.
            return Err(Unsupported);
        }
        out.push_str("(?:");
        return if rest.next() == Some('>') { Ok(true) } else { Err(Invalid) };
    }
    if is_rust_name {
        return Err(Unsupported);
    }
    out.push_str("(?");
    let mut is_set = true;
    loop {
        let c = rest.next().ok_or(Invalid)?;
        match c {
            'i' => {}
            'm' => flags.is_multi_line = is_set,
            's' => flags.dot_matches_all = is_set,
            '-' if is_set => is_set = false,
            ':' | ')' => {
                out.push(c);
                return Ok(c == ':');
            }
            _ => return Err(Unsupported),
        }
        out.push(c);
    }
}

/// Translates the rest of `{n}`, `{n,}` or `{n,m}`.
fn counts(rest: &mut Rest<'_>, out: &mut String) -> Result<(), PatternError> {
    let start = out.len();
    loop {
        match rest.next().ok_or(Invalid)? {
            c if c.is_ascii_digit() || (c == ',' && !out[start..].contains(',')) => out.push(c),
            '}' if out[start..].starts_with(|c: char| c.is_ascii_digit()) => {
                out.push('}');
                return Ok(());
            }
            _ => return Err(Invalid),
        }
    }
}

/// The meaning of an escape.
enum Escaped {
    Char(char),
    Set(String),
    /// A place between characters.
    Position(&'static str),
}

/// Translates an escape, without its backslash.
fn escaped(rest: &mut Rest<'_>, in_class: bool) -> Result<Escaped, PatternError> {
    let c = rest.next().ok_or(Invalid)?;
    Ok(match c {
        'd' | 'w' | 's' => Escaped::Set(format!("[{}]", perl(c))),
        'D' | 'W' | 'S' => Escaped::Set(format!("[^{}]", perl(c.to_ascii_lowercase()))),
        'p' | 'P' => Escaped::Set(property(c, rest)?),
        'b' if in_class => Escaped::Char('\u{8}'),
        'b' => Escaped::Position(r"(?-u:\b)"),
        'B' if !in_class => Escaped::Position(r"(?-u:\B)"),
        'A' if !in_class => Escaped::Position(r"\A"),
        'z' if !in_class => Escaped::Position(r"\z"),
        't' => Escaped::Char('\t'),
        'n' => Escaped::Char('\n'),
        'v' => Escaped::Char('\u{b}'),
        'f' => Escaped::Char('\u{c}'),
        'r' => Escaped::Char('\r'),
        '0' if !rest.peek().is_some_and(char::is_ascii_digit) => Escaped::Char('\0'),
        'c' => match rest.next() {
            Some(letter) if letter.is_ascii_alphabetic() => Escaped::Char(char::from(letter as u8 % 32)),
            _ => return Err(Invalid),
        },
        'x' => Escaped::Char(char::from_u32(code(rest, 2)?).ok_or(Invalid)?),
        'u' => Escaped::Char(utf16(rest)?),
        // The start and the end of a word in Rust, and the characters in ECMAScript.
        '<' | '>' if !in_class => return Err(Unsupported),
        c if c.is_ascii_alphanumeric() => return Err(Unsupported),
        c if c.is_ascii() => Escaped::Char(c),
        _ => return Err(Invalid),
    })
}

fn perl(escaped: char) -> &'static str {
    match escaped {
        'd' => DIGIT,
        'w' => WORD,
        _ => SPACE,
    }
}

/// Translates the rest of `\pL`, `\p{L}` or `\p{Script=Greek}`.
fn property(p: char, rest: &mut Rest<'_>) -> Result<String, PatternError> {
    let name = match rest.next() {
        Some('{') => {
            let name: String =
                std::iter::from_fn(|| rest.next_if(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '='))).collect();
            (rest.next() == Some('}') && !name.is_empty()).then_some(name)
        }
        Some(c) if c.is_ascii_alphabetic() => Some(c.to_string()),
        _ => None,
    };
    Ok(format!(r"\{p}{{{}}}", name.ok_or(Invalid)?))
}

/// Reads `n_digits` hexadecimal digits, or any number of them in braces.
fn code(rest: &mut Rest<'_>, n_digits: usize) -> Result<u32, PatternError> {
    let in_braces = rest.next_if_eq(&'{').is_some();
    let most = if in_braces { 8 } else { n_digits };
    let digits: String = std::iter::from_fn(|| rest.next_if(char::is_ascii_hexdigit)).take(most).collect();
    let is_complete = if in_braces { rest.next() == Some('}') } else { digits.len() == n_digits };
    is_complete.then(|| u32::from_str_radix(&digits, 16).ok()).flatten().ok_or(Invalid)
}

/// Reads the rest of `\u00e4`, of `\u{1f600}`, or of the pair `\ud83d\ude00`.
fn utf16(rest: &mut Rest<'_>) -> Result<char, PatternError> {
    let first = code(rest, 4)?;
    if !(0xd800..0xdc00).contains(&first) {
        return char::from_u32(first).ok_or(Invalid);
    }
    if rest.next() != Some('\\') || rest.next() != Some('u') {
        return Err(Invalid);
    }
    let units = [first, code(rest, 4)?].map(|unit| u16::try_from(unit).unwrap_or_default());
    match char::decode_utf16(units).collect::<Result<Vec<_>, _>>().as_deref() {
        Ok([c]) => Ok(*c),
        _ => Err(Invalid),
    }
}

/// Translates the rest of `[...]`: characters, their ranges, and escapes. As in ECMAScript, no operators and no other
/// class are inside.
fn class(rest: &mut Rest<'_>, out: &mut String) -> Result<(), PatternError> {
    out.push('[');
    if rest.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    // An empty class in ECMAScript, and the first character of one in Rust.
    if rest.peek() == Some(&']') {
        return Err(Unsupported);
    }
    loop {
        match class_part(rest)? {
            None => {
                out.push(']');
                return Ok(());
            }
            Some(Escaped::Char(from)) => {
                literal_in_class(from, out);
                // A hyphen at the end is a literal.
                let mut ahead = rest.clone();
                if ahead.next() == Some('-') && ahead.peek() != Some(&']') {
                    rest.next();
                    let Some(Escaped::Char(to)) = class_part(rest)? else { return Err(Unsupported) };
                    if from > to {
                        return Err(Invalid);
                    }
                    out.push('-');
                    literal_in_class(to, out);
                }
            }
            Some(Escaped::Set(set)) => {
                out.push_str(&set);
                // `[\w-]` contains a hyphen, but engines disagree about `[\w-z]`.
                let mut ahead = rest.clone();
                if ahead.next() == Some('-') && ahead.peek() != Some(&']') {
                    return Err(Unsupported);
                }
            }
            Some(Escaped::Position(_)) => return Err(Invalid),
        }
    }
}

/// Reads one character or set of a class. Returns `None` at its end.
fn class_part(rest: &mut Rest<'_>) -> Result<Option<Escaped>, PatternError> {
    Ok(match rest.next().ok_or(Invalid)? {
        ']' => None,
        '\\' => Some(escaped(rest, true)?),
        // A named class such as `[:alpha:]` in Rust.
        '[' if rest.peek() == Some(&':') => return Err(Unsupported),
        c => Some(Escaped::Char(c)),
    })
}

fn literal(c: char, out: &mut String) {
    out.push_str(&regex_syntax::escape(c.encode_utf8(&mut [0; 4])));
}

/// Writes a character of a class so that it cannot be part of an operator.
fn literal_in_class(c: char, out: &mut String) {
    if c.is_ascii_alphanumeric() {
        out.push(c);
    } else {
        write!(out, r"\x{{{:x}}}", u32::from(c)).expect("a string takes every text");
    }
}

#[cfg(test)]
mod tests {
    use super::{Pattern, PatternError, translate};

    #[test]
    fn constructs_that_engines_disagree_about_are_left_to_another_engine() {
        for pattern in [
            "(?=a)",
            "(?!a)",
            "(?<=a)b",
            "(?<!a)b",
            "(?>a)",
            "(?x)a",
            r"(a)\1",
            r"\k<n>",
            "a++",
            "a{2}+",
            "(^)*",
            "[^]",
            "[]",
            r"[\w-z]",
            r"[a-\d]",
            "[[:alpha:]]",
            r"\<a",
            r"\G",
            r"a\Z",
        ] {
            assert_eq!(translate(pattern), Err(PatternError::Unsupported), "{pattern}");
            assert!(!Pattern::is_supported(pattern), "{pattern}");
        }
        for pattern in [
            "a**",
            "*",
            "(*)",
            "[z-a]",
            "a{,2}",
            "a{",
            "{",
            "(a",
            "a)",
            "[a",
            r"\",
            r"\x{110000}",
            r"\ud83d",
            r"\c1",
            "(?<n",
            r"\p{",
            r"\u{}",
        ] {
            assert_eq!(translate(pattern), Err(PatternError::Invalid), "{pattern}");
        }
        assert_eq!(Pattern::compile(r"\p{Nothing}", 1 << 20).err(), Some(PatternError::Invalid));
    }

    #[test]
    fn every_character_stands_for_itself() {
        let chars = (1..=0x17f).chain([0x2028, 0xd7ff, 0xe000, 0xfeff, 0x1f600, 0x10ffff]).filter_map(char::from_u32);
        for c in chars {
            let (is_operator, is_letter) = (r"\.+*?()|[{^$".contains(c), c.is_ascii_alphanumeric());
            let mut patterns = vec![format!("^[^{c}]?[a{c}]$"), format!(r"^\u{{{:x}}}$", u32::from(c))];
            if "]\\^".contains(c) {
                patterns[0] = format!(r"^[a\{c}]$");
            }
            if !is_operator {
                patterns.push(format!("^{c}$"));
            }
            if c.is_ascii() && !is_letter && !"<>".contains(c) {
                patterns.push(format!(r"^\{c}$"));
            }
            for pattern in patterns {
                let compiled =
                    Pattern::compile(&pattern, 1 << 20).unwrap_or_else(|error| panic!("{pattern:?} {error:?}"));
                assert!(compiled.is_match(&c.to_string()), "{pattern:?}");
                assert!(!compiled.is_match("\u{4e00}\u{4e00}"), "{pattern:?}");
            }
        }
    }

    #[test]
    fn classes_and_anchors_mean_what_ecmascript_defines() {
        for (pattern, matching, others) in [
            (r"^\d+$", &["0", "129"][..], &["", "1\n", "\u{663}"][..]),
            (r"^\w$", &["a", "_", "9"], &["\u{e9}", "-"]),
            (r"\s", &["a b", "\u{feff}", "\u{2028}"], &["ab", "\u{200b}"]),
            (r"^\S$", &["a"], &[" ", "\u{a0}"]),
            ("^[a-c-]{2}$", &["a-", "cc"], &["d-", "a", "aaa"]),
            ("^(?:ab|cd)?$", &["", "ab", "cd"], &["abcd", "a"]),
            (r"a\.b", &["a.b", "xa.by"], &["axb"]),
            ("^.$", &["a", "\u{85}", "\u{1f600}"], &["\n", "\r", "\u{2028}", "\u{2029}"]),
            ("(?s)^.$", &["\n", "\u{2028}"], &["ab"]),
            ("^(?s:.).$", &["\na"], &["a\n"]),
            ("(?m)^b$", &["a\nb\nc", "b"], &["ab"]),
            (r"\bcat\b", &["a cat.", "\u{e9}cat"], &["cats", "_cat"]),
            (r"a\Bb\z", &["ab"], &["a b", "abc"]),
            ("(?i)^stra\u{df}e$", &["STRA\u{1e9e}E", "Stra\u{df}e"], &["strasse"]),
            ("^(?i:a)b$", &["Ab"], &["AB"]),
            (r"^\p{Lu}\p{L}*$", &["\u{c4}rger", "\u{396}"], &["\u{e4}", "a1"]),
            (r"^[\p{Greek}\P{L}]+$", &["\u{3b1}1"], &["a"]),
            ("^(?<year>[0-9]{4})-(?P<month>[0-9]{2})$", &["2024-05"], &["2024-5"]),
            (r"^[^\W_]+$", &["a1"], &["_", "-"]),
            (r"^[\ud83d\ude00-\u{1f64f}\b]$", &["\u{1f600}", "\u{1f610}", "\u{8}"], &["b", "\u{1f5ff}"]),
            (r"^\t\n\v\f\r\0\cA\cz\x41\u0042$", &["\t\n\u{b}\u{c}\r\0\u{1}\u{1a}AB"], &["tnvfr0"]),
            (r"^[\t\n\v\f\r\0\cJ\x41]$", &["\t", "\n", "\u{b}", "\u{c}", "\r", "\0", "A"], &["t", "J", "c", "4"]),
            (r"\Aab", &["abc"], &["cab"]),
            (r"^\D\W\S$", &["a-b"], &["1-b", "aab", "a- "]),
            (r"^\$\^\-\/\.$", &["$^-/."], &["$^-/a"]),
            ("^[!-/&&[~~+--z]$", &["&", "[", "~", "-", ",", "z", "!"], &["0", "]", "a"]),
        ] {
            let compiled = Pattern::compile(pattern, 1 << 20).unwrap();
            for text in matching {
                assert!(compiled.is_match(text), "{pattern} {text:?}");
            }
            for text in others {
                assert!(!compiled.is_match(text), "{pattern} {text:?}");
            }
        }
    }
}
