//! Rules that select the tools to serve.

use std::fmt;
use std::str::FromStr;

use toolkit::catalog::Naming;
use toolkit::tool::NameError;
use toolkit::{Catalog, Tool};
use toolkit_runtime::matches_wildcard;

use super::listed_names::suffixed;

/// A filter of tools: those that an `allow` rule matches, or all tools without such rules, except for those that a
/// `deny` rule matches.
///
/// A tool that does not pass is not listed, and calling it is an error like a call of an unknown tool.
///
/// # Examples
///
/// ```
/// use toolkit_mcp_server::Filter;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let filter = Filter::all().allow("namespace=math".parse()?).deny("hint=destructive".parse()?);
/// let tool = toolkit::Tool::builder("add").namespace("math").description("Adds.").read_only(true).build()?;
/// assert!(filter.admits(&tool));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Filter {
    allowed: Vec<Rule>,
    rejection: Vec<Rule>,
    is_read_only: bool,
}

impl Filter {
    /// Creates a filter that all tools pass.
    pub fn all() -> Self {
        Self::default()
    }

    /// Adds a rule to allow tools.
    pub fn allow(mut self, rule: Rule) -> Self {
        self.allowed.push(rule);
        self
    }

    /// Adds a rule to deny tools, even if an `allow` rule matches them.
    pub fn deny(mut self, rule: Rule) -> Self {
        self.rejection.push(rule);
        self
    }

    /// Denies all tools that are not annotated as read-only.
    pub fn read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }

    /// Returns true if the resources of a backend with these tools pass the filter: if one of its tools does, or, for a
    /// backend without tools, if no rule excludes its namespace.
    pub(super) fn admits_resources_of<'t>(&self, backend: &str, tools: impl Iterator<Item = &'t Tool>) -> bool {
        let mut tools = tools.peekable();
        if tools.peek().is_some() {
            return tools.any(|tool| self.admits(tool));
        }
        let is_of_backend = |rule: &Rule| rule.matches_namespace(backend);
        let is_allowed = self.allowed.is_empty() || self.allowed.iter().any(is_of_backend);
        is_allowed && !self.rejection.iter().any(is_of_backend)
    }

    /// Returns the rules that match none of these tools. Rules for hints are not included, since they hold for tools
    /// that are added later.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit_mcp_server::Filter;
    ///
    /// let filter = Filter::all().deny("math_ad".parse()?).deny("math_add".parse()?);
    /// let tool = toolkit::Tool::builder("add").namespace("math").build()?;
    /// let unmatched: Vec<String> = filter.unmatched(&[tool]).map(ToString::to_string).collect();
    /// assert_eq!(unmatched, ["math_ad"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn unmatched<'f>(&'f self, tools: &'f [Tool]) -> impl Iterator<Item = &'f Rule> {
        let rules = self.allowed.iter().chain(&self.rejection);
        let rules = rules.filter(|rule| !matches!(rule, Rule::Hint(_)));
        rules.filter(|rule| !tools.iter().any(|tool| rule.matches(tool)))
    }

    /// Returns true if the tool passes the filter.
    #[must_use]
    pub fn admits(&self, tool: &Tool) -> bool {
        self.admits_if(tool, |rule| rule.matches(tool))
    }

    /// Returns true if the tool passes the filter beside the other tools of a catalog: a listed name in an `allow` rule
    /// does not allow a tool that only has the same listed name as another one, or has that of another one as its bare
    /// name.
    pub(super) fn admits_among(&self, tool: &Tool, catalog: &Catalog) -> bool {
        self.admits_if(tool, |rule| rule.matches(tool) && !rule.is_meant_for_another(tool, catalog))
    }

    /// Returns the rules to allow tools by a listed name that several tools have, with their ids.
    pub(super) fn ambiguous<'f>(&'f self, catalog: &'f Catalog) -> impl Iterator<Item = (&'f Rule, Vec<String>)> {
        self.allowed.iter().filter_map(|rule| {
            let tools = catalog.latest().filter(|tool| rule.has_listed_name_of(tool));
            let ids: Vec<String> = tools.map(|tool| tool.id().unversioned().to_string()).collect();
            let is_id = ids.iter().any(|id| matches!(rule, Rule::Tool(name) if name == id));
            (ids.len() > 1 && !is_id).then_some((rule, ids))
        })
    }

    fn admits_if(&self, tool: &Tool, is_allowed_by: impl Fn(&Rule) -> bool) -> bool {
        let is_allowed = self.allowed.is_empty() || self.allowed.iter().any(is_allowed_by);
        is_allowed && !self.denies(tool)
    }

    /// Returns true if a `deny` rule matches the tool, or the tool is not read-only though all have to be.
    pub(super) fn denies(&self, tool: &Tool) -> bool {
        let is_denied = self.rejection.iter().any(|rule| rule.matches(tool));
        is_denied || (self.is_read_only && !Hint::ReadOnly.is_of(tool))
    }
}

/// A rule that matches tools: `namespace=math`, `tag=arithmetic`, `hint=read-only`, an id such as `math:add`, or a listed
/// name such as `math_add`. In namespaces, tags and ids, `*` matches any characters.
///
/// # Examples
///
/// ```
/// use toolkit_mcp_server::Rule;
///
/// let rule: Rule = "tag=arithmetic".parse().unwrap();
/// assert_eq!(rule, Rule::Tag("arithmetic".to_owned()));
/// assert!("math:get_*".parse::<Rule>().is_ok() && "*:get_*".parse::<Rule>().is_ok());
/// assert!("color=red".parse::<Rule>().is_err() && "get_*".parse::<Rule>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// Matches all tools of a namespace.
    Namespace(String),
    /// Matches all tools with a tag.
    Tag(String),
    /// Matches all tools with an effect.
    Hint(Hint),
    /// Matches tools by their id, with or without the version, by the name alone, or by the name that clients see.
    ///
    /// A listed name that several tools have denies all of them and allows none. A pattern with `*` matches ids only,
    /// such as `math:get_*` or `*:get_*`: a server chooses the names of its tools, and could choose one that looks like
    /// the listed name of another server.
    Tool(String),
}

toolkit::named! {
    /// An effect of a tool, according to its annotations. Missing annotations have the defaults of the protocol, which
    /// assume the largest effects.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::Tool;
    /// use toolkit_mcp_server::{Filter, Hint, Rule};
    ///
    /// let filter = Filter::all().deny(Rule::Hint(Hint::Destructive));
    /// // Without annotations, a tool counts as destructive.
    /// assert!(!filter.admits(&Tool::builder("move_file").build()?));
    /// assert!(filter.admits(&Tool::builder("append_file").destructive(false).build()?));
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Hint {
        /// The tool is annotated as read-only.
        ReadOnly = "read-only",
        /// The tool may perform destructive updates: it is annotated neither as read-only nor as not destructive.
        Destructive = "destructive",
        /// The tool is annotated as idempotent: repeating a call has no further effect.
        Idempotent = "idempotent",
        /// The tool may interact with an open world: it is not annotated otherwise.
        OpenWorld = "open-world",
    }
}

impl Rule {
    fn matches(&self, tool: &Tool) -> bool {
        match self {
            Rule::Namespace(_) => tool.id().namespace().is_some_and(|namespace| self.matches_namespace(namespace)),
            Rule::Tag(tag) => tool.tags().iter().any(|other| matches_wildcard(tag, other)),
            Rule::Hint(hint) => hint.is_of(tool),
            Rule::Tool(pattern) if pattern.contains('*') => {
                let id = format!("{}:{}", tool.id().namespace().unwrap_or_default(), tool.name());
                matches_wildcard(pattern, &id) || matches_wildcard(pattern, &tool.id().to_string())
            }
            Rule::Tool(name) => {
                tool.name() == name
                    || is_id(name, tool)
                    || self.has_listed_name_of(tool)
                    || suffixed(Naming::NamespaceName, tool.id()) == *name
            }
        }
    }

    /// Returns true if the rule matches all tools of a namespace.
    pub(super) fn matches_namespace(&self, namespace: &str) -> bool {
        matches!(self, Rule::Namespace(pattern) if matches_wildcard(pattern, namespace))
    }

    /// Returns true if the rule has the listed name of a tool, without a suffix.
    fn has_listed_name_of(&self, tool: &Tool) -> bool {
        matches!(self, Rule::Tool(name) if Naming::NamespaceName.wire_name(tool.id()) == *name)
    }

    /// Returns true if the rule has the listed name of another tool than this one, and not the id of this one.
    fn is_meant_for_another(&self, tool: &Tool, catalog: &Catalog) -> bool {
        let Rule::Tool(name) = self else { return false };
        let is_another = |other: &Tool| {
            (other.id().namespace(), other.name()) != (tool.id().namespace(), tool.name())
                && self.has_listed_name_of(other)
        };
        !is_id(name, tool) && catalog.latest().any(is_another)
    }
}

/// Returns true if the text is the id of the tool, with or without the version.
fn is_id(text: &str, tool: &Tool) -> bool {
    let id = tool.id();
    id.to_string() == *text || id.unversioned().to_string() == *text
}

/// Formats the rule as it is parsed.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Namespace(namespace) => write!(f, "namespace={namespace}"),
            Rule::Tag(tag) => write!(f, "tag={tag}"),
            Rule::Hint(hint) => write!(f, "hint={hint}"),
            Rule::Tool(name) => f.write_str(name),
        }
    }
}

impl Hint {
    fn is_of(self, tool: &Tool) -> bool {
        let annotations = tool.annotations();
        match self {
            Hint::ReadOnly => annotations.read_only == Some(true),
            Hint::Destructive => annotations.may_be_destructive(),
            Hint::Idempotent => annotations.idempotent == Some(true),
            Hint::OpenWorld => annotations.open_world != Some(false),
        }
    }
}

/// The error for a text that is not a [`Rule`].
///
/// # Examples
///
/// ```
/// use toolkit_mcp_server::Rule;
///
/// let error = "hint=harmless".parse::<Rule>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "unknown hint; expected `read-only`, `destructive`, `idempotent` or `open-world`"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    message: String,
    /// The reason why a rule for a tool is not the id of one.
    source: Option<NameError>,
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let wrong = |message: &str| RuleError { message: message.to_owned(), source: None };
        let Some((kind, value)) = text.split_once('=') else {
            if text.contains('*') && !text.contains(':') {
                let shown = text.escape_debug();
                return Err(wrong(&format!("a pattern needs a namespace: `*:{shown}` for those of all servers")));
            }
            return match text.replace('*', "x").parse::<toolkit::ToolId>() {
                Ok(_) => Ok(Rule::Tool(text.to_owned())),
                Err(invalid) => Err(RuleError { message: invalid.to_string(), source: Some(invalid) }),
            };
        };
        if value.is_empty() {
            return Err(wrong(&format!("the value of `{kind}=` is empty")));
        }
        match kind {
            "namespace" => Ok(Rule::Namespace(value.to_owned())),
            "tag" => Ok(Rule::Tag(value.to_owned())),
            "hint" => Hint::from_name(value).map(Rule::Hint).ok_or_else(|| {
                wrong("unknown hint; expected `read-only`, `destructive`, `idempotent` or `open-world`")
            }),
            _ => Err(wrong("unknown rule; expected `namespace=…`, `tag=…`, `hint=…` or the id of a tool")),
        }
    }
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RuleError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}
