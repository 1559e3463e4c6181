//! Evaluation of a value as a tree. Finds every failure.
//!
//! A plan refuses a value without a reason, and some valid ones too: `1.0` where an integer is expected, or a tag that is
//! not the first property. This module decides about these values and gives the reasons. It supports all keywords of draft
//! 2020-12, except names of schemas and dynamic references; see [`supports`].

mod assertion;
mod number;
mod rules;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use self::assertion::failed;
use self::rules::{Rule, Rules};
pub(crate) use self::rules::{needs_library, supports};
use super::failure::{FailureKind, KeywordFailure, Location, PathToken};
use super::interrupt::is_cancelled;
use super::plan::{Pattern, Plan, PlanPlace};
use super::walk;
use crate::{equality, tagged};

/// The compiled patterns and the long lists of a schema.
pub(super) struct Evaluator {
    patterns: HashMap<String, Pattern>,
    /// The canonical texts of the values of each long `enum`, by the address of its values, which live as long as the schema.
    lists: HashMap<usize, HashSet<String>>,
}

/// The number of values from which on an `enum` is searched by canonical texts.
const LONG_LIST: usize = 64;

/// The number of schemas after which an evaluation asks again whether it is cancelled.
const CANCEL_INTERVAL: u32 = 4096;

/// The state of one evaluation.
struct Evaluation<'v> {
    root: &'v Value,
    evaluator: &'v Evaluator,
    /// The location of the current value.
    pointer: Vec<PathToken<'v>>,
    /// The path to the current keyword.
    path: Vec<PathToken<'v>>,
    /// The rules of the plan for the current value. Unknown inside the branches of a choice.
    place: Option<PlanPlace<'v>>,
    /// The number of failures after which the evaluation stops.
    most: usize,
    /// The same number inside the branches of a choice.
    most_in_branch: usize,
    /// True if a choice with a tag is evaluated only by the branch of the tag.
    is_brief: bool,
    /// The parts of the current value that its schemas have evaluated. Collected where an unevaluated keyword needs them.
    seen: Option<Box<Seen<'v>>>,
    /// The number of schemas that were evaluated.
    n_schemas: u32,
    /// True once no further schema is evaluated.
    is_cancelled: bool,
}

impl Evaluator {
    /// Compiles the patterns of a schema, each into at most `max_bytes` bytes. Others match nothing; see
    /// [`Evaluator::has_pattern`].
    pub(super) fn new(schema: &Value, max_bytes: usize) -> Self {
        let (mut patterns, mut lists) = (HashMap::new(), HashMap::new());
        let mut pending = vec![schema];
        while let Some(value) = pending.pop() {
            match value {
                Value::Object(object) => {
                    let of_text = object.get("pattern").and_then(Value::as_str).into_iter();
                    for text in of_text.chain(key_patterns(object).map(|(text, _)| text)) {
                        if !patterns.contains_key(text)
                            && let Ok(pattern) = Pattern::compile(text, max_bytes)
                        {
                            patterns.insert(text.to_owned(), pattern);
                        }
                    }
                    if let Some(Value::Array(options)) = object.get("enum")
                        && options.len() >= LONG_LIST
                    {
                        lists.insert(options.as_ptr().addr(), options.iter().map(canonical).collect());
                    }
                    pending.extend(object.values());
                }
                Value::Array(items) => pending.extend(items),
                _ => {}
            }
        }
        Self { patterns, lists }
    }

    /// Returns true if a pattern of the schema was compiled.
    pub(super) fn has_pattern(&self, text: &str) -> bool {
        self.patterns.contains_key(text)
    }

    /// Returns true if the value matches the schema.
    pub(super) fn is_valid(&self, schema: &Value, plan: Option<&Plan>, instance: &Value) -> bool {
        self.evaluate(schema, plan, instance, [1, 1], true).is_empty()
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
    ) -> Vec<KeywordFailure<'v>> {
        self.evaluate(schema, plan, instance, [most, usize::MAX], is_brief)
    }

    fn evaluate<'v>(
        &'v self,
        schema: &'v Value,
        plan: Option<&'v Plan>,
        instance: &'v Value,
        [most, most_in_branch]: [usize; 2],
        is_brief: bool,
    ) -> Vec<KeywordFailure<'v>> {
        let (evaluator, place) = (self, plan.map(PlanPlace::root));
        let (pointer, path) = (Vec::with_capacity(FEW), Vec::with_capacity(FEW));
        let mut evaluation = Evaluation {
            root: schema,
            evaluator,
            pointer,
            path,
            place,
            most,
            most_in_branch,
            is_brief,
            seen: None,
            n_schemas: 0,
            is_cancelled: false,
        };
        let mut failures = Vec::new();
        evaluation.schema(schema, instance, &mut failures);
        if evaluation.is_cancelled {
            failures.clear();
            evaluation.fail(FailureKind::False, instance, &mut failures);
        }
        failures
    }
}

type Failures<'v> = Vec<KeywordFailure<'v>>;

/// The number of failures, and of levels, for which memory is reserved. Allocators are fast up to a thousand bytes.
const FEW: usize = 10;

impl<'v> Evaluation<'v> {
    fn schema(&mut self, schema: &'v Value, instance: &'v Value, failures: &mut Failures<'v>) {
        self.n_schemas = self.n_schemas.wrapping_add(1);
        if self.n_schemas.is_multiple_of(CANCEL_INTERVAL) {
            self.is_cancelled |= is_cancelled();
        }
        if self.is_cancelled {
            return;
        }
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            Value::Bool(false) => return self.fail(FailureKind::False, instance, failures),
            _ => return,
        };
        let mut rules = Rules::new(keywords);
        let mut undeclared = rules.has(Rule::AdditionalProperties).then(Vec::new);
        // An unevaluated keyword sees only what this schema has evaluated.
        let has_unevaluated = rules.has(Rule::UnevaluatedProperties) || rules.has(Rule::UnevaluatedItems);
        let outer = has_unevaluated.then(|| self.seen.replace(Box::default()));
        while let Some((rule, value)) = rules.next() {
            if failures.len() >= self.most {
                break;
            }
            self.path.push(PathToken::Name(rule.keyword()));
            self.rule(rule, value, keywords, instance, &mut undeclared, failures);
            self.path.pop();
        }
        if let Some(outer) = outer {
            let own = std::mem::replace(&mut self.seen, outer);
            self.see_all(own);
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
                self.additional(schema, undeclared.take().filter(|_| declares), keywords, instance, failures);
            }
            (Rule::PatternProperties, Value::Object(schemas)) => {
                for (key, item) in instance.as_object().into_iter().flatten() {
                    for (pattern, schema) in schemas {
                        if self.matches(pattern, key) {
                            self.see_key(key);
                            self.path.push(PathToken::Name(pattern));
                            self.part(PathToken::Name(key), schema, item, failures);
                            self.path.pop();
                        }
                    }
                }
            }
            (Rule::Items, schema) => {
                let prefix = keywords.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
                for (idx, item) in instance.as_array().into_iter().flatten().enumerate().skip(prefix) {
                    self.see_item(idx);
                    self.part(PathToken::Index(idx), schema, item, failures);
                }
            }
            (Rule::PrefixItems, Value::Array(schemas)) => {
                for (idx, (schema, item)) in schemas.iter().zip(instance.as_array().into_iter().flatten()).enumerate() {
                    self.see_item(idx);
                    self.path.push(PathToken::Index(idx));
                    self.part(PathToken::Index(idx), schema, item, failures);
                    self.path.pop();
                }
            }
            (Rule::Required, Value::Array(names)) => {
                let Value::Object(object) = instance else { return };
                for name in names.iter().filter_map(Value::as_str).filter(|name| !object.contains_key(*name)) {
                    self.fail(FailureKind::Required(name.into()), instance, failures);
                }
            }
            (Rule::DependentRequired | Rule::DependentSchemas, Value::Object(dependents)) => {
                self.dependents(dependents, instance, failures);
            }
            (Rule::Not, schema) => {
                if self.matches_schema(schema, instance, false) {
                    self.fail(FailureKind::Not, instance, failures);
                }
            }
            (Rule::If, condition) => {
                let keyword = if self.matches_schema(condition, instance, true) { "then" } else { "else" };
                if let Some(schema) = keywords.get(keyword) {
                    self.path.pop();
                    self.path.push(PathToken::Name(keyword));
                    self.schema(schema, instance, failures);
                }
            }
            (Rule::PropertyNames, schema) => self.property_names(schema, instance, failures),
            (Rule::Contains, schema) => self.contains(schema, keywords, instance, failures),
            (Rule::UnevaluatedProperties, schema) => self.unevaluated_properties(schema, instance, failures),
            (Rule::UnevaluatedItems, schema) => self.unevaluated_items(schema, instance, failures),
            (Rule::Enum, Value::Array(options)) => {
                let is_listed = match self.evaluator.lists.get(&options.as_ptr().addr()) {
                    Some(listed) => listed.contains(&canonical(instance)),
                    None => options.iter().any(|option| equality::equal(option, instance)),
                };
                if !is_listed {
                    self.fail(FailureKind::Enum(Cow::Borrowed(options)), instance, failures);
                }
            }
            (rule, value) => {
                if let Some(kind) = failed(rule, value, instance, &self.evaluator.patterns) {
                    self.fail(kind, instance, failures);
                }
            }
        }
    }

    fn branch(&mut self, idx: usize, schema: &'v Value, instance: &'v Value, failures: &mut Failures<'v>) {
        self.path.push(PathToken::Index(idx));
        self.schema(schema, instance, failures);
        self.path.pop();
    }

    fn part(&mut self, token: PathToken<'v>, schema: &'v Value, instance: &'v Value, failures: &mut Failures<'v>) {
        let place = self.inside(token);
        if !place.is_some_and(|place| place.admits(instance)) {
            self.enter(token, place, schema, instance, failures);
        }
    }

    /// Returns the rules of the plan for a part of the current value.
    fn inside(&self, token: PathToken<'_>) -> Option<PlanPlace<'v>> {
        self.place.and_then(|place| match token {
            PathToken::Name(key) => place.property(key),
            PathToken::Index(idx) => place.item(idx),
        })
    }

    fn enter(
        &mut self,
        token: PathToken<'v>,
        place: Option<PlanPlace<'v>>,
        schema: &'v Value,
        instance: &'v Value,
        failures: &mut Failures<'v>,
    ) {
        if failures.len() < self.most {
            let outer = std::mem::replace(&mut self.place, place);
            let seen = self.seen.take();
            self.pointer.push(token);
            self.schema(schema, instance, failures);
            self.pointer.pop();
            self.seen = seen;
            self.place = outer;
        }
    }

    #[cold]
    fn fail(&self, kind: FailureKind<'v>, instance: &'v Value, failures: &mut Failures<'v>) {
        if failures.capacity() == 0 {
            failures.reserve(FEW);
        }
        let all = [&*self.pointer, &*self.path].concat().into_boxed_slice();
        let location = Location::Tokens { all, n_in_pointer: self.pointer.len() };
        failures.push(KeywordFailure { kind, instance: Cow::Borrowed(instance), location });
    }
}

impl<'v> Evaluation<'v> {
    /// Evaluates every branch, or only that of the tag if the evaluation is brief.
    fn choice(&mut self, branches: &'v [Value], is_one_of: bool, instance: &'v Value, failures: &mut Failures<'v>) {
        let tag = if self.is_brief { tagged::tag(branches) } else { None };
        let sent = tag.as_ref().map(|(key, _)| instance.get(*key));
        let most = std::mem::replace(&mut self.most, self.most_in_branch);
        let place = self.place.take();
        let mut failed = Vec::with_capacity(branches.len());
        let mut n_valid = 0;
        for (idx, branch) in branches.iter().enumerate() {
            let mut inner = Vec::new();
            let outer = self.seen.as_mut().map(std::mem::take);
            match (&tag, sent) {
                (Some((key, texts)), Some(sent)) if sent.and_then(Value::as_str) != Some(texts[idx]) => {
                    self.untagged(idx, key, branch, instance, &mut inner);
                }
                _ => self.branch(idx, branch, instance, &mut inner),
            }
            let own = std::mem::replace(&mut self.seen, outer);
            if inner.is_empty() {
                n_valid += 1;
                self.see_all(own);
                // All matching branches tell which parts are evaluated.
                if !is_one_of && self.seen.is_none() {
                    break;
                }
            }
            failed.push(inner);
        }
        self.most = most;
        self.place = place;
        match n_valid {
            0 if is_one_of => self.fail(FailureKind::OneOf(failed), instance, failures),
            0 => self.fail(FailureKind::AnyOf(failed), instance, failures),
            2.. if is_one_of => self.fail(FailureKind::OneOfSeveral, instance, failures),
            _ => {}
        }
    }

    /// Adds the failure of a branch whose tag the value does not have.
    fn untagged(
        &mut self,
        idx: usize,
        key: &'v str,
        branch: &'v Value,
        instance: &'v Value,
        failures: &mut Failures<'v>,
    ) {
        let depth = self.path.len();
        self.path.push(PathToken::Index(idx));
        match (instance, instance.get(key), branch.get("properties").and_then(|properties| properties.get(key))) {
            (Value::Object(_), None, _) => {
                self.path.push(PathToken::Name("required"));
                self.fail(FailureKind::Required(key.into()), instance, failures);
            }
            (_, Some(sent), Some(schema)) => {
                self.path.extend([PathToken::Name("properties"), PathToken::Name(key)]);
                self.part(PathToken::Name(key), schema, sent, failures);
            }
            _ => self.schema(branch, instance, failures),
        }
        self.path.truncate(depth);
    }
}

/// Properties that `properties` does not declare, for `additionalProperties`, which is evaluated next.
type Undeclared<'v> = Vec<(&'v str, &'v Value)>;

impl<'v> Evaluation<'v> {
    /// Evaluates `properties`, and collects the other properties if they are wanted.
    fn properties(
        &mut self,
        schemas: &'v Map<String, Value>,
        instance: &'v Value,
        undeclared: &mut Option<Undeclared<'v>>,
        failures: &mut Failures<'v>,
    ) {
        for (key, item) in instance.as_object().into_iter().flatten() {
            if self.seen.is_some() && schemas.contains_key(key) {
                self.see_key(key);
            }
            let place = self.inside(PathToken::Name(key));
            // What the plan accepts also satisfies `additionalProperties`.
            if place.is_some_and(|place| place.admits(item)) {
                continue;
            }
            if let Some(schema) = schemas.get(key) {
                self.path.push(PathToken::Name(key));
                self.enter(PathToken::Name(key), place, schema, item, failures);
                self.path.pop();
            } else if let Some(undeclared) = undeclared {
                undeclared.push((key, item));
            }
        }
    }

    /// Returns true if a key matches a pattern of the schema.
    fn matches(&self, pattern: &str, key: &str) -> bool {
        self.evaluator.patterns.get(pattern).is_some_and(|compiled| compiled.is_match(key))
    }

    /// Evaluates `additionalProperties`. `undeclared` is `None` if the schema has no `properties`.
    fn additional(
        &mut self,
        schema: &'v Value,
        undeclared: Option<Undeclared<'v>>,
        keywords: &'v Map<String, Value>,
        instance: &'v Value,
        failures: &mut Failures<'v>,
    ) {
        let all = || instance.as_object().into_iter().flatten().map(|(key, item)| (&**key, item)).collect();
        let mut undeclared: Undeclared<'v> = undeclared.unwrap_or_else(all);
        undeclared.retain(|(key, _)| !key_patterns(keywords).any(|(pattern, _)| self.matches(pattern, key)));
        undeclared.iter().for_each(|(key, _)| self.see_key(key));
        if *schema != Value::Bool(false) {
            undeclared.into_iter().for_each(|(key, item)| self.part(PathToken::Name(key), schema, item, failures));
        } else if !undeclared.is_empty() {
            let keys = undeclared.into_iter().map(|(key, _)| Cow::Borrowed(key)).collect();
            self.fail(FailureKind::AdditionalProperties(keys), instance, failures);
        }
    }
}

/// The parts of a value that some schemas have evaluated.
#[derive(Default)]
struct Seen<'v> {
    keys: HashSet<&'v str>,
    items: HashSet<usize>,
}

impl<'v> Evaluation<'v> {
    fn see_key(&mut self, key: &'v str) {
        if let Some(seen) = &mut self.seen {
            seen.keys.insert(key);
        }
    }

    fn see_item(&mut self, idx: usize) {
        if let Some(seen) = &mut self.seen {
            seen.items.insert(idx);
        }
    }

    fn see_all(&mut self, more: Option<Box<Seen<'v>>>) {
        if let (Some(seen), Some(more)) = (&mut self.seen, more) {
            seen.keys.extend(more.keys);
            seen.items.extend(more.items);
        }
    }

    /// Returns true if a value matches a schema. `is_same` is true if it is the current value, whose evaluated parts count.
    fn matches_schema(&mut self, schema: &'v Value, instance: &'v Value, is_same: bool) -> bool {
        let most = std::mem::replace(&mut self.most, 1);
        let most_in_branch = std::mem::replace(&mut self.most_in_branch, 1);
        let place = self.place.take();
        let outer = self.seen.take();
        self.seen = outer.as_ref().filter(|_| is_same).map(|_| Box::default());
        let mut failures = Vec::new();
        self.schema(schema, instance, &mut failures);
        let own = std::mem::replace(&mut self.seen, outer);
        (self.most, self.most_in_branch, self.place) = (most, most_in_branch, place);
        if failures.is_empty() {
            self.see_all(own);
        }
        failures.is_empty()
    }

    /// Evaluates what must hold where a key is present: other keys, or a schema.
    fn dependents(&mut self, dependents: &'v Map<String, Value>, instance: &'v Value, failures: &mut Failures<'v>) {
        let Value::Object(object) = instance else { return };
        for (name, dependent) in dependents.iter().filter(|(name, _)| object.contains_key(*name)) {
            self.path.push(PathToken::Name(name));
            match dependent {
                Value::Array(needed) => {
                    let needed = needed.iter().filter_map(Value::as_str);
                    for absent in needed.filter(|needed| !object.contains_key(*needed)) {
                        self.fail(FailureKind::Required(absent.into()), instance, failures);
                    }
                }
                schema => self.schema(schema, instance, failures),
            }
            self.path.pop();
        }
    }

    fn property_names(&self, schema: &Value, instance: &'v Value, failures: &mut Failures<'v>) {
        let Value::Object(object) = instance else { return };
        if *schema == Value::Bool(false) {
            if !object.is_empty() {
                self.fail(FailureKind::False, instance, failures);
            }
            return;
        }
        for key in object.keys() {
            let key = Value::String(key.clone());
            let mut of_key = Evaluation {
                root: self.root,
                evaluator: self.evaluator,
                pointer: self.pointer.clone(),
                path: self.path.clone(),
                place: None,
                most: self.most,
                most_in_branch: self.most_in_branch,
                is_brief: self.is_brief,
                seen: None,
                n_schemas: 0,
                is_cancelled: false,
            };
            let mut inner = Vec::new();
            of_key.schema(schema, &key, &mut inner);
            for failure in inner {
                self.fail(FailureKind::PropertyNames(Box::new(failure.into_owned())), instance, failures);
            }
        }
    }

    fn contains(
        &mut self,
        schema: &'v Value,
        keywords: &'v Map<String, Value>,
        instance: &'v Value,
        failures: &mut Failures<'v>,
    ) {
        let Value::Array(items) = instance else { return };
        let mut n_matching = 0;
        for (idx, item) in items.iter().enumerate() {
            if self.matches_schema(schema, item, false) {
                n_matching += 1;
                self.see_item(idx);
            }
        }
        let limit = |keyword| keywords.get(keyword).and_then(Value::as_u64);
        let is_within = limit("minContains").unwrap_or(1) <= n_matching
            && limit("maxContains").is_none_or(|most| n_matching <= most);
        if !is_within {
            self.fail(FailureKind::Contains, instance, failures);
        }
    }

    fn unevaluated_properties(&mut self, schema: &'v Value, instance: &'v Value, failures: &mut Failures<'v>) {
        let Value::Object(object) = instance else { return };
        let mut unexpected = Vec::new();
        for (key, item) in object {
            let is_seen = self.seen.as_ref().is_some_and(|seen| seen.keys.contains(&**key));
            if !is_seen && !self.matches_schema(schema, item, false) {
                unexpected.push(Cow::Borrowed(&**key));
            }
            self.see_key(key);
        }
        if !unexpected.is_empty() {
            self.fail(FailureKind::UnevaluatedProperties(unexpected), instance, failures);
        }
    }

    fn unevaluated_items(&mut self, schema: &'v Value, instance: &'v Value, failures: &mut Failures<'v>) {
        let Value::Array(items) = instance else { return };
        let mut has_unexpected = false;
        for (idx, item) in items.iter().enumerate() {
            let is_seen = self.seen.as_ref().is_some_and(|seen| seen.items.contains(&idx));
            has_unexpected |= !is_seen && !self.matches_schema(schema, item, false);
            self.see_item(idx);
        }
        if has_unexpected {
            self.fail(FailureKind::UnevaluatedItems, instance, failures);
        }
    }
}

/// Returns the patterns of `patternProperties` with their schemas.
fn key_patterns(keywords: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    let schemas = keywords.get("patternProperties").and_then(Value::as_object);
    schemas.into_iter().flatten().map(|(pattern, schema)| (&**pattern, schema))
}

fn canonical(value: &Value) -> String {
    let mut text = String::new();
    equality::write_canonical(value, &mut text);
    text
}
