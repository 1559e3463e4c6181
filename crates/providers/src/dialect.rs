//! The subsets of JSON Schema that providers support, as data: for example which of them accepts `oneOf`. `lower` has the
//! rules by which a schema becomes one of a subset.

use serde_json::{Map, Value};

use toolkit_schema::walk;

/// Enums with more values than this have a separate limit (OpenAI's guide to structured outputs).
const LONG_ENUM: usize = 250;

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
    /// The supported keywords besides `type`, `description`, `properties`, `required` and `items`; `None` for all.
    pub keywords: Option<&'static [&'static str]>,
    /// The supported values of `format`; `None` for all.
    pub formats: Option<&'static [&'static str]>,
    /// Every object has to be closed (`additionalProperties: false`).
    pub closed: bool,
    /// Every property has to be required; optional properties become nullable.
    pub all_required: bool,
    /// `type` may be a list.
    pub type_lists: bool,
    /// `$ref` may be recursive.
    pub recursion: bool,
    /// No other keyword may be beside a `$ref`.
    pub bare_references: bool,
    /// A schema without a type is allowed.
    pub untyped: bool,
    /// The root may have `anyOf`, `oneOf`, `allOf`, `enum`, `const` or `not`.
    pub root_choice: bool,
    /// The names of arguments have at most 64 characters: letters, digits, `_`, `.` and `-`.
    pub plain_names: bool,
    /// Patterns have to be regular expressions that all engines accept, without look-around and back references.
    pub portable_patterns: bool,
    /// Every array has to have `items`.
    pub items_required: bool,
    /// The largest `minItems`; `None` for no limit.
    pub max_min_items: Option<u64>,
    /// Every argument has a description.
    pub described_arguments: bool,
    /// The limits on the size of a schema.
    pub limits: Limits,
}

/// Limits on the size of a schema.
///
/// ```
/// use serde_json::json;
/// use toolkit_providers::{Dialect, Limits, Side, lower};
///
/// // An endpoint that accepts few properties.
/// let mut dialect = Dialect::OPENAI_STRICT;
/// dialect.limits = Limits::NONE;
/// dialect.limits.properties = 1;
///
/// let boolean = json!({ "type": "boolean" });
/// let schema = json!({
///     "type": "object",
///     "properties": { "a": boolean, "b": boolean },
///     "required": ["a", "b"],
///     "additionalProperties": false,
/// });
/// let lowered = lower(&schema, &dialect, Side::Input);
/// assert!(lowered.losses[0].reason.ends_with("is 1 properties, but the schema has 2"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The number of properties of all objects.
    pub properties: usize,
    /// The number of nested objects and lists.
    pub levels: usize,
    /// The number of values of all enums.
    pub enum_values: usize,
    /// The number of characters of all property names and enum values.
    pub characters: usize,
    /// The number of characters of all values of an enum with more than 250 values.
    pub long_enum_characters: usize,
}

impl Limits {
    /// No limits.
    pub const NONE: Self = Self {
        properties: usize::MAX,
        levels: usize::MAX,
        enum_values: usize::MAX,
        characters: usize::MAX,
        long_enum_characters: usize::MAX,
    };

    /// The number of limits.
    pub(crate) const N: usize = 5;

    /// Returns the description and the value of each limit.
    pub(crate) fn named(self) -> [(&'static str, usize); Self::N] {
        [
            ("properties", self.properties),
            ("levels", self.levels),
            ("enum values", self.enum_values),
            ("characters in names and enum values", self.characters),
            ("characters in one long enum", self.long_enum_characters),
        ]
    }

    /// Measures a schema in the units of each limit.
    pub(crate) fn taken_by(schema: &Value) -> Self {
        let mut size = Self { properties: 0, levels: 0, enum_values: 0, characters: 0, long_enum_characters: 0 };
        if let Value::Object(keywords) = schema {
            measure(keywords, 0, &mut size);
        }
        size
    }

    /// Returns true if a schema is within the limits.
    pub(crate) fn contain(self, keywords: &Map<String, Value>) -> bool {
        let mut size = Self { properties: 0, levels: 0, enum_values: 0, characters: 0, long_enum_characters: 0 };
        measure(keywords, 0, &mut size);
        self.named().into_iter().zip(size.named()).all(|((_, most), (_, has))| has <= most)
    }
}

fn measure(keywords: &Map<String, Value>, level: usize, size: &mut Limits) {
    let nests = keywords.contains_key("properties") || keywords.contains_key("items");
    let level = level + usize::from(nests);
    size.levels = size.levels.max(level);
    if let Some(Value::Object(properties)) = keywords.get("properties") {
        size.properties += properties.len();
        size.characters += properties.keys().map(|name| name.chars().count()).sum::<usize>();
    }
    if let Some(Value::Array(values)) = keywords.get("enum") {
        size.enum_values += values.len();
        let lengths = values.iter().map(|value| value.as_str().map_or_else(|| value.to_string().len(), str::len));
        let length = lengths.sum::<usize>();
        size.characters += length;
        if values.len() > LONG_ENUM {
            size.long_enum_characters = size.long_enum_characters.max(length);
        }
    }
    walk::each(keywords, |_, sub| {
        if let Value::Object(keywords) = sub {
            measure(keywords, level, size);
        }
    });
}

/// All keywords of draft 2020-12, with an object at the root.
const ALL: Dialect = Dialect {
    name: "JSON Schema",
    keywords: None,
    formats: None,
    closed: false,
    all_required: false,
    type_lists: true,
    recursion: true,
    bare_references: false,
    untyped: true,
    root_choice: true,
    plain_names: false,
    portable_patterns: false,
    items_required: false,
    max_min_items: None,
    described_arguments: false,
    limits: Limits::NONE,
};

const STRICT_FORMATS: &[&str] = &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

impl Dialect {
    /// All of JSON Schema, with an object at the root.
    pub const JSON_SCHEMA: Self = ALL;

    /// The schemas of OpenAI without `strict`: hints for the model, with an object and no choice at the root.
    pub const OPENAI: Self =
        Self { name: "OpenAI", root_choice: false, portable_patterns: true, items_required: true, ..ALL };

    /// The schemas that OpenAI enforces under `strict: true` (guide to structured outputs).
    pub const OPENAI_STRICT: Self = Self {
        name: "OpenAI strict",
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
        closed: true,
        all_required: true,
        bare_references: true,
        untyped: false,
        root_choice: false,
        portable_patterns: true,
        items_required: true,
        limits: Limits {
            properties: 5000,
            levels: 10,
            enum_values: 1000,
            characters: 120_000,
            long_enum_characters: 15_000,
        },
        ..ALL
    };

    /// The schemas of Anthropic without `strict`: all keywords, but no choice at the root.
    pub const ANTHROPIC: Self = Self { name: "Anthropic", root_choice: false, plain_names: true, ..ALL };

    /// The schemas that Anthropic enforces under `strict: true` (structured outputs). Defaults are supported, but moved
    /// to the description, as the official SDK does.
    pub const ANTHROPIC_STRICT: Self = Self {
        name: "Anthropic strict",
        keywords: Some(&[
            "enum",
            "const",
            "anyOf",
            "allOf",
            "$ref",
            "$defs",
            "additionalProperties",
            "format",
            "minItems",
        ]),
        formats: Some(&["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"]),
        closed: true,
        type_lists: false,
        recursion: false,
        untyped: false,
        root_choice: false,
        plain_names: true,
        max_min_items: Some(1),
        ..ALL
    };

    /// The schemas of Bedrock Converse, whose models differ: all keywords, but no choice at the root.
    pub const BEDROCK: Self = Self { name: "Bedrock", root_choice: false, plain_names: true, ..ALL };

    /// The schemas that Bedrock enforces under `strict: true`: those of Anthropic.
    pub const BEDROCK_STRICT: Self = Self { name: "Bedrock strict", ..Self::ANTHROPIC_STRICT };

    /// The schemas of Gemini in `parametersJsonSchema`.
    pub const GEMINI: Self = Self {
        name: "Gemini",
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
        recursion: false,
        root_choice: false,
        ..ALL
    };

    /// The schemas of Open Tool Calling definitions: no references, and a description for every argument.
    pub const OTC: Self = Self { name: "Open Tool Calling", recursion: false, described_arguments: true, ..ALL };

    /// Returns true if the dialect supports a keyword.
    #[must_use]
    pub fn reads(&self, keyword: &str) -> bool {
        let always = matches!(keyword, "type" | "description" | "properties" | "required" | "items");
        always || self.keywords.is_none_or(|keywords| keywords.contains(&keyword))
    }
}
