//! Comparison of whole documents by their text.

use serde_json::Value;

use super::super::budget::{Budget, Undecided};
use crate::{equality, walk};

/// Returns true if two documents have the same text except for annotations.
pub(super) fn is_same(a: &Value, b: &Value, budget: &Budget) -> Result<bool, Undecided> {
    fn without_annotations(schema: &Value, budget: &Budget) -> Result<Value, Undecided> {
        budget.spend(1)?;
        let Value::Object(keywords) = schema else { return Ok(schema.clone()) };
        let mut kept = serde_json::Map::new();
        // A reference cannot resolve to a string, but it can resolve to any other annotation.
        let is_text = |keyword: &str, value: &Value| walk::is_annotation(keyword) && value.is_string();
        for (keyword, value) in keywords.iter().filter(|(keyword, value)| !is_text(keyword, value)) {
            let mut stop = None;
            let copy = walk::rebuild(keyword, value, |sub| match without_annotations(sub, budget) {
                Ok(copy) => copy,
                Err(error) => {
                    stop = Some(error);
                    Value::Null
                }
            });
            if let Some(stop) = stop {
                return Err(stop);
            }
            kept.insert(keyword.clone(), copy);
        }
        Ok(kept.into())
    }
    Ok(equality::equal(&without_annotations(a, budget)?, &without_annotations(b, budget)?))
}
