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
    let mut bad: Vec<String> = Vec::new();
    for c in name.chars().filter(|&c| !is_name_char(c)) {
        let quoted = format!("`{}`", c.escape_debug());
        if !bad.contains(&quoted) {
            bad.push(quoted);
        }
    }
    if !bad.is_empty() {
        bad.truncate(8);
        return Err(format!("must not contain {}; use letters, digits, `_`, `-` and `.`", bad.join(" or ")));
    }
    if name.len() > MAX_NAME_LEN {
        return Err(format!("must have at most {MAX_NAME_LEN} characters, and this has {}", name.len()));
    }
    Ok(())
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}
