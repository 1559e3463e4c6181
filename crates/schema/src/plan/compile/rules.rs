//! The rules of a schema that is not a union, by the type of the value.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::Compiler;
use super::kinds::{allowed_values, declared_kinds};
use crate::number::integer;
use crate::plan::node::{Array, PlanNode, Text};
use crate::plan::number::Number;
use crate::plan::object::Object;
use crate::plan::pattern::Pattern;
use crate::plan::property::{ANY, NodeId, Properties, Property};

/// The maximum number of patterns of a plan, and the memory limit of each in bytes. An evaluator limits those of a schema
/// together.
const MAX_PATTERNS: usize = 128;
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// The largest divisor that is supported.
const MAX_DIVISOR: i128 = 1 << 53;

impl<'s> Compiler<'s> {
    pub(super) fn rules(&mut self, keywords: &'s Map<String, Value>) -> Option<PlanNode> {
        let listing = ["enum", "const"].into_iter().find(|keyword| keywords.contains_key(*keyword));
        let kinds = self.or_record_obstacle(keywords, listing.unwrap_or("type"), declared_kinds(keywords))?;
        let mut node = PlanNode::plain(kinds);
        let (mut number, mut string) = (None, None);
        for (keyword, value) in self.asserting(keywords)? {
            let rule = self.rule(keywords, keyword, value, &mut node, &mut number, &mut string);
            self.or_record_obstacle(keywords, keyword, rule)?;
        }
        if let Some(values) = allowed_values(keywords)? {
            let integers = values.iter().filter_map(Value::as_number).filter_map(integer).collect();
            number.get_or_insert_with(Number::unbounded).set_one_of(integers);
            string.get_or_insert_with(Text::unbounded).set_one_of(strings(values));
        }
        node.number = number.map(Arc::new);
        node.string = string.map(Arc::new);
        Some(node)
    }

    /// Adds the rule of one keyword.
    fn rule(
        &mut self,
        keywords: &'s Map<String, Value>,
        keyword: &str,
        value: &Value,
        node: &mut PlanNode,
        number: &mut Option<Number>,
        string: &mut Option<Text>,
    ) -> Option<()> {
        match keyword {
            "type" | "enum" | "const" => {}
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                number.get_or_insert_with(Number::unbounded).bound(keyword, value)?;
            }
            "multipleOf" => {
                let divisor = integer(value.as_number()?).filter(|of| (1..=MAX_DIVISOR).contains(of))?;
                number.get_or_insert_with(Number::unbounded).multiple_of = Some(divisor);
            }
            "minLength" => string.get_or_insert_with(Text::unbounded).least = size(value)?,
            "maxLength" => string.get_or_insert_with(Text::unbounded).most = size(value)?,
            "pattern" => string.get_or_insert_with(Text::unbounded).pattern = Some(self.pattern(value.as_str()?)?),
            "properties" | "required" | "additionalProperties" | "minProperties" | "maxProperties" => {
                if node.object.is_none() {
                    node.object = Some(Arc::new(self.object(keywords)?));
                }
            }
            "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" => {
                if node.array.is_none() {
                    node.array = Some(Arc::new(self.array(keywords)?));
                }
            }
            // Other keywords would have to be merged with those beside them.
            _ => return None,
        }
        Some(())
    }

    pub(super) fn pattern(&mut self, text: &str) -> Option<Pattern> {
        self.n_patterns += 1;
        (self.n_patterns <= MAX_PATTERNS).then_some(())?;
        Pattern::compile(text, MAX_PATTERN_BYTES).ok()
    }

    pub(super) fn object(&mut self, keywords: &'s Map<String, Value>) -> Option<Object> {
        let rest = match keywords.get("additionalProperties") {
            None => ANY,
            Some(schema) => self.node(schema)?,
        };
        let mut properties = Vec::new();
        if let Some(schemas) = keywords.get("properties") {
            for (name, schema) in schemas.as_object()? {
                properties.push(self.property(name, schema)?);
            }
        }
        let mut required = 0;
        if let Some(names) = keywords.get("required") {
            for name in names.as_array()? {
                let name = name.as_str()?;
                let place = properties.iter().position(|p| p.name() == name);
                let place = place.unwrap_or(properties.len());
                if place == properties.len() {
                    properties.push(Property::new(name, rest)?);
                }
                required |= 1_u64.checked_shl(u32::try_from(place).ok()?)?;
            }
        }
        Some(Object {
            properties: Properties::new(properties)?,
            required,
            rest,
            least: keywords.get("minProperties").map_or(Some(0), size)?,
            most: keywords.get("maxProperties").map_or(Some(usize::MAX), size)?,
            tag: None,
        })
    }

    pub(super) fn property(&mut self, name: &str, schema: &'s Value) -> Option<Property> {
        Property::new(name, self.node(schema)?)
    }

    pub(super) fn array(&mut self, keywords: &'s Map<String, Value>) -> Option<Array> {
        let items = match keywords.get("items") {
            None => ANY,
            Some(schema) => self.node(schema)?,
        };
        let mut prefix: Vec<NodeId> = Vec::new();
        if let Some(schemas) = keywords.get("prefixItems") {
            for schema in schemas.as_array()? {
                prefix.push(self.node(schema)?);
            }
        }
        Some(Array {
            prefix: prefix.into(),
            items,
            least: keywords.get("minItems").map_or(Some(0), size)?,
            most: keywords.get("maxItems").map_or(Some(usize::MAX), size)?,
            unique: keywords.get("uniqueItems").is_some_and(|unique| *unique == true),
        })
    }
}

/// Returns the strings among the values.
pub(super) fn strings(values: &[Value]) -> Box<[Box<str>]> {
    let strings = values.iter().filter_map(Value::as_str);
    strings.map(Box::from).collect()
}

fn size(value: &Value) -> Option<usize> {
    value.as_u64()?.try_into().ok()
}
