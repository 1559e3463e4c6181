//! Checks of a configuration file before it is changed, with the positions of errors.

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::ParseError;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::document::Malformed;

/// Comments and trailing commas, and nothing else that JSON does not have.
pub(super) fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Checks the parts of a configuration that `install` reads and changes.
pub(super) fn check(text: &str, servers_key: &str, server: &str) -> Result<(), Malformed> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options()).map_err(|error| malformed(&error))?;
    let at = |node: &dyn Ranged, message: String| Err(at(text, node.start(), message));
    let Some(root) = parsed.value else { return Ok(()) };
    let Value::Object(root) = root else {
        return at(&root, "a configuration must be an object".to_owned());
    };
    // A list of inputs, which only VS Code has.
    match only(text, &root, "inputs")? {
        Some(property) if servers_key == "servers" && !matches!(property.value, Value::Array(_)) => {
            return at(&property.value, "`inputs` must be an array".to_owned());
        }
        _ => {}
    }
    let mut object = root;
    for key in [servers_key, server] {
        let Some(property) = only(text, &object, key)? else { return Ok(()) };
        object = match &property.value {
            Value::Object(inner) => inner.clone(),
            other => return at(other, format!("`{key}` must be an object")),
        };
    }
    for key in ["type", "command", "args", "env", "url", "headers"] {
        if let Some(ObjectProp { value: Value::Object(inner), .. }) = only(text, &object, key)? {
            for property in &inner.properties {
                only(text, inner, property.name.as_str())?;
            }
        }
    }
    Ok(())
}

/// Returns the property of that name.
///
/// # Errors
///
/// Returns an error at the second of several, of which programs read different ones.
fn only<'o, 't>(text: &str, object: &'o Object<'t>, name: &str) -> Result<Option<&'o ObjectProp<'t>>, Malformed> {
    let mut found = object.properties.iter().filter(|property| property.name.as_str() == name);
    let first = found.next();
    match found.next() {
        Some(second) => Err(at(text, second.start(), format!("`{name}` occurs twice in the same object"))),
        None => Ok(first),
    }
}

/// Converts an error of the parser.
pub(super) fn malformed(error: &ParseError) -> Malformed {
    let message = error.kind().to_string();
    let mut letters = message.chars();
    let first = letters.next().map(|letter| letter.to_lowercase().to_string()).unwrap_or_default();
    let message = format!("{first}{}", letters.as_str().trim_end_matches('.'));
    Malformed { line: error.line_display(), column: error.column_display(), message }
}

/// Creates an error at a byte of the text.
fn at(text: &str, offset: usize, message: String) -> Malformed {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before[line_start..].chars().count() + 1;
    Malformed { line: before.matches('\n').count() + 1, column, message }
}
