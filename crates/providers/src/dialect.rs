//! The subsets of JSON Schema that providers accept, as data: the keywords and limits of each, and the rules by which it
//! rejects definitions. `lower` repairs a schema by them.

mod limits;
mod rule;

pub use self::limits::SchemaLimits;
pub use self::rule::Rule;
pub(crate) use self::rule::{check_record, check_schema, is_plain_name};

/// The subset of JSON Schema that a provider supports.
///
/// Keyword lists and limits are from the documentation and the SDKs of the providers as of November 2026. They are
/// data, so that a host can correct them.
///
/// ```
/// use toolkit_providers::Dialect;
///
/// let mut dialect = Dialect::OPENAI_STRICT;
/// assert!(dialect.reads("pattern") && !dialect.reads("minLength"));
/// dialect.limits.properties = 100;
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Dialect {
    /// The name of the dialect in messages.
    pub name: &'static str,
    /// The rules of all definitions, with a source each.
    pub base_rules: &'static [(Rule, &'static str)],
    /// The rules of definitions in strict mode, with a source each.
    pub strict_rules: &'static [(Rule, &'static str)],
    /// The supported keywords besides `type`, `description`, `properties`, `required` and `items`; `None` for all.
    ///
    /// With `$ref`, references may be recursive. All others are replaced by their targets.
    pub keywords: Option<&'static [&'static str]>,
    /// The supported values of `format`, for strings; `None` for all.
    pub formats: Option<&'static [&'static str]>,
    /// The limits on the size of a schema.
    pub limits: SchemaLimits,
}

const OPENAI_GUIDE: &str = "https://platform.openai.com/docs/guides/structured-outputs#supported-schemas";
const OPENAI_FUNCTION: &str = "`FunctionDefinition` of openai 3.57.0";
const ANTHROPIC_STRICT: &str = "`transform_schema` of anthropic 2.14.0";
const BEDROCK_SPEC: &str = "`ToolSpecification` of the service model of botocore 1.44.8";
const GEMINI_SCHEMA: &str = "`Schema` of google-genai 3.6.1";

const STRICT_FORMATS: &[&str] = &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// All keywords without rules.
const ALL: Dialect =
    Dialect { name: "", base_rules: &[], strict_rules: &[], keywords: None, formats: None, limits: SchemaLimits::NONE };

impl Dialect {
    /// The schemas of OpenAI without `strict`: hints for the model.
    pub const OPENAI: Self = Self {
        name: "OpenAI",
        base_rules: &[
            (Rule::ToolName, OPENAI_FUNCTION),
            (Rule::Object, "https://github.com/farion1231/cc-switch/issues/5490"),
            (Rule::RootProperties, "https://github.com/spring-projects/spring-ai/issues/4776"),
            (Rule::RootChoice, OPENAI_GUIDE),
            (Rule::Draft, OPENAI_FUNCTION),
            (Rule::Items, "https://github.com/sigoden/aichat/pull/1049"),
            (Rule::Pattern, "https://github.com/vercel/ai/pull/21037"),
        ],
        ..ALL
    };

    /// The schemas that OpenAI enforces under `strict: true` (guide to structured outputs).
    pub const OPENAI_STRICT: Self = Self {
        name: "OpenAI strict",
        strict_rules: &[
            (Rule::Closed, "https://github.com/Part-DB/Part-DB-server/pull/1540"),
            (Rule::Required, "https://github.com/kevinwatt/mysql-mcp/issues/5"),
            (Rule::Keywords, "https://github.com/TanStack/ai/issues/976"),
            (Rule::Format, "https://github.com/can1357/oh-my-pi/issues/206"),
            (Rule::Typed, OPENAI_GUIDE),
            (Rule::Reference, "https://github.com/camel-ai/camel/issues/3001"),
            (Rule::Size, OPENAI_GUIDE),
        ],
        keywords: Some(&[
            "enum",
            "anyOf",
            "$ref",
            "$defs",
            "additionalProperties",
            "pattern",
            "format",
            "multipleOf",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "minItems",
            "maxItems",
        ]),
        formats: Some(STRICT_FORMATS),
        limits: SchemaLimits {
            properties: 5000,
            levels: 10,
            enum_values: 1000,
            characters: 120_000,
            long_enum_characters: 15_000,
        },
        ..Self::OPENAI
    };

    /// The schemas of Anthropic without `strict`: all keywords.
    pub const ANTHROPIC: Self = Self {
        name: "Anthropic",
        base_rules: &[
            (Rule::ToolName, "https://github.com/aws-samples/sample-apj-sup-sa/pull/137"),
            (Rule::Object, "`InputSchemaTyped` of anthropic 2.14.0"),
            (Rule::RootChoice, "https://github.com/dearlordylord/huly-mcp/issues/66"),
            (Rule::PropertyNames, "https://github.com/anthropics/claude-code/issues/79418"),
            (Rule::Draft, "https://github.com/anthropics/claude-code/issues/63673"),
        ],
        ..ALL
    };

    /// The schemas that Anthropic enforces under `strict: true` (structured outputs). Defaults are supported, but moved
    /// to the description, as the official SDK does. References are supported, but not recursive ones.
    pub const ANTHROPIC_STRICT: Self = Self {
        name: "Anthropic strict",
        strict_rules: &[
            (Rule::Closed, ANTHROPIC_STRICT),
            (Rule::Keywords, ANTHROPIC_STRICT),
            (Rule::Format, ANTHROPIC_STRICT),
            (Rule::Typed, ANTHROPIC_STRICT),
            (Rule::MinItems, ANTHROPIC_STRICT),
            (Rule::OneType, ANTHROPIC_STRICT),
        ],
        keywords: Some(&["enum", "const", "anyOf", "allOf", "additionalProperties", "format", "minItems"]),
        formats: Some(&["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"]),
        ..Self::ANTHROPIC
    };

    /// The schemas of Bedrock Converse, whose models differ: all keywords.
    pub const BEDROCK: Self = Self {
        name: "Bedrock",
        base_rules: &[
            (Rule::ToolName, BEDROCK_SPEC),
            (Rule::Description, "https://github.com/BerriAI/litellm/issues/24668"),
            (Rule::Object, "https://github.com/kirodotdev/Kiro/issues/11026"),
            (Rule::RootChoice, "https://github.com/anthropics/claude-code/issues/44788"),
            (Rule::PropertyNames, "https://github.com/anthropics/claude-code/issues/79418"),
            (Rule::Draft, "https://github.com/acomagu/vscode-as-mcp-server/issues/6"),
        ],
        ..ALL
    };

    /// The schemas that Bedrock enforces under `strict: true`: those of Anthropic.
    pub const BEDROCK_STRICT: Self =
        Self { name: "Bedrock strict", base_rules: Self::BEDROCK.base_rules, ..Self::ANTHROPIC_STRICT };

    /// The schemas of Gemini in `parametersJsonSchema`.
    pub const GEMINI: Self = Self {
        name: "Gemini",
        base_rules: &[
            (Rule::FunctionName, "https://github.com/kaitranntt/ccs/issues/25"),
            (Rule::Object, GEMINI_SCHEMA),
        ],
        keywords: Some(&[
            "title",
            "enum",
            "anyOf",
            "format",
            "minimum",
            "maximum",
            "minItems",
            "maxItems",
            "prefixItems",
            "additionalProperties",
        ]),
        ..ALL
    };

    /// Returns the rules by which the provider rejects definitions in this dialect, with a source each.
    pub fn rules(&self) -> impl Iterator<Item = (Rule, &'static str)> + use<> {
        self.base_rules.iter().chain(self.strict_rules).copied()
    }

    /// Returns true if the dialect has a rule.
    #[must_use]
    pub fn requires(&self, rule: Rule) -> bool {
        self.rules().any(|(other, _)| other == rule)
    }

    /// Returns true if the dialect supports a keyword.
    #[must_use]
    pub fn reads(&self, keyword: &str) -> bool {
        let always = matches!(keyword, "type" | "description" | "properties" | "required" | "items");
        always || self.keywords.is_none_or(|keywords| keywords.contains(&keyword))
    }
}
