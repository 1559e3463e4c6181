//! Results and the listed output schemas.

use super::*;

/// Every tool with structured content, and a call of it.
pub(crate) const CALLS: [(&str, &str); 20] = [
    ("plan", r#"{"from":{"lat":1,"lon":2},"to":{"lat":1,"lon":2}}"#),
    ("fare", r#"{"distance":2.5,"people":2}"#),
    ("area", r#"{"kind":"rectangle","width":2,"height":3}"#),
    ("turn", r#"{"kind":"rectangle","width":2,"height":3}"#),
    ("kinds", r#"{"unit":"Metric","speed":"Slow","shape":{"kind":"circle","radius":1},"amount":"x"}"#),
    ("containers", r#"{"scores":{"a":1},"range":[1,2],"pair":["x",0.5]}"#),
    ("any", r##"{"value":null,"more":[1,{"$ref":"#"}]}"##),
    ("folder", r#"{"name":"a","folders":[{"name":"b","folders":[]}]}"#),
    ("sum", r#"{"sum":[1,[2,3]]}"#),
    ("folders", r#"{"folders":[{"name":"b","folders":[{"name":"c","folders":[]}]}]}"#),
    ("locate", r#"{"city":"Lima"}"#),
    ("search", r#"{"city":"Lima"}"#),
    ("search", r#"{"city":""}"#),
    ("count", r#"{"words":["a"]}"#),
    ("shout", r#"{"text":"a"}"#),
    ("lengths", r#"{"words":["a","result"]}"#),
    ("both", "{}"),
    ("send", r#"{"to":"a@example.com"}"#),
    ("repeat", r#"{"text":"a"}"#),
    ("repeat_in_list", r#"{"text":"a \"b\""}"#),
];

#[test]
fn wrapped_results_match_the_listed_output_schema() {
    let dispatcher = Dispatcher::new(everything()).unwrap();
    let mut called = BTreeSet::new();
    for (name, arguments) in CALLS {
        let tool = dispatcher.catalog().get(name).unwrap();
        let value = dispatcher.call_sync_with(&held(), name, arguments).unwrap().value();
        for revision in REVISIONS {
            let listed = listed(revision, name);
            let arguments: Value = serde_json::from_str(arguments).unwrap();
            let input = jsonschema::validator_for(&listed["inputSchema"]).unwrap();
            assert_fits(&input, &arguments);
            let output = jsonschema::validator_for(&listed["outputSchema"]).unwrap();
            let wrapped = wrap_result(tool, revision, value.clone());
            assert_fits(&output, &wrapped);
            match revision {
                Revision::V2025_11_25 => {
                    assert!(wrapped.is_object(), "{name}: {wrapped}");
                    assert_eq!(listed["outputSchema"]["type"], "object", "{name}");
                }
                _ => assert_eq!(wrapped, value, "{name}"),
            }
            ran(1);
        }
        called.insert(name);
    }
    let with_output = list(Revision::V2026_07_28);
    let with_output = with_output.iter().filter(|t| t.get("outputSchema").is_some());
    for tool in with_output {
        assert!(called.contains(tool["name"].as_str().unwrap()), "{tool}");
    }
}

#[test]
fn only_results_that_may_not_be_objects_are_wrapped() {
    let catalog = everything();
    let wrap = |name, value: Value| wrap_result(catalog.get(name).unwrap(), Revision::V2025_11_25, value);
    let object = json!({ "lat": 1.0, "lon": 2.0 });
    assert_eq!(wrap("locate", object.clone()), object);
    assert_eq!(wrap("search", object.clone()), json!({ "result": object }));
    assert_eq!(wrap("search", Value::Null), json!({ "result": null }));
    assert_eq!(wrap("count", json!(3)), json!({ "result": 3 }));
    assert_eq!(wrap("nothing", Value::Null), Value::Null);

    let recursive = listed(Revision::V2025_11_25, "sum");
    assert_eq!(recursive["outputSchema"]["required"], json!(["result"]), "{recursive:#}");
    assert!(
        jsonschema::is_valid(&recursive["outputSchema"], &json!({ "result": [1, [2]] }))
            && !jsonschema::is_valid(&recursive["outputSchema"], &json!({ "result": [1, ["x"]] })),
        "{recursive:#}"
    );
}
