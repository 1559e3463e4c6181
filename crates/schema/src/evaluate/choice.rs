//! Evaluation of `anyOf` and `oneOf`.

use serde_json::Value;

use super::{Evaluation, Failures};
use crate::failure::{Kind, Token};
use crate::tagged;

impl<'v> Evaluation<'v> {
    /// Evaluates every branch, or only that of the tag if the evaluation is brief.
    pub(super) fn choice(
        &mut self,
        branches: &'v [Value],
        is_one_of: bool,
        instance: &'v Value,
        failures: &mut Failures<'v>,
    ) {
        let tag = if self.is_brief { tagged::tag(branches) } else { None };
        let sent = tag.as_ref().map(|(key, _)| instance.get(*key));
        let most = std::mem::replace(&mut self.most, usize::MAX);
        let place = self.place.take();
        let mut failed = Vec::with_capacity(branches.len());
        let mut n_valid = 0;
        for (idx, branch) in branches.iter().enumerate() {
            let mut inner = Vec::new();
            match (&tag, sent) {
                (Some((key, texts)), Some(sent)) if sent.and_then(Value::as_str) != Some(texts[idx]) => {
                    self.untagged(idx, key, branch, instance, &mut inner);
                }
                _ => self.branch(idx, branch, instance, &mut inner),
            }
            if inner.is_empty() {
                n_valid += 1;
                if !is_one_of {
                    break;
                }
            }
            failed.push(inner);
        }
        self.most = most;
        self.place = place;
        match n_valid {
            0 if is_one_of => self.fail(Kind::OneOf(failed), instance, failures),
            0 => self.fail(Kind::AnyOf(failed), instance, failures),
            1 => {}
            _ => self.fail(Kind::OneOfSeveral, instance, failures),
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
        self.path.push(Token::Index(idx));
        match (instance, instance.get(key), branch.get("properties").and_then(|properties| properties.get(key))) {
            (Value::Object(_), None, _) => {
                self.path.push(Token::Name("required"));
                self.fail(Kind::Required(key.into()), instance, failures);
            }
            (_, Some(sent), Some(schema)) => {
                self.path.extend([Token::Name("properties"), Token::Name(key)]);
                self.part(Token::Name(key), schema, sent, failures);
            }
            _ => self.schema(branch, instance, failures),
        }
        self.path.truncate(depth);
    }
}
