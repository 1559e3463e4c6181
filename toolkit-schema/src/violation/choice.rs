//! Selects the branch of an `anyOf` or `oneOf` that the caller most likely meant, and explains the value by it.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value;

use super::explanation::Explanation;
use super::locate::{child, follow_refs, is_optional, nodes};
use super::rule::{not_one_of, type_name, type_names, wrong_type};
use super::single::Violation;
use super::text::{Quoted, listed, shorten_pointer};
use crate::suggest::suggest;

/// The maximum depth of nested choices that are searched for nulls, and the maximum number of errors of each branch.
const MAX_NESTED: usize = 8;
const MAX_ERRORS: usize = 256;

/// A branch of a choice, with the errors that it reports for the value.
struct Branch<'s, 'e> {
    schema: &'s Value,
    errors: &'e [ValidationError<'static>],
}

impl Explanation<'_> {
    /// Explains a value that matches no branch.
    ///
    /// Branches that reject the type of the value are ignored as long as another one accepts it. For objects, the
    /// branch is selected by its tag: a property with a constant value, or the only key of the object.
    pub(super) fn choice(&mut self, error: &ValidationError<'_>, context: &[Vec<ValidationError<'static>>]) {
        let instance = error.instance();
        let path = nodes(self.schema, error.evaluation_path().as_str());
        let schemas = path.last().and_then(|branches| branches.as_array()).map_or(&[][..], Vec::as_slice);
        let branches = context.iter().enumerate().map(|(idx, errors)| Branch {
            schema: schemas.get(idx).map_or(&Value::Null, |schema| follow_refs(self.schema, schema)),
            errors,
        });
        let here = error.instance_path().as_str();
        let (viable, refused): (Vec<_>, Vec<_>) =
            branches.partition(|branch| !refuses_type(branch.errors, here, instance));

        if viable.is_empty() {
            let mut types = Vec::new();
            refused.iter().for_each(|branch| types_of(branch.errors, here, &mut types));
            let unexplained = || self.plain(error, "matches none of the allowed forms".to_owned());
            let violation = match types.is_empty() {
                true => unexplained(),
                false => wrong_type(unexplained(), instance, &types),
            };
            return self.add(violation);
        }
        if let Some(violation) = self.missing_content(error, &viable, &refused) {
            return self.add(violation);
        }
        if let Some(meant) = viable.iter().find(|branch| self.fits_without_nulls(branch.errors, 0)) {
            return self.explain_all(meant.errors);
        }
        if let [only] = &viable[..] {
            return self.explain_all(only.errors);
        }
        match &**instance {
            Value::Object(_) if self.by_tag(error, &viable) || self.by_key(error, &viable) => {}
            Value::String(_) if self.by_value(error, &viable) => {}
            _ => {
                let nearest = viable.iter().min_by_key(|branch| {
                    let lacks_key = branch.errors.iter().any(|error| matches!(error.kind(), Kind::Required { .. }));
                    (lacks_key, branch.errors.len())
                });
                self.explain_all(nearest.map_or(&[], |branch| branch.errors));
            }
        }
    }

    /// Returns true if the branch rejects the value only because optional properties are null. Callers that send null
    /// for every absent property mean such a branch.
    fn fits_without_nulls(&self, errors: &[ValidationError<'static>], depth: usize) -> bool {
        if depth == MAX_NESTED || errors.len() > MAX_ERRORS {
            return false;
        }
        // The properties of a branch that does not match count as unevaluated.
        let follows = |error: &&ValidationError<'static>| !matches!(error.kind(), Kind::UnevaluatedProperties { .. });
        let mut causes = errors.iter().filter(follows).peekable();
        causes.peek().is_some()
            && causes.all(|error| match error.kind() {
                _ if error.instance().is_null() => {
                    is_optional(self.schema, error.evaluation_path().as_str(), error.instance_path().as_str())
                }
                Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                    context.iter().any(|errors| self.fits_without_nulls(errors, depth + 1))
                }
                _ => false,
            })
    }

    fn explain_all(&mut self, errors: &[ValidationError<'static>]) {
        for error in errors {
            if self.is_full() {
                return;
            }
            self.explain(error);
        }
    }

    /// Explains an object by its tag, a required property with distinct constants in each branch. Returns false without
    /// one.
    fn by_tag(&mut self, error: &ValidationError<'_>, branches: &[Branch<'_, '_>]) -> bool {
        let Some((tag, values)) = tag(self.schema, branches) else {
            return false;
        };
        let all: Vec<Value> = values.iter().flatten().map(|value| (*value).clone()).collect();
        let pointer = shorten_pointer(child(error.instance_path().as_str(), tag));
        let Some(sent) = error.instance().get(tag) else {
            let rule = format!("is required: one of {}", listed(all.iter()));
            let violation = self.plain(error, rule);
            let keyword = "required".to_owned();
            self.add(Violation { pointer, keyword, sent: None, allowed: all, ..violation });
            return true;
        };
        match values.iter().position(|values| values.contains(&sent)) {
            Some(idx) => self.explain_all(branches[idx].errors),
            None => {
                let violation = not_one_of(self.plain(error, String::new()), &all, sent);
                let shown = branches.iter().flat_map(|branch| branch.errors).find_map(|error| {
                    let is_tag = error.instance_path().as_str() == child_of(error, tag);
                    is_tag.then(|| self.plain(error, String::new()).sent)
                });
                self.add(Violation { pointer, keyword: "enum".to_owned(), sent: shown.flatten(), ..violation });
            }
        }
        true
    }

    /// Explains an object by its only key, if each branch describes an object with a single key. Returns false
    /// otherwise.
    fn by_key(&mut self, error: &ValidationError<'_>, branches: &[Branch<'_, '_>]) -> bool {
        let names: Option<Vec<&str>> = branches.iter().map(|branch| only_key(branch.schema)).collect();
        let (Some(names), Some(object)) = (names, error.instance().as_object()) else {
            return false;
        };
        let mut present = (0..names.len()).filter(|&idx| object.contains_key(names[idx]));
        let several = match (present.next(), present.next()) {
            (Some(idx), None) => {
                self.explain_all(branches[idx].errors);
                return true;
            }
            (first, _) => first.is_some(),
        };
        match object.keys().next() {
            Some(key) if object.len() == 1 => {
                let violation = self.unknown_key(error, key, &names);
                self.add(violation);
            }
            _ => {
                let exactly = if several { "exactly " } else { "" };
                let keys = listed(names.iter().copied().map(Quoted));
                let rule = format!("must have {exactly}one of the keys {keys}");
                let allowed = names.iter().map(|&name| name.into()).collect();
                let keyword = "required".to_owned();
                self.add(Violation { keyword, allowed, ..self.plain(error, rule) });
            }
        }
        true
    }

    /// Explains a string that is not among the constants of the branches.
    fn by_value(&mut self, error: &ValidationError<'_>, branches: &[Branch<'_, '_>]) -> bool {
        let listed: Option<Vec<Vec<&Value>>> = branches.iter().map(|branch| constants(branch.schema)).collect();
        let Some(listed) = listed else {
            return false;
        };
        let all: Vec<Value> = listed.into_iter().flatten().cloned().collect();
        let violation = not_one_of(self.plain(error, String::new()), &all, error.instance());
        self.add(Violation { keyword: "enum".to_owned(), ..violation });
        true
    }

    /// Explains a string that names a branch for objects: an enum variant without its content.
    fn missing_content(
        &self,
        error: &ValidationError<'_>,
        viable: &[Branch<'_, '_>],
        refused: &[Branch<'_, '_>],
    ) -> Option<Violation> {
        let sent = error.instance().as_str()?;
        let words: Vec<&Value> =
            viable.iter().map(|branch| constants(branch.schema)).collect::<Option<Vec<_>>>()?.concat();
        let keys: Vec<&str> = refused.iter().filter_map(|branch| only_key(branch.schema)).collect();
        if keys.is_empty() {
            return None;
        }
        let forms = words.iter().map(|word| word.to_string());
        let forms = listed(forms.chain(keys.iter().map(|key| format!("{{{}: …}}", Value::from(*key)))));
        let names = words.iter().filter_map(|word| word.as_str()).chain(keys.iter().copied());
        let rule = match keys.contains(&sent) {
            true => format!("must be the object {{{}: …}}", Value::from(sent)),
            false => format!("must be one of {forms}"),
        };
        let suggestion = suggest(sent, names.clone()).filter(|near| *near != sent).map(str::to_owned);
        let allowed = names.map(Value::from).collect();
        Some(Violation { keyword: "enum".to_owned(), suggestion, allowed, ..self.plain(error, rule) })
    }
}

fn child_of(error: &ValidationError<'_>, tag: &str) -> String {
    let pointer = error.instance_path().as_str();
    child(pointer.rsplit_once('/').map_or("", |(parent, _)| parent), tag)
}

/// Returns true if a branch rejects the value because of its type.
fn refuses_type(errors: &[ValidationError<'static>], here: &str, instance: &Value) -> bool {
    errors.iter().filter(|error| error.instance_path().as_str() == here).any(|error| match error.kind() {
        Kind::Type { .. } => true,
        Kind::Constant { expected_value } => type_name(expected_value) != type_name(instance),
        Kind::Enum { options } => {
            let mut options = options.as_array().into_iter().flatten();
            options.all(|option| type_name(option) != type_name(instance))
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            context.iter().all(|errors| refuses_type(errors, here, instance))
        }
        _ => false,
    })
}

/// Adds the types that a branch accepts.
fn types_of(errors: &[ValidationError<'static>], here: &str, types: &mut Vec<&'static str>) {
    let mut add = |name| {
        if !types.contains(&name) {
            types.push(name);
        }
    };
    for error in errors.iter().filter(|error| error.instance_path().as_str() == here) {
        match error.kind() {
            Kind::Type { kind } => type_names(kind).into_iter().for_each(&mut add),
            Kind::Constant { expected_value } => add(type_name(expected_value)),
            Kind::Enum { options } => options.as_array().into_iter().flatten().map(type_name).for_each(&mut add),
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                for errors in context {
                    types_of(errors, here, types);
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
            let required = branch.schema.get("required")?.as_array()?;
            let property = branch.schema.get("properties")?.get(name)?;
            required.iter().any(|other| other == name).then_some(())?;
            constants(follow_refs(root, property))
        });
        values.collect::<Option<Vec<_>>>().map(|values| (name.as_str(), values))
    })
}

/// Returns the values of `const` or `enum`.
fn constants(schema: &Value) -> Option<Vec<&Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => Some(vec![value]),
        (None, Some(values)) => values.as_array().map(|values| values.iter().collect()),
        (None, None) => None,
    }
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
