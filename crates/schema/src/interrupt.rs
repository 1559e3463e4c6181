//! Ends the evaluation of a value once its call no longer waits for the outcome.

use std::cell::RefCell;
use std::rc::Rc;

thread_local! {
    /// Returns true if the evaluations of this thread are cancelled.
    static IS_CANCELLED: RefCell<Option<IsCancelled>> = const { RefCell::new(None) };
}

type IsCancelled = Rc<dyn Fn() -> bool>;

/// Runs `validate`. Once `is_cancelled` returns true, schemas that need a tree no longer accept a value, so that the validation of
/// a large one ends soon. Schemas that only `jsonschema` can evaluate are not interrupted.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolkit_schema::{Schema, cancellable};
///
/// let schema = Schema::from_value(json!({ "items": { "anyOf": [{ "type": "string" }, { "minimum": 0 }] } }))?;
/// let numbers = json!(vec![1; 10_000]);
/// assert!(schema.is_valid(&numbers));
/// assert!(!cancellable(|| true, || schema.is_valid(&numbers)));
/// # Ok::<(), toolkit_schema::SchemaError>(())
/// ```
pub fn cancellable<T>(is_cancelled: impl Fn() -> bool + 'static, validate: impl FnOnce() -> T) -> T {
    /// Restores the outer function, also after a panic.
    struct Outer(Option<IsCancelled>);

    impl Drop for Outer {
        fn drop(&mut self) {
            IS_CANCELLED.set(self.0.take());
        }
    }

    let _outer = Outer(IS_CANCELLED.replace(Some(Rc::new(is_cancelled))));
    validate()
}

/// Returns true if the evaluations of this thread are cancelled.
pub(crate) fn is_cancelled() -> bool {
    IS_CANCELLED.with_borrow(|is_cancelled| is_cancelled.as_ref().is_some_and(|is_cancelled| is_cancelled()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::cancellable;
    use crate::Schema;

    #[test]
    fn a_cancelled_validation_accepts_nothing() {
        let items = json!({ "items": { "anyOf": [{ "type": "string" }, { "minimum": 0 }] } });
        let values = Value::from(vec![1; 10_000]);
        for schema in [
            items.clone(),
            json!({ "not": { "not": items } }),
            json!({ "not": { "allOf": [items, { "maxItems": 1 }] } }),
            json!({ "anyOf": [items, true] }),
            json!({ "oneOf": [{ "allOf": [items, { "maxItems": 1 }] }, { "minItems": 1 }] }),
        ] {
            let validated = Schema::from_value(schema.clone()).unwrap();
            assert!(validated.is_valid(&values), "{schema}");
            assert!(cancellable(|| false, || validated.is_valid(&values)), "{schema}");
            assert!(!cancellable(|| true, || validated.is_valid(&values)), "{schema}");
            assert!(cancellable(|| true, || validated.validate(&values)).is_err(), "{schema}");
        }
    }
}
