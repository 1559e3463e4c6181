//! Matching of URIs against templates.

use std::fmt;
use std::ops::Index;

use super::percent::{decoded, is_relative_path};

/// A parsed template: literals with expressions between them.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    prefix: String,
    /// The expressions, each with the literal behind it.
    parts: Vec<(Expression, String)>,
}

#[derive(Clone, Debug)]
struct Expression {
    name: String,
    /// True for `{+name}`, which matches several segments of a path.
    is_path: bool,
}

/// The maximum length of a URI in bytes.
const MAX_URI_LEN: usize = 8 << 10;

/// The values of a template's expressions in a URI, decoded.
///
/// No value can lead out of a directory: a value has no control character, no `\` and no `:`, and none of its parts is
/// `.` or `..`. Only the value of `{+name}` contains `/`.
///
/// [`TemplateResources`](super::TemplateResources) passes it to its function.
#[derive(Clone, Debug, Default)]
pub struct UriParams(Vec<(String, String)>);

/// The error of a template that cannot be matched.
///
/// # Examples
///
/// ```
/// use toolkit::resource::{ResourceTemplate, TemplateResources};
///
/// let template = ResourceTemplate::new("notes://{id", "note");
/// let error = TemplateResources::new(template, |_, _| async { Ok(None::<String>) }).unwrap_err();
/// assert_eq!(error.to_string(), "the URI template `notes://{id` is invalid: `{` is not closed");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriTemplateError {
    template: String,
    reason: &'static str,
}

impl Pattern {
    /// Parses a template of literals, `{name}` and, at the end, `{+name}`. Other expressions of RFC 6570 are ambiguous
    /// when they are matched.
    pub(super) fn parse(template: &str) -> Result<Self, UriTemplateError> {
        let invalid = |reason| UriTemplateError { template: template.to_owned(), reason };
        let mut literals = template.split('{');
        let prefix = literals.next().unwrap_or_default().to_owned();
        if prefix.split_once(':').is_none_or(|(scheme, _)| !is_scheme(scheme)) {
            return Err(invalid("it does not start with a scheme"));
        }
        let mut parts: Vec<(Expression, String)> = Vec::new();
        for part in literals {
            let (expression, literal) = part.split_once('}').ok_or_else(|| invalid("`{` is not closed"))?;
            let name = expression.strip_prefix('+');
            let (name, is_path) = (name.unwrap_or(expression), name.is_some());
            if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                return Err(invalid("only `{name}` and `{+name}` are supported"));
            }
            if parts.iter().any(|(other, _)| other.name == name) {
                return Err(invalid("two expressions have the same name"));
            }
            match parts.last() {
                Some((other, _)) if other.is_path => return Err(invalid("`{+name}` must be the last expression")),
                Some((_, between)) if between.is_empty() => {
                    return Err(invalid("there is no literal between two expressions"));
                }
                _ => {}
            }
            if is_path && !literal.is_empty() {
                return Err(invalid("`{+name}` must be at the end"));
            }
            parts.push((Expression { name: name.to_owned(), is_path }, literal.to_owned()));
        }
        if prefix.contains('}') || parts.iter().any(|(_, literal)| literal.contains('}')) {
            return Err(invalid("`}` has no `{`"));
        }
        Ok(Self { prefix, parts })
    }

    /// Returns the values of the expressions, or `None` if the URI does not match. The time is linear.
    pub(super) fn matched(&self, uri: &str) -> Option<UriParams> {
        if uri.len() > MAX_URI_LEN {
            return None;
        }
        let mut rest = uri.strip_prefix(&*self.prefix)?;
        let mut values = Vec::with_capacity(self.parts.len());
        for (idx, (expression, literal)) in self.parts.iter().enumerate() {
            let value;
            if idx + 1 == self.parts.len() {
                (value, rest) = (rest.strip_suffix(&**literal)?, "");
            } else {
                (value, rest) = rest.split_once(&**literal)?;
            }
            let value = decoded(value)?;
            if !is_relative_path(&value) || (!expression.is_path && value.contains('/')) {
                return None;
            }
            values.push((expression.name.clone(), value));
        }
        rest.is_empty().then_some(UriParams(values))
    }
}

/// Returns true for a scheme (RFC 3986, section 3.1).
pub(super) fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

impl UriParams {
    /// Returns the value of an expression.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

/// Returns the value of an expression.
///
/// # Panics
///
/// Panics if the template has no such expression.
impl Index<&str> for UriParams {
    type Output = str;

    fn index(&self, name: &str) -> &str {
        self.get(name).unwrap_or_else(|| panic!("the URI template has no expression `{name}`"))
    }
}

impl fmt::Display for UriTemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the URI template `{}` is invalid: {}", self.template.escape_debug(), self.reason)
    }
}

impl std::error::Error for UriTemplateError {}

#[cfg(test)]
mod tests {
    use super::Pattern;

    fn matched(template: &str, uri: &str) -> Option<Vec<(String, String)>> {
        Pattern::parse(template).unwrap().matched(uri).map(|params| params.0)
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn expressions_match_decoded_values() {
        assert_eq!(matched("notes://{id}", "notes://a%20b"), Some(vec![pair("id", "a b")]));
        let both = Some(vec![pair("year", "2026"), pair("path", "a/b")]);
        assert_eq!(matched("x://{year}/{+path}", "x://2026/a/b"), both);
        assert_eq!(matched("x://{id}/data", "x://7/data"), Some(vec![pair("id", "7")]));
        assert_eq!(matched("x://fixed", "x://fixed"), Some(vec![]));
        assert_eq!(matched("x://fixed", "x://fixed/7"), None);
    }

    #[test]
    fn values_never_lead_out_of_a_directory() {
        for value in ["", "a/b", "a%2Fb", "..", "%2e%2e", "%2E%2e", ".", "a%00", "a%5Cb", "C%3A", "%ff", "%"] {
            assert_eq!(matched("x://{id}", &format!("x://{value}")), None, "{value}");
        }
        for value in ["", "/etc", "a/../b", "a/%2e%2e/b", "a//b", "%2Fetc", "..%2f", "a/"] {
            assert_eq!(matched("x:///{+path}", &format!("x:///{value}")), None, "{value}");
        }
        assert_eq!(matched("x://{id}", &format!("x://{}", "a".repeat(1 << 20))), None);
    }

    #[test]
    fn ambiguous_templates_are_invalid() {
        for template in ["{id}", "x:{a}{b}", "x:{a", "x:a}", "x:{+a}/b", "x:{+a}/{b}", "x:{?q}", "x:{}", "x:{a}/{a}"] {
            assert!(Pattern::parse(template).is_err(), "{template}");
        }
    }
}
