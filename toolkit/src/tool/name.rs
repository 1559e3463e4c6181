//! The rule for names and namespaces: one to 128 of `[A-Za-z0-9_.-]` (MCP 2025-11-25, SEP-986).
//!
//! `toolkit-derive` compiles this file too (through a link), so that the compiler and the library agree on every name.

/// The longest name or namespace, in bytes.
pub const MAX_NAME_LEN: usize = 128;

/// Says what keeps `name` from being a name or a namespace.
///
/// # Errors
///
/// One sentence without its subject, such as ``must not contain ` ` or `!` ``.
pub fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("must not be empty".to_owned());
    }
    let mut bad: Vec<char> = Vec::new();
    for c in name.chars().filter(|&c| !is_name_char(c)) {
        if !bad.contains(&c) {
            bad.push(c);
        }
        // A name may come from a stranger and have a million of them.
        if bad.len() == 8 {
            break;
        }
    }
    if !bad.is_empty() {
        let bad: Vec<String> = bad.iter().map(|c| format!("`{}`", c.escape_debug())).collect();
        return Err(format!("must not contain {}; use letters, digits, `_`, `-` and `.`", bad.join(" or ")));
    }
    if name.len() > MAX_NAME_LEN {
        return Err(format!("must have at most {MAX_NAME_LEN} characters, and this has {}", name.len()));
    }
    Ok(())
}

/// Says what keeps `alias` from being a former name or id of a tool.
///
/// # Errors
///
/// As for [`check_name`].
pub fn check_alias(alias: &str) -> Result<(), String> {
    alias.split(':').try_for_each(check_name)?;
    match alias.split(':').nth(3) {
        Some(_) => Err("has more than two colons".to_owned()),
        None => Ok(()),
    }
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}
