//! Values and lines of programs.

use serde_json::json;

use crate::engine::run;

#[test]
fn values_without_json_have_the_nearest_json() {
    let ended = run("\
return {
  undefined: undefined,
  f() {},
  list: [undefined, () => 1, Symbol('a'), NaN, Infinity, -0],
  numbers: [1.5, 1e21, 2 ** 53 - 1, 1e18, 1e-7, 0.1 + 0.2],
  big: [10n, -5n, 2n ** 64n - 1n],
  date: new Date(0),
  invalid: new Date(NaN),
  map: new Map([['a', new Set([1, 2])]]),
  pairs: new Map([[1, 'one']]),
  bytes: new Uint8Array([1, 2]),
  buffer: new Uint8Array([3]).buffer,
  error: new RangeError('far'),
  re: /a+/g,
  boxed: [new Number(1), new String('a'), new Boolean(false), Object(5n)],
  json: { toJSON: (key) => ({ key }) },
  entry: Object.create({ inherited: 1 }, { own: { value: 1, enumerable: true }, hidden: { value: 2 } }),
  object: Object.assign(Object.create(null), { a: 1 }),
  point: new (class Point { x = 1; #y = 2; get z() { return 3; } })(),
};");
    let value = json!({
        "list": [null, null, null, null, null, 0],
        "numbers": [1.5, 1e21, 9_007_199_254_740_991_u64, 1_000_000_000_000_000_000_u64, 1e-7, 0.1 + 0.2],
        "big": [10, -5, u64::MAX],
        "date": "1970-01-01T00:00:00.000Z",
        "invalid": null,
        "map": { "a": [1, 2] },
        "pairs": [[1, "one"]],
        "bytes": [1, 2],
        "buffer": [3],
        "error": { "name": "RangeError", "message": "far" },
        "re": "/a+/g",
        "boxed": [1, "a", false, 5],
        "json": { "key": "json" },
        "entry": { "own": 1 },
        "object": { "a": 1 },
        "point": { "x": 1 },
    });
    assert_eq!(ended.value(), value);
}

#[test]
fn a_caught_failure_is_a_value() {
    let value = run("try { await tools.fail({}) } catch (error) { return error }").value();
    let expected = json!({
        "name": "ToolError", "message": "the server is restarting", "kind": "unavailable", "tool": "fail",
        "retryable": true,
    });
    assert_eq!(value, expected);
}

#[test]
fn the_same_object_twice_is_no_cycle() {
    assert_eq!(
        run("const a = { b: 1 }; return [a, a, { a }];").value(),
        json!([{ "b": 1 }, { "b": 1 }, { "a": { "b": 1 } }])
    );
}

#[test]
fn what_is_printed_is_text_or_json() {
    let ended = run("\
console.log('a', 1, null, undefined, true, 10n, NaN);
console.info({ a: [1, 'b', undefined] }, [new Map([['k', 1]])]);
console.debug(new TypeError('bad'), () => 1, Symbol('a'), tools.math.add);
const self = {}; self.self = self;
console.error(self, Promise.resolve(1));
console.warn('w');
console.table([{ a: 1 }]);
console.assert(true, 'no');
console.assert(false, 'yes');
print('p', 1);
println('q');
console.time('t');
console.log();");
    let lines = [
        "a 1 null undefined true 10 NaN",
        r#"{"a":[1,"b",null]} [{"k":1}]"#,
        "TypeError: bad [function] [symbol] [function]",
        r#"{"self":"[circular]"} "[Promise: await it]""#,
        "w",
        r#"[{"a":1}]"#,
        "yes",
        "p 1",
        "q",
        "",
    ];
    assert_eq!(ended.lines(), lines);
    let errors: Vec<bool> = ended.printed.iter().map(|line| line.is_error).collect();
    assert_eq!(errors, [false, false, false, true, true, false, true, false, false, false]);
}

#[test]
fn promises_of_promises_are_values_up_to_a_depth() {
    // Without `then`, a promise is an ordinary value of another one.
    for (n, end) in [(50, "ok: 1"), (20_000, "value: the value is nested deeper than 100 levels")] {
        let code = format!(
            "let outer = Promise.resolve(1)
             for (let i = 0; i < {n}; i++) {{
                 const inner = outer
                 inner.then = undefined
                 outer = new Promise((resolve) => resolve(inner))
             }}
             return outer"
        );
        assert_eq!(run(&code).summary(), end);
    }
}

const BIG: &str = "[9007199254740993,-9007199254740993,1234567890123456789012,18446744073709551616]";

#[test]
fn integers_keep_their_digits_from_a_result_to_arguments_and_to_the_value() {
    let code = format!("const big = {};", BIG.replace(',', "n,").replace(']', "n]"));
    for rest in [
        "return (await tools.echo({ big })).big",
        "const { big: again } = await tools.echo({ big }); return (await tools.echo({ again })).again",
        "return JSON.parse(JSON.stringify(await tools.echo({ big }))).big",
        "const result = await tools.echo({ big }); return result.big.map((id) => BigInt(`${id}`))",
    ] {
        let ended = run(&format!("{code} {rest}"));
        assert_eq!(ended.done.outcome.as_ref().unwrap().get(), BIG, "{rest}");
        assert!(ended.calls.iter().all(|call| call.contains(&BIG[1..])), "{:?}", ended.calls);
    }
    let rest = "const { big: [id] } = await tools.echo({ big }); console.log(id, `${id}`, JSON.stringify({ id }));
        return [id > 5, id === 9007199254740993n, id == 1, typeof (await tools.echo({ small: 7 })).small]";
    let ended = run(&format!("{code} {rest}"));
    assert_eq!(ended.value(), json!([true, true, false, "number"]));
    assert_eq!(ended.lines(), [r#"9007199254740993 9007199254740993 {"id":9007199254740993}"#]);
}

#[test]
fn a_rounded_integer_is_named_and_not_sent() {
    let ended = run("await tools.echo({ user: { ids: [1, 9007199254740993] } })");
    let says = "exception: TypeError: the arguments at /user/ids/1 cannot be sent: an integer above 2^53, which a number \
                rounds: use a BigInt, such as `123n` or `BigInt(text)` (line 1, col 12)";
    assert_eq!((&*ended.summary(), ended.calls.len()), (says, 0));
    let says = "value: the value at /total is an integer above 2^53, which a number rounds: use a BigInt, such as `123n` or \
                `BigInt(text)`";
    assert_eq!(run("return { total: 2 ** 60 }").summary(), says);
    assert_eq!(run("console.log(2 ** 60)").lines(), ["1152921504606846976"]);
}

#[test]
fn arithmetic_with_a_big_integer_says_which_field_it_is() {
    for sum in ["id + 1", "Math.max(id, 1)", "+id"] {
        let summary =
            run(&format!("const {{ id }} = await tools.echo({{ id: 9007199254740993n }}); return {sum}")).summary();
        let says = "an integer above 2^53 in a result, such as `id`, is a BigInt: compute with `1n`, or with `Number(it)` if \
                    its last digits do not matter";
        assert!(summary.starts_with("exception: TypeError: ") && summary.contains(says), "{sum}: {summary}");
    }
}

#[test]
fn a_program_has_some_functions_of_other_platforms() {
    let code = "\
const bytes = new TextEncoder().encode('aä€😀\\ud800');
const error = (f) => { try { f() } catch (error) { return error.message } };
const self = { list: [1, { date: new Date(0) }], map: new Map([['k', new Set([1])]]), big: 5n, none: undefined };
self.self = self;
const clone = structuredClone(self);
return {
  bytes: [bytes instanceof Uint8Array, bytes.length, bytes[1]],
  texts: [new TextDecoder().decode(bytes), new TextDecoder('utf-8').decode(new Uint8Array([97, 255]).buffer)],
  base64: ['', 'a', 'ab', 'abc', 'abcd', '\\xff\\0'].map((text) => [btoa(text), atob(btoa(text)) === text]),
  atob: atob(' YW\\nI= '),
  clone: [clone !== self, clone.self === clone, clone.list[1].date !== self.list[1].date, 'none' in clone],
  parts: [clone.list, clone.map, clone.big, structuredClone(/a+/g), structuredClone(new Uint8Array([1])), structuredClone(1)],
  error: structuredClone(new RangeError('far')),
  errors: [error(() => btoa('€')), error(() => atob('*')), error(() => structuredClone(print)),
    error(() => structuredClone([sleep(1)]))],
};";
    let value = json!({
        "bytes": [true, 13, 195],
        "texts": ["aä€😀\u{fffd}", "a\u{fffd}"],
        "base64": [["", true], ["YQ==", true], ["YWI=", true], ["YWJj", true], ["YWJjZA==", true], ["/wA=", true]],
        "atob": "ab",
        "clone": [true, true, true, true],
        "parts": [[1, { "date": "1970-01-01T00:00:00.000Z" }], { "k": [1] }, 5, "/a+/g", [1], 1],
        "error": { "name": "RangeError", "message": "far" },
        "errors": [
            "btoa takes bytes: a character is above 255", "atob takes Base64 of the standard alphabet",
            "a function cannot be cloned", "a Promise cannot be cloned",
        ],
    });
    assert_eq!(run(code).value(), value);
}
