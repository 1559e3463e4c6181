//! `chain run` in memory.

use super::*;

const CHAIN: &str = r#"[
    {"toolId": "math:add", "id": "sum", "args": {"a": 1, "b": 2}},
    {"toolId": "math:add", "args": {"a": 10}, "from": {"b": {"step": "sum"}}}
]"#;

#[test]
fn a_chain_runs_and_prints_its_last_result() {
    tools_reading(CHAIN, &["chain", "run", "-"]).exits(0).prints("13\n");
    let outcome = tools_reading(CHAIN, &["chain", "run", "-", "--json"]).exits(0).json();
    assert_eq!(outcome["steps"][0]["result"]["Ok"]["structured"], 3);
}

#[test]
fn a_chain_that_cannot_run_runs_no_step() {
    let unfit = r#"[{"toolId": "math:add", "args": {"a": "one", "b": 2}}]"#;
    tools_reading(unfit, &["chain", "run", "-"]).exits(2).says("must be an integer");
    tools_reading("{", &["chain", "run", "-"]).exits(2).says("-: not a chain");
    tools(&["chain", "run", "missing.json"]).exits(2).says("missing.json: ");
}

#[test]
fn the_failed_step_is_named() {
    let failing = r#"[
        {"toolId": "math:add", "args": {"a": 1, "b": 2}},
        {"toolId": "time:countdown", "args": {"from": 1, "fails": true}}
    ]"#;
    tools_reading(failing, &["chain", "run", "-"]).exits(1).says("step 1 failed: time:countdown: ");
    let outcome = tools_reading(failing, &["chain", "run", "-", "--json"]).exits(1).json();
    assert_eq!(outcome["failed"], 1);
}
