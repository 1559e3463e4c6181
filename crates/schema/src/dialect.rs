//! The dialects of JSON Schema.

use serde_json::Value;

use super::error::{SchemaDiagnostic, SchemaErrorKind};
use super::excerpt::quoted;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Draft202012,
    Draft7,
}

impl Dialect {
    /// Returns the dialect of a document by the `$schema` of its root. The default is draft 2020-12.
    pub fn from_document(root: &Value) -> Result<Self, SchemaDiagnostic> {
        match root.get("$schema") {
            None => Ok(Self::Draft202012),
            Some(named) => {
                Self::named(named).map_err(|(kind, message)| SchemaDiagnostic::new(kind, "/$schema", message))
            }
        }
    }

    /// Parses the value of `$schema`.
    pub(super) fn named(named: &Value) -> Result<Self, (SchemaErrorKind, String)> {
        let Value::String(name) = named else {
            return Err((SchemaErrorKind::InvalidSchema, "`$schema` must be a string".to_owned()));
        };
        let uri = name.strip_suffix('#').unwrap_or(name);
        match [Self::Draft202012, Self::Draft7].into_iter().find(|dialect| dialect.uri() == uri) {
            Some(dialect) => Ok(dialect),
            None => {
                let name = quoted(name);
                let message = format!("the dialect {name} is not supported; use draft 2020-12 or draft-07");
                Err((SchemaErrorKind::UnsupportedDialect, message))
            }
        }
    }

    /// Returns the URI of the meta-schema.
    pub(super) fn uri(self) -> &'static str {
        match self {
            Self::Draft202012 => "https://json-schema.org/draft/2020-12/schema",
            Self::Draft7 => "http://json-schema.org/draft-07/schema",
        }
    }
}

#[cfg(feature = "jsonschema")]
impl Dialect {
    pub(super) fn draft(self) -> jsonschema::Draft {
        match self {
            Self::Draft202012 => jsonschema::Draft::Draft202012,
            Self::Draft7 => jsonschema::Draft::Draft7,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_dialect_is_named_by_its_exact_uri() {
        let dialect = |schema| Dialect::from_document(&json!({ "$schema": schema }));
        assert_eq!(Dialect::from_document(&json!({})).unwrap(), Dialect::Draft202012);
        for known in [Dialect::Draft202012, Dialect::Draft7] {
            assert_eq!(dialect(json!(known.uri())).unwrap(), known);
            assert_eq!(dialect(json!(format!("{}#", known.uri()))).unwrap(), known);
        }
        for (schema, kind) in [
            (json!(7), SchemaErrorKind::InvalidSchema),
            (json!(""), SchemaErrorKind::UnsupportedDialect),
            (json!("https://json-schema.org/draft-07/schema"), SchemaErrorKind::UnsupportedDialect),
            (json!("http://json-schema.org/draft-07/schema##"), SchemaErrorKind::UnsupportedDialect),
            (json!("https://json-schema.org/draft/2019-09/schema"), SchemaErrorKind::UnsupportedDialect),
        ] {
            let error = dialect(schema).unwrap_err();
            assert_eq!((error.kind(), error.pointer()), (kind, "/$schema"));
        }
    }
}
