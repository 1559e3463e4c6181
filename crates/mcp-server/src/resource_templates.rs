//! Resources that a function computes, and the matching of their URIs against a template.

use std::fmt;
use std::future::Future;
use std::ops::Index;

use toolkit::call::{BoxFuture, Context, ToolError};
use toolkit::resource::{ResourceBody, ResourceChanges, ResourceContents, ResourceTemplate, Resources};

type Read =
    dyn Fn(UriParams, Context) -> BoxFuture<'static, Result<Option<ResourceBody>, ToolError>> + Send + Sync + 'static;

/// The resources whose URIs match a template, computed by a function.
///
/// A template consists of literals, expressions `{name}`, which match a part of a URI without `/`, and at most one
/// `{+name}` at the end, which matches a path.
///
/// # Examples
///
/// ```
/// use toolkit::resource::{ResourceTemplate, Resources};
/// use toolkit::{Context, ToolError};
/// use toolkit_mcp_server::TemplateResources;
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let template = ResourceTemplate::new("squares://{n}", "square").mime_type("text/plain");
/// let squares = TemplateResources::new(template, |params, _context| async move {
///     let n: Option<u64> = params["n"].parse().ok();
///     Ok(n.and_then(|n| n.checked_mul(n)).map(|square| square.to_string()))
/// })?;
///
/// let contents = squares.read("squares://12", &Context::new()).await?.ok_or("an unknown URI")?;
/// assert_eq!(contents[0].as_text(), Some("144"));
/// assert!(squares.read("squares://twelve", &Context::new()).await?.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TemplateResources {
    template: ResourceTemplate,
    pattern: Pattern,
    read: Box<Read>,
    changes: ResourceChanges,
}

impl TemplateResources {
    /// Creates a provider. The function receives the values of the template's expressions and the context of the
    /// request, and returns `None` for an unknown resource.
    ///
    /// # Errors
    ///
    /// Returns an error if the template is malformed, or has an expression that cannot be matched.
    pub fn new<B, F>(
        template: ResourceTemplate,
        read: impl Fn(UriParams, Context) -> F + Send + Sync + 'static,
    ) -> Result<Self, UriTemplateError>
    where
        B: Into<ResourceBody>,
        F: Future<Output = Result<Option<B>, ToolError>> + Send + 'static,
    {
        let pattern = Pattern::parse(&template.uri_template)?;
        let read = move |params: UriParams, context: Context| -> BoxFuture<'static, _> {
            let body = read(params, context);
            Box::pin(async move { Ok(body.await?.map(Into::into)) })
        };
        Ok(Self { template, pattern, read: Box::new(read), changes: ResourceChanges::new() })
    }
}

impl Resources for TemplateResources {
    fn templates<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<Vec<ResourceTemplate>, ToolError>> {
        Box::pin(async { Ok(vec![self.template.clone()]) })
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Vec<ResourceContents>>, ToolError>> {
        Box::pin(async move {
            let Some(params) = self.pattern.matched(uri) else {
                return Ok(None);
            };
            let body = (self.read)(params, context.clone()).await?;
            Ok(body.map(|body| {
                let mut contents = ResourceContents::new(uri, body);
                (contents.mime_type, contents.meta) = (self.template.mime_type.clone(), self.template.meta.clone());
                vec![contents]
            }))
        })
    }

    /// Returns the connection over which the host reports that a resource has changed.
    fn changes(&self) -> Option<&ResourceChanges> {
        Some(&self.changes)
    }
}

toolkit::debug_fields!(it, TemplateResources { template: it.template.uri_template });

/// A parsed template: literals with expressions between them.
#[derive(Clone, Debug)]
struct Pattern {
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
/// [`TemplateResources`] passes it to its function.
#[derive(Clone, Debug, Default)]
pub struct UriParams(Vec<(String, String)>);

/// The error of a template that cannot be matched.
///
/// # Examples
///
/// ```
/// use toolkit::resource::ResourceTemplate;
/// use toolkit_mcp_server::TemplateResources;
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
    fn parse(template: &str) -> Result<Self, UriTemplateError> {
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
    fn matched(&self, uri: &str) -> Option<UriParams> {
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
pub(crate) fn is_scheme(text: &str) -> bool {
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

/// Decodes a part of a URI once. Returns `None` for an incomplete escape, or if the bytes are not UTF-8.
pub(crate) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                let (high, low) = (digit()?, digit()?);
                bytes.push(high << 4 | low);
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok()
}

/// Returns true if a decoded path stays below the directory that it is relative to, on every operating system.
pub(crate) fn is_relative_path(path: &str) -> bool {
    !path.contains(|c: char| c.is_control() || matches!(c, '\\' | ':'))
        && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::{Pattern, decoded, is_relative_path};

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

    #[test]
    fn escapes_are_decoded_once() {
        assert_eq!(decoded("a%20b%252e").as_deref(), Some("a b%2e"));
        assert_eq!(decoded("%C3%A9").as_deref(), Some("é"));
        for malformed in ["%", "%2", "%2g", "%+1", "%ff", "%é"] {
            assert_eq!(decoded(malformed), None, "{malformed}");
        }
    }

    #[test]
    fn paths_that_lead_elsewhere_are_not_relative() {
        assert!(is_relative_path("a/b c/é.txt"));
        for path in ["", "/a", "a/", "a//b", ".", "..", "a/../b", "a/./b", "a\0", "a\\..\\b", "C:/a", "a\n"] {
            assert!(!is_relative_path(path), "{path:?}");
        }
    }
}
