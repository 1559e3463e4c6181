//! Whatever comes in, a call ends in a clear and short error, and nothing else is harmed.

mod tools;

use std::fmt::Write as _;
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use test_support::{ran, shared};
use toolkit::call::{Arguments, Coercion, ErrorKind};
use toolkit::{Dispatcher, ToolError, catalog};

use self::tools::*;

fn dispatcher() -> Dispatcher {
    builder(Coercion::default())
}

fn builder(coercion: Coercion) -> Dispatcher {
    let catalog = catalog![big, anything, length, sign_in].unwrap();
    Dispatcher::builder(catalog).coercion(coercion).max_argument_bytes(100 << 20).build().unwrap()
}

/// The error of a call, which is clear and short.
#[track_caller]
fn refused<'a>(dispatcher: &Dispatcher, tool: &str, arguments: impl Into<Arguments<'a>>) -> ToolError {
    let error = dispatcher.call_sync(tool, arguments).expect_err("the call is refused");
    assert!(!error.message().is_empty());
    assert!(error.to_string().len() < 16 << 10, "{} bytes of error", error.to_string().len());
    assert!(!error.message().contains(|c: char| c.is_control() && c != '\n'), "{error}");
    let violations = serde_json::to_string(error.violations()).unwrap();
    assert!(violations.len() < 4 << 20, "{} bytes of violations", violations.len());
    assert!(!matches!(error.kind(), ErrorKind::Panicked | ErrorKind::Internal), "{error:?}");
    error
}

fn nested(levels: usize) -> String {
    format!("{}{}", r#"{"value":"#, "[".repeat(levels) + &"]".repeat(levels) + "}")
}

#[test]
fn text_that_is_not_json_is_malformed() {
    let dispatcher = dispatcher();
    let texts: &[&[u8]] = &[
        b"",
        b" \n\t",
        b"{",
        b"}",
        b"{}x",
        b"{}{}",
        b"{},",
        b"{\"text\":}",
        b"{'text':'a'}",
        b"{text:1}",
        b"[1,]",
        b"{\"text\":\"a\",}",
        b"nul",
        b"NaN",
        b"{\"value\":NaN}",
        b"{\"value\":Infinity}",
        b"{\"value\":-Infinity}",
        b"{\"value\":1e400}",
        b"{\"value\":-1e400}",
        b"{\"value\":01}",
        b"{\"value\":.5}",
        b"{\"value\":0x10}",
        b"{\"value\":\"\\ud800\"}",
        b"{\"value\":\"\\udc00\\ud800\"}",
        b"{\"\\ud800\":1}",
        b"{\"value\":\"\\x\"}",
        b"{\"value\":\"\xff\"}",
        b"{\"\xff\":1}",
        b"{\"value\":\"\xed\xa0\x80\"}",
        b"\xef\xbb\xbf{\"value\":1}",
        b"\xff\xfe{\0}\0",
        b"{\"value\":\"\0\"}",
        b"{\"value\":\"\n\"}",
        b"{\"value\":1}//",
        b"/**/{\"value\":1}",
        b"{\"value\":1,\"value\":1}",
        b"{\"value\":{\"a\":1,\"a\":1}}",
        b"{\"value\":[{\"a\":1,\"\\u0061\":2}]}",
    ];
    for text in texts {
        for tool in ["bad:anything", "bad:big", "bad:length"] {
            let error = refused(&dispatcher, tool, *text);
            assert_eq!(error.kind(), ErrorKind::MalformedJson, "{}: {error}", String::from_utf8_lossy(text));
        }
    }
    ran(texts.len() * 3);
    let message = |text: &[u8]| refused(&dispatcher, "bad:anything", text).message().to_owned();
    assert_eq!(message(b""), "not valid JSON: the text is empty; use `{}` for an empty object");
    assert_eq!(message(b"\xef\xbb\xbf{}"), "not valid JSON: it starts with a byte order mark");
    assert_eq!(message(b"{}x"), "not valid JSON: trailing characters at line 1 column 3");
}

#[test]
fn a_key_that_stands_twice_is_refused_wherever_it_is() {
    let dispatcher = dispatcher();
    for text in [
        r#"{"text":"a","text":"a"}"#,
        r#"{"node":{"name":"a","name":"b"}}"#,
        r#"{"node":{"name":"a","labels":{"x":"1","x":"2"}}}"#,
        r#"{"map":{"x":1,"x":2}}"#,
        r#"{"map":{"x":1,"\u0078":2}}"#,
        r#"{"shape":{"kind":"Circle","kind":"Square","side":1}}"#,
    ] {
        let error = refused(&dispatcher, "bad:big", text);
        assert_eq!(error.kind(), ErrorKind::MalformedJson, "{text}: {error}");
        assert!(error.message().contains("duplicate key"), "{error}");
    }
}

#[test]
fn deep_nesting_is_refused_as_text_and_as_a_tree() {
    let dispatcher = dispatcher();
    assert!(dispatcher.call_sync("bad:anything", nested(126)).is_ok());
    for levels in [127, 128, 10_000, 1_000_000] {
        let error = refused(&dispatcher, "bad:anything", nested(levels));
        assert_eq!(error.kind(), ErrorKind::MalformedJson);
        assert!(error.message().contains("nested deeper than 127 levels"), "{error}");
    }
    // `json!` would copy what it is given, by recursion.
    let tree = |levels: usize| (0..levels).fold(json!(1), |inner, _| Value::Array(vec![inner]));
    let value = |levels: usize| Value::from_iter([("value", tree(levels))]);
    assert!(dispatcher.call_sync("bad:anything", value(126)).is_ok());
    let error = refused(&dispatcher, "bad:anything", value(3_000));
    assert!(error.message().contains("nested deeper than 127 levels"), "{error}");
    let unchecked = catalog![anything].unwrap();
    let unchecked = Dispatcher::builder(unchecked).validate_input(false).build().unwrap();
    assert!(unchecked.call_sync("anything", value(3_000)).is_err());
}

#[test]
fn numbers_past_64_bits_are_refused_by_the_type_and_kept_by_a_tree() {
    let dispatcher = dispatcher();
    let number = |text: &str| format!(r#"{{"value":{text}}}"#);
    for text in ["18446744073709551616", "-9223372036854775809", "1e308", "123456789012345678901234567890"] {
        assert!(dispatcher.call_sync("bad:anything", number(text)).is_ok(), "{text}");
        let count = format!(
            r#"{{"text":"","flag":true,"count":{text},"ratio":1,"list":[],"map":{{}},"node":null,"shape":{{"kind":"Square","side":1}},"pair":[1,""]}}"#
        );
        let error = refused(&dispatcher, "bad:big", count);
        assert_eq!((error.kind(), &*error.violations()[0].pointer), (ErrorKind::InvalidArguments, "/count"));
    }
}

#[test]
fn every_file_of_the_json_test_suite_is_read_as_it_should_be() {
    let Some(folder) = shared("data/json-test-suite/test_parsing") else {
        return;
    };
    let dispatcher = dispatcher();
    let mut n_files = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read(&path).unwrap();
        n_files += 1;
        for tool in ["bad:anything", "bad:big", "bad:length"] {
            let outcome = dispatcher.call_sync(tool, &text[..]);
            let malformed = match &outcome {
                Ok(_) => false,
                Err(error) => {
                    refused(&dispatcher, tool, &text[..]).kind() == error.kind()
                        && error.kind() == ErrorKind::MalformedJson
                }
            };
            let decided = outcome.is_err_and(|error| {
                error.message().contains("duplicate key") || error.message().contains("nested deeper")
            });
            match name.as_bytes()[0] {
                b'y' => assert!(!malformed || decided, "{name} is JSON"),
                b'n' => assert!(malformed, "{name} is not JSON"),
                _ => {}
            }
        }
        // The same beneath a key, where the type is read in one pass.
        let mut beneath = br#"{"value":"#.to_vec();
        beneath.extend_from_slice(&text);
        beneath.push(b'}');
        let outcome = dispatcher.call_sync("bad:anything", beneath);
        if name.starts_with("y_") {
            assert!(outcome.is_ok() || name.contains("duplicated"), "{name}: {outcome:?}");
        }
    }
    ran(n_files * 4);
    assert_eq!(n_files, 318);
}

#[test]
fn every_wrong_type_everywhere_is_refused_with_its_place() {
    let dispatcher = dispatcher();
    let good = json!({
        "text": "a", "flag": true, "count": 1, "ratio": 1.5, "list": ["a"], "map": { "k": 1 },
        "node": { "name": "n", "children": [{ "name": "c" }], "labels": { "l": "x" } },
        "shape": { "kind": "Square", "side": 1 }, "pair": [1, "b"],
    });
    assert!(dispatcher.call_sync("bad:big", &good).is_ok());
    let places = [
        ("", "object"),
        ("/text", "string"),
        ("/flag", "boolean"),
        ("/count", "integer"),
        ("/ratio", "number"),
        ("/list", "array"),
        ("/list/0", "string"),
        ("/map", "object"),
        ("/map/k", "integer"),
        ("/node", "object"),
        ("/node/name", "string"),
        ("/node/children", "array"),
        ("/node/children/0", "object"),
        ("/node/children/0/name", "string"),
        ("/node/labels/l", "string"),
        ("/shape", "object"),
        ("/shape/side", "integer"),
        ("/pair", "array"),
        ("/pair/0", "integer"),
        ("/pair/1", "string"),
    ];
    let values = [
        json!(null),
        json!(true),
        json!(1),
        json!(1.5),
        json!("x"),
        json!([]),
        json!([[]]),
        json!({}),
        json!({ "x": {} }),
    ];
    let mut n_cases = 0;
    for (place, wanted) in places {
        for value in &values {
            let fits = match wanted {
                "object" => value.is_object() || (value.is_null() && place == "/node"),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "boolean" => value.is_boolean(),
                "integer" => value.is_i64(),
                _ => value.is_number(),
            };
            if fits {
                continue;
            }
            let mut bad = good.clone();
            *bad.pointer_mut(place).unwrap() = value.clone();
            // A null for an argument that may be left out counts as absent.
            if value.is_null() && matches!(place, "/node/children") {
                assert_eq!(dispatcher.call_sync("bad:big", &bad).unwrap().changes().len(), 1);
                continue;
            }
            for error in [refused(&dispatcher, "bad:big", &bad), refused(&dispatcher, "bad:big", bad.to_string())] {
                assert_eq!(error.kind(), ErrorKind::InvalidArguments);
                assert!(error.violations().iter().any(|one| one.pointer == place), "{place} {value}: {error}");
                assert!(
                    error.violations().iter().all(|one| one.pointer.starts_with(place)),
                    "{place} {value}: {error}"
                );
            }
            n_cases += 1;
        }
    }
    ran(n_cases);
}

#[test]
fn strange_names_of_tools_are_refused_shortly_and_soon() {
    let dispatcher = dispatcher();
    let every_char: String = ('\u{80}'..='\u{10ffff}').take(300_000).collect();
    let names = [
        String::new(),
        ":".into(),
        "::".into(),
        ":::".into(),
        "a:b:c:d".into(),
        "a::1".into(),
        "a:b:".into(),
        "bad:big:9.9.9".into(),
        "bad: big".into(),
        "bad:big\n".into(),
        "\0".into(),
        "\u{1b}[2J".into(),
        "\u{202e}gib".into(),
        "a".repeat(1 << 20),
        ":".repeat(1 << 20),
        "é".repeat(1 << 19),
        every_char,
        "BAD:BIG".into(),
    ];
    for name in &names {
        let error = refused(&dispatcher, name, "{}");
        assert_eq!(error.kind(), ErrorKind::UnknownTool, "{error}");
        assert!(error.message().len() < 2_000, "{}", error.message().len());
    }
    ran(names.len());
}

#[test]
fn arguments_past_the_limit_are_not_looked_at() {
    let dispatcher = Dispatcher::new(catalog![length].unwrap()).unwrap();
    let error = refused(&dispatcher, "bad:length", "x".repeat(64 << 20));
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert_eq!(error.message(), "the arguments have 67108864 bytes; the limit is 16777216");
}

#[test]
fn huge_strings_and_keys_are_not_repeated() {
    let dispatcher = dispatcher();
    let text = json!({ "text": "x".repeat(16 << 20) }).to_string();
    assert_eq!(dispatcher.call_sync("bad:length", &*text).unwrap().value(), json!(16 << 20));
    refused(&dispatcher, "bad:big", &*text);
    let key = "k".repeat(1 << 20);
    refused(&dispatcher, "bad:length", json!({ (key.clone()): 1, "text": "" }).to_string());
    refused(&dispatcher, "bad:big", json!({ "map": { (key.clone()): "wrong" } }).to_string());
    refused(&dispatcher, "bad:big", json!({ "node": { "name": "", "labels": { (key.clone()): [1, 2] } } }).to_string());
    refused(&dispatcher, "bad:length", format!(r#"{{"{key}":1,"{key}":2}}"#));
    let labels = vec![json!({ "name": "", "labels": { (key): 1 } }); 4];
    refused(&builder(Coercion::Lenient), "bad:big", json!({ "node": { "name": "", "children": labels } }).to_string());
}

/// Runs a test again in a process of its own with `alone` set, and returns its peak memory in MiB.
#[cfg(target_os = "linux")]
fn peak_of(test: &str, alone: &str) -> u64 {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(alone, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let (_, peak) = text.split_once("VmHWM:").expect("the test prints its memory");
    peak.split_whitespace().next().unwrap().parse::<u64>().unwrap() / 1024
}

#[test]
#[cfg(target_os = "linux")]
fn a_million_mistakes_take_bounded_memory() {
    const ALONE: &str = "TOOLKIT_TEST_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let peak = peak_of("bad_input::a_million_mistakes_take_bounded_memory", ALONE);
        assert!(peak < 250, "{peak} MiB");
        return;
    }
    let numbers = format!("[{}1]", "1,".repeat(990_000));
    let keys = (0..300_000).fold(String::new(), |mut keys, idx| {
        write!(keys, "\"k{idx}\":1,").unwrap();
        keys
    });
    for dispatcher in [dispatcher(), builder(Coercion::Lenient)] {
        let error = refused(&dispatcher, "bad:big", format!(r#"{{"list":{numbers}}}"#));
        assert!(error.violations().len() <= 256);
        let error = refused(&dispatcher, "bad:big", format!(r#"{{{keys}"text":1}}"#));
        assert!(error.violations().len() <= 256);
    }
    // Below the arguments, each form is read by one of them.
    let error = refused(&dispatcher(), "bad:big", format!(r#"{{"node":{{"name":"","children":{numbers}}}}}"#));
    assert!(error.violations().len() <= 256);
    let error = refused(&builder(Coercion::Lenient), "bad:big", format!(r#"{{"node":{{{keys}"text":1}}}}"#));
    assert!(error.violations().len() <= 256);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    println!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap());
}

/// Where no plan accepts them, they would take eighty times the memory of their text.
#[test]
fn arguments_of_too_many_values_that_need_a_tree_are_an_error() {
    let numbers = format!("[{}1]", "1,".repeat(1_000_000));
    let error = refused(&dispatcher(), "bad:big", format!(r#"{{"list":{numbers}}}"#));
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert!(error.message().contains("are more than the limit of 1000000 for arguments"), "{error}");
    assert!(dispatcher().call_sync("bad:anything", format!(r#"{{"value":{numbers}}}"#)).is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn good_calls_go_on_beside_bad_ones() {
    let dispatcher = dispatcher();
    let mut calls = Vec::new();
    for idx in 0..200_usize {
        let dispatcher = dispatcher.clone();
        calls.push(tokio::spawn(async move {
            let (tool, arguments) = match idx % 5 {
                0 => ("bad:length", json!({ "text": "x".repeat(idx) }).to_string()),
                1 => ("bad:big", nested(10_000)),
                2 => ("bad:sign_in", r#"{"token":"tok-1","mode":"panic"}"#.to_owned()),
                3 => ("nobody", "{}".to_owned()),
                _ => ("bad:length", "\u{feff}{".to_owned()),
            };
            (idx, dispatcher.call(tool, arguments).await)
        }));
    }
    for call in calls {
        let (idx, outcome) = call.await.expect("no call takes its task down");
        match idx % 5 {
            0 => assert_eq!(outcome.unwrap().value(), json!(idx)),
            _ => assert!(outcome.is_err()),
        }
    }
    ran(200);
}

/// Keeps the text of all events and spans.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl tracing::field::Visit for Log {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        writeln!(self.0.lock().unwrap(), "{}={value:?}", field.name()).unwrap();
    }
}

impl tracing::Subscriber for Log {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        span.record(&mut self.clone());
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, values: &tracing::span::Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn a_secret_reaches_no_error_and_no_log() {
    const SECRET: &str = "hunter2";
    const PIN: u32 = 867_530;
    let attempts = [
        json!({ "token": SECRET }),
        json!({ "token": [SECRET] }),
        json!({ "token": { SECRET: SECRET } }),
        json!({ "token": SECRET, "mode": 3 }),
        json!({ "token": SECRET, "tokn": 3 }),
        json!({ "token": "tok-1", "credentials": SECRET }),
        json!({ "token": "tok-1", "credentials": [SECRET] }),
        json!({ "token": "tok-1", "credentials": format!("{{\"password\":\"{SECRET}\"}}") }),
        json!({ "token": "tok-1", "credentials": { "password": [SECRET] } }),
        json!({ "token": "tok-1", "credentials": { "password": SECRET.repeat(5) } }),
        json!({ "token": "tok-1", "credentials": { "password": SECRET, "pin": PIN } }),
        json!({ "token": "tok-1", "credentials": { "password": SECRET, "pin": PIN.to_string() } }),
        json!({ "token": "tok-1", "credentials": { "password": SECRET, "pin": f64::from(PIN) + 0.5 } }),
        json!({ "token": "tok-1", "credentials": { "password": SECRET, "pim": 1 } }),
        json!({ "token": "tok-1", "credentials": { "password": SECRET }, "mode": "panic" }),
        json!({ "token": "tok-1", "credentials": { "password": SECRET }, "mode": "fail" }),
        json!(SECRET),
        json!([SECRET]),
        json!(format!("{{\"token\":\"{SECRET}\"}}")),
    ];
    let log = Log::default();
    let unchecked = Dispatcher::builder(catalog![sign_in].unwrap()).validate_input(false).build().unwrap();
    tracing::subscriber::with_default(log.clone(), || {
        for dispatcher in [builder(Coercion::Off), builder(Coercion::Lenient), unchecked] {
            for arguments in &attempts {
                let outcomes = [
                    dispatcher.call_sync("bad:sign_in", arguments),
                    dispatcher.call_sync("bad:sign_in", arguments.to_string()),
                    dispatcher.call_sync("bad:sign_in", arguments.to_string().replace('}', "")),
                ];
                for error in outcomes.into_iter().filter_map(Result::err) {
                    let violations = serde_json::to_string(error.violations()).unwrap();
                    for text in [error.to_string(), error.message().to_owned(), violations, format!("{error:?}")] {
                        assert!(!text.contains(SECRET), "{arguments} shows in {text}");
                        assert!(!text.contains("867530"), "{arguments} shows in {text}");
                    }
                    // The host's own eyes may see the cause in `Debug`; the model's text never has it.
                    assert!(!error.to_string().contains("internal matter"), "{error}");
                }
            }
        }
    });
    ran(attempts.len() * 9);
    let log = log.0.lock().unwrap().clone();
    assert!(log.contains("an internal matter"), "the log is captured: {log}");
    assert!(!log.contains(SECRET) && !log.contains("867530"), "{log}");
}

#[test]
fn what_was_sent_forges_no_line_and_hides_none() {
    let dispatcher = dispatcher();
    let key = "x\n- all is well\u{7f}\u{202e}";
    let error = refused(&dispatcher, "bad:length", json!({ (key): 1, "text": "" }));
    assert_eq!(
        error.message().lines().nth(1),
        Some(r"- /x\u{a}- all is well\u{7f}\u{202e} is not an argument; expected `text`")
    );
    assert_eq!(error.violations()[0].pointer, format!("/{key}"));
    let error = refused(&dispatcher, "bad:length", json!({ "text": ["\u{85}"], "flag": "\u{85}" }));
    assert!(!error.message().contains('\u{85}'));
}
