//! Which tools of a catalogue are served.

use std::fmt;
use std::str::FromStr;

use toolkit::Tool;

/// Which tools are served: those that a rule allows, or all where none does, without those that a rule denies.
///
/// A tool that is not served is not listed, and a call of it is the call of an unknown tool.
///
/// ```
/// use toolkit_mcp::server::Filter;
///
/// let filter = Filter::all().allow("namespace=math".parse()?).deny("hint=destructive".parse()?);
/// # let tool = toolkit::Tool::builder("add").namespace("math").description("Adds.").read_only(true).build()?;
/// assert!(filter.admits(&tool));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    allowed: Vec<Rule>,
    denied: Vec<Rule>,
    is_read_only: bool,
}

impl Filter {
    /// All tools.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// Serves the tools that this rule is about, and those of other rules that were allowed.
    #[must_use]
    pub fn allow(mut self, rule: Rule) -> Self {
        self.allowed.push(rule);
        self
    }

    /// Serves none of the tools that this rule is about, whatever allows them.
    #[must_use]
    pub fn deny(mut self, rule: Rule) -> Self {
        self.denied.push(rule);
        self
    }

    /// Serves only tools that say of themselves that they change nothing.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }

    /// Whether the tool is served.
    #[must_use]
    pub fn admits(&self, tool: &Tool) -> bool {
        let is_allowed = self.allowed.is_empty() || self.allowed.iter().any(|rule| rule.is_about(tool));
        let is_denied = self.denied.iter().any(|rule| rule.is_about(tool));
        is_allowed && !is_denied && (!self.is_read_only || Hint::ReadOnly.is_of(tool))
    }
}

/// What some tools have in common: `namespace=math`, `tag=arithmetic`, `hint=read-only`, or an id such as `math:add`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// The namespace.
    Namespace(String),
    /// A tag.
    Tag(String),
    /// What the tool says of its effects.
    Hint(Hint),
    /// The id, with or without the version, or the name alone.
    Tool(String),
}

/// What a tool says of its effects. Where it says nothing, the most that the protocol lets one expect is assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hint {
    /// It says that it changes nothing.
    ReadOnly,
    /// It may delete or overwrite: it does not say that it only reads or only adds.
    Destructive,
    /// It says that doing it twice changes nothing more.
    Idempotent,
    /// It may reach beyond a closed domain: it does not say that it stays in one.
    OpenWorld,
}

impl Rule {
    fn is_about(&self, tool: &Tool) -> bool {
        match self {
            Rule::Namespace(namespace) => tool.id().namespace() == Some(namespace),
            Rule::Tag(tag) => tool.tags().iter().any(|other| other == tag),
            Rule::Hint(hint) => hint.is_of(tool),
            Rule::Tool(name) => {
                let id = tool.id();
                tool.name() == name || id.to_string() == *name || id.unversioned().to_string() == *name
            }
        }
    }
}

impl Hint {
    /// The words for it on a command line.
    pub const NAMES: [(&'static str, Self); 4] = [
        ("read-only", Hint::ReadOnly),
        ("destructive", Hint::Destructive),
        ("idempotent", Hint::Idempotent),
        ("open-world", Hint::OpenWorld),
    ];

    fn is_of(self, tool: &Tool) -> bool {
        let said = tool.annotations();
        match self {
            Hint::ReadOnly => said.read_only == Some(true),
            Hint::Destructive => said.read_only != Some(true) && said.destructive != Some(false),
            Hint::Idempotent => said.idempotent == Some(true),
            Hint::OpenWorld => said.open_world != Some(false),
        }
    }
}

/// A text that is no [`Rule`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidRule(String);

impl FromStr for Rule {
    type Err = InvalidRule;

    fn from_str(text: &str) -> Result<Self, InvalidRule> {
        let Some((kind, value)) = text.split_once('=') else {
            return match text.parse::<toolkit::ToolId>() {
                Ok(_) => Ok(Rule::Tool(text.to_owned())),
                Err(invalid) => Err(InvalidRule(invalid.to_string())),
            };
        };
        if value.is_empty() {
            return Err(InvalidRule(format!("nothing stands after `{kind}=`")));
        }
        match kind {
            "namespace" => Ok(Rule::Namespace(value.to_owned())),
            "tag" => Ok(Rule::Tag(value.to_owned())),
            "hint" => {
                Hint::NAMES.iter().find(|(name, _)| *name == value).map(|(_, hint)| Rule::Hint(*hint)).ok_or_else(
                    || InvalidRule("a hint is `read-only`, `destructive`, `idempotent` or `open-world`".to_owned()),
                )
            }
            _ => Err(InvalidRule("a rule is `namespace=…`, `tag=…`, `hint=…` or the id of a tool".to_owned())),
        }
    }
}

impl fmt::Display for InvalidRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidRule {}
