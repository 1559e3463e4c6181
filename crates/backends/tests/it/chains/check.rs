//! Defects of a chain are reported before its first step runs.

use toolkit::{Catalog, Dispatcher, Tool};

use super::*;

/// Returns every diagnostic as text, and checks that no step has run.
#[track_caller]
fn check(chain: Value, expected: &[&str]) {
    let chain = Chain::from_json(chain).unwrap();
    let problems = match chain.check(&dispatcher()) {
        Ok(()) => Vec::new(),
        Err(problems) => problems.iter().map(ToString::to_string).collect(),
    };
    assert_eq!(problems, expected);
}

#[test]
fn all_unknown_tools_are_named_at_once_with_the_nearest() {
    check(
        json!([{ "toolId": "geo:fnd" }, { "id": "last", "toolId": "" }, { "toolId": "find", "args": { "name": "x" } }]),
        &[
            "/0/toolId (`geo:fnd`): no tool is named `geo:fnd`; did you mean `geo:find`?",
            "/1/toolId (`last`): no tool is named ``: not a tool id: name must not be empty",
        ],
    );
}

#[test]
fn constants_are_held_to_the_input_schema() {
    check(
        json!([
            { "toolId": "weather:forecast", "args": { "city": 3, "days": 30, "dys": 1 } },
            { "toolId": "geo:find" },
            { "toolId": "weather:forecast", "args": { "city": "Lima", "hint": null, "days": null } }
        ]),
        &[
            "/0/args/city (`weather:forecast`): must be a string, got 3",
            "/0/args/days (`weather:forecast`): must be at most 14, got 30",
            "/0/args/dys (`weather:forecast`): is not an argument; expected `city`, `days`, `hint`",
            "/1/args/name (`geo:find`): is required",
        ],
    );
}

#[test]
fn an_argument_from_a_step_must_be_declared_and_present() {
    let geo = json!({ "id": "geo", "toolId": "geo:find", "args": { "name": "Lima" } });
    let from = |argument: &str| json!({ argument: { "step": "geo", "pointer": "/name" } });
    check(
        json!([
            geo,
            { "toolId": "weather:forecast", "from": from("city"), "args": { "days": 3 } },
            { "toolId": "weather:forecast", "from": from("town"), "args": { "days": 99 } },
            { "toolId": "weather:forecast", "usePrevious": true, "args": { "city": "Lima" } },
            { "toolId": "producer", "from": from("whatever"), "usePrevious": true }
        ]),
        &[
            "/2/args/city (`weather:forecast`): is required",
            "/2/args/days (`weather:forecast`): must be at most 14, got 99",
            "/2/from/town (`weather:forecast`): is not an argument; expected `city`, `days`, `hint`",
            "/3/usePrevious (`weather:forecast`): is not an argument; expected `city`, `days`, `hint`",
        ],
    );
}

#[test]
fn a_reference_leads_to_an_earlier_step() {
    let take = |step: &str| json!({ "x": { "step": step } });
    check(
        json!([
            { "id": "one", "toolId": "a", "from": take("two") },
            { "id": "two", "toolId": "a", "from": take("two") },
            { "id": "two", "toolId": "a", "from": take("tow") },
            { "toolId": "a", "from": take("else"), "after": ["one"] }
        ]),
        &[
            "/0/from/x/step (`one`): the step `two` does not come before this one",
            "/1/from/x/step (`two`): the step `two` does not come before this one",
            "/2/from/x/step (`two`): no earlier step is named `tow`; did you mean `two`?",
            "/2/id (`two`): duplicate id: step 1 has the id `two` too",
            "/3/from/x/step (`a`): no earlier step is named `else`",
            "/3/after (`a`): the steps run one after another already; `after` requires `\"parallel\": true`",
        ],
    );
    check(
        json!({ "parallel": true, "steps": [{ "toolId": "a", "after": ["b"] }, { "id": "b", "toolId": "b" }] }),
        &["/steps/0/after/0 (`a`): the step `b` does not come before this one"],
    );
}

#[test]
fn an_argument_comes_from_one_place() {
    check(
        json!([
            { "id": "x", "toolId": "a" },
            { "toolId": "a", "args": { "n": 1 }, "from": { "n": { "step": "x" } } },
            { "toolId": "a", "usePrevious": true, "from": { "previous": { "step": "x" } } },
            { "toolId": "a", "usePrevious": true, "args": { "previous": "is overwritten" } }
        ]),
        &[
            "/1/from/n (`a`): the argument `n` is also in `args`; keep one of the two",
            "/2/from/previous (`a`): `usePrevious` also passes the argument `previous`; keep one of the two",
        ],
    );
}

#[test]
fn a_pointer_is_one_and_leads_to_what_the_result_may_have() {
    let forecast = |pointer: &str| json!({ "toolId": "weather:forecast", "from": { "city": { "step": "geo", "pointer": pointer } } });
    let mut steps = vec![json!({ "id": "geo", "toolId": "geo:find", "args": { "name": "Lima" } })];
    let fit = ["/name", "/note", "/tags/0", "/within/within/name"];
    steps.extend(fit.map(forecast));
    check(json!(steps), &[]);
    let unfit = ["name", "/~2", "/nmae", "/tags/first", "/tags/01", "/name/x", "/position/2", "/within/within/nmae"];
    let mut steps = vec![steps.swap_remove(0)];
    steps.extend(unfit.map(forecast));
    let at = |n: usize| format!("/{n}/from/city/pointer (`weather:forecast`): ");
    let nothing = |n: usize| format!("{}the result of geo:find has no value at `{}`", at(n), unfit[n - 1]);
    let none = |n: usize| {
        let rule = "is not a JSON Pointer; write `/key`, with `~1` for `/` and `~0` for `~` in a key";
        format!("{}`{}` {rule}", at(n), unfit[n - 1])
    };
    let expected = [none(1), none(2), nothing(3), nothing(4), nothing(5), nothing(6), nothing(7), nothing(8)];
    check(json!(steps), &expected.each_ref().map(String::as_str));
}

#[test]
fn incompatible_types_are_rejected_and_overlapping_ones_are_not() {
    let take = |tool: &str, argument: &str, pointer: &str| json!({ "toolId": tool, "from": { argument: { "step": "geo", "pointer": pointer } } });
    check(
        json!([
            { "id": "geo", "toolId": "geo:find", "args": { "name": "Lima" } },
            take("weather:forecast", "city", "/position/0"),
            take("weather:forecast", "city", ""),
            take("text:half", "n", "/position/0"),
            take("text:length", "text", "/within"),
            { "toolId": "run:mix", "args": { "a": 1, "b": 2 }, "usePrevious": true },
            { "toolId": "run:mix", "args": { "b": 2 }, "from": { "a": { "step": "geo", "pointer": "/position/0" } } },
            {
                "toolId": "weather:forecast",
                "args": { "city": "Lima" },
                "from": { "days": { "step": "geo", "pointer": "/within" } }
            },
            { "toolId": "run:nothing" },
            { "toolId": "run:mix", "args": { "a": 1, "b": 2 }, "usePrevious": true }
        ]),
        &[
            "/1/from/city (`weather:forecast`): geo:find returns number, but `city` must be string",
            "/2/from/city (`weather:forecast`): geo:find returns object, but `city` must be string",
            "/4/from/text (`text:length`): geo:find returns object or null, but `text` must be string",
            "/5/usePrevious (`run:mix`): text:length returns integer, but `previous` must be object or null",
        ],
    );
}

#[test]
fn before_the_first_step_there_is_null() {
    check(
        json!([
            { "toolId": "run:sum", "usePrevious": true },
            { "toolId": "run:mix", "args": { "a": 1, "b": 2 } },
            { "toolId": "run:sum", "usePrevious": true }
        ]),
        &["/0/usePrevious (`run:sum`): is required"],
    );
}

/// Returns the diagnostics of a chain of two parsed tools with these schemas: the output of the first and the input of
/// the second.
fn read(output: Value, input: Value, from: Value, args: Value) -> Vec<String> {
    let tools = [
        json!({ "name": "gives", "inputSchema": { "type": "object" }, "outputSchema": output }),
        json!({ "name": "takes", "inputSchema": input }),
    ];
    let catalog = Catalog::new(tools.map(|tool| Tool::from_json(tool).unwrap())).unwrap();
    let dispatcher = Dispatcher::new(catalog).unwrap();
    let steps = json!([{ "id": "x", "toolId": "gives" }, { "toolId": "takes", "from": from, "args": args }]);
    let chain = Chain::from_json(steps).unwrap();
    let problems = chain.check(&dispatcher).err().map(|problems| problems.into_vec()).unwrap_or_default();
    if problems.is_empty() {
        let outcome = chain.run_sync(&dispatcher, &Context::new()).unwrap();
        assert_eq!(outcome.error().unwrap().kind(), ErrorKind::NoBackend, "nothing here runs it, and a run says so");
    }
    problems.iter().map(|problem| format!("{}: {}", problem.pointer(), problem.message())).collect()
}

#[test]
fn open_parts_of_a_handwritten_schema_stay_open() {
    let takes = |pointer: &str, output: Value| {
        let input = json!({ "type": "object", "properties": { "n": { "type": "string" } } });
        read(output, input, json!({ "n": { "step": "x", "pointer": pointer } }), json!({}))
    };
    let open = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
    assert!(takes("/b", open.clone()).is_empty());
    let mut closed = open;
    closed["additionalProperties"] = json!(false);
    assert_eq!(takes("/b", closed.clone()), ["/1/from/n/pointer: the result of gives has no value at `/b`"]);
    assert!(takes("/a", closed.clone()).is_empty());
    let list = json!({ "type": "array", "prefixItems": [{ "type": "string" }], "items": false });
    assert_eq!(takes("/1", list.clone()), ["/1/from/n/pointer: the result of gives has no value at `/1`"]);
    assert!(takes("/0", list).is_empty());
    let either = json!({ "anyOf": [closed, { "type": "object", "properties": { "b": { "type": "integer" } } }] });
    assert_eq!(takes("/b", either.clone()), ["/1/from/n: gives returns integer, but `n` must be string"]);
    assert!(takes("/a", either).is_empty());
    let circle =
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "anyOf": [{ "$ref": "#/$defs/a" }, { "$ref": "#" }] } } });
    assert!(takes("/a/b", circle).is_empty());
    let joined = json!({ "type": "integer", "allOf": [{ "minimum": 3 }] });
    assert!(takes("", joined).is_empty());
}

#[test]
fn keywords_over_several_arguments_are_not_checked_while_some_are_open() {
    let input = json!({
        "type": "object",
        "properties": { "kind": { "type": "string" }, "n": { "type": "integer" }, "m": { "type": "integer" } },
        "required": ["kind", "m"],
        "oneOf": [
            { "properties": { "kind": { "const": "small" }, "n": { "maximum": 9 } } },
            { "properties": { "kind": { "const": "large" } } }
        ],
        "if": { "properties": { "kind": { "const": "small" } } },
        "else": { "required": ["n"] },
        "additionalProperties": false
    });
    let check = |args: Value| read(json!({}), input.clone(), json!({ "kind": { "step": "x" } }), args);
    assert!(check(json!({ "n": 30, "m": 1 })).is_empty());
    assert!(check(json!({ "m": 1 })).is_empty());
    assert_eq!(check(json!({ "n": "x" })), ["/1/args/m: is required", "/1/args/n: must be an integer, got \"x\""]);
    let known = read(json!({}), input.clone(), json!({}), json!({ "kind": "small", "n": 30, "m": 1 }));
    assert_eq!(known.len(), 1, "where all is known, all is checked: {known:?}");
}

#[test]
fn a_chain_has_no_more_steps_than_are_taken() {
    let most: Chain = (0..toolkit_backends::chain::MAX_STEPS).map(|_| Step::new("a")).collect();
    assert!(most.check(&dispatcher()).is_ok());
    let problems = most.then(Step::new("nobody")).check(&dispatcher()).unwrap_err();
    assert_eq!(problems.to_string(), "the chain cannot run:\nthe chain has 257 steps; the maximum is 256");
    assert_eq!((problems[0].step(), problems[0].kind()), (None, ChainDiagnosticKind::TooManySteps));
}

#[test]
fn at_most_a_hundred_diagnostics_are_reported() {
    let take = |step, idx: usize| Step::take(step, format!("x{idx}"), "nobody", "");
    let chain = Chain::new().then((0..5000).fold(Step::new("a"), take)).then(Step::new("nobody"));
    let problems = chain.check(&dispatcher()).unwrap_err();
    assert_eq!(problems.len(), 100);
    assert!(problems.iter().all(|problem| problem.step() == Some(0)));
}

#[test]
fn a_name_cannot_forge_a_line() {
    let chain = Chain::new().then(Step::new("a\nb").arg("x", 1)).then(Step::new("geo:find").arg("na\nme", 1));
    let text = chain.check(&dispatcher()).unwrap_err().to_string();
    assert_eq!(text.lines().count(), 4, "{text}");
}

#[test]
fn a_long_key_is_shortened_in_messages() {
    let key = "\u{202e}k\n".repeat(10_000);
    let chain = Chain::from_json(json!([{ "toolId": "producer", "from": { key: { "step": "none" } } }])).unwrap();
    let printed = chain.check(&dispatcher()).unwrap_err().to_string();
    assert!(printed.len() < 10_000 && !printed.contains('\u{202e}'), "{} bytes", printed.len());
    assert!(printed.contains("no earlier step is named `none`"), "{printed}");
}
