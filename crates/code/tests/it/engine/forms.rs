//! The forms in which models write programs.

use serde_json::{Value, json};
use toolkit_code::FailureKind;

use crate::engine::run;

#[test]
fn each_form_of_a_program_has_its_value() {
    for (code, value) in [
        ("return 1 + 2", json!(3)),
        ("1 + 2", json!(3)),
        ("1 + 2;", json!(3)),
        ("const a = 1;\nconst b = 2;\na + b", json!(3)),
        ("return await tools.math.add({ a: 1, b: 2 });", json!(3)),
        ("await tools.math.add({ a: 1, b: 2 })", json!(3)),
        ("tools.math.add({ a: 1, b: 2 })", json!(3)),
        ("async () => 3", json!(3)),
        ("async () => { return await tools.math.add({ a: 1, b: 2 }); }", json!(3)),
        ("async () => {\n  return 3;\n};\n", json!(3)),
        ("() => 3", json!(3)),
        ("(async () => 3)", json!(3)),
        ("(async () => 3)()", json!(3)),
        ("(function () { return 3; })();", json!(3)),
        ("async function main() { return 3; }", json!(3)),
        ("function main() { return 3; }", json!(3)),
        ("async function main() { return 3; }\nmain();", json!(3)),
        ("async function main() { return 3; }\nreturn main();", json!(3)),
        ("async function main() { return 3; }\nawait main()", json!(3)),
        ("async () => { return 3; }; // the end", json!(3)),
        ("(1 + 2)", json!(3)),
        ("({ a: 1 })", json!({ "a": 1 })),
        ("\"use strict\";\nreturn 3;", json!(3)),
        ("// a comment\nreturn 3; // another", json!(3)),
        ("if (false) { return 1; }\nreturn 3;", json!(3)),
        ("for (const a of [1, 2, 3]) { if (a === 3) return a; }", json!(3)),
        ("let a = 1", Value::Null),
        ("return", Value::Null),
        ("// nothing", Value::Null),
        ("__out = { a: 1 }", json!({ "a": 1 })),
        ("const a = 1;\n__out = { a };\nconsole.log(a);", json!({ "a": 1 })),
        ("globalThis.__out = 3;\nif (false) return 1;", json!(3)),
    ] {
        assert_eq!(run(code).value(), value, "{code}");
    }
}

#[test]
fn a_fence_is_no_part_of_a_program() {
    for fence in ["```js", "```javascript", "```", "```ts", "``` js "] {
        assert_eq!(run(&format!("{fence}\nreturn 3;\n```")).value(), 3, "{fence}");
        assert_eq!(run(&format!("\n\n{fence}\nreturn 3;\n```\n\n")).value(), 3, "{fence}");
        assert_eq!(run(&format!("{fence}\nasync () => 3\n```")).value(), 3, "{fence}");
    }
    assert_eq!(run("```js\n/*\n```js\n*/\nreturn 3;\n```").value(), 3);
    assert_eq!(run("return '```';").value(), "```");
}

#[test]
fn places_are_those_of_the_text_with_its_fence() {
    let ended = run("\n```js\nconst a = 1;\n\nreturn b;\n```\n");
    let failure = ended.done.outcome.unwrap_err();
    assert_eq!((failure.line, failure.column, failure.source.as_deref()), (Some(5), Some(8), Some("return b;")));
    let ended = run("```\n\nawait tools.fail({});\n```");
    assert_eq!(ended.done.outcome.unwrap_err().line, Some(3));
    assert!(ended.calls[0].contains(r#""line":3"#), "{}", ended.calls[0]);
}

#[test]
fn a_program_with_a_syntax_error_does_nothing() {
    let ended = run("tools.math.add({ a: 1, b: 2 });\nprint('started');\nlet = ;");
    assert_eq!(ended.done.outcome.unwrap_err().kind, FailureKind::Syntax);
    assert!(ended.calls.is_empty() && ended.printed.is_empty());
}

#[test]
fn a_program_runs_once_whatever_its_form() {
    for code in ["(print('a'), JSON.parse('{'))", "async () => { print('a'); }", "print('a'); return 1;", "print('a')"]
    {
        assert_eq!(run(code).lines(), ["a"], "{code}");
    }
}

#[test]
fn programs_are_strict() {
    assert_eq!(run("return (function () { return this === undefined; })()").value(), true);
    assert_eq!(run("undeclared = 1").done.outcome.unwrap_err().kind, FailureKind::Exception);
}

#[test]
fn a_program_finds_nothing_of_the_prelude() {
    let code = "return [typeof prelude, 'prelude' in globalThis, Object.keys(await import('prelude.js')), `${print}`]";
    let expected = json!(["undefined", false, [], "function print() {\n    [native code]\n}"]);
    assert_eq!(run(code).value(), expected);
    assert_eq!(run("await import('other.js')").done.outcome.unwrap_err().kind, FailureKind::Exception);
}
