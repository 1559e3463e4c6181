//! The subset of `pattern` that means the same in every regex engine.
//!
//! Patterns of a schema are ECMAScript, the validator translates them for a Rust engine, and engines differ in details.
//! Only constructs without differences are supported here: literals, ASCII classes, groups, alternation, `^`, `$`, `.`
//! and quantifiers. `\d`, `\w`, `\s` and their negations are expanded as ECMAScript defines them.

use regex::Regex;
use regex_syntax::hir::{Class, Hir, HirKind, Look};

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

/// The characters that `.` matches in ECMAScript. Those of the Rust engine are all except `\n`.
const NO_LINE_END: &str = r"[^\n\r\x{2028}\x{2029}]";

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
                out.push_str(NO_LINE_END);
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

// Patterns that match in a single pass without backtracking.

/// A pattern anchored at both ends: a sequence of ASCII character sets, each with a repetition count.
pub(crate) struct Steps(Box<[Step]>);

struct Step {
    /// A bit for each ASCII character.
    set: u128,
    least: usize,
    most: usize,
}

impl Steps {
    /// Returns `None` if the pattern has another form, or if a greedy step might consume a character that a later one
    /// needs.
    fn from_hir(pattern: &Hir) -> Option<Steps> {
        let HirKind::Concat(parts) = pattern.kind() else {
            return None;
        };
        let [start, inner @ .., end] = parts.as_slice() else {
            return None;
        };
        let anchored = *start.kind() == HirKind::Look(Look::Start) && *end.kind() == HirKind::Look(Look::End);
        anchored.then_some(())?;
        let mut steps = Vec::new();
        for part in inner {
            add(part, &mut steps)?;
        }
        let clear = (0..steps.len()).all(|at| takes_only_its_own(&steps[at], &steps[at + 1..]));
        clear.then(|| Steps(steps.into()))
    }

    fn is_match(&self, text: &str) -> bool {
        let mut rest = text.as_bytes();
        for step in &self.0 {
            let fits = |byte: &&u8| byte.is_ascii() && step.set >> **byte & 1 == 1;
            let taken = rest.iter().take(step.most).take_while(fits).count();
            if taken < step.least {
                return false;
            }
            rest = &rest[taken..];
        }
        rest.is_empty()
    }
}

/// Returns true if no character that a step consumes could belong to a following step.
fn takes_only_its_own(step: &Step, following: &[Step]) -> bool {
    if step.least == step.most {
        return true;
    }
    for next in following {
        if step.set & next.set != 0 {
            return false;
        }
        if next.least > 0 {
            return true;
        }
    }
    true
}

fn add(part: &Hir, steps: &mut Vec<Step>) -> Option<()> {
    match part.kind() {
        HirKind::Repetition(repeat) => steps.push(Step {
            set: set(&repeat.sub)?,
            least: repeat.min as usize,
            most: repeat.max.map_or(usize::MAX, |most| most as usize),
        }),
        HirKind::Literal(literal) => {
            for byte in &literal.0 {
                steps.push(once(byte.is_ascii().then(|| 1 << byte)?));
            }
        }
        _ => steps.push(once(set(part)?)),
    }
    Some(())
}

fn once(set: u128) -> Step {
    Step { set, least: 1, most: 1 }
}

/// Returns the characters that match at one position of the pattern, if all are ASCII.
fn set(part: &Hir) -> Option<u128> {
    match part.kind() {
        HirKind::Literal(literal) => match *literal.0 {
            [byte] if byte.is_ascii() => Some(1 << byte),
            _ => None,
        },
        HirKind::Class(Class::Unicode(class)) => {
            let mut set = 0;
            for range in class.ranges() {
                range.end().is_ascii().then_some(())?;
                for c in range.start()..=range.end() {
                    set |= 1 << u32::from(c);
                }
            }
            Some(set)
        }
        _ => None,
    }
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
            ("^.$", &["a", "\u{85}", "\u{1f600}"], &["\n", "\r", "\u{2028}", "\u{2029}"]),
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
