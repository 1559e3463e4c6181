//! The rules by which providers reject definitions: the condition of each, and the check of what is exported.

use serde_json::{Map, Value};

use super::Dialect;
use crate::loss::{Effect, Loss, Side};
use toolkit_schema::patterns::is_portable;
use toolkit_schema::{child, walk};

/// A rule that a definition has to keep, or else the provider rejects the whole request.
///
/// [`lower`](crate::lower) changes a schema so that it keeps the rules of its dialect, and reports each change. Every
/// exported definition is checked; [`Effect::Rejected`] reports one that still breaks a rule.
///
/// ```
/// use serde_json::json;
/// use toolkit_providers::{Dialect, Rule};
///
/// let schema = json!({ "type": "object", "properties": { "tags": { "type": "array" } } });
/// assert!(Dialect::OPENAI.requires(Rule::Items));
/// assert_eq!(Rule::Items.broken_by(&Dialect::OPENAI, "tag", None, &schema), ["/properties/tags"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// The characters of the name of a tool, and their number.
    ToolName,
    /// The characters of the name of a function of Gemini, and their number.
    FunctionName,
    /// A description, if there is one.
    Description,
    /// The type of the root. The others are removed.
    Object,
    /// `properties` of the root. Empty ones are added.
    RootProperties,
    /// No choice at the root. Its branches are merged into one object.
    RootChoice,
    /// The characters of the names of arguments. Others are sent under new names, which are restored in calls.
    PropertyNames,
    /// The forms of keywords in draft 2020-12.
    Draft,
    /// `items` of arrays. An array without them gets those of any value.
    Items,
    /// No look-around in patterns. Such a pattern is moved to the description.
    Pattern,
    /// Closed objects. Open ones are closed.
    Closed,
    /// No optional properties. Optional ones become nullable, and null is removed from calls.
    Required,
    /// The keywords of the dialect. Others are moved to the description.
    Keywords,
    /// The formats of the dialect. Others are moved to the description.
    Format,
    /// A type of each schema. It is derived from the other keywords.
    Typed,
    /// References alone. The keywords beside them are removed.
    Reference,
    /// The limits of the dialect.
    Size,
    /// At most one required item. A larger number is moved to the description.
    MinItems,
    /// No list of types. It becomes a choice.
    OneType,
}

/// The check of a rule.
enum Holds {
    Name(fn(&str) -> bool),
    Description(fn(&str) -> bool),
    Schema(fn(&Dialect, SchemaNode<'_>) -> bool),
}

/// A schema within the schema of a definition.
#[derive(Clone, Copy)]
struct SchemaNode<'s> {
    keywords: &'s Map<String, Value>,
    is_root: bool,
}

impl Rule {
    /// Returns the name of the rule.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.facts().0
    }

    /// Returns the condition, as a sentence.
    #[must_use]
    pub fn accepts(self) -> &'static str {
        self.facts().1
    }

    /// Returns the places at which a definition breaks the rule: JSON Pointers into its schema, or `/name` and
    /// `/description`.
    #[must_use]
    pub fn broken_by(self, dialect: &Dialect, name: &str, description: Option<&str>, schema: &Value) -> Vec<String> {
        let mut places = Vec::new();
        match self.facts().2 {
            Holds::Name(holds) => places.extend((!holds(name)).then(|| "/name".to_owned())),
            Holds::Description(holds) => {
                places.extend((!description.is_none_or(holds)).then(|| "/description".to_owned()));
            }
            Holds::Schema(holds) => visit(schema, "", &mut |at, node| {
                places.extend((!holds(dialect, node)).then(|| at.to_owned()));
            }),
        }
        places
    }

    /// Returns the name, the condition as a sentence, and the check.
    fn facts(self) -> (&'static str, &'static str, Holds) {
        match self {
            Self::ToolName => (
                "tool-name",
                "the name of a tool has 1 to 64 letters, digits, `_` and `-`",
                Holds::Name(|name| is_name(name, "_-")),
            ),
            Self::FunctionName => (
                "function-name",
                "the name of a function has 1 to 64 letters, digits, `_`, `.`, `:` and `-`, and starts with a letter \
                  or `_`",
                Holds::Name(|name| {
                    is_name(name, "_.:-") && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                }),
            ),
            Self::Description => {
                ("description", "a description is not empty", Holds::Description(|text| !text.is_empty()))
            }
            Self::Object => (
                "object",
                "the root has the type `object`",
                Holds::Schema(|_, node| !node.is_root || node.text("type") == Some("object")),
            ),
            Self::RootProperties => (
                "root-properties",
                "the root has `properties`",
                Holds::Schema(|_, node| !node.is_root || node.map("properties").is_some()),
            ),
            Self::RootChoice => (
                "root-choice",
                "the root has no `anyOf`, `oneOf`, `allOf`, `enum`, `const` or `not`",
                Holds::Schema(|_, node| {
                    let choices = ["anyOf", "oneOf", "allOf", "enum", "const", "not"];
                    !node.is_root || !choices.iter().any(|keyword| node.has(keyword))
                }),
            ),
            Self::PropertyNames => (
                "property-names",
                "the name of an argument has 1 to 64 letters, digits, `_`, `.` and `-`",
                Holds::Schema(|_, node| {
                    !node.is_root
                        || node.map("properties").is_none_or(|named| named.keys().all(|name| is_plain_name(name)))
                }),
            ),
            Self::Draft => {
                ("draft", "keywords have the form of draft 2020-12", Holds::Schema(|_, node| node.has_sound_forms()))
            }
            Self::Items => (
                "items",
                "an array has `items`, an object",
                Holds::Schema(|_, node| !node.may_be("array") || node.map("items").is_some()),
            ),
            Self::Pattern => (
                "pattern",
                "a pattern has no look-around and no back references",
                Holds::Schema(|_, node| {
                    node.text("pattern").is_none_or(is_portable)
                        && node
                            .map("patternProperties")
                            .is_none_or(|named| named.keys().all(|pattern| is_portable(pattern)))
                }),
            ),
            Self::Closed => (
                "closed",
                "an object has `additionalProperties: false`",
                Holds::Schema(|_, node| {
                    !node.may_be("object") || node.keywords.get("additionalProperties") == Some(&Value::Bool(false))
                }),
            ),
            Self::Required => (
                "required",
                "`required` lists every property",
                Holds::Schema(|_, node| {
                    node.map("properties").is_none_or(|named| named.keys().all(|name| node.requires(name)))
                }),
            ),
            Self::Keywords => (
                "keywords",
                "the keywords are those of the dialect",
                Holds::Schema(|dialect, node| node.keywords.keys().all(|keyword| dialect.reads(keyword))),
            ),
            Self::Format => (
                "format",
                "a format is one of the dialect, for its type",
                Holds::Schema(|dialect, node| {
                    let known = |format: &str| dialect.formats.is_none_or(|formats| formats.contains(&format));
                    node.text("format").is_none_or(|format| known(format) && node.may_be("string"))
                }),
            ),
            Self::Typed => (
                "typed",
                "a schema has a type, unless it is a choice or a reference",
                Holds::Schema(|_, node| {
                    ["type", "anyOf", "allOf", "$ref", "enum", "const"].iter().any(|k| node.has(k))
                }),
            ),
            Self::Reference => (
                "reference",
                "no other keyword is beside a `$ref`",
                Holds::Schema(|_, node| {
                    !node.has("$ref")
                        || node.keywords.keys().all(|keyword| matches!(keyword.as_str(), "$ref" | "$defs"))
                        || node.is_root
                }),
            ),
            Self::Size => (
                "size",
                "the schema is within the limits of the dialect",
                Holds::Schema(|dialect, node| {
                    !node.is_root || dialect.limits.exceeded_by(node.keywords).next().is_none()
                }),
            ),
            Self::MinItems => (
                "min-items",
                "`minItems` is 0 or 1",
                Holds::Schema(|_, node| {
                    node.keywords.get("minItems").is_none_or(|least| least.as_u64().is_some_and(|least| least <= 1))
                }),
            ),
            Self::OneType => (
                "one-type",
                "`type` is one name, not a list",
                Holds::Schema(|_, node| node.keywords.get("type").is_none_or(Value::is_string)),
            ),
        }
    }
}

/// Returns a loss for each rule that the name or the description of a definition breaks.
pub(crate) fn check_record(dialect: &Dialect, name: &str, description: Option<&str>) -> Vec<Loss> {
    // Without a schema, no rule about schemas is broken.
    let broken = dialect.rules().flat_map(|(rule, _)| {
        let places = rule.broken_by(dialect, name, description, &Value::Null);
        places.into_iter().map(move |at| rejected(dialect, rule, Side::Record, at))
    });
    broken.collect()
}

/// Returns a loss for each rule that an exported schema breaks.
pub(crate) fn check_schema(dialect: &Dialect, side: Side, schema: &Value) -> Vec<Loss> {
    let of_schemas = dialect.rules().filter_map(|(rule, _)| match rule.facts().2 {
        Holds::Schema(holds) => Some((rule, holds)),
        _ => None,
    });
    let rules: Vec<_> = of_schemas.collect();
    let mut losses = Vec::new();
    visit(schema, "", &mut |at, node| {
        let node = SchemaNode { is_root: node.is_root && side == Side::Input, ..node };
        let broken = rules.iter().filter(|(_, holds)| !holds(dialect, node));
        losses.extend(broken.map(|(rule, _)| rejected(dialect, *rule, side, at.to_owned())));
    });
    losses
}

fn rejected(dialect: &Dialect, rule: Rule, side: Side, at: String) -> Loss {
    let reason = format!("is a rule of {}: {}; the provider rejects the definition", dialect.name, rule.accepts());
    Loss::new(side, at, rule.name(), Effect::Rejected, reason)
}

/// Visits a schema and the schemas in it.
fn visit(schema: &Value, at: &str, visitor: &mut impl FnMut(&str, SchemaNode<'_>)) {
    let Value::Object(keywords) = schema else { return };
    visitor(at, SchemaNode { keywords, is_root: at.is_empty() });
    walk::each_at(keywords, |keyword, token, sub| {
        visit(sub, &token.below(child(at, keyword)), visitor);
    });
}

/// Returns true if a provider with plain names accepts the name of an argument.
pub(crate) fn is_plain_name(name: &str) -> bool {
    is_name(name, "_.-")
}

fn is_name(name: &str, others: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c))
}

impl<'s> SchemaNode<'s> {
    fn has(self, keyword: &str) -> bool {
        self.keywords.contains_key(keyword)
    }

    fn text(self, keyword: &str) -> Option<&'s str> {
        self.keywords.get(keyword)?.as_str()
    }

    fn map(self, keyword: &str) -> Option<&'s Map<String, Value>> {
        self.keywords.get(keyword)?.as_object()
    }

    fn may_be(self, name: &str) -> bool {
        walk::may_be(self.keywords, name)
    }

    fn requires(self, name: &str) -> bool {
        walk::required(self.keywords).any(|required| required == name)
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
