//! The names of lint rules, and the diagnostics that they report.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use toolkit::Tool;
use toolkit_schema::shown_id;

/// A defect that a lint rule found in a tool.
///
/// `Display` prints it on one line; serialized, it is a record for other programs.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolkit::Tool;
/// use toolkit_contract::lint::lint;
///
/// let input = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
/// let tool = Tool::builder("read").description("Reads a text file.").input(input).build()?;
/// let diagnostics = lint([&tool], &[]);
/// assert_eq!(diagnostics[0].tool, "read");
/// assert_eq!(diagnostics[0].location, "inputSchema/properties/path");
/// assert!(diagnostics[0].to_string().ends_with("[undescribed-parameter]"));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LintDiagnostic {
    /// The rule.
    pub rule: Rule,
    /// The severity.
    pub level: Level,
    /// The id of the tool, or the name of the server for a rule on all of its tools.
    pub tool: String,
    /// The location: the name of a field, or a JSON Pointer below it.
    pub location: String,
    /// The defect and its remedy.
    pub message: String,
}

/// The severity of a diagnostic.
///
/// Levels are ordered by severity.
///
/// # Examples
///
/// A test that accepts warnings:
///
/// ```
/// use toolkit_contract::lint::{Level, lint};
/// use toolkit::{catalog, tool};
///
/// /// Adds.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let diagnostics = lint(&catalog![add]?, &[]);
/// assert!(!diagnostics.is_empty());
/// assert!(diagnostics.iter().all(|diagnostic| diagnostic.level < Level::Error), "{diagnostics:#?}");
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Level {
    /// The tool works, and could be improved.
    Warning,
    /// The tool must not be used: no honest tool has this defect.
    Error,
}

macro_rules! rules {
    ($($(#[$doc:meta])* $Rule:ident $code:literal $level:ident $reason:literal,)*) => {
        /// A lint rule. Its code switches it off.
        ///
        /// # Examples
        ///
        /// ```
        /// use toolkit_contract::lint::{Level, Rule};
        ///
        /// let rule: Rule = "invisible-text".parse()?;
        /// assert_eq!(rule, Rule::InvisibleText);
        /// assert_eq!(rule.level(), Level::Error);
        /// assert_eq!(rule.reason(), "A model reads text that a human reviewer cannot see.");
        ///
        /// let warnings = Rule::ALL.iter().filter(|rule| rule.level() == Level::Warning);
        /// assert!(warnings.count() > 0);
        /// # Ok::<(), toolkit_contract::lint::UnknownRuleError>(())
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(rename_all = "kebab-case")]
        #[non_exhaustive]
        pub enum Rule { $(#[doc = $reason] $(#[$doc])* $Rule,)* }

        impl Rule {
            /// All rules.
            pub const ALL: &[Self] = &[$(Rule::$Rule),*];

            /// Returns the code, such as `undescribed-parameter`.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self { $(Rule::$Rule => $code,)* }
            }

            /// Returns the reason for the rule.
            #[must_use]
            pub fn reason(self) -> &'static str {
                match self { $(Rule::$Rule => $reason,)* }
            }

            /// Returns the severity of the diagnostics of this rule.
            #[must_use]
            pub fn level(self) -> Level {
                match self { $(Rule::$Rule => Level::$level,)* }
            }
        }
    };
}

rules! {
    InvisibleText "invisible-text" Error "A model reads text that a human reviewer cannot see.",
    HiddenInstructions "hidden-instructions" Error "A description that gives orders to the model takes control of it instead of describing the tool.",
    SuspiciousText "suspicious-text" Warning "Urgency, secrecy and references to other tools are typical of poisoned descriptions.",
    MissingDescription "missing-description" Warning "A model chooses a tool by its description.",
    VagueDescription "vague-description" Warning "A description that only repeats the name gives a model no information.",
    UndescribedParameter "undescribed-parameter" Warning "A model chooses the value of an argument by its description.",
    UntypedParameter "untyped-parameter" Warning "If a schema accepts any value, a model sends any value, and strict modes reject the tool.",
    UnlistedName "unlisted-name" Warning "A name that the type accepts and the schema does not list cannot be sent.",
    UnreadExample "unread-example" Warning "The type of an argument rejects values that its schema accepts, so that a model cannot know what to send.",
    UnenforcedFormat "unenforced-format" Warning "A format is a hint for models: the tool receives texts that do not have it.",
    NeedlessRequired "needless-required" Warning "A model invents a value for an argument that it need not send.",
    BytesAsNumbers "bytes-as-numbers" Warning "Models send bytes as base64, and a list of numbers rejects it.",
    LongDescription "long-description" Warning "A model reads each description in each request.",
    RepeatedDefinition "repeated-definition" Warning "A model reads each copy of a schema, since most hosts need definitions inlined.",
    RepeatedSentence "repeated-sentence" Warning "A sentence in many descriptions costs its tokens once for each tool.",
    HostName "host-name" Warning "A host adds the name of the server to that of the tool, and limits the length of both.",
    HostDescription "host-description" Warning "A host cuts a long description, so that the model does not read its end.",
    HostTimeout "host-timeout" Warning "A host stops waiting, and the model does not see the result of a tool that has run.",
    HostInstructions "host-instructions" Warning "A host cuts the instructions of a server, so that the model does not read their end.",
    HostTools "host-tools" Warning "A host limits the number of tools of all servers.",
    UnlistedVersion "unlisted-version" Warning "MCP and the exports list one version of a tool: the highest release.",
    SimilarNames "similar-names" Warning "A model confuses tools whose names hardly differ.",
    SimilarDescriptions "similar-descriptions" Warning "A model cannot choose between tools with the same description.",
    ContradictingHint "contradicting-hint" Warning "Hosts call a tool that claims to be read-only without asking the user.",
    MissingHint "missing-hint" Warning "A tool without hints counts as destructive: clients and approval layers ask before each call.",
}

impl LintDiagnostic {
    pub(crate) fn new(rule: Rule, tool: &Tool, location: impl Into<String>, message: impl Into<String>) -> Self {
        let (tool, location, message) = (tool.id().to_string(), location.into(), message.into());
        Self { rule, level: rule.level(), tool, location, message }
    }

    pub(crate) fn of_server(rule: Rule, server: &str, location: &str, message: String) -> Self {
        Self { rule, level: rule.level(), tool: server.to_owned(), location: location.to_owned(), message }
    }
}

impl fmt::Display for LintDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {} [{}]", shown_id(&self.tool), self.location, self.message, self.rule.code())
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl FromStr for Rule {
    type Err = UnknownRuleError;

    fn from_str(code: &str) -> Result<Self, UnknownRuleError> {
        Self::ALL
            .iter()
            .copied()
            .find(|rule| rule.code() == code)
            .ok_or_else(|| UnknownRuleError { code: code.to_owned() })
    }
}

/// Quotes the start of a deceptive text for a message.
pub(super) fn quoted(text: &str) -> String {
    let shown: String = text.chars().take(60).collect();
    format!("`{}`", shown.escape_debug())
}

/// The error of an unknown rule code.
///
/// # Examples
///
/// ```
/// use toolkit_contract::lint::Rule;
///
/// let error = "long-names".parse::<Rule>().unwrap_err();
/// assert!(error.to_string().starts_with("unknown lint rule `long-names`; the rules are invisible-text, "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRuleError {
    code: String,
}

impl fmt::Display for UnknownRuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codes: Vec<&str> = Rule::ALL.iter().map(|rule| rule.code()).collect();
        write!(f, "unknown lint rule `{}`; the rules are {}", self.code.escape_debug(), codes.join(", "))
    }
}

impl std::error::Error for UnknownRuleError {}
