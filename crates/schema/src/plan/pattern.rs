//! The subset of `pattern` that means the same in every regex engine.
//!
//! Patterns of a schema are ECMAScript, the validator translates them for a Rust engine, and engines differ in details.
//! Only constructs without differences are supported here: literals, ASCII classes, groups, alternation, `^`, `$`, `.`
//! and quantifiers. `\d`, `\w`, `\s` and their negations are expanded as ECMAScript defines them.

mod steps;

use regex::Regex;
use steps::Steps;

/// A compiled pattern, which matches anywhere in a string as JSON Schema requires.
pub(crate) enum Pattern {
    /// A simple pattern such as `^[a-z]{2}$`, which needs no search.
    Steps(Steps),
    Search(Regex),
}

impl Pattern {
    pub(crate) fn compile(pattern: &str) -> Option<Pattern> {
        let pattern = translate(pattern)?;
        let parsed = regex_syntax::parse(&pattern).ok()?;
        Some(match Steps::from_hir(&parsed) {
            Some(steps) => Pattern::Steps(steps),
            None => Pattern::Search(Regex::new(&pattern).ok()?),
        })
    }

    #[inline]
    pub(crate) fn is_match(&self, text: &str) -> bool {
        match self {
            Pattern::Steps(steps) => steps.is_match(text),
            Pattern::Search(regex) => regex.is_match(text),
        }
    }
}

const DIGIT: &str = "0-9";
const WORD: &str = "A-Za-z0-9_";
const SPACE: &str = r"\x{9}-\x{D} \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}";

/// Translates a pattern for the Rust engine. Returns `None` if it uses an ambiguous construct.
fn translate(pattern: &str) -> Option<String> {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut rest = pattern.chars().peekable();
    // True if a quantifier may follow.
    let mut atom = false;
    // For each open group, true if it consumes a character. Only some engines allow to repeat a group that does not.
    let mut groups = vec![false];
    while let Some(c) = rest.next() {
        match c {
            '^' | '|' => {
                out.push(c);
                atom = false;
            }
            '$' => {
                // `\z` is the end of the text in every mode, unlike `$`.
                out.push_str(r"\z");
                atom = false;
            }
            '(' => {
                if rest.next_if_eq(&'?').is_some() && rest.next() != Some(':') {
                    return None;
                }
                out.push_str("(?:");
                groups.push(false);
                atom = false;
            }
            ')' => {
                out.push(')');
                atom = groups.pop()?;
            }
            '*' | '+' | '?' | '{' => {
                if !std::mem::take(&mut atom) {
                    return None;
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
                out.push('.');
                atom = true;
            }
            '[' => {
                class(&mut rest, &mut out)?;
                atom = true;
            }
            '\\' => {
                let escaped = rest.next()?;
                match (spelled_out(escaped), spelled_out(escaped.to_ascii_lowercase())) {
                    (Some(set), _) => out.extend(["[", set, "]"]),
                    (None, Some(set)) => out.extend(["[^", set, "]"]),
                    (None, None) => literal(escaped, r"\./-+*?()[]{}|^$", &mut out)?,
                }
                atom = true;
            }
            c => {
                literal(c, " -_/:,@#%=!&~'\"<>;", &mut out)?;
                atom = true;
            }
        }
        if atom {
            *groups.last_mut()? = true;
        }
    }
    (groups.len() == 1).then_some(out)
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Translates the rest of `{n}`, `{n,}` or `{n,m}`.
fn counts(rest: &mut Rest<'_>, out: &mut String) -> Option<()> {
    let start = out.len();
    loop {
        match rest.next()? {
            c if c.is_ascii_digit() || (c == ',' && !out[start..].contains(',')) => out.push(c),
            '}' if out[start..].starts_with(|c: char| c.is_ascii_digit()) => {
                out.push('}');
                return Some(());
            }
            _ => return None,
        }
    }
}

/// Translates the rest of `[...]`: single characters and ranges of letters or digits.
fn class(rest: &mut Rest<'_>, out: &mut String) -> Option<()> {
    out.push('[');
    if rest.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    let start = out.len();
    loop {
        match rest.next()? {
            ']' if out.len() > start => {
                out.push(']');
                return Some(());
            }
            // A hyphen at either end is a literal.
            '-' if out.len() == start || rest.peek() == Some(&']') => out.push_str(r"\-"),
            '\\' => {
                let escaped = rest.next()?;
                match spelled_out(escaped) {
                    Some(set) => out.push_str(set),
                    None => literal(escaped, r"\./-+*?()[]{}|^$", out)?,
                }
                if rest.peek() == Some(&'-') {
                    rest.next();
                    // `[\w-]` contains a hyphen, but engines disagree about `[\w-z]`.
                    if rest.peek() != Some(&']') {
                        return None;
                    }
                    out.push_str(r"\-");
                }
            }
            from if from.is_ascii_alphanumeric() && rest.peek() == Some(&'-') => {
                rest.next();
                out.push(from);
                match rest.peek() {
                    Some(']') => out.push_str(r"\-"),
                    Some(&to) if to.is_ascii_alphanumeric() && from <= to => {
                        rest.next();
                        out.extend(['-', to]);
                        if rest.peek() == Some(&'-') {
                            rest.next();
                            if rest.peek() != Some(&']') {
                                return None;
                            }
                            out.push_str(r"\-");
                        }
                    }
                    _ => return None,
                }
            }
            // `~~` is an operator in the Rust engine.
            '~' if rest.peek() == Some(&'~') => return None,
            c => {
                if rest.peek() == Some(&'-') {
                    rest.next();
                    if rest.peek() != Some(&']') {
                        return None;
                    }
                    literal(c, " _./:,@#%=!+*?()$;^{}~", out)?;
                    out.push_str(r"\-");
                } else {
                    literal(c, " _./:,@#%=!+*?()$;^{}~", out)?;
                }
            }
        }
    }
}

fn spelled_out(escaped: char) -> Option<&'static str> {
    Some(match escaped {
        'd' => DIGIT,
        'w' => WORD,
        's' => SPACE,
        _ => return None,
    })
}

/// Translates a literal character: a letter, a digit or one of `marks`.
fn literal(c: char, marks: &str, out: &mut String) -> Option<()> {
    if c.is_ascii_alphanumeric() && !marks.starts_with('\\') {
        out.push(c);
        return Some(());
    }
    marks.contains(c).then(|| {
        out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
    })
}

#[cfg(test)]
mod tests {
    use super::{Pattern, translate};

    #[test]
    fn constructs_that_engines_disagree_about_are_left_to_the_validator() {
        for pattern in [
            "(?=a)", r"\1", r"\b", r"\p{L}", "a**", "*", "(^)*", "[^]", "[]", "[a-]b]", r"[\w-z]", "[z-a]", "[~~]",
            "a{,2}", "a{", "(a", "a)", r"\", "\u{e9}",
        ] {
            assert_eq!(translate(pattern), None, "{pattern}");
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
        ] {
            let compiled = Pattern::compile(pattern).unwrap();
            for text in matching {
                assert!(compiled.is_match(text), "{pattern} {text:?}");
            }
            for text in others {
                assert!(!compiled.is_match(text), "{pattern} {text:?}");
            }
        }
    }
}
