//! Random bytes as definitions of tools, and as lists of them.
//!
//! No document causes a panic of the reader. A document becomes a tool or a list of diagnostics, and such a tool is
//! published again and reads the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use toolkit_otc::{Definition, Naming, OtcId};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(id) = text.parse::<OtcId>()
    {
        assert_eq!(id.to_string().parse().ok(), Some(id));
    }
    let Ok(json) = serde_json::from_slice::<Value>(bytes) else {
        return;
    };
    let definition = match Definition::from_json(&json) {
        Ok(definition) => definition,
        Err(error) => {
            assert!(error.to_string().len() < 16 << 10);
            return;
        }
    };
    let Ok(tool) = definition.to_tool() else {
        return;
    };
    let again = Definition::from_tool(&tool, &Naming::default()).expect("a tool that was read can be said");
    let again = again.to_tool().expect("what was said is a tool");
    assert_eq!(again.id(), tool.id());
    assert_eq!(again.requirements(), tool.requirements());
    for arguments in [serde_json::json!({}), serde_json::json!({ "a": 1 }), Value::Null] {
        assert_eq!(again.input().is_valid(&arguments), tool.input().is_valid(&arguments));
    }
});
