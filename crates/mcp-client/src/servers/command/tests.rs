use serde_json::{Value, json};

use super::flattened;

#[test]
fn each_form_of_a_command_is_one_of_a_program_with_arguments() {
    let same = |command: Value| (json!({ "command": command }), json!({ "command": command }));
    for (fields, expected) in [
        same(json!("a")),
        same(json!({})),
        (json!({ "command": ["a", "b"] }), json!({ "command": "a", "args": ["b"] })),
        (json!({ "command": ["a", "b"], "args": ["c"] }), json!({ "command": "a", "args": ["b", "c"] })),
        (json!({ "command": ["a"], "args": null }), json!({ "command": "a", "args": [] })),
        (json!({ "command": ["a", "b"], "args": "c" }), json!({ "command": "a", "args": "c" })),
        (
            json!({ "command": { "path": "a", "args": ["b"], "env": {} }, "cwd": "c" }),
            json!({ "command": "a", "args": ["b"], "env": {}, "cwd": "c" }),
        ),
    ] {
        let mut wrong = Vec::new();
        let found = flattened(fields.as_object().unwrap(), &mut wrong).into_owned();
        assert_eq!((Value::Object(found), wrong), (expected, vec![]), "{fields}");
    }
    for (fields, error) in [
        (json!({ "command": [] }), "`command` must not be empty"),
        (json!({ "command": { "path": "a", "env": {} }, "env": {} }), "`command.env` and `env` exclude each other"),
    ] {
        let mut wrong = Vec::new();
        flattened(fields.as_object().unwrap(), &mut wrong);
        assert_eq!(wrong, [error], "{fields}");
    }
}
