//! Serialization of chains.

use super::*;

fn error(json: &str) -> String {
    Chain::from_json(json).unwrap_err().to_string()
}

#[test]
fn empty_fields_are_not_written() {
    let chain = Chain::new().then(Step::new("a"));
    assert_eq!(serde_json::to_string(&chain).unwrap(), r#"[{"toolId":"a"}]"#);
    let chain = Chain::parallel().then(Step::new("a").named("x")).then(Step::new("b").after("x").take("n", "x", ""));
    assert_eq!(
        json!(chain),
        json!({ "parallel": true, "steps": [
            { "id": "x", "toolId": "a" },
            { "toolId": "b", "from": { "n": { "step": "x" } }, "after": ["x"] }
        ] })
    );
    assert!(chain.is_parallel());
}

#[test]
fn a_field_that_is_null_counts_as_absent() {
    let json = json!([{ "toolId": "a", "args": null, "usePrevious": null, "id": null, "from": null, "after": null }]);
    assert_eq!(Chain::from_json(json).unwrap(), Chain::new().then(Step::new("a")));
}

#[test]
fn text_that_is_not_a_chain_is_an_error_with_every_reason() {
    assert_eq!(
        error(r#"{"toolId": "a"}"#),
        "not a chain:\n/parallel is required\n/steps is required\n/toolId is not a field; expected `parallel`, `steps`"
    );
    // The order of declaration, if `serde_json` has the feature `preserve_order`.
    let (declared, sorted) = (
        "`id`, `toolId`, `args`, `usePrevious`, `from`, `after`, `sleep`, `until`, `attempts`",
        "`after`, `args`, `attempts`, `from`, `id`, `sleep`, `toolId`, `until`, `usePrevious`",
    );
    assert_eq!(
        error(r#"[{"args": [], "usePrevious": "yes"}, {"toolId": "a", "timeout": 1}]"#).replace(declared, sorted),
        "not a chain:\n/0/args must be an object, got []\n/0/toolId is required\n\
         /0/usePrevious must be a boolean, got \"yes\"\n\
         /1/timeout is not a field; expected `after`, `args`, `attempts`, `from`, `id`, `sleep`, `toolId`, `until`, \
         `usePrevious`"
    );
    assert_eq!(
        error(r#"{"parallel": false, "steps": [{"toolId": 1}]}"#),
        "not a chain:\n/parallel must be true, got false\n/steps/0/toolId must be a string, got 1"
    );
    assert_eq!(error("3"), "not a chain: a chain is a list of steps, or `{\"parallel\": true, \"steps\": […]}`");
    assert_eq!(
        error(r#"[{"toolId": "a", "toolId": "b"}]"#),
        "not a chain: not valid JSON: duplicate key `toolId` in an object at line 1 column 25"
    );
    assert!(error("[").starts_with("not a chain: not valid JSON"));
}

#[test]
fn a_chain_is_read_by_serde_with_the_same_words() {
    let error = serde_json::from_str::<Chain>(r#"[{"tool": "a"}]"#).unwrap_err().to_string();
    assert_eq!(error, Chain::from_json(r#"[{"tool": "a"}]"#).unwrap_err().to_string());
}

#[test]
fn deeply_nested_arguments_are_rejected_without_recursion() {
    let mut deep = json!(1);
    for _ in 0..200 {
        deep = json!([deep]);
    }
    let json = json!([{ "toolId": "a", "args": { "x": deep } }]);
    assert_eq!(Chain::from_json(&json).unwrap_err().to_string(), "not a chain: it is nested deeper than 127 levels");
    let chain = Chain::new().then(Step::new("a").arg("x", json[0]["args"]["x"].clone()));
    let problems = chain.check(&dispatcher()).unwrap_err();
    assert_eq!(problems[0].message(), "the arguments are nested deeper than 127 levels");
}

#[test]
fn neither_a_chain_nor_an_outcome_prints_its_arguments() {
    let chain = Chain::new().then(Step::new("a").arg("password", "hunter2"));
    let outcome = chain.run_sync(&dispatcher(), &Context::new()).unwrap();
    let printed = format!("{chain:?} {outcome:?}");
    assert!(printed.contains("password") && !printed.contains("hunter2"), "{printed}");
}
