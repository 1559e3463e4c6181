//! Random text as a schema, and a value for it: two lines.
//!
//! No input causes a panic or an unbounded computation. An accepted schema gives one verdict through every interface,
//! which is that of the validator alone. The error of a rejected schema is short. A check that builds no validator
//! accepts the same schemas.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use toolkit::__private::plan::Plan;
use toolkit::__private::portable;
use toolkit::schema::{Schema, SchemaError, close, inline};

fuzz_target!(|text: &str| {
    let (schema, instance) = text.split_once('\n').unwrap_or((text, "null"));
    if let Ok(value) = serde_json::from_str::<Value>(schema) {
        let alone = Schema::generated(value.clone()).check_alone();
        assert_eq!(alone, Schema::from_value(value).map(drop), "a check without a validator: {schema}");
    }
    let schema = match schema.parse::<Schema>() {
        Ok(schema) => schema,
        Err(error) => return explained(&error),
    };
    assert_eq!(Schema::from_value(schema.as_value().clone()).as_ref(), Ok(&schema));
    if let Some(example) = schema.example() {
        assert!(schema.is_valid(&example), "{example} is no example of {schema:?}");
    }
    let mut rewritten = schema.as_value().clone();
    portable::make(&mut rewritten);
    close::close(&mut rewritten);
    inline::inline(&mut rewritten);

    let Ok(value) = serde_json::from_str::<Value>(instance) else {
        return;
    };
    let fits = schema.is_valid(&value);
    let told = schema.validate(&value);
    let first = schema.first_violation(&value);
    assert_eq!(told.is_ok(), fits, "{schema:?} of {value}");
    assert_eq!(first.is_none(), fits, "{schema:?} of {value}");
    if let (Err(violations), Some(first)) = (&told, &first) {
        assert!(!violations.is_empty() && violations.len() <= 256);
        let is_told = violations.len() == 256 || violations.contains(first);
        assert!(is_told, "{first} is not among {violations}: {schema:?} of {value}");
    }
    if let Some(plan) = Plan::compile(schema.as_value()) {
        let certain = plan.decode::<Value>(instance.as_bytes()).is_ok();
        assert!(fits || !certain, "the plan of {schema:?} accepts {value}");
        let certain = plan.encode(&value, &mut Vec::new()).is_ok();
        assert!(fits || !certain, "the plan of {schema:?} writes {value}");
    }
    let is_cut_short = told.is_err_and(|violations| {
        violations.iter().any(|violation| violation.keyword == "size" || violation.rule.contains("takes too long"))
    });
    if !is_cut_short {
        let options = jsonschema::options().should_validate_formats(false).offline();
        let plain = options.build(schema.as_value()).expect("what is taken compiles");
        assert_eq!(plain.is_valid(&value), fits, "{schema:?} of {value}");
    }
});

/// Checks that an error is short, and that each defect has its own location.
fn explained(error: &SchemaError) {
    let text = error.to_string();
    assert!(text.len() < 16 << 10, "{} bytes of error", text.len());
    assert!(!text.contains(char::is_control), "{text:?}");
    assert!(!error.diagnostics().is_empty());
    assert_eq!((error.kind(), error.pointer()), (error.diagnostics()[0].kind(), error.diagnostics()[0].pointer()));
}
