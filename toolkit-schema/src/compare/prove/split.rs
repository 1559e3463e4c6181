//! Case distinctions of facts.

use std::borrow::Cow;
use std::rc::Rc;

use serde_json::Value;

use super::super::budget::Undecided;
use super::facts::{Case, Facts};
use super::prover::Prover;
use crate::types::Types;

/// The facts common to all cases, and the cases.
pub(super) type Split<'s> = (Facts<'s>, Rc<[Case<'s>]>);

impl<'s> Prover<'s, '_> {
    /// Returns cases of which at least one holds, and the facts common to all. Returns `None` if there is a single
    /// case.
    pub(super) fn cases(&mut self, facts: &Facts<'s>) -> Result<Option<Split<'s>>, Undecided> {
        self.budget.spend(facts.size())?;
        let mut rest = facts.clone();
        if facts.types == Types::ALL
            && let Some(cases) = rest.choices.pop()
        {
            return Ok(Some((rest, cases)));
        }
        if let Some(values) = facts.values.as_ref().filter(|values| values.len() > 1) {
            let cases: Vec<Case<'s>> = values.iter().cloned().map(Case::Value).collect();
            return Ok(Some((rest, cases.into())));
        }
        if facts.values.is_none() {
            let cases: Vec<Case<'s>> = match facts.types {
                Types::NULL => vec![Case::Value(Cow::Owned(Value::Null))],
                Types::BOOLEAN => [true, false].map(|value| Case::Value(Cow::Owned(Value::Bool(value)))).into(),
                types => types.each().map(Case::Type).collect(),
            };
            if cases.len() > 1 || facts.types == Types::NULL {
                return Ok(Some((rest, cases.into())));
            }
        }
        let cases = rest.choices.pop();
        Ok(cases.map(|cases| (rest, cases)))
    }

    /// Returns the facts in one of the cases.
    pub(super) fn with_case(&mut self, rest: &Facts<'s>, case: &Case<'s>) -> Result<Facts<'s>, Undecided> {
        self.budget.spend(rest.size())?;
        let mut facts = rest.clone();
        self.assume_case(&mut facts, case)?;
        Ok(facts)
    }
}
