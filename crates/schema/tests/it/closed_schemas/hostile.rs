//! Schemas made to take time, memory or stack.

use serde_json::json;
use toolkit_schema::{close, inline, portable, root};

#[test]
fn hostile_schemas_end_and_do_not_grow_without_bound() {
    // Each definition joins the next twice: 2^40 when written out.
    let mut definitions = serde_json::Map::new();
    for i in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/D{}", i + 1) });
        let body = json!({ "properties": { format!("p{i}"): next, "q": next }, "oneOf": [next, next] });
        definitions.insert(format!("D{i}"), body);
    }
    definitions.insert("D40".to_owned(), json!({ "type": "object", "properties": { "x": {} } }));
    let hostile = json!({ "$ref": "#/$defs/D0", "properties": {}, "$defs": definitions });
    let mutual = json!({
        "$ref": "#/$defs/A",
        "$defs": {
            "A": { "properties": { "c": { "$ref": "#/$defs/A" } }, "allOf": [{ "$ref": "#/$defs/B" }] },
            "B": { "properties": { "c": { "$ref": "#/$defs/B" }, "d": { "$ref": "#/$defs/A" } } },
        },
    });
    let mut chain = serde_json::Map::new();
    for i in 0..2000 {
        chain
            .insert(format!("C{i}"), json!({ "allOf": [{ "$ref": format!("#/$defs/C{}", i + 1) }], "type": "object" }));
    }
    let chain = json!({ "$ref": "#/$defs/C0", "$defs": chain });
    // Two recursive schemas that disagree about a property far inside: merging them leads to merging them.
    let deep = |more: &str| {
        let mut schema = json!({ "$ref": format!("#/$defs/{more}") });
        for i in 0..20 {
            schema = json!({ "allOf": [{ "properties": { "p": schema, format!("{more}{i}"): {} } }] });
        }
        schema
    };
    let deep = json!({
        "allOf": [{ "$ref": "#/$defs/A" }, { "$ref": "#/$defs/B" }, { "$ref": "#/$defs/C" }],
        "$defs": { "A": deep("A"), "B": deep("B"), "C": deep("C") },
    });
    // Every part of the chain is nested, so that following it goes deeper than any one schema does.
    let mut nested = serde_json::Map::new();
    for i in 0..100 {
        let mut schema = json!({ "$ref": format!("#/$defs/N{}", i + 1) });
        for _ in 0..50 {
            schema = json!({ "allOf": [schema], "anyOf": [{}] });
        }
        nested.insert(format!("N{i}"), schema);
    }
    let nested = json!({ "$ref": "#/$defs/N0", "properties": { "x": {} }, "$defs": nested });
    let rewrite_all = move || {
        for schema in [hostile, mutual, chain, deep, nested] {
            let mut closed = schema.clone();
            portable::make(&mut closed);
            close::close(&mut closed);
            assert!(closed.to_string().len() < 50 * schema.to_string().len() + 100_000);
            let mut listed = schema.clone();
            listed["type"] = json!("object");
            root::list(&mut listed);
            assert!(listed.to_string().len() < 8_000_000);
            let mut inlined = schema;
            inline::inline(&mut inlined);
            assert!(inlined.to_string().len() < 4_000_000);
        }
    };
    // Half of what a thread usually has.
    let thread = std::thread::Builder::new().stack_size(1024 * 1024);
    thread.spawn(rewrite_all).unwrap().join().unwrap();
}
