//! The meta-schemas, which every schema must match.

use serde_json::Value;

use crate::dialect::Dialect;
use crate::violation::{Violation, Violations, Wanted};

/// Returns true if a schema matches the meta-schema of its dialect.
#[cfg(feature = "jsonschema")]
pub(super) fn is_valid(schema: &Value, dialect: Dialect) -> bool {
    validator(dialect).is_valid(schema)
}

/// Returns the violations of the meta-schema.
#[cfg(feature = "jsonschema")]
pub(super) fn violations(schema: &Value, dialect: Dialect) -> Vec<Violation> {
    if is_valid(schema, dialect) {
        return Vec::new();
    }
    Violations::collect(&Value::Null, false, &*validator(dialect), schema, Wanted::All).into_vec()
}

#[cfg(feature = "jsonschema")]
fn validator(dialect: Dialect) -> jsonschema::meta::MetaValidator<'static> {
    match dialect {
        Dialect::Draft202012 => jsonschema::draft202012::meta::validator(),
        Dialect::Draft7 => jsonschema::draft7::meta::validator(),
    }
}

#[cfg(not(feature = "jsonschema"))]
pub(super) use self::own::{is_valid, violations};

/// The meta-schema of both dialects for the keywords that the evaluator supports, since no other schema is accepted.
#[cfg(not(feature = "jsonschema"))]
mod own {
    use std::sync::LazyLock;

    use super::super::compiled::Evaluated;
    use super::*;
    use crate::evaluate::Evaluator;

    static META_SCHEMA: LazyLock<(Value, Evaluator)> = LazyLock::new(|| {
        let schema = serde_json::from_str(include_str!("meta.json")).expect("the file contains JSON");
        let evaluator = Evaluator::new(&schema, usize::MAX);
        (schema, evaluator)
    });

    pub(in super::super) fn is_valid(schema: &Value, _: Dialect) -> bool {
        let (meta_schema, evaluator) = &*META_SCHEMA;
        evaluator.is_valid(meta_schema, None, schema)
    }

    pub(in super::super) fn violations(schema: &Value, _: Dialect) -> Vec<Violation> {
        let (meta_schema, evaluator) = &*META_SCHEMA;
        if evaluator.is_valid(meta_schema, None, schema) {
            return Vec::new();
        }
        let evaluated = Evaluated { evaluator, schema: meta_schema, plan: None, is_brief: false };
        Violations::collect(meta_schema, false, &evaluated, schema, Wanted::All).into_vec()
    }
}
