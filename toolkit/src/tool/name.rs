//! The rule for names and namespaces: 1 to 128 characters of `[A-Za-z0-9_.-]` (MCP 2025-11-25, SEP-986).
//!
//! `toolkit-derive/src/name.rs` is a link to this file, so that the compiler and the library apply the same rule, with the same
//! messages.

/// The maximum length of a name or namespace in bytes.
pub const MAX_NAME_LEN: usize = 128;

/// Checks that `name` is a valid name or namespace.
///
/// # Errors
///
/// Returns a predicate for an error message, such as ``must not contain ` ` or `!` ``.
///
/// # Examples
///
/// ```
/// use toolkit::tool::check_name;
///
/// assert!(check_name("read_file").is_ok());
/// assert_eq!(
///     check_name("read file!").unwrap_err(),
///     "must not contain ` ` or `!`; use letters, digits, `_`, `-` and `.`"
/// );
/// ```
pub fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("must not be empty".to_owned());
    }
    let mut bad: Vec<char> = Vec::new();
    for c in name.chars().filter(|&c| !is_name_char(c)) {
        if !bad.contains(&c) {
            bad.push(c);
        }
        // A foreign name may contain a million of them.
        if bad.len() == 8 {
            break;
        }
    }
    if !bad.is_empty() {
        let bad: Vec<String> = bad.iter().map(|c| format!("`{}`", c.escape_debug())).collect();
        return Err(format!("must not contain {}; use letters, digits, `_`, `-` and `.`", bad.join(" or ")));
    }
    if name.len() > MAX_NAME_LEN {
        return Err(format!("must have at most {MAX_NAME_LEN} characters, got {}", name.len()));
    }
    Ok(())
}

/// Checks that `alias` is a valid alias of a tool.
///
/// # Errors
///
/// Returns the errors of [`check_name`].
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

/// Returns the alias in the namespace of an instance. The original alias would be ambiguous between instances.
pub(super) fn alias_within(instance: &str, namespace: Option<&str>, alias: &str) -> Option<String> {
    match alias.split_once(':') {
        None => Some(format!("{instance}:{alias}")),
        Some((own, rest)) if Some(own) == namespace => Some(format!("{instance}:{rest}")),
        Some(_) => None,
    }
}
