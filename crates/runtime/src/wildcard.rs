//! Patterns of names.

/// Returns true if a name matches a pattern, in which `*` matches any characters.
///
/// # Examples
///
/// ```
/// use toolkit_runtime::matches_wildcard;
///
/// for (pattern, yes, no) in [
///     ("read", "read", "reads"),
///     ("read_*", "read_", "read"),
///     ("*_file", "read_file", "read_files"),
///     ("a*b*c", "aXbXbYc", "acb"),
///     ("a*a", "aa", "a"),
///     ("**x*", "x", "y"),
/// ] {
///     assert!(matches_wildcard(pattern, yes), "{pattern} {yes}");
///     assert!(!matches_wildcard(pattern, no), "{pattern} {no}");
/// }
/// ```
pub fn matches_wildcard(pattern: &str, name: &str) -> bool {
    let Some((start, parts)) = pattern.split_once('*') else { return pattern == name };
    let (middle, end) = parts.rsplit_once('*').unwrap_or(("", parts));
    let rest = name.strip_prefix(start);
    let rest = middle.split('*').fold(rest, |rest, part| rest?.split_once(part).map(|(_, after)| after));
    rest.is_some_and(|rest| rest.ends_with(end))
}
