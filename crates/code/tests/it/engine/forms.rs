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
fn text_around_a_fence_is_no_part_of_a_program() {
    for (before, after) in [
        ("Here is the program:\n\n", "\n\nIt returns three."),
        ("Program:\n", ""),
        ("This uses `tools`:\n\n", "\nDone."),
        ("", "\nIt returns `three`."),
    ] {
        for code in ["return 3;", "async () => 3", "const text = `3`\nreturn +text"] {
            assert_eq!(run(&format!("{before}```js\n{code}\n```{after}")).value(), 3, "{before}{code}{after}");
        }
    }
    let failure = run("Here:\n\n```js\n\nreturn b\n```\n").done.outcome.unwrap_err();
    assert_eq!((failure.line, failure.column), (Some(5), Some(8)), "{failure}");
    assert_eq!(run("const text = `\n\\`\\`\\`js\n1\n\\`\\`\\`\n`\nreturn text.length - 10").value(), 3);
}

#[test]
fn the_default_export_is_the_value_or_the_function_that_is_called() {
    for code in [
        "export default 3",
        "export default async function () { return 3 }",
        "export default async function main() { return await tools.math.add({ a: 1, b: 2 }) }",
        "export default () => 3",
        "const three = 3\nexport default three;",
        "export const one = 1\nexport function triple(n) { return 3 * n }\nexport default triple(one)",
        "export async function main() { return 3 }",
        "async function main() { return 3 }\nexport { main }",
        "async function main() { return 3 }\nexport default main;",
        "```ts\nexport default async () => 3\n```",
        "const three = `\nexport default 4`.length\nreturn three - 14",
    ] {
        assert_eq!(run(code).value(), 3, "{code}");
    }
    let failure = run("const a = 1\nexport default async () => {\n  return a + b\n}").done.outcome.unwrap_err();
    assert_eq!((failure.line, failure.column), (Some(3), Some(14)), "{failure}");
    assert!(run("export * from 'x'").summary().contains("a program is not a module"));
}

#[test]
fn a_function_takes_the_globals_that_its_parameters_name() {
    for code in [
        "async (tools) => await tools.math.add({ a: 1, b: 2 })",
        "async tools => await tools.math.add({ a: 1, b: 2 })",
        "async ({ tools, console }) => { console.log(); return await tools.math.add({ a: 1, b: 2 }) }",
        "async ({ math }, console) => { console.log(); return await math.add({ a: 1, b: 2 }) }",
        "async (context) => await context.tools.math.add({ a: 1, b: 2 })",
        "async (math) => await math.add({ a: 1, b: 2 })",
        "async function main(tools, call) { return await call('math:add:1.0.0', { a: 1, b: 2 }) }",
        "export default async function ({ tools }) { return await tools.math.add({ a: 1, b: 2 }) }",
        "async (limit = 3) => limit",
        "async ({ limit = 3 } = {}) => limit",
        "async (input) => input.limit ?? 3",
    ] {
        assert_eq!(run(code).value(), 3, "{code}");
    }
}

#[test]
fn the_function_main_of_a_program_that_does_nothing_else_is_called() {
    for code in [
        "const main = async () => 3",
        "async function main() { return await add(2) }\nconst add = (a) => tools.math.add({ a, b: 1 })",
        "function add(a) { return tools.math.add({ a, b: 1 }) }\nasync function main(tools) { return add(2) }",
    ] {
        assert_eq!(run(code).value(), 3, "{code}");
    }
    let ended = run("async function main() { await tools.math.add({ a: 1, b: 2 }) }\nawait main()");
    assert_eq!((ended.value(), ended.calls.len()), (Value::Null, 1));
    let ended = run("async function main() { console.log('once') }\nmain()");
    assert_eq!((ended.value(), ended.lines()), (Value::Null, vec!["once"]));
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
