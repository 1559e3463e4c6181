//! Limits of a request, which the tools of a catalog share.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::dialect::{Dialect, SchemaLimits};
use super::loss::{Effect, Loss, Side, ToolExport, with_wire_name};
use super::lower::lower_unsorted;
use toolkit::catalog::WireNames;
use toolkit::tool::{Tool, ToolId};
use toolkit_schema::walk;

/// The limits of a request; `None` for an unknown limit.
///
/// The numbers are from the documentation and the error messages of the providers as of November 2026. They are data,
/// so that a host can correct them.
///
/// ```
/// use toolkit_providers::RequestLimits;
///
/// let mut limits = RequestLimits::OPENAI;
/// assert_eq!(limits.tools, Some(128));
/// limits.tools = Some(64);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestLimits {
    /// The name of the provider in messages.
    pub name: &'static str,
    /// The number of tools.
    pub tools: Option<usize>,
    /// The number of characters of a tool name.
    pub name_characters: Option<usize>,
    /// The number of characters of a description.
    pub description_characters: Option<usize>,
    /// The number of tools in strict mode.
    pub strict_tools: Option<usize>,
    /// The number of optional parameters of all strict tools together, at every level.
    pub strict_optional: Option<usize>,
    /// The number of parameters with several types (`anyOf` or a list of types) of all strict tools together, at every
    /// level.
    pub strict_unions: Option<usize>,
}

impl RequestLimits {
    /// No limits.
    pub const NONE: Self = Self {
        name: "",
        tools: None,
        name_characters: None,
        description_characters: None,
        strict_tools: None,
        strict_optional: None,
        strict_unions: None,
    };

    /// The limits of OpenAI: 128 tools (reference of `tools`; the error is `array_above_max_length`) and names of 64
    /// characters (`FunctionDefinition`). The limits of strict mode apply to single schemas: [`SchemaLimits`].
    pub const OPENAI: Self = Self { name: "OpenAI", tools: Some(128), name_characters: Some(64), ..Self::NONE };

    /// The limits of Azure and of models of OpenAI before GPT-5: those of OpenAI, and descriptions of 1,024 characters (the
    /// error is `string_above_max_length`, <https://github.com/OpenHands/OpenHands/issues/4838>).
    pub const AZURE: Self =
        Self { name: "Azure and older models of OpenAI", description_characters: Some(1024), ..Self::OPENAI };

    /// The limits of Anthropic: 20 strict tools, with 24 optional parameters and 16 parameters with several types
    /// (guide to structured outputs). The documentation allows names of 128 characters, but servers have rejected more
    /// than 64. 10,000 tools is the limit of its tool search.
    pub const ANTHROPIC: Self = Self {
        name: "Anthropic",
        tools: Some(10_000),
        name_characters: Some(64),
        description_characters: None,
        strict_tools: Some(20),
        strict_optional: Some(24),
        strict_unions: Some(16),
    };

    /// The limits of Bedrock: names of 64 characters (`ToolSpecification`).
    pub const BEDROCK: Self = Self { name: "Bedrock", name_characters: Some(64), ..Self::NONE };

    /// The limits of Gemini: 512 tools (the error is `At most 512 function declarations can be specified`) and names of
    /// 64 characters (newer documentation: 128).
    pub const GEMINI: Self = Self { name: "Gemini", tools: Some(512), name_characters: Some(64), ..Self::NONE };
}

/// The use of a limit by a catalog.
///
/// ```
/// use toolkit_providers::openai::{Options, tools};
/// use toolkit::catalog::Naming;
///
/// /// Adds two integers.
/// #[toolkit::tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), toolkit::catalog::Diagnostics> {
/// let export = tools(&toolkit::catalog![add]?, Naming::Name, Options::responses())?;
/// assert_eq!(export.usage[0].to_string(), "OpenAI: 1 tools, of at most 128");
/// assert!(!export.usage[0].is_over());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Usage {
    /// The name of the provider.
    pub target: &'static str,
    /// The counted quantity, in the plural.
    pub what: &'static str,
    /// The limit.
    pub limit: usize,
    /// The count.
    pub count: usize,
    /// The share of each tool that has one, the largest first, equal ones in the order of the ids.
    pub tools: Vec<(ToolId, usize)>,
}

impl Usage {
    /// Returns true if the count exceeds the limit.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.count > self.limit
    }
}

/// Formats as in `Anthropic: 29 strict tools, of at most 20`.
impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {}, of at most {}", self.target, self.count, self.what, self.limit)
    }
}

/// The quantities of a request that strict tools share.
#[derive(Clone, Copy, Default)]
struct Share {
    tools: usize,
    optional: usize,
    unions: usize,
}

impl Share {
    /// Measures one strict tool by the schema that is sent.
    fn new(schema: &Value) -> Self {
        let mut share = Self { tools: 1, ..Self::default() };
        share.measure(schema);
        share
    }

    fn measure(&mut self, schema: &Value) {
        let Value::Object(keywords) = schema else {
            return;
        };
        let n_properties = keywords.get("properties").and_then(Value::as_object).map_or(0, serde_json::Map::len);
        let n_required = keywords.get("required").and_then(Value::as_array).map_or(0, Vec::len);
        self.optional += n_properties.saturating_sub(n_required);
        self.unions += usize::from(keywords.contains_key("anyOf") || keywords.get("type").is_some_and(Value::is_array));
        walk::each(keywords, |_, sub| self.measure(sub));
    }

    fn plus(self, other: Self) -> Self {
        Self {
            tools: self.tools + other.tools,
            optional: self.optional + other.optional,
            unions: self.unions + other.unions,
        }
    }

    /// Returns each limit of strict tools with the count that is compared with it.
    fn compare(self, limits: &RequestLimits) -> [(&'static str, Option<usize>, usize); 3] {
        [
            ("strict tools", limits.strict_tools, self.tools),
            ("optional parameters of strict tools", limits.strict_optional, self.optional),
            ("parameters of several types of strict tools", limits.strict_unions, self.unions),
        ]
    }
}

/// One tool of a request.
pub(super) struct Member<'c> {
    pub(super) name: &'c str,
    pub(super) tool: &'c Tool,
    pub(super) export: ToolExport,
}

impl<'c> Member<'c> {
    pub(super) fn new(name: &'c str, tool: &'c Tool, export: ToolExport) -> Self {
        Self { name, tool, export }
    }

    /// Returns the exported description.
    fn description(&self) -> &str {
        let json = &self.export.json;
        let definition = json.get("function").or_else(|| json.get("toolSpec")).unwrap_or(json);
        definition["description"].as_str().unwrap_or_default()
    }

    /// Describes each listed tool.
    pub(super) fn all(names: &'c WireNames<'c>, describe: impl Fn(&Tool, &str) -> ToolExport) -> Vec<Self> {
        let member = |(name, tool)| Self::new(name, tool, with_wire_name(describe(tool, name), tool, name));
        names.iter().map(member).collect()
    }
}

/// Applies the limits of strict mode: describes each strict tool that does not fit again with `describe_without_strict`. Returns the
/// usage of all strict tools among `members` before that.
///
/// Tools are considered in this order, and each one that still fits stays strict: first the tools that may change
/// something, since a wrong argument does more harm there; then those with the smallest share, so that more tools are
/// strict; then by id.
pub(super) fn apply_limits(
    limits: &RequestLimits,
    members: &mut [Member<'_>],
    describe_without_strict: impl Fn(&Tool, &str) -> ToolExport,
) -> Vec<Usage> {
    let share = |member: &Member<'_>| {
        let is_strict = member.export.json.get("strict") == Some(&Value::Bool(true));
        is_strict.then(|| Share::new(&member.export.json["input_schema"]))
    };
    let mut wanted: Vec<(usize, Share)> =
        members.iter().enumerate().filter_map(|(idx, member)| Some((idx, share(member)?))).collect();
    let usage = usages(limits, members, &wanted);
    wanted.sort_by_key(|(idx, share)| {
        let only_reads = members[*idx].tool.annotations().read_only == Some(true);
        (only_reads, share.optional + share.unions, *idx)
    });
    let mut taken = Share::default();
    for (idx, share) in wanted {
        let with = taken.plus(share);
        match with.compare(limits).into_iter().find(|(_, limit, count)| limit.is_some_and(|limit| *count > limit)) {
            None => taken = with,
            Some((what, limit, _)) => {
                let member = &mut members[idx];
                let export =
                    with_wire_name(describe_without_strict(member.tool, member.name), member.tool, member.name);
                member.export = export;
                member.export.not_strict.push(Loss {
                    side: Side::Record,
                    pointer: "/strict".to_owned(),
                    keyword: "strict".to_owned(),
                    effect: Effect::Widened,
                    reason: format!(
                        "is given up: a request to {} has room for {} {what}",
                        limits.name,
                        limit.unwrap_or_default()
                    ),
                });
            }
        }
    }
    usage
}

fn usages(limits: &RequestLimits, members: &[Member<'_>], wanted: &[(usize, Share)]) -> Vec<Usage> {
    let total = wanted.iter().fold(Share::default(), |all, (_, share)| all.plus(*share));
    let counted = total.compare(limits).into_iter().enumerate();
    counted
        .filter_map(|(nth, (what, limit, count))| {
            let takes = wanted.iter().map(|(idx, share)| (members[*idx].tool, share.compare(limits)[nth].2));
            Some(Usage { target: limits.name, what, limit: limit?, count, tools: largest_first(takes) })
        })
        .collect()
}

/// Returns the use of the limits on tools, their names and descriptions.
pub(super) fn tool_usage(limits: &RequestLimits, members: &[Member<'_>]) -> Vec<Usage> {
    let usage = |what, limit: Option<usize>, count, tools| {
        limit.map(|limit| Usage { target: limits.name, what, limit, count, tools })
    };
    let lengths = || members.iter().map(|member| (member.tool, member.name.chars().count()));
    let described = || members.iter().map(|member| (member.tool, member.description().chars().count()));
    let longest = lengths().map(|(_, length)| length).max().unwrap_or_default();
    [
        usage("tools", limits.tools, members.len(), Vec::new()),
        usage("characters of a name", limits.name_characters, longest, largest_first(lengths())),
        usage(
            "characters of a description",
            limits.description_characters,
            described().map(|(_, length)| length).max().unwrap_or_default(),
            largest_first(described()),
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the use of the limit on descriptions of some models of OpenAI.
pub(super) fn description_usage(members: &[Member<'_>]) -> impl Iterator<Item = Usage> {
    tool_usage(&RequestLimits::AZURE, members).into_iter().filter(|usage| usage.what == "characters of a description")
}

/// Returns the use of the limits of a strict dialect by the largest schemas. These limits apply to each schema alone.
pub(super) fn schema_usage(dialect: &Dialect, members: &[Member<'_>]) -> Vec<Usage> {
    let sizes = members.iter().map(|member| {
        let lowered = lower_unsorted(member.tool.input().as_value(), dialect, Side::Input);
        let size = lowered.schema.as_object().map_or(SchemaLimits::ZERO, SchemaLimits::taken_by);
        (member.tool, size.named())
    });
    let sizes: Vec<(&Tool, [(&'static str, usize); SchemaLimits::N])> = sizes.collect();
    let limits = dialect.limits.named().into_iter().enumerate();
    limits
        .map(|(nth, (what, limit))| {
            let tools = largest_first(sizes.iter().map(|(tool, size)| (*tool, size[nth].1)));
            let count = tools.first().map_or(0, |(_, takes)| *takes);
            Usage { target: dialect.name, what, limit, count, tools }
        })
        .collect()
}

/// Returns the nonzero shares, the largest first.
fn largest_first<'t>(takes: impl Iterator<Item = (&'t Tool, usize)>) -> Vec<(ToolId, usize)> {
    let mut takes: Vec<(ToolId, usize)> =
        takes.filter(|(_, takes)| *takes > 0).map(|(tool, takes)| (tool.id().clone(), takes)).collect();
    // The sort is stable: equal shares stay in the order of the catalog.
    takes.sort_by_key(|(_, takes)| std::cmp::Reverse(*takes));
    takes
}
