//! Types in a program: TypeScript is erased where QuickJS reports it, so that valid JavaScript is never changed.
//!
//! QuickJS names the place of the first token that is not JavaScript. What begins there, if it is a type or another part
//! that has no effect, is overwritten with spaces, so that all places stay. A parser of TypeScript would be exact; oxc 0.116,
//! the last one for this version of Rust, takes 67 crates and 48 s of processor time.

use std::ops::Range;

/// Words before a declaration or a member that have no effect.
const MODIFIERS: [&str; 7] = ["private", "public", "protected", "readonly", "override", "abstract", "declare"];

/// Words before a type.
const OPERATORS: [&str; 6] = ["keyof", "typeof", "readonly", "unique", "infer", "asserts"];

/// The maximum size of a type, and of the arguments of a call, in bytes, and the maximum number of such calls: no poll
/// interrupts what reads them.
const MAX_TYPE: usize = 20_000;
const MAX_ARGUMENTS: usize = 500;
const MAX_CALLS: usize = 1_000;
/// The maximum depth of nested types.
const MAX_DEPTH: u32 = 100;

/// Returns the part of a program at the place of a syntax error that only TypeScript has and that has no effect.
pub(super) fn at(code: &str, place: usize) -> Option<Range<usize>> {
    let rest = code.get(place..)?;
    let before = code[..place].trim_end_matches(' ');
    let word_start = before.rfind(|c: char| !is_part(c)).map_or(0, |idx| idx + 1);
    // Without a character before `idx + 1`, the index may be inside of one.
    let word = before.get(word_start..).unwrap_or_default();
    let reader = |position| TypeReader::new(code, position, MAX_TYPE);
    let until = |end: Option<usize>| Some(place..end?);
    match rest.as_bytes().first()? {
        b':' => until(reader(place + 1).annotation()),
        b'?' if rest[1..].trim_start().starts_with([':', ',', ')']) => Some(place..place + 1),
        b'!' if !rest[1..].starts_with('=') => Some(place..place + 1),
        b'<' => until(reader(place).arguments()),
        b'{' | b'[' if ["const", "let", "var"].contains(&word) => {
            let mut pattern = reader(place);
            pattern.brackets()?;
            pattern.space();
            let start = pattern.position;
            pattern.eat(":")?;
            Some(start..pattern.annotation()?)
        }
        _ if starts_with_word(rest, "as") => until(reader(place + 2).kind(0)),
        _ if starts_with_word(rest, "satisfies") => until(reader(place + 9).kind(0)),
        _ if starts_with_word(rest, "interface") => until(reader(place).interface()),
        _ if word == "type" && before.len() < place => Some(word_start..reader(place).alias()?),
        _ if word == "import" && starts_with_word(rest, "type") => {
            Some(word_start..place + rest.find(['\n', ';']).unwrap_or(rest.len()))
        }
        _ if word == "declare" => Some(word_start..place + rest.find(['\n', ';']).unwrap_or(rest.len())),
        // In parameters of a constructor they declare a member.
        _ if MODIFIERS.contains(&word) && !code[..word_start].trim_end().ends_with(['(', ',']) => {
            Some(word_start..before.len())
        }
        _ => call_arguments(code, place),
    }
}

/// Returns the arguments such as `<string, number>` of a call in the line of the error.
fn call_arguments(code: &str, place: usize) -> Option<Range<usize>> {
    let line = code[..place].rfind('\n').map_or(0, |newline| newline + 1);
    call_arguments_in(code, line..place).find(|range| place <= range.end + 1)
}

/// Returns the arguments of calls such as `reduce<string>(…)`, which are comparisons in JavaScript, for a program in
/// TypeScript.
pub(super) fn of_calls(code: &str) -> Vec<Range<usize>> {
    let (mut quotes, mut last) = ([0_usize; 3], 0);
    let is_outside_text = |range: &Range<usize>| {
        for byte in code[last..range.start].bytes() {
            match b"\"'`".iter().position(|&quote| quote == byte) {
                Some(idx) => quotes[idx] += 1,
                None if byte == b'\n' => quotes = [0; 3],
                None => {}
            }
        }
        last = range.start;
        quotes.iter().all(|n| n % 2 == 0)
    };
    call_arguments_in(code, 0..code.len()).filter(is_outside_text).collect()
}

fn call_arguments_in(code: &str, part: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let starts = code[part.clone()].match_indices('<').map(move |(idx, _)| part.start + idx);
    let starts = starts.filter(|&start| code[..start].ends_with(is_part)).take(MAX_CALLS);
    starts.filter_map(|start| {
        let end = TypeReader::new(code, start, MAX_ARGUMENTS).arguments()?;
        code[end..].starts_with('(').then_some(start..end)
    })
}

fn starts_with_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| !rest.starts_with(is_part))
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// A reader of types. Its methods return `None` if no type is there.
struct TypeReader<'c> {
    code: &'c str,
    position: usize,
}

impl<'c> TypeReader<'c> {
    /// Creates a reader of the type at a position, of at most `max` bytes.
    fn new(code: &'c str, position: usize, max: usize) -> Self {
        Self { code: &code[..code.floor_char_boundary(position + max)], position }
    }

    fn rest(&self) -> &'c str {
        &self.code[self.position..]
    }

    fn space(&mut self) {
        self.position = self.code.len() - self.rest().trim_start().len();
    }

    /// Skips a text.
    fn eat(&mut self, text: &str) -> Option<()> {
        self.space();
        self.rest().starts_with(text).then(|| self.position += text.len())
    }

    /// Skips a word.
    fn eat_word(&mut self, word: &str) -> Option<()> {
        self.space();
        starts_with_word(self.rest(), word).then(|| self.position += word.len())
    }

    fn name(&mut self) -> Option<&'c str> {
        self.space();
        let rest = self.rest();
        let name = &rest[..rest.find(|c: char| !is_part(c)).unwrap_or(rest.len())];
        self.position += name.len();
        (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
    }

    /// Skips the type after a colon. A single literal is more likely a mistake, such as `call(a: 1)`.
    fn annotation(&mut self) -> Option<usize> {
        self.space();
        let is_literal = self.rest().starts_with(|c: char| c.is_ascii_digit() || matches!(c, '"' | '\'' | '`' | '-'));
        let start = self.position;
        let end = self.kind(0)?;
        (!is_literal || self.code[start..end].contains('|')).then_some(end)
    }

    fn interface(&mut self) -> Option<usize> {
        self.eat_word("interface")?;
        self.name()?;
        self.eat_arguments()?;
        if self.eat_word("extends").is_some() {
            self.name()?;
            self.eat_arguments()?;
            while self.eat(",").is_some() {
                self.name()?;
                self.eat_arguments()?;
            }
        }
        self.space();
        self.rest().starts_with('{').then_some(())?;
        self.brackets()
    }

    /// Skips the name and the type of an alias.
    fn alias(&mut self) -> Option<usize> {
        self.name()?;
        self.eat_arguments()?;
        self.eat("=")?;
        self.kind(0)
    }

    /// Skips `<…>`, if it is there.
    fn eat_arguments(&mut self) -> Option<()> {
        if self.rest().starts_with('<') { self.arguments().map(drop) } else { Some(()) }
    }

    /// Skips the arguments or the parameters of a type, such as `<T extends object, U = string>`.
    fn arguments(&mut self) -> Option<usize> {
        self.argument_list(0)
    }

    fn argument_list(&mut self, depth: u32) -> Option<usize> {
        self.eat("<")?;
        loop {
            self.kind(depth + 1)?;
            if self.eat_word("extends").is_some() {
                self.kind(depth + 1)?;
            }
            if self.eat("=").is_some() {
                self.kind(depth + 1)?;
            }
            if self.eat(",").is_none() {
                break;
            }
        }
        self.eat(">")?;
        Some(self.position)
    }

    /// Skips a type, and returns its end.
    fn kind(&mut self, depth: u32) -> Option<usize> {
        if depth > MAX_DEPTH {
            return None;
        }
        let _ = self.eat("|").or_else(|| self.eat("&"));
        loop {
            self.operand(depth)?;
            let end = self.position;
            let continues = match self.eat("|").or_else(|| self.eat("&")) {
                // `||` and `&&` are operators of the program.
                Some(()) => !self.rest().starts_with(['|', '&']),
                None => self.eat_word("is").is_some(),
            };
            if !continues {
                self.position = end;
                return Some(end);
            }
        }
    }

    fn operand(&mut self, depth: u32) -> Option<()> {
        self.space();
        match *self.rest().as_bytes().first()? {
            b'(' | b'<' => {
                if self.rest().starts_with('<') {
                    self.argument_list(depth)?;
                    self.space();
                }
                self.brackets()?;
                let end = self.position;
                match self.eat("=>") {
                    Some(()) => return self.kind(depth + 1).map(drop),
                    None => self.position = end,
                }
            }
            b'{' | b'[' => {
                self.brackets()?;
            }
            quote @ (b'"' | b'\'' | b'`') => self.text(quote)?,
            b'0'..=b'9' | b'-' => {
                let rest = &self.rest()[1..];
                self.position += 1 + rest.find(|c: char| !is_part(c) && c != '.').unwrap_or(rest.len());
            }
            _ => {
                let name = self.name()?;
                if OPERATORS.contains(&name) && self.rest().starts_with(' ') {
                    return self.operand(depth + 1).filter(|()| depth < MAX_DEPTH);
                }
                while self.rest().starts_with('.') && !self.rest().starts_with("..") {
                    self.position += 1;
                    self.name()?;
                }
                if self.rest().starts_with('<') {
                    self.argument_list(depth)?;
                }
            }
        }
        while self.rest().starts_with('[') {
            self.brackets()?;
        }
        Some(())
    }

    /// Skips what is inside brackets, with them.
    fn brackets(&mut self) -> Option<usize> {
        let mut depth = 0_u32;
        loop {
            let rest = self.rest();
            let comment = [("//", "\n"), ("/*", "*/")].into_iter().find(|(start, _)| rest.starts_with(start));
            if let Some((_, end)) = comment.filter(|_| depth > 0) {
                self.position += rest[2..].find(end)? + 2 + end.len();
                continue;
            }
            let byte = *rest.as_bytes().first()?;
            match byte {
                b'"' | b'\'' | b'`' => {
                    self.text(byte)?;
                    continue;
                }
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
                _ if depth == 0 => return None,
                _ => {}
            }
            self.position += rest.chars().next()?.len_utf8();
            if depth == 0 {
                return Some(self.position);
            }
        }
    }

    /// Skips a text in quotes.
    fn text(&mut self, quote: u8) -> Option<()> {
        let inner = &self.rest()[1..];
        let end = inner.find(quote as char)?;
        self.position += end + 2;
        (!inner[..end].contains(['\\', '\n'])).then_some(())
    }
}
