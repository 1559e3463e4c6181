//! The test cases of the systems that this one replaces: search results.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use test_support::ran;
use toolkit::Tool;
use toolkit_search::{Index, Query, Ranking, SearchDoc};

use super::cases;

const TEXT: &str = include_str!("../../cases/search.json");

/// The cases with other results, with the decision.
const DECIDED: [(&str, &str); 7] = [
    ("max_docs", "an index has no tools that it does not search"),
    ("ex_maxdocs", "an index has no tools that it does not search"),
    ("long_doc_truncated", "how much of a tool is searched is no setting, and is more"),
    ("example_truncated", "how much of a tool is searched is no setting, and is more"),
    ("underscore_is_one_token", "identifiers are taken apart"),
    ("exact_name_150", "words are found, not parts of words; a word that no tool has is completed"),
    ("substring_not_token", "words are found, not parts of words"),
];

fn is_decided(case: &Value) -> bool {
    DECIDED.iter().any(|(id, _)| case["id"] == *id)
}

/// Converts a document of the cases to a tool.
fn tool(doc: &Value) -> Tool {
    let summary = &doc["summary"];
    let fields = json!({
        "name": summary["name"],
        "namespace": summary["namespace"],
        "description": doc["docText"],
        "tags": summary["tags"],
        "inputSchema": { "type": "object" },
    });
    Tool::from_json(fields).unwrap()
}

fn ranking(config: &Value) -> Ranking {
    let mut ranking = Ranking::default();
    let boost = |name: &str, usual: u8| match config[name].as_u64() {
        None | Some(0) => usual,
        Some(boost) => u8::try_from(boost).unwrap(),
    };
    let weights = &mut ranking.weights;
    weights.name = boost("nameBoost", weights.name);
    weights.namespace = boost("namespaceBoost", weights.namespace);
    weights.tags = boost("tagsBoost", weights.tags);
    ranking
}

#[test]
fn full_text_search_matches_the_cases() {
    let (cases, mut n_ran) = (cases(TEXT, "fulltext"), 0);
    for case in cases.iter().filter(|case| !is_decided(case)) {
        let docs = case["docs"].as_array().unwrap();
        let tools: Vec<Tool> = docs.iter().map(tool).collect();
        let ids: BTreeMap<String, &Value> =
            tools.iter().zip(docs).map(|(tool, doc)| (tool.id().to_string(), &doc["id"])).collect();
        let index = Index::with_ranking(&tools, ranking(&case["config"]));
        let hits = index.search(case["query"].as_str().unwrap(), case["limit"].as_u64().unwrap() as usize);
        let found: Vec<&Value> = hits.iter().map(|hit| ids[&hit.summary.id]).collect();
        let namespaces: Vec<_> = hits.iter().map(|hit| hit.summary.namespace.as_deref()).collect();
        for (what, wanted) in case["asserted"].as_object().unwrap() {
            let holds = match what.as_str() {
                "first" => found.first() == Some(&wanted),
                "ids" => json!(found) == *wanted,
                "count" => found.len() as u64 == wanted.as_u64().unwrap(),
                "min_count" => found.len() as u64 >= wanted.as_u64().unwrap(),
                "max_count" => found.len() as u64 <= wanted.as_u64().unwrap(),
                "first_two_namespace" => namespaces[..2] == [wanted.as_str(); 2],
                "all_namespace" => namespaces.iter().all(|namespace| *namespace == wanted.as_str()),
                "contains_name" => hits.iter().any(|hit| hit.summary.name == *wanted),
                other => panic!("{other}"),
            };
            assert!(holds, "{}: {what} {wanted}, found {found:?}", case["id"]);
        }
        n_ran += 1;
    }
    ran(n_ran);
}

#[test]
fn the_default_search_matches_the_cases() {
    let (cases, mut n_ran) = (cases(TEXT, "lexical"), 0);
    for case in cases.iter().filter(|case| !is_decided(case)) {
        let tools: Vec<Tool> =
            case["tools"].as_array().unwrap().iter().map(|tool| Tool::from_json(tool).unwrap()).collect();
        let index = Index::from_tools(&tools);
        let hits = index.search(case["query"].as_str().unwrap(), case["limit"].as_u64().unwrap() as usize);
        let names: Vec<&str> = hits.iter().map(|hit| &*hit.summary.name).collect();
        for (what, wanted) in case["asserted"].as_object().unwrap() {
            let holds = match what.as_str() {
                "first_name" => names.first().copied() == wanted.as_str(),
                "names" => json!(names) == *wanted,
                "ids" => json!(super::ids(&hits)) == *wanted,
                "count" => hits.len() as u64 == wanted.as_u64().unwrap(),
                "min_count" => hits.len() as u64 >= wanted.as_u64().unwrap(),
                other => panic!("{other}"),
            };
            assert!(holds, "{}: {what} {wanted}, found {names:?}", case["id"]);
        }
        n_ran += 1;
    }
    ran(n_ran);
}

#[test]
fn summaries_and_texts_match_the_cases_except_spaces_and_repetition() {
    let cases = cases(TEXT, "doc_text");
    for case in &cases {
        let mut fields = case["tool"].clone();
        fields["inputSchema"] = json!({ "type": "object" });
        if fields["namespace"] == "" {
            fields["namespace"] = Value::Null;
        }
        let doc = SearchDoc::new(&Tool::from_json(fields).unwrap());
        assert_eq!(json!(doc.summary), case["summary"]);
        let words = |text: &str| {
            let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            // The description is not repeated if there is no other summary.
            words.dedup();
            words
        };
        assert_eq!(words(&doc.text), words(case["docText"].as_str().unwrap()));
    }
    ran(cases.len());
}

#[test]
fn a_filter_by_namespace_matches_the_cases() {
    let cases = cases(TEXT, "filters");
    // The other case filters by no namespace, which selects the tools without one.
    let case = &cases[0];
    let docs = case["docs"].as_array().unwrap();
    let tools: Vec<Tool> = docs
        .iter()
        .map(|doc| tool(&json!({ "summary": { "name": doc["id"], "namespace": doc["namespace"] } })))
        .collect();
    let hits = Index::from_tools(&tools).search(Query::new("").namespace(case["arg"].as_str().unwrap()), 10);
    let names: Vec<&str> = hits.iter().map(|hit| &*hit.summary.name).collect();
    assert_eq!(json!(names), case["expect"]);
    ran(1);
}
