//! Evaluation of a value as a tree, for the schemas that have a plan. Finds every failure.
//!
//! A plan refuses a value without a reason, and some valid ones too: `1.0` where an integer is expected, or a tag that is
//! not the first property. This module decides about these values and gives the reasons. It supports the keywords that a
//! plan supports.

mod choice;
mod compare;
mod object;
mod rule;
mod single;

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value};

use self::object::Undeclared;
use self::rule::{Rule, Rules};
use super::failure::{Failure, Kind, Location, Token};
use super::plan::{Pattern, Place, Plan};
use super::walk;

/// The compiled patterns of a schema that has a plan.
pub(super) struct Evaluator {
    patterns: HashMap<String, Pattern>,
}

/// The state of one evaluation.
struct Evaluation<'v> {
    root: &'v Value,
    patterns: &'v HashMap<String, Pattern>,
    /// The location of the current value.
    pointer: Vec<Token<'v>>,
    /// The path to the current keyword.
    path: Vec<Token<'v>>,
    /// The rules of the plan for the current value. Unknown inside the branches of a choice.
    place: Option<Place<'v>>,
    /// The number of failures after which the evaluation stops.
    most: usize,
    /// True if a choice with a tag is evaluated only by the branch of the tag.
    is_brief: bool,
}

impl Evaluator {
    /// Compiles the patterns of a schema.
    pub(super) fn new(schema: &Value) -> Self {
        let mut patterns = HashMap::new();
        let mut pending = vec![schema];
        while let Some(value) = pending.pop() {
            match value {
                Value::Object(object) => {
                    if let Some(Value::String(text)) = object.get("pattern")
                        && !patterns.contains_key(text)
                        && let Some(pattern) = Pattern::compile(text)
                    {
                        patterns.insert(text.clone(), pattern);
                    }
                    pending.extend(object.values());
                }
                Value::Array(items) => pending.extend(items),
                _ => {}
            }
        }
        Self { patterns }
    }

    /// Returns true if the value matches the schema.
    pub(super) fn is_valid(&self, schema: &Value, plan: Option<&Plan>, instance: &Value) -> bool {
        self.failures(schema, plan, instance, 1, true).is_empty()
    }

    /// Returns the first `most` failures, or more if one keyword has several. If `is_brief` is set, only the branch that
    /// a tag selects is evaluated; the others fail by their tag. The plan of the schema spares parts that it accepts.
    pub(super) fn failures<'v>(
        &'v self,
        schema: &'v Value,
        plan: Option<&'v Plan>,
        instance: &'v Value,
        most: usize,
        is_brief: bool,
    ) -> Vec<Failure<'v>> {
        let (patterns, place) = (&self.patterns, plan.map(Place::root));
        let (pointer, path) = (Vec::with_capacity(FEW), Vec::with_capacity(FEW));
        let mut evaluation = Evaluation { root: schema, patterns, pointer, path, place, most, is_brief };
        let mut failures = Vec::new();
        evaluation.schema(schema, instance, &mut failures);
        failures
    }
}

type Failures<'v> = Vec<Failure<'v>>;

/// The number of failures, and of levels, for which memory is reserved. Allocators are fast up to a thousand bytes.
const FEW: usize = 10;

impl<'v> Evaluation<'v> {
    fn schema(&mut self, schema: &'v Value, instance: &'v Value, failures: &mut Failures<'v>) {
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            Value::Bool(false) => return self.fail(Kind::False, instance, failures),
            _ => return,
        };
        let mut rules = Rules::new(keywords);
        let mut undeclared = rules.has(Rule::AdditionalProperties).then(Vec::new);
        while let Some((rule, value)) = rules.next() {
            if failures.len() >= self.most {
                return;
            }
            self.path.push(Token::Name(rule.keyword()));
            self.rule(rule, value, keywords, instance, &mut undeclared, failures);
            self.path.pop();
        }
    }

    fn rule(
        &mut self,
        rule: Rule,
        value: &'v Value,
        keywords: &'v Map<String, Value>,
        instance: &'v Value,
        undeclared: &mut Option<Undeclared<'v>>,
        failures: &mut Failures<'v>,
    ) {
        match (rule, value) {
            (Rule::Ref, Value::String(reference)) => {
                if let Some(target) = walk::resolve(self.root, reference) {
                    self.schema(target, instance, failures);
                }
            }
            (Rule::AllOf, Value::Array(parts)) => {
                for (idx, part) in parts.iter().enumerate() {
                    self.branch(idx, part, instance, failures);
                }
            }
            (Rule::AnyOf | Rule::OneOf, Value::Array(branches)) => {
                self.choice(branches, rule == Rule::OneOf, instance, failures);
            }
            (Rule::Properties, Value::Object(properties)) => {
                self.properties(properties, instance, undeclared, failures);
            }
            (Rule::AdditionalProperties, schema) => {
                let declares = keywords.get("properties").is_some_and(Value::is_object);
                self.additional(schema, undeclared.take().filter(|_| declares), instance, failures);
            }
            (Rule::Items, schema) => {
                let prefix = keywords.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
                for (idx, item) in instance.as_array().into_iter().flatten().enumerate().skip(prefix) {
                    self.part(Token::Index(idx), schema, item, failures);
                }
            }
            (Rule::PrefixItems, Value::Array(schemas)) => {
                for (idx, (schema, item)) in schemas.iter().zip(instance.as_array().into_iter().flatten()).enumerate() {
                    self.path.push(Token::Index(idx));
                    self.part(Token::Index(idx), schema, item, failures);
                    self.path.pop();
                }
            }
            (Rule::Required, Value::Array(names)) => {
                let Value::Object(object) = instance else { return };
                for name in names.iter().filter_map(Value::as_str).filter(|name| !object.contains_key(*name)) {
                    self.fail(Kind::Required(name.into()), instance, failures);
                }
            }
            (rule, value) => {
                if let Some(kind) = single::failed(rule, value, instance, self.patterns) {
                    self.fail(kind, instance, failures);
                }
            }
        }
    }

    fn branch(&mut self, idx: usize, schema: &'v Value, instance: &'v Value, failures: &mut Failures<'v>) {
        self.path.push(Token::Index(idx));
        self.schema(schema, instance, failures);
        self.path.pop();
    }

    fn part(&mut self, token: Token<'v>, schema: &'v Value, instance: &'v Value, failures: &mut Failures<'v>) {
        let place = self.inside(token);
        if !place.is_some_and(|place| place.admits(instance)) {
            self.enter(token, place, schema, instance, failures);
        }
    }

    /// Returns the rules of the plan for a part of the current value.
    fn inside(&self, token: Token<'_>) -> Option<Place<'v>> {
        self.place.and_then(|place| match token {
            Token::Name(key) => place.property(key),
            Token::Index(idx) => place.item(idx),
        })
    }

    fn enter(
        &mut self,
        token: Token<'v>,
        place: Option<Place<'v>>,
        schema: &'v Value,
        instance: &'v Value,
        failures: &mut Failures<'v>,
    ) {
        if failures.len() < self.most {
            let outer = std::mem::replace(&mut self.place, place);
            self.pointer.push(token);
            self.schema(schema, instance, failures);
            self.pointer.pop();
            self.place = outer;
        }
    }

    #[cold]
    fn fail(&self, kind: Kind<'v>, instance: &'v Value, failures: &mut Failures<'v>) {
        if failures.capacity() == 0 {
            failures.reserve(FEW);
        }
        let all = [&*self.pointer, &*self.path].concat().into_boxed_slice();
        let location = Location::Tokens { all, n_in_pointer: self.pointer.len() };
        failures.push(Failure { kind, instance: Cow::Borrowed(instance), location });
    }
}
