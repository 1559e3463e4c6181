//! Forms, derived from types. The official schemas of both revisions accept each of them.

use schemars::JsonSchema;
use serde_json::{Value, json};
use test_support::official::assert_official;
use toolkit::call::ask::Form;

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the schema is read")]
struct Everything {
    /// The name.
    #[schemars(title = "Name", length(min = 1, max = 80))]
    name: String,
    nickname: Option<String>,
    #[schemars(email)]
    mail: String,
    born: chrono::NaiveDate,
    #[serde(default = "seven")]
    count: u8,
    ratio: f64,
    #[serde(default)]
    agrees: bool,
    size: Size,
    priority: Option<Priority>,
    days: Vec<Size>,
    colors: std::collections::BTreeSet<Priority>,
}

fn seven() -> u8 {
    7
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only the schema is read")]
enum Size {
    Small,
    Large,
}

/// How urgent it is.
#[derive(JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
#[expect(dead_code, reason = "only the schema is read")]
enum Priority {
    /// Today.
    High,
    /// Some day.
    Low,
    Never,
}

#[track_caller]
fn assert_official_form(form: &Form) {
    for revision in ["2025-11-25", "2026-07-28"] {
        let params = json!({ "mode": "form", "message": "?", "requestedSchema": form.schema() });
        assert_official(revision, "ElicitRequestFormParams", &params);
    }
}

#[test]
fn each_kind_of_field_is_in_the_form() {
    let form = Form::of::<Everything>().unwrap();
    assert_official_form(&form);
    let titled = json!([
        { "const": "Never", "title": "Never" },
        { "const": "High", "title": "Today." },
        { "const": "Low", "title": "Some day." },
    ]);
    let expected = json!({
        "name": { "type": "string", "title": "Name", "description": "The name.", "minLength": 1, "maxLength": 80 },
        "nickname": { "type": "string" },
        "mail": { "type": "string", "format": "email" },
        "born": { "type": "string", "format": "date" },
        "count": { "type": "integer", "minimum": 0, "maximum": 255, "default": 7 },
        "ratio": { "type": "number" },
        "agrees": { "type": "boolean", "default": false },
        "size": { "type": "string", "enum": ["small", "large"] },
        "priority": { "type": "string", "oneOf": titled, "description": "How urgent it is." },
        "days": { "type": "array", "items": { "type": "string", "enum": ["small", "large"] } },
        "colors": { "type": "array", "items": { "anyOf": titled } },
    });
    for (name, field) in expected.as_object().unwrap() {
        assert_eq!(form.schema()["properties"][name], *field, "{name}");
    }
    let mut required: Vec<&str> =
        form.schema()["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    required.sort_unstable();
    assert_eq!(required, ["born", "colors", "days", "mail", "name", "ratio", "size"]);
}

#[test]
fn a_single_value_is_asked_for_by_the_name_value() {
    for (form, field) in [
        (Form::of::<bool>(), json!({ "type": "boolean" })),
        (Form::of::<String>(), json!({ "type": "string" })),
        (Form::of::<Size>(), json!({ "type": "string", "enum": ["small", "large"] })),
        (Form::of::<i64>(), json!({ "type": "integer" })),
    ] {
        let form = form.unwrap();
        assert_official_form(&form);
        assert_eq!(form.schema()["properties"]["value"], field);
        assert_eq!(form.schema()["required"], json!(["value"]));
    }
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the schema is read")]
struct Nested {
    size: Size,
    inner: Inner,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the schema is read")]
struct Inner {
    x: u8,
}

#[derive(JsonSchema)]
struct Empty {}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the schema is read")]
enum Either {
    Number(u8),
    Text(String),
}

#[test]
fn a_type_that_no_client_can_show_is_an_error_that_names_the_field() {
    for (form, message) in [
        (Form::of::<Nested>(), "a form cannot ask for `inner`: it is of type object"),
        (Form::of::<Vec<u8>>(), "a form cannot ask for `value`: it is a list, which must be one of choices"),
        (Form::of::<Empty>(), "a form has no fields; ask for a `bool`"),
        (Form::of::<Value>(), "a form cannot ask for `value`: it is a value of several types"),
        (Form::of::<Either>(), "a form cannot ask for `value`: it is a value of several types"),
    ] {
        assert_eq!(form.unwrap_err().to_string(), message);
    }
}

#[test]
fn a_secret_is_not_asked_for_in_a_form() {
    macro_rules! names {
        ($($name:literal),*) => {{
            let mut errors = Vec::new();
            $({
                #[derive(JsonSchema)]
                #[expect(dead_code, reason = "only the schema is read")]
                struct Input {
                    #[schemars(rename = $name)]
                    field: String,
                }
                errors.push((Form::of::<Input>(), $name));
            })*
            errors
        }};
    }
    for (form, name) in
        names!["password", "db_password", "apiKey", "API_KEY", "accessKey", "user-token", "clientSecret", "passphrase"]
    {
        assert_eq!(form.unwrap_err().field(), name);
        let form = Form::from_schema(&json!({ "type": "object", "properties": { name: { "type": "string" } } }));
        assert!(form.is_ok(), "the form of another program is its own matter");
    }
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only the schema is read")]
    struct Masked {
        #[schemars(extend("writeOnly" = true))]
        pin: String,
    }
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only the schema is read")]
    struct Harmless {
        tokens_per_minute: u32,
        secretary: String,
        keyboard: String,
    }
    assert_eq!(Form::of::<Masked>().unwrap_err().field(), "pin");
    assert!(Form::of::<Harmless>().is_ok());
}

#[test]
fn a_form_of_another_program_is_reduced_to_fields() {
    let schema = json!({
        "type": "object",
        "title": "T",
        "properties": { "a": { "type": "string", "pattern": "^x", "x-evil": [1] } },
        "required": ["a", "missing"],
    });
    let form = Form::from_schema(&schema).unwrap();
    assert_eq!(
        *form.schema(),
        json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] })
    );
    let many: serde_json::Map<String, Value> =
        (0..101).map(|n| (format!("f{n}"), json!({ "type": "string" }))).collect();
    let error = Form::from_schema(&json!({ "type": "object", "properties": many })).unwrap_err();
    assert!(error.to_string().contains("more than the limit of 100"), "{error}");
    for schema in [json!(null), json!([]), json!({}), json!({ "type": "array" })] {
        assert!(Form::from_schema(&schema).is_err(), "{schema}");
    }
}
