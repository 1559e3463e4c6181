//! Evaluation of the properties of an object.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{Evaluation, Failures};
use crate::failure::{Kind, Token};

/// Properties that `properties` does not declare, for `additionalProperties`, which is evaluated next.
pub(super) type Undeclared<'v> = Vec<(&'v str, &'v Value)>;

impl<'v> Evaluation<'v> {
    /// Evaluates `properties`, and collects the other properties if they are wanted.
    pub(super) fn properties(
        &mut self,
        schemas: &'v Map<String, Value>,
        instance: &'v Value,
        undeclared: &mut Option<Undeclared<'v>>,
        failures: &mut Failures<'v>,
    ) {
        for (key, item) in instance.as_object().into_iter().flatten() {
            let place = self.inside(Token::Name(key));
            // What the plan accepts also satisfies `additionalProperties`.
            if place.is_some_and(|place| place.admits(item)) {
                continue;
            }
            if let Some(schema) = schemas.get(key) {
                self.path.push(Token::Name(key));
                self.enter(Token::Name(key), place, schema, item, failures);
                self.path.pop();
            } else if let Some(undeclared) = undeclared {
                undeclared.push((key, item));
            }
        }
    }

    /// Evaluates `additionalProperties`. `undeclared` is `None` if the schema has no `properties`.
    pub(super) fn additional(
        &mut self,
        schema: &'v Value,
        undeclared: Option<Undeclared<'v>>,
        instance: &'v Value,
        failures: &mut Failures<'v>,
    ) {
        let all = || instance.as_object().into_iter().flatten().map(|(key, item)| (&**key, item)).collect();
        let undeclared = undeclared.unwrap_or_else(all);
        if *schema != Value::Bool(false) {
            undeclared.into_iter().for_each(|(key, item)| self.part(Token::Name(key), schema, item, failures));
        } else if !undeclared.is_empty() {
            let keys = undeclared.into_iter().map(|(key, _)| Cow::Borrowed(key)).collect();
            self.fail(Kind::AdditionalProperties(keys), instance, failures);
        }
    }
}
