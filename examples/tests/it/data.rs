//! Tests of the tools for CSV and JSON.

use serde_json::{Value, json};

use super::common::Host;

const CITIES: &str =
    "city,people,founded\nLima,10092000,1535-01-18\nCusco,428450,\n\"Trujillo, Peru\",919899,1534-12-06\n";

#[test]
fn describes_tables() {
    let host = Host::read_only();
    let described = host.call("describe_csv", json!({"source": {"text": CITIES}}));
    assert_eq!(described["rows"], 3);
    let people = json!({"name": "people", "guessed_type": "integer", "empty": 0, "distinct": 3, "min": "428450", "max": "10092000"});
    assert_eq!(described["columns"][1], people);
    assert_eq!(described["columns"][2]["guessed_type"], "date");
    assert_eq!(described["columns"][2]["empty"], 1);
    host.put("t.csv", "\u{feff}a;b\n1;x\n2.5;true\n");
    let file = host.call("describe_csv", json!({"source": {"file": "t.csv"}, "delimiter": "semicolon"}));
    assert_eq!((&file["columns"][0]["name"], &file["columns"][0]["guessed_type"]), (&json!("a"), &json!("number")));
}

#[test]
fn broken_tables_are_refused() {
    let host = Host::read_only();
    let describe = |source: Value| json!({"source": source});
    host.refused("describe_csv", describe(json!({"text": "a,b\n1\n"})), "found record with 1 fields");
    host.refused("describe_csv", describe(json!({"text": ""})), "the table is empty");
    host.refused("describe_csv", describe(json!({"file": "none.csv"})), "does not exist");
    host.misfit("describe_csv", describe(json!("a,b")), "/source must be an object");
    host.misfit("describe_csv", describe(json!({"text": "a", "file": "b"})), "/source");
    host.misfit("describe_csv", describe(json!({"text": "x".repeat(10_000_001)})), "at most 1000000 characters");
    host.put("large.csv", "x".repeat(10_000_001));
    host.refused("describe_csv", describe(json!({"file": "large.csv"})), "split the table");
}

#[test]
fn queries_tables() {
    let host = Host::read_only();
    let rows = |question: Value| {
        let mut arguments = json!({"source": {"text": CITIES}, "select": ["city"]});
        arguments.as_object_mut().unwrap().extend(question.as_object().unwrap().clone());
        let result = host.call("query_csv", arguments);
        let rows = result["rows"].as_array().unwrap().clone();
        rows.iter().map(|row| row[0].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(rows(json!({"order_by": {"column": "people"}})), ["Cusco", "Trujillo, Peru", "Lima"]);
    assert_eq!(rows(json!({"order_by": {"column": "people", "descending": true}, "limit": 1})), ["Lima"]);
    assert_eq!(
        rows(json!({"where": [{"op": "between", "column": "people", "least": 500_000, "most": 1_000_000}]})),
        ["Trujillo, Peru"]
    );
    assert_eq!(rows(json!({"where": [{"op": "contains", "column": "city", "text": "PERU"}]})), ["Trujillo, Peru"]);
    assert_eq!(rows(json!({"where": [{"op": "is_empty", "column": "founded"}]})), ["Cusco"]);
    assert_eq!(
        rows(
            json!({"where": [{"op": "one_of", "column": "city", "texts": ["Lima", "Cusco"]}, {"op": "not", "condition": {"op": "equals", "column": "city", "text": "Lima"}}]})
        ),
        ["Cusco"]
    );
    let any = json!({"op": "any", "conditions": [{"op": "equals", "column": "city", "text": "Lima"}, {"op": "is_empty", "column": "founded"}]});
    assert_eq!(rows(json!({"where": [any]})), ["Lima", "Cusco"]);
}

#[test]
fn wrong_questions_are_refused() {
    let host = Host::read_only();
    let ask = |question: Value| {
        let mut arguments = json!({"source": {"text": CITIES}});
        arguments.as_object_mut().unwrap().extend(question.as_object().unwrap().clone());
        arguments
    };
    host.refused("query_csv", ask(json!({"select": ["town"]})), "there are `city`, `people`, `founded`");
    host.refused(
        "query_csv",
        ask(json!({"where": [{"op": "equals", "column": "town", "text": ""}]})),
        "no column `town`",
    );
    host.refused("query_csv", ask(json!({"order_by": {"column": "town"}})), "no column `town`");
    host.misfit(
        "query_csv",
        ask(json!({"where": [{"op": "equals", "colum": "city", "text": ""}]})),
        "did you mean `column`?",
    );
    host.misfit("query_csv", ask(json!({"where": [{"op": "like", "column": "city", "text": ""}]})), "/where/0");
    host.misfit("query_csv", ask(json!({"limit": 0})), "/limit must be at least 1");
    host.misfit("query_csv", ask(json!({"wher": []})), "did you mean `where`?");
    let leaf = json!({"op": "equals", "column": "city", "text": ""});
    let wide = json!({"op": "any", "conditions": vec![leaf; 20]});
    host.refused("query_csv", ask(json!({"where": vec![wide; 20]})), "more than 100 conditions");
    let mut deep = json!({"op": "is_empty", "column": "city"});
    for _ in 0..60 {
        deep = json!({"op": "not", "condition": deep});
    }
    assert_eq!(host.call("query_csv", ask(json!({"where": [deep]})))["matched"], 0);
}

#[test]
fn selects_from_json() {
    let host = Host::read_only();
    let document = json!({"items": [{"price": 5}, {"price": 20, "a b": null}]});
    let query = |path: &str| json!({"document": document, "path": path});
    let selected = host.call("query_json", query("$.items[?@.price > 10].price"));
    assert_eq!(selected, json!({"nodes": [{"path": "$['items'][1]['price']", "value": 20}], "total": 1}));
    assert_eq!(host.call("query_json", query("$..price"))["total"], 2);
    assert_eq!(host.call("query_json", query("$.items[-1]['a b']"))["nodes"][0]["value"], Value::Null);
    host.refused("query_json", query("$["), "is not a JSONPath");
    host.misfit("query_json", query("items"), "/path must match");
    host.misfit("query_json", json!({"path": "$"}), "/document is required");
}

#[test]
fn hostile_paths_are_refused() {
    let host = Host::read_only();
    let mut deep = json!([1]);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    let query = |path: &str| json!({"document": deep, "path": path});
    host.refused("query_json", query("$..*..*..*..*"), "split the query");
    host.refused("query_json", query(&format!("${}", "[*,*]".repeat(60))), "split the query");
    host.refused("query_json", query("$[?@[?@[?@]]]"), "split the query");
    host.refused("query_json", json!({"document": vec![0; 300_000], "path": "$[0]"}), "send the part that matters");
    host.refused("query_json", json!({"document": vec![0; 30_000], "path": "$[?$[*]]"}), "send the part that matters");
    host.call("query_json", json!({"document": vec![0; 2_000], "path": "$[?$[*]]"}));
}

#[test]
fn diffs_json() {
    let host = Host::read_only();
    let diff =
        host.call("diff_json", json!({"old": {"a": 1, "b/c": [1, 2], "d": 0}, "new": {"d": 0, "b/c": [1, 3, 4]}}));
    let expected = json!([
        {"kind": "removed", "pointer": "/a", "value": 1},
        {"kind": "changed", "pointer": "/b~1c/1", "old": 2, "new": 3},
        {"kind": "added", "pointer": "/b~1c/2", "value": 4},
    ]);
    assert_eq!(diff["changes"], expected);
    assert_eq!(host.call("diff_json", json!({"old": {"a": 1, "b": 2}, "new": {"b": 2, "a": 1}}))["equal"], true);
    let long = "k".repeat(1_000_000);
    let bounded = host.call("diff_json", json!({"old": {&*long: vec![0; 10_000]}, "new": {&*long: vec![1; 10_000]}}));
    assert_eq!(bounded["truncated"], true);
    host.misfit("diff_json", json!({"old": 1}), "/new is required");
}

#[test]
fn validates_json() {
    let host = Host::read_only();
    let schema = json!({"type": "object", "required": ["name"], "properties": {"age": {"minimum": 0}}});
    let check = |value: Value| host.call("validate_json", json!({"value": value, "schema": schema}));
    assert_eq!(check(json!({"name": "x"})), json!({"valid": true, "violations": []}));
    assert_eq!(check(json!({"age": -1}))["violations"].as_array().unwrap().len(), 2);
    host.refused("validate_json", json!({"value": 1, "schema": {"type": "strin"}}), "invalid schema");
    host.refused(
        "validate_json",
        json!({"value": 1, "schema": {"$ref": "https://example.org/x"}}),
        "nothing is fetched",
    );
    host.refused(
        "validate_json",
        json!({"value": 1, "schema": {"$schema": "https://json-schema.org/draft/2019-09/schema"}}),
        "not supported",
    );
    host.refused("validate_json", json!({"value": 1, "schema": 3}), "a schema must be a JSON object");
}

/// A long key is part of the path of every descendant, and a value is selected once for each selected ancestor.
#[test]
fn what_is_selected_from_a_document_is_bounded() {
    let host = Host::read_only();
    let long = json!({ "k".repeat(500_000): vec![0; 1000] });
    host.refused(
        "query_json",
        json!({"document": long, "path": "$.*.*", "limit": 1000}),
        "have more than 4000000 bytes",
    );
    let mut nested = json!("x".repeat(100_000));
    for _ in 0..100 {
        nested = json!([nested]);
    }
    host.refused("query_json", json!({"document": nested, "path": "$..*"}), "have more than 4000000 bytes");
    assert_eq!(host.call("query_json", json!({"document": nested, "path": "$..*", "limit": 10}))["total"], 100);
}

#[test]
fn long_keys_are_not_copied_for_each_difference() {
    let host = Host::read_only();
    let document = |n: u32| json!({ "k".repeat(500_000): vec![n; 100_000] });
    let difference = host.call("diff_json", json!({"old": document(1), "new": document(2)}));
    assert_eq!((&difference["truncated"], difference["changes"].as_array().unwrap().len()), (&json!(true), 1));
}

#[test]
fn what_is_selected_from_a_table_is_bounded() {
    let host = Host::read_only();
    let table = format!("a,b\n{}", format!("{},1\n", "x".repeat(9000)).repeat(1000));
    host.put("t.csv", &table);
    let query =
        |select: Vec<&str>, limit: usize| json!({"source": {"file": "t.csv"}, "select": select, "limit": limit});
    host.refused("query_csv", query(vec!["a"; 200], 1000), "have more than 4000000 bytes");
    assert_eq!(host.call("query_csv", query(vec!["b"; 200], 1000))["matched"], 1000);
    assert_eq!(host.call("query_csv", query(vec!["a"; 2], 10))["matched"], 1000);
}

#[test]
fn wide_and_long_tables_are_refused() {
    let host = Host::read_only();
    for (text, says) in [
        (",".repeat(9_000_000), "more than 1000 columns"),
        (format!("\"a\n\"{}", ",".repeat(9_000_000)), "more than 1000 columns"),
        (format!("a\"b\n{}", ",".repeat(9_000_000)), "more than 1000 columns"),
        (format!("\"a\"\"b\"\n{}", ",".repeat(9_000_000)), "more than 1000 columns"),
        ("1\n".repeat(4_000_000), "more than 250000 rows"),
    ] {
        host.put("t.csv", text);
        host.refused("describe_csv", json!({"source": {"file": "t.csv"}}), says);
    }
    host.put("t.csv", format!("\"a{}\nb\",c\n1,2\n", ",".repeat(2000)));
    assert_eq!(host.call("describe_csv", json!({"source": {"file": "t.csv"}}))["rows"], 1);
    let wide = format!("{}\n", vec!["x".repeat(9000); 900].join(","));
    host.put("t.csv", wide);
    host.refused("query_csv", json!({"source": {"file": "t.csv"}, "select": ["none"]}), "there is no column `none`");
}

/// Conditions are prepared once, and not for each row.
#[test]
fn long_conditions_on_many_rows_are_answered() {
    let host = Host::read_only();
    host.put("t.csv", format!("a\n{}", "x\n".repeat(200_000)));
    let texts: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
    let query = |condition| json!({"source": {"file": "t.csv"}, "where": [condition]});
    let long = query(json!({"op": "contains", "column": "a", "text": "y".repeat(500_000)}));
    assert_eq!(host.call("query_csv", long)["matched"], 0);
    let many =
        query(json!({"op": "any", "conditions": vec![json!({"op": "one_of", "column": "a", "texts": texts}); 20]}));
    assert_eq!(host.call("query_csv", many)["matched"], 0);
}
