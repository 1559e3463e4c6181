//! Forms of revision 2025-06-18.

use serde_json::{Map, Value};
use toolkit::call::ask::{Form, Question};

/// Returns a question whose form has only what the revision defines: choices have their titles in `enumNames`, and only
/// booleans have a default. Returns `None` if the form has a field with several choices, which the revision lacks.
pub(crate) fn plain(question: &Question) -> Option<Question> {
    let Some(form) = question.form() else {
        return Some(question.clone());
    };
    let mut schema = form.schema().clone();
    for field in schema["properties"].as_object_mut()?.values_mut() {
        lower(field.as_object_mut()?)?;
    }
    Some(Question::from_form(question.message(), Form::from_schema(&schema).ok()?))
}

fn lower(field: &mut Map<String, Value>) -> Option<()> {
    match field.get("type").and_then(Value::as_str) {
        Some("boolean") => return Some(()),
        Some("array") => return None,
        _ => field.shift_remove("default"),
    };
    if let Some(Value::Array(choices)) = field.shift_remove("oneOf") {
        let column = |key: &str| choices.iter().map(|choice| choice[key].clone()).collect::<Vec<_>>();
        field.insert("enum".to_owned(), column("const").into());
        field.insert("enumNames".to_owned(), column("title").into());
    }
    Some(())
}
