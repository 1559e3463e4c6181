//! The rules by which providers reject definitions, as data with their sources. Every exported definition is checked
//! against them.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use super::dialect::Dialect;
use super::loss::{Effect, Loss, Side};
use toolkit_schema::patterns::is_portable;
use toolkit_schema::{child, walk};

/// A rule that a definition has to keep, or else the provider rejects the whole request.
///
/// ```
/// use serde_json::json;
/// use toolkit_providers::{Dialect, Rule};
///
/// let schema = json!({ "type": "object", "properties": { "tags": { "type": "array" } } });
/// let rule = Dialect::OPENAI.rules().find(|rule| rule.name == "items").unwrap();
/// assert_eq!(rule.broken_by(&Dialect::OPENAI, "tag", None, &schema), ["/properties/tags"]);
/// ```
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct Rule {
    /// The name of the rule.
    pub name: &'static str,
    /// The condition, as a sentence.
    pub accepts: &'static str,
    /// The dialects with this rule, by the beginning of their names, and a source for each.
    pub sources: &'static [(&'static str, &'static str)],
    #[serde(skip)]
    holds: Holds,
}

#[derive(Clone, Copy)]
enum Holds {
    Name(fn(&str) -> bool),
    Description(fn(&str) -> bool),
    Schema(fn(&Dialect, Node<'_>) -> bool),
}

impl fmt::Debug for Holds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Holds")
    }
}

/// A schema within the schema of a definition.
#[derive(Clone, Copy)]
struct Node<'s> {
    keywords: &'s Map<String, Value>,
    is_root: bool,
}

impl Rule {
    /// Returns the source of the rule for a dialect; `None` if the dialect does not have the rule.
    #[must_use]
    pub fn source(&self, dialect: &Dialect) -> Option<&'static str> {
        let of_dialect = self.sources.iter().find(|(name, _)| dialect.name.starts_with(name));
        of_dialect.map(|(_, source)| *source)
    }

    /// Returns the places at which a definition breaks the rule: JSON Pointers into its schema, or `/name` and
    /// `/description`.
    #[must_use]
    pub fn broken_by(&self, dialect: &Dialect, name: &str, description: Option<&str>, schema: &Value) -> Vec<String> {
        let place = |holds: bool, place: &str| if holds { Vec::new() } else { vec![place.to_owned()] };
        match self.holds {
            _ if self.source(dialect).is_none() => Vec::new(),
            Holds::Name(holds) => place(holds(name), "/name"),
            Holds::Description(holds) => place(description.is_none_or(holds), "/description"),
            Holds::Schema(holds) => {
                let mut places = Vec::new();
                visit(schema, "", &mut |at, node| {
                    if !holds(dialect, node) {
                        places.push(at.to_owned());
                    }
                });
                places
            }
        }
    }
}

impl Dialect {
    /// Returns the rules by which the provider rejects definitions in this dialect.
    pub fn rules(&self) -> impl Iterator<Item = &'static Rule> + '_ {
        RULES.iter().filter(|rule| rule.source(self).is_some())
    }
}

/// Returns a loss for each rule that the name or the description of a definition breaks.
pub(super) fn check_record(dialect: &Dialect, name: &str, description: Option<&str>) -> Vec<Loss> {
    let rules = dialect.rules().filter(|rule| !matches!(rule.holds, Holds::Schema(_)));
    rules
        .flat_map(|rule| {
            let broken = rule.broken_by(dialect, name, description, &Value::Null);
            broken.into_iter().map(|at| rejected(dialect, rule, Side::Record, at))
        })
        .collect()
}

/// Returns a loss for each rule that an exported schema breaks.
pub(super) fn check_schema(dialect: &Dialect, side: Side, schema: &Value) -> Vec<Loss> {
    let of_schemas = dialect.rules().filter_map(|rule| match rule.holds {
        Holds::Schema(holds) => Some((rule, holds)),
        _ => None,
    });
    let rules: Vec<_> = of_schemas.collect();
    let mut losses = Vec::new();
    if !rules.is_empty() {
        visit(schema, "", &mut |at, node| {
            let node = Node { is_root: node.is_root && side == Side::Input, ..node };
            let broken = rules.iter().filter(|(_, holds)| !holds(dialect, node));
            losses.extend(broken.map(|(rule, _)| rejected(dialect, rule, side, at.to_owned())));
        });
    }
    losses
}

fn rejected(dialect: &Dialect, rule: &Rule, side: Side, at: String) -> Loss {
    let reason = format!("is a rule of {}: {}; the provider rejects the definition", dialect.name, rule.accepts);
    Loss::new(side, at, rule.name, Effect::Rejected, reason)
}

/// Visits a schema and the schemas in it.
fn visit(schema: &Value, at: &str, visitor: &mut impl FnMut(&str, Node<'_>)) {
    let Value::Object(keywords) = schema else { return };
    visitor(at, Node { keywords, is_root: at.is_empty() });
    walk::each_at(keywords, |keyword, token, sub| {
        let at = child(at, keyword);
        let at = match token {
            walk::Token::Only => at,
            walk::Token::Index(index) => child(&at, &index.to_string()),
            walk::Token::Name(name) => child(&at, name),
        };
        visit(sub, &at, visitor);
    });
}

const OPENAI_GUIDE: &str = "https://platform.openai.com/docs/guides/structured-outputs#supported-schemas";
const OPENAI_FUNCTION: &str = "`FunctionDefinition` of openai 3.57.0";
const ANTHROPIC_STRICT: &str = "`transform_schema` of anthropic 2.14.0";
const BEDROCK_SPEC: &str = "`ToolSpecification` of the service model of botocore 1.44.8";
const GEMINI_SCHEMA: &str = "`Schema` of google-genai 3.6.1";

/// All rules.
const RULES: &[Rule] = &[
    Rule {
        name: "tool-name",
        accepts: "the name of a tool has 1 to 64 letters, digits, `_` and `-`",
        sources: &[
            ("OpenAI", OPENAI_FUNCTION),
            ("Anthropic", "https://github.com/aws-samples/sample-apj-sup-sa/pull/137"),
            ("Bedrock", BEDROCK_SPEC),
        ],
        holds: Holds::Name(|name| is_name(name, "_-")),
    },
    Rule {
        name: "function-name",
        accepts: "the name of a function has 1 to 64 letters, digits, `_`, `.`, `:` and `-`, and starts with a letter \
                  or `_`",
        sources: &[("Gemini", "https://github.com/kaitranntt/ccs/issues/25")],
        holds: Holds::Name(|name| {
            is_name(name, "_.:-") && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        }),
    },
    Rule {
        name: "description",
        accepts: "a description is not empty",
        sources: &[("Bedrock", "https://github.com/BerriAI/litellm/issues/24668")],
        holds: Holds::Description(|text| !text.is_empty()),
    },
    Rule {
        name: "object",
        accepts: "the root has the type `object`",
        sources: &[
            ("OpenAI", "https://github.com/farion1231/cc-switch/issues/5490"),
            ("Anthropic", "`InputSchemaTyped` of anthropic 2.14.0"),
            ("Bedrock", "https://github.com/kirodotdev/Kiro/issues/11026"),
            ("Gemini", GEMINI_SCHEMA),
        ],
        holds: Holds::Schema(|_, node| !node.is_root || node.is_only("object")),
    },
    Rule {
        name: "root-properties",
        accepts: "the root has `properties`",
        sources: &[("OpenAI", "https://github.com/spring-projects/spring-ai/issues/4776")],
        holds: Holds::Schema(|_, node| !node.is_root || node.map("properties").is_some()),
    },
    Rule {
        name: "root-choice",
        accepts: "the root has no `anyOf`, `oneOf`, `allOf`, `enum`, `const` or `not`",
        sources: &[
            ("OpenAI", OPENAI_GUIDE),
            ("Anthropic", "https://github.com/dearlordylord/huly-mcp/issues/66"),
            ("Bedrock", "https://github.com/anthropics/claude-code/issues/44788"),
        ],
        holds: Holds::Schema(|_, node| {
            let choices = ["anyOf", "oneOf", "allOf", "enum", "const", "not"];
            !node.is_root || !choices.iter().any(|keyword| node.has(keyword))
        }),
    },
    Rule {
        name: "property-names",
        accepts: "the name of an argument has 1 to 64 letters, digits, `_`, `.` and `-`",
        sources: &[
            ("Anthropic", "https://github.com/anthropics/claude-code/issues/79418"),
            ("Bedrock", "https://github.com/anthropics/claude-code/issues/79418"),
        ],
        holds: Holds::Schema(|_, node| {
            !node.is_root || node.map("properties").is_none_or(|named| named.keys().all(|name| is_name(name, "_.-")))
        }),
    },
    Rule {
        name: "draft",
        accepts: "keywords have the form of draft 2020-12",
        sources: &[
            ("Anthropic", "https://github.com/anthropics/claude-code/issues/63673"),
            ("Bedrock", "https://github.com/acomagu/vscode-as-mcp-server/issues/6"),
            ("OpenAI", OPENAI_FUNCTION),
        ],
        holds: Holds::Schema(|_, node| node.has_sound_forms()),
    },
    Rule {
        name: "items",
        accepts: "an array has `items`, an object",
        sources: &[("OpenAI", "https://github.com/sigoden/aichat/pull/1049")],
        holds: Holds::Schema(|_, node| !node.may_be("array") || node.map("items").is_some()),
    },
    Rule {
        name: "pattern",
        accepts: "a pattern has no look-around and no back references",
        sources: &[("OpenAI", "https://github.com/vercel/ai/pull/21037")],
        holds: Holds::Schema(|_, node| {
            node.text("pattern").is_none_or(is_portable)
                && node.map("patternProperties").is_none_or(|named| named.keys().all(|pattern| is_portable(pattern)))
        }),
    },
    Rule {
        name: "closed",
        accepts: "an object has `additionalProperties: false`",
        sources: &[
            ("OpenAI strict", "https://github.com/Part-DB/Part-DB-server/pull/1540"),
            ("Anthropic strict", ANTHROPIC_STRICT),
            ("Bedrock strict", ANTHROPIC_STRICT),
        ],
        holds: Holds::Schema(|_, node| {
            !node.may_be("object") || node.keywords.get("additionalProperties") == Some(&Value::Bool(false))
        }),
    },
    Rule {
        name: "required",
        accepts: "`required` lists every property",
        sources: &[("OpenAI strict", "https://github.com/kevinwatt/mysql-mcp/issues/5")],
        holds: Holds::Schema(|_, node| {
            node.map("properties").is_none_or(|named| named.keys().all(|name| node.requires(name)))
        }),
    },
    Rule {
        name: "keywords",
        accepts: "the keywords are those of the dialect",
        sources: &[
            ("OpenAI strict", "https://github.com/TanStack/ai/issues/976"),
            ("Anthropic strict", ANTHROPIC_STRICT),
            ("Bedrock strict", ANTHROPIC_STRICT),
        ],
        holds: Holds::Schema(|dialect, node| node.keywords.keys().all(|keyword| dialect.reads(keyword))),
    },
    Rule {
        name: "format",
        accepts: "a format is one of the dialect, for its type",
        sources: &[
            ("OpenAI strict", "https://github.com/can1357/oh-my-pi/issues/206"),
            ("Anthropic strict", ANTHROPIC_STRICT),
            ("Bedrock strict", ANTHROPIC_STRICT),
        ],
        holds: Holds::Schema(|dialect, node| {
            let known = |format: &str| dialect.formats.is_none_or(|formats| formats.contains(&format));
            node.text("format").is_none_or(|format| known(format) && node.may_be("string"))
        }),
    },
    Rule {
        name: "typed",
        accepts: "a schema has a type, unless it is a choice or a reference",
        sources: &[
            ("OpenAI strict", OPENAI_GUIDE),
            ("Anthropic strict", ANTHROPIC_STRICT),
            ("Bedrock strict", ANTHROPIC_STRICT),
        ],
        holds: Holds::Schema(|_, node| ["type", "anyOf", "allOf", "$ref", "enum", "const"].iter().any(|k| node.has(k))),
    },
    Rule {
        name: "reference",
        accepts: "no other keyword is beside a `$ref`",
        sources: &[("OpenAI strict", "https://github.com/camel-ai/camel/issues/3001")],
        holds: Holds::Schema(|_, node| {
            !node.has("$ref")
                || node.keywords.keys().all(|keyword| matches!(keyword.as_str(), "$ref" | "$defs"))
                || node.is_root
        }),
    },
    Rule {
        name: "size",
        accepts: "the schema is within the limits of the dialect",
        sources: &[("OpenAI strict", OPENAI_GUIDE)],
        holds: Holds::Schema(|dialect, node| !node.is_root || dialect.limits.contain(node.keywords)),
    },
    Rule {
        name: "min-items",
        accepts: "`minItems` is 0 or 1",
        sources: &[("Anthropic strict", ANTHROPIC_STRICT), ("Bedrock strict", ANTHROPIC_STRICT)],
        holds: Holds::Schema(|dialect, node| {
            let most = dialect.max_min_items.unwrap_or(u64::MAX);
            node.keywords.get("minItems").is_none_or(|least| least.as_u64().is_some_and(|least| least <= most))
        }),
    },
];

fn is_name(name: &str, others: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c))
}

impl<'s> Node<'s> {
    fn has(self, keyword: &str) -> bool {
        self.keywords.contains_key(keyword)
    }

    fn text(self, keyword: &str) -> Option<&'s str> {
        self.keywords.get(keyword)?.as_str()
    }

    fn map(self, keyword: &str) -> Option<&'s Map<String, Value>> {
        self.keywords.get(keyword)?.as_object()
    }

    fn list(self, keyword: &str) -> Option<&'s Vec<Value>> {
        self.keywords.get(keyword)?.as_array()
    }

    fn is_only(self, name: &str) -> bool {
        self.text("type").is_some_and(|kind| kind.eq_ignore_ascii_case(name))
    }

    /// Returns true if the schema names a type, in any case.
    fn may_be(self, name: &str) -> bool {
        let is_name = |kind: &Value| kind.as_str().is_some_and(|kind| kind.eq_ignore_ascii_case(name));
        self.is_only(name) || self.list("type").is_some_and(|names| names.iter().any(is_name))
    }

    fn requires(self, name: &str) -> bool {
        self.list("required").is_some_and(|names| names.iter().any(|required| required == name))
    }

    fn has_sound_forms(self) -> bool {
        self.keywords.iter().all(|(keyword, value)| match keyword.as_str() {
            "exclusiveMinimum" | "exclusiveMaximum" | "minimum" | "maximum" | "multipleOf" => value.is_number(),
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
                value.as_f64().is_some_and(|limit| limit >= 0.0 && limit.fract() == 0.0)
            }
            "required" => value.as_array().is_some_and(|names| names.iter().all(Value::is_string) && are_unique(names)),
            "enum" => value.is_array(),
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => value.as_array().is_some_and(|list| !list.is_empty()),
            "properties" | "patternProperties" | "$defs" => value.is_object(),
            "items" | "additionalProperties" | "not" | "contains" | "propertyNames" => {
                value.is_object() || value.is_boolean()
            }
            "type" => value.is_string() || value.as_array().is_some_and(|names| !names.is_empty() && are_unique(names)),
            "pattern" | "description" | "title" | "format" | "$ref" => value.is_string(),
            _ => true,
        })
    }
}

fn are_unique(values: &[Value]) -> bool {
    values.iter().enumerate().all(|(number, value)| !values[..number].contains(value))
}
