//! Conversion of schemas to facts, and case distinctions of facts.

use std::borrow::Cow;
use std::collections::HashSet;
use std::rc::Rc;

use serde_json::{Map, Value};

use super::super::budget::Undecided;
use super::Prover;
use super::facts::{Case, DocumentNode, Facts};
use super::leaf::{exact_text, has_large_number};
use crate::dialect::Dialect;
use crate::types::Types;
use crate::walk;

/// The maximum number of branches of a `oneOf` for which a case assumes that the others fail.
const MAX_EXCLUSIVE: usize = 64;

/// Assumes that a schema accepts the value.
pub(super) fn assume<'s>(
    prover: &mut Prover<'s, '_>,
    facts: &mut Facts<'s>,
    node: DocumentNode<'s>,
) -> Result<(), Undecided> {
    facts.note_origin(node.schema, true);
    add(prover, facts, node)
}

/// Assumes that a schema rejects the value.
pub(super) fn assume_not<'s>(
    prover: &mut Prover<'s, '_>,
    facts: &mut Facts<'s>,
    node: DocumentNode<'s>,
) -> Result<(), Undecided> {
    facts.note_origin(node.schema, false);
    add_refuted(prover, facts, node)
}

pub(super) fn assume_case<'s>(
    prover: &mut Prover<'s, '_>,
    facts: &mut Facts<'s>,
    case: &Case<'s>,
) -> Result<(), Undecided> {
    match case {
        Case::Holds(node) => return assume(prover, facts, *node),
        Case::Fails(node) => return assume_not(prover, facts, *node),
        Case::Only(node, branches, only) => {
            for (idx, branch) in branches.iter().enumerate() {
                match idx == *only {
                    true => assume(prover, facts, node.at(branch))?,
                    false => assume_not(prover, facts, node.at(branch))?,
                }
            }
            return Ok(());
        }
        Case::All(cases) => return cases.iter().try_for_each(|case| assume_case(prover, facts, case)),
        Case::Type(types) => facts.types = facts.types.and(*types),
        Case::Value(value) => restrict(prover, facts, vec![value.clone()])?,
        Case::Has(key) => {
            facts.types = facts.types.and(Types::OBJECT);
            facts.required.insert(key);
        }
        Case::Lacks(key) => drop(facts.absent.insert(key)),
        Case::Matches(pattern) => facts.patterns.push(pattern),
    }
    facts.forget_origin();
    Ok(())
}

fn add<'s>(prover: &mut Prover<'s, '_>, facts: &mut Facts<'s>, node: DocumentNode<'s>) -> Result<(), Undecided> {
    prover.budget.spend(1 + facts.schemas.len() as u64 / 8)?;
    let keywords = match node.schema {
        Value::Object(keywords) => keywords,
        schema => {
            facts.is_contradictory |= *schema == false;
            return Ok(());
        }
    };
    if facts.schemas.iter().any(|known| std::ptr::eq(known.schema, node.schema)) {
        return Ok(());
    }
    let document = prover.documents[node.document];
    let dialect = document.dialect;
    if let Some(Value::String(reference)) = keywords.get("$ref") {
        if let Some(target) = document.resolve(reference) {
            add(prover, facts, node.at(target))?;
        }
        if dialect == Dialect::Draft7 {
            return Ok(());
        }
    }
    facts.schemas.push(node);
    prover.budget.spend(keywords.len() as u64)?;
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("type", names) => facts.types = facts.types.and(Types::named(names)),
            ("const", value) => restrict(prover, facts, vec![Cow::Borrowed(value)])?,
            ("enum", Value::Array(values)) => {
                restrict(prover, facts, values.iter().map(Cow::Borrowed).collect())?;
            }
            ("required", Value::Array(names)) => {
                prover.budget.spend(names.len() as u64)?;
                facts.required.extend(names.iter().filter_map(Value::as_str));
            }
            ("allOf", Value::Array(parts)) => {
                parts.iter().try_for_each(|part| add(prover, facts, node.at(part)))?;
            }
            ("anyOf" | "oneOf", Value::Array(branches)) => match &branches[..] {
                [only] => add(prover, facts, node.at(only))?,
                branches => {
                    prover.budget.spend(branches.len() as u64)?;
                    let is_exclusive = keyword == "oneOf" && branches.len() <= MAX_EXCLUSIVE;
                    let case = |idx: usize| match is_exclusive {
                        true => Case::Only(node, branches, idx),
                        false => Case::Holds(node.at(&branches[idx])),
                    };
                    facts.choices.push((0..branches.len()).map(case).collect());
                }
            },
            ("not", refuting) => add_refuted(prover, facts, node.at(refuting))?,
            ("if", condition) => {
                let then = |holds, keyword| {
                    let condition = node.at(condition);
                    let mut all = vec![if holds { Case::Holds(condition) } else { Case::Fails(condition) }];
                    all.extend(keywords.get(keyword).map(|then| Case::Holds(node.at(then))));
                    Case::All(all)
                };
                if keywords.contains_key("then") || keywords.contains_key("else") {
                    facts.choices.push([then(true, "then"), then(false, "else")].into());
                }
            }
            ("dependentSchemas", Value::Object(dependent)) if dialect == Dialect::Draft202012 => {
                add_dependent(prover, facts, node, dependent)?;
            }
            ("dependencies", Value::Object(dependent)) => add_dependent(prover, facts, node, dependent)?,
            _ => {}
        }
    }
    Ok(())
}

fn add_dependent<'s>(
    prover: &mut Prover<'s, '_>,
    facts: &mut Facts<'s>,
    node: DocumentNode<'s>,
    dependent: &'s Map<String, Value>,
) -> Result<(), Undecided> {
    prover.budget.spend(dependent.len() as u64)?;
    for (key, schema) in dependent.iter().filter(|(_, schema)| walk::is_schema(schema)) {
        let has = Case::All(vec![Case::Has(key), Case::Holds(node.at(schema))]);
        facts.choices.push([Case::Type(Types::ALL.without(Types::OBJECT)), Case::Lacks(key), has].into());
    }
    Ok(())
}

fn add_refuted<'s>(
    prover: &mut Prover<'s, '_>,
    facts: &mut Facts<'s>,
    node: DocumentNode<'s>,
) -> Result<(), Undecided> {
    prover.budget.spend(1)?;
    let keywords = match node.schema {
        Value::Object(keywords) => keywords,
        schema => {
            facts.is_contradictory |= *schema == true;
            return Ok(());
        }
    };
    let document = prover.documents[node.document];
    let mut asserting = document.asserting(keywords);
    match (asserting.next(), asserting.next()) {
        (None, _) => facts.is_contradictory = true,
        (Some(("type", names)), None) => facts.types = facts.types.without(Types::named(names)),
        (Some(("required", Value::Array(names))), None) if names.len() == 1 => {
            facts.types = facts.types.and(Types::OBJECT);
            facts.absent.extend(names[0].as_str());
        }
        (Some(("not", held)), None) => add(prover, facts, node.at(held))?,
        (Some(("anyOf", Value::Array(branches))), None) => {
            branches.iter().try_for_each(|branch| add_refuted(prover, facts, node.at(branch)))?;
        }
        (Some(("allOf", Value::Array(parts))), None) => {
            prover.budget.spend(parts.len() as u64)?;
            facts.choices.push(parts.iter().map(|part| Case::Fails(node.at(part))).collect());
        }
        (Some(("$ref", Value::String(reference))), None) if document.resolve(reference).is_some() => {
            let target = document.resolve(reference).unwrap_or(node.schema);
            add_refuted(prover, facts, node.at(target))?;
        }
        _ => facts.refuting.push(node),
    }
    Ok(())
}

/// Assumes that the value is one of `values`.
pub(super) fn restrict<'s>(
    prover: &mut Prover<'s, '_>,
    facts: &mut Facts<'s>,
    values: Vec<Cow<'s, Value>>,
) -> Result<(), Undecided> {
    prover.budget.spend(values.len() as u64)?;
    if values.iter().any(|value| has_large_number(value)) {
        return Ok(());
    }
    let values = match facts.values.take() {
        None => values,
        Some(known) => {
            let mut texts = HashSet::new();
            for value in &values {
                texts.insert(exact_text(value, prover.budget)?);
            }
            let mut both = Vec::new();
            for value in known {
                if texts.contains(&exact_text(&value, prover.budget)?) {
                    both.push(value);
                }
            }
            both
        }
    };
    let types = values.iter().map(|value| Types::from_value(value)).fold(Types::NONE, Types::or);
    facts.types = facts.types.and(types);
    facts.values = Some(values);
    Ok(())
}

/// The facts common to all cases, and the cases.
pub(super) type Split<'s> = (Facts<'s>, Rc<[Case<'s>]>);

/// Returns cases of which at least one holds, and the facts common to all. Returns `None` if there is a single
/// case.
pub(super) fn cases<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>) -> Result<Option<Split<'s>>, Undecided> {
    prover.budget.spend(facts.size())?;
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
pub(super) fn with_case<'s>(
    prover: &mut Prover<'s, '_>,
    rest: &Facts<'s>,
    case: &Case<'s>,
) -> Result<Facts<'s>, Undecided> {
    prover.budget.spend(rest.size())?;
    let mut facts = rest.clone();
    assume_case(prover, &mut facts, case)?;
    Ok(facts)
}
