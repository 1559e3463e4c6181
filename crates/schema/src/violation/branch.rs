//! The branch of an `anyOf` or `oneOf` that the caller most likely meant, by which the value is explained.

use serde_json::Value;

use super::Repairs;
use super::explanation::Explanation;
use super::locate::{follow_refs, is_optional, nodes};
use super::single::{
    Violation, begun, not_one_of, push_json, push_list, push_quoted, shorten_pointer, type_name, wrong_type,
};
use crate::failure::{FailureKind, KeywordFailure};
use crate::pointer::child;
use crate::suggest::suggest;
use crate::view::listed;
use crate::walk;

/// The maximum depth of nested choices that are searched for nulls, and the maximum number of failures of each branch.
const MAX_NESTED: usize = 8;
const MAX_FAILURES: usize = 256;

/// A branch of a choice, with the failures that it reports for the value.
struct Branch<'s, 'e> {
    schema: &'s Value,
    failures: &'e [KeywordFailure<'e>],
}

impl Explanation<'_> {
    /// Explains a value that matches no branch.
    ///
    /// Branches that reject the type of the value are ignored as long as another one accepts it. For objects, the
    /// branch is selected by its tag: a property with a constant value, or the only key of the object.
    pub(super) fn choice(&mut self, failure: &KeywordFailure<'_>, branches: &[Vec<KeywordFailure<'_>>]) {
        let instance = &*failure.instance;
        let path = nodes(self.schema, &failure.location.path());
        let schemas = path.last().and_then(|branches| branches.as_array()).map_or(&[][..], Vec::as_slice);
        let branches = branches.iter().enumerate().map(|(idx, failures)| Branch {
            schema: schemas.get(idx).map_or(&Value::Null, |schema| follow_refs(self.schema, schema)),
            failures,
        });
        let here = failure.location.depth();
        let (viable, refused): (Vec<_>, Vec<_>) =
            branches.partition(|branch| !refuses_type(branch.failures, here, instance));

        if viable.is_empty() {
            let mut types = Vec::new();
            refused.iter().for_each(|branch| types_of(branch.failures, here, &mut types));
            let unexplained = || self.plain(failure, "matches none of the allowed forms".to_owned());
            let violation = match types.is_empty() {
                true => unexplained(),
                false => wrong_type(unexplained(), instance, &types),
            };
            return self.add(violation);
        }
        if self.outline == Some(Repairs::Replacement) && instance.is_string() && only_constants(&viable) {
            // A text that is not among the constants may contain the JSON of another branch.
            let mut types = Vec::new();
            refused.iter().for_each(|branch| types_of(branch.failures, here, &mut types));
            let allowed = types.into_iter().map(Value::from).collect();
            return self.add(Violation { allowed, ..self.plain(failure, String::new()) });
        }
        if let Some(violation) = self.missing_content(failure, &viable, &refused) {
            return self.add(violation);
        }
        if let Some(meant) = viable.iter().find(|branch| self.fits_without_nulls(branch.failures, 0)) {
            return self.explain_all(meant.failures);
        }
        if let [only] = &viable[..] {
            return self.explain_all(only.failures);
        }
        match instance {
            Value::Object(_) if self.by_tag(failure, &viable) || self.by_key(failure, &viable) => {}
            Value::String(_) if self.by_value(failure, &viable) => {}
            _ => {
                let nearest = viable.iter().min_by_key(|branch| {
                    let lacks_key =
                        branch.failures.iter().any(|failure| matches!(failure.kind, FailureKind::Required(_)));
                    (lacks_key, branch.failures.len())
                });
                self.explain_all(nearest.map_or(&[], |branch| branch.failures));
            }
        }
    }

    /// Returns true if the branch rejects the value only because optional properties are null. Callers that send null
    /// for every absent property mean such a branch.
    fn fits_without_nulls(&self, failures: &[KeywordFailure<'_>], depth: usize) -> bool {
        if depth == MAX_NESTED || failures.len() > MAX_FAILURES {
            return false;
        }
        // The properties of a branch that does not match count as unevaluated.
        let follows = |failure: &&KeywordFailure<'_>| !matches!(failure.kind, FailureKind::UnevaluatedProperties(_));
        let mut causes = failures.iter().filter(follows).peekable();
        causes.peek().is_some()
            && causes.all(|failure| match failure.kind.branches() {
                _ if failure.instance.is_null() => {
                    is_optional(self.schema, &failure.location.path(), &failure.location.pointer())
                }
                Some(branches) => branches.iter().any(|failures| self.fits_without_nulls(failures, depth + 1)),
                None => false,
            })
    }

    fn explain_all(&mut self, failures: &[KeywordFailure<'_>]) {
        for failure in failures {
            if self.is_full() {
                return;
            }
            self.explain(failure);
        }
    }

    /// Explains an object by its tag, a required property with distinct constants in each branch. Returns false without
    /// one.
    fn by_tag(&mut self, failure: &KeywordFailure<'_>, branches: &[Branch<'_, '_>]) -> bool {
        let Some((tag, values)) = tag(self.schema, branches) else {
            return false;
        };
        let all: Vec<Value> = values.iter().flatten().map(|value| (*value).clone()).collect();
        let pointer = shorten_pointer(child(&failure.location.pointer(), tag));
        let Some(sent) = failure.instance.get(tag) else {
            let mut rule = begun("is required: one of ");
            push_list(&mut rule, all.iter(), push_json);
            let violation = self.plain(failure, rule);
            let keyword = "required".to_owned();
            self.add(Violation { pointer, keyword, sent: None, allowed: all, ..violation });
            return true;
        };
        match values.iter().position(|values| values.contains(&sent)) {
            Some(idx) => self.explain_all(branches[idx].failures),
            None => {
                let violation = not_one_of(self.plain(failure, String::new()), &all, sent);
                let shown = branches.iter().flat_map(|branch| branch.failures).find_map(|failure| {
                    let is_tag = failure.location.pointer() == child_of(failure, tag);
                    is_tag.then(|| self.plain(failure, String::new()).sent)
                });
                self.add(Violation { pointer, keyword: "enum".to_owned(), sent: shown.flatten(), ..violation });
            }
        }
        true
    }

    /// Explains an object by its only key, if each branch describes an object with a single key. Returns false
    /// otherwise.
    fn by_key(&mut self, failure: &KeywordFailure<'_>, branches: &[Branch<'_, '_>]) -> bool {
        let names: Option<Vec<&str>> = branches.iter().map(|branch| only_key(branch.schema)).collect();
        let (Some(names), Some(object)) = (names, failure.instance.as_object()) else {
            return false;
        };
        let mut present = (0..names.len()).filter(|&idx| object.contains_key(names[idx]));
        let several = match (present.next(), present.next()) {
            (Some(idx), None) => {
                self.explain_all(branches[idx].failures);
                return true;
            }
            (first, _) => first.is_some(),
        };
        match object.keys().next() {
            Some(key) if object.len() == 1 => {
                let violation = self.unknown_key(failure, key, &names);
                self.add(violation);
            }
            _ => {
                let mut rule =
                    begun(if several { "must have exactly one of the keys " } else { "must have one of the keys " });
                push_list(&mut rule, names.iter().copied(), push_quoted);
                let allowed = names.iter().map(|&name| name.into()).collect();
                let keyword = "required".to_owned();
                self.add(Violation { keyword, allowed, ..self.plain(failure, rule) });
            }
        }
        true
    }

    /// Explains a string that is not among the constants of the branches.
    fn by_value(&mut self, failure: &KeywordFailure<'_>, branches: &[Branch<'_, '_>]) -> bool {
        let listed: Option<Vec<Vec<&Value>>> = branches.iter().map(|branch| constants(branch.schema)).collect();
        let Some(listed) = listed else {
            return false;
        };
        let all: Vec<Value> = listed.into_iter().flatten().cloned().collect();
        let violation = not_one_of(self.plain(failure, String::new()), &all, &failure.instance);
        self.add(Violation { keyword: "enum".to_owned(), ..violation });
        true
    }

    /// Explains a string that names a branch for objects: an enum variant without its content.
    fn missing_content(
        &self,
        failure: &KeywordFailure<'_>,
        viable: &[Branch<'_, '_>],
        refused: &[Branch<'_, '_>],
    ) -> Option<Violation> {
        let sent = failure.instance.as_str()?;
        let words: Vec<&Value> =
            viable.iter().map(|branch| constants(branch.schema)).collect::<Option<Vec<_>>>()?.concat();
        let keys: Vec<&str> = refused.iter().filter_map(|branch| only_key(branch.schema)).collect();
        if keys.is_empty() {
            return None;
        }
        let names = words.iter().filter_map(|word| word.as_str()).chain(keys.iter().copied());
        let rule = match keys.contains(&sent) {
            true => format!("must be the object {{{}: …}}", Value::from(sent)),
            false => {
                let forms = words.iter().map(|word| word.to_string());
                let forms = forms.chain(keys.iter().map(|key| format!("{{{}: …}}", Value::from(*key))));
                let mut rule = begun("must be one of ");
                push_list(&mut rule, forms, |rule, form| rule.push_str(&form));
                rule
            }
        };
        let suggestion = suggest(sent, names.clone()).filter(|near| *near != sent).map(str::to_owned);
        let allowed = names.map(Value::from).collect();
        Some(Violation { keyword: "enum".to_owned(), suggestion, allowed, ..self.plain(failure, rule) })
    }
}

fn child_of(failure: &KeywordFailure<'_>, tag: &str) -> String {
    let pointer = failure.location.pointer();
    child(pointer.rsplit_once('/').map_or("", |(parent, _)| parent), tag)
}

/// Returns true if a branch rejects the value because of its type. `here` is the depth of the value.
fn refuses_type(failures: &[KeywordFailure<'_>], here: usize, instance: &Value) -> bool {
    failures.iter().filter(|failure| failure.location.depth() == here).any(|failure| match &failure.kind {
        FailureKind::Type(_) => true,
        FailureKind::Const(constant) => type_name(constant) != type_name(instance),
        FailureKind::Enum(options) => options.iter().all(|option| type_name(option) != type_name(instance)),
        FailureKind::AnyOf(branches) | FailureKind::OneOf(branches) => {
            branches.iter().all(|failures| refuses_type(failures, here, instance))
        }
        _ => false,
    })
}

/// Adds the types that a branch accepts.
fn types_of(failures: &[KeywordFailure<'_>], here: usize, types: &mut Vec<&'static str>) {
    let mut add = |name| {
        if !types.contains(&name) {
            types.push(name);
        }
    };
    for failure in failures.iter().filter(|failure| failure.location.depth() == here) {
        match &failure.kind {
            FailureKind::Type(names) => names.iter().copied().for_each(&mut add),
            FailureKind::Const(constant) => add(type_name(constant)),
            FailureKind::Enum(options) => options.iter().map(type_name).for_each(&mut add),
            FailureKind::AnyOf(branches) | FailureKind::OneOf(branches) => {
                for failures in branches {
                    types_of(failures, here, types);
                }
                return;
            }
            _ => {}
        }
    }
}

/// Returns the property that every branch requires and restricts to constants, and the constants of each branch.
fn tag<'s>(root: &'s Value, branches: &[Branch<'s, '_>]) -> Option<(&'s str, Vec<Vec<&'s Value>>)> {
    let properties = branches.first()?.schema.get("properties")?.as_object()?;
    properties.keys().find_map(|name| {
        let values = branches.iter().map(|branch| {
            let property = branch.schema.get("properties")?.get(name)?;
            constants(follow_refs(root, property)).filter(|_| walk::requires(branch.schema, name))
        });
        values.collect::<Option<Vec<_>>>().map(|values| (name.as_str(), values))
    })
}

/// Returns the values of `const` or `enum`.
fn constants(schema: &Value) -> Option<Vec<&Value>> {
    listed(schema.as_object()?)
}

/// Returns true if each branch accepts only constants.
fn only_constants(branches: &[Branch<'_, '_>]) -> bool {
    branches.iter().all(|branch| constants(branch.schema).is_some())
}

/// Returns the key of a schema that describes objects with exactly one key.
fn only_key(schema: &Value) -> Option<&str> {
    let properties = schema.get("properties")?.as_object()?;
    let required = schema.get("required")?.as_array()?;
    match (properties.len(), &required[..]) {
        (1, [Value::String(name)]) if properties.contains_key(name) => Some(name),
        _ => None,
    }
}
