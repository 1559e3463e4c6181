//! Files of environment variables (`envFile`).

/// Parses lines such as `NAME=value`, `export NAME='value'` and `# comment`. Values are not expanded.
///
/// # Errors
///
/// Returns the number of an invalid line, since the line may contain a secret.
pub(super) fn parse(text: &str) -> Result<Vec<(String, String)>, usize> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().map(str::trim).zip(1..);
    let lines = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    lines.map(|(line, number)| variable(line).ok_or(number)).collect()
}

fn variable(line: &str) -> Option<(String, String)> {
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    let value = value.trim();
    let value = match value.chars().next() {
        Some(quote @ ('\'' | '"')) => quoted(&value[1..], quote)?,
        _ => value.split(" #").next().unwrap_or_default().trim_end().to_owned(),
    };
    Some((name.to_owned(), value))
}

/// Reads a value up to its closing quote, which only a comment may follow.
fn quoted(text: &str, quote: char) -> Option<String> {
    let (mut value, mut chars) = (String::new(), text.chars());
    loop {
        match chars.next()? {
            c if c == quote => break,
            '\\' if quote == '"' => value.push(match chars.next()? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                c => c,
            }),
            c => value.push(c),
        }
    }
    let rest = chars.as_str().trim_start();
    (rest.is_empty() || rest.starts_with('#')).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn lines_have_the_usual_syntax() {
        let text = "\u{feff}# keys\n\nA=1\nexport B = two words # comment\nC='$A # \\n'\nD=\"a\\n\\\"b\\\"\" # x\nE=\nF=a#b\r\n";
        let expected = [("A", "1"), ("B", "two words"), ("C", "$A # \\n"), ("D", "a\n\"b\""), ("E", ""), ("F", "a#b")];
        assert_eq!(parse(text).unwrap(), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        for (invalid, line) in [("A=1\nB", 2), ("=1", 1), ("A B=1", 1), ("A='x", 1), ("A='x' y", 1)] {
            assert_eq!(parse(invalid), Err(line), "{invalid}");
        }
    }
}
